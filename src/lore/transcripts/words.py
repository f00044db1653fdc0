"""Words of a transcript: what clients put in between is taken out; excerpts of what is too long to search."""

import re
from datetime import UTC, datetime

from lore.redact import redact

LONGEST_TOOL = 2_000
"""Characters of a tool's result that are searched: most of what it tells is at its beginning and its end."""
LONGEST_CALL = 300
"""Characters of a tool's call that are searched."""
LONGEST_REASONING = 2_000
"""Characters of a model's reasoning that are kept."""
LONGEST_TEXT = 40_000
"""Characters of what a person or a model said that are searched."""
MARGIN = 4_000
"""Characters behind a cut in which a secret is recognised; only private keys are longer."""

INJECTED = re.compile(
    r"<(system-reminder|local-command-stdout|local-command-stderr|local-command-caveat|command-message|"
    r"command-args|command-name|command-contents|bash-stdout|bash-stderr|ide_opened_file|ide_selection|"
    r"user-prompt-submit-hook|new-diagnostics|environment_context|user_instructions|skills_instructions|"
    r"permissions instructions|session_context|task-notification)\b[^<>]*>"
)
"""How text that a client put in begins; it goes on to the end of the same tag."""
INTERRUPTED = re.compile(r"^\[Request interrupted by user[^\]]*\]$")
BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{200,}+={0,2}")

YEAR_1, YEAR_10000 = -62_135_596_800, 253_402_300_800
"""In seconds since 1970: the beginning and the end of the times that a date can tell."""


def spoken(text: str) -> str:
    """What a person or a model really said, whole."""
    text = without_injected(text).strip()
    return "" if INTERRUPTED.match(text) else text


def excerpt(text: str) -> str:
    """The part of a text that is searched: without runs of base64, and cut if it is very long."""
    return cut(without_data(text), LONGEST_TEXT)


def without_injected(text: str) -> str:
    """Without what a client wrote into a message; what it opened and never closed stays."""
    kept: list[str] = []
    unclosed: set[str] = set()
    end = 0
    for opened in INJECTED.finditer(text):
        closing = f"</{opened.group(1)}>"
        if opened.start() < end or closing in unclosed:
            continue
        at = text.find(closing, opened.end())
        if at < 0:
            unclosed.add(closing)  # once looked for in vain is enough: a long text is read in one go
            continue
        kept.append(text[end : opened.start()])
        end = at + len(closing)
    return "".join([*kept, text[end:]])


def without_data(text: str) -> str:
    """Long runs of base64 say nothing."""
    return BASE64.sub(lambda run: f"[{len(run.group()):,} characters of data]", text)


def cut(text: str, longest: int) -> str:
    """The beginning and the end, and how much is missing between them.

    Secrets at the cuts are replaced first: a rule does not recognise half of one.
    """
    text = text.replace("\0", "").strip()
    if len(text) <= longest:
        return text
    head, tail = longest * 2 // 3, longest // 3
    if len(text) > longest + 2 * MARGIN and "-----BEGIN" not in text:
        first, last = redact(text[: head + MARGIN]).text, redact(text[-tail - MARGIN :]).text
    else:
        first = last = redact(text).text
        if len(first) <= longest:
            return first
    return f"{first[:head]}\n[… {len(text) - head - tail:,} characters …]\n{last[-tail:]}"


def moment(told: object) -> float | None:
    """Seconds since 1970 of a time in ISO 8601, or in seconds or milliseconds; None of anything else."""
    if isinstance(told, bool):
        return None
    if isinstance(told, int | float):
        return in_calendar(told / 1000 if 1e11 < told < 1e15 else told)
    if not isinstance(told, str):
        return None
    try:
        at = datetime.fromisoformat(told)
        return in_calendar((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())
    except (ValueError, OverflowError):
        return None


def in_calendar(seconds: float) -> float | None:
    """Seconds since 1970 that lie in the years 1 to 9999; None otherwise."""
    return float(seconds) if YEAR_1 <= seconds < YEAR_10000 else None
