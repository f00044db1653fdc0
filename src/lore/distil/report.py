"""report: the turns of a conversation → its account in their own words, without a language model."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lore.distil.account import EXTRACTED, Account, Point
from lore.distil.base import Spoken
from lore.distil.closing import (
    Closing,
    closings_of,
    foreign_words,
    is_new,
    is_prompt,
    plain_words,
    sections_of,
)
from lore.distil.cues import IMPERATIVE, asks, orders, statements_of
from lore.distil.own import own_statements, own_words, unquoted
from lore.distil.phrases import content_words, pattern
from lore.distil.sentences import sentences_of
from lore.distil.titles import ended
from lore.patterns import regex
from lore.text import preview

RECAP = "recap"
"""The tool of a turn that is the client's own recap of the conversation."""
SUMMARY = "summary"
PLAN = "ExitPlanMode"
RECAP_CHARACTERS = 320
MOST_REPORTS, MOST_DECISIONS, MOST_LEFT, MOST_FILES = 3, 3, 3, 8
SUMMARY_CHARACTERS, CHOICE_CHARACTERS = 270, 140
EARLY = 0.6
"""The share of its worth that the first report of a conversation has."""
SENTENCES_READ = 12
PASTED_CHARACTERS = 1_500
"""A prompt of more characters is a pasted text, of which only the ends are the user's."""
SHORT_PARAGRAPH = 500
TITLE_CHARACTERS = 80
REQUEST_CHARACTERS = 280
SHORT_PROMPT = 100
ENOUGH_CHARACTERS = 60
"""A first prompt of fewer characters stands before a more telling one."""
LATER_CHARACTERS, LEAST_TELLING = 90, 3.0
EARLY_PROMPTS, LATER, ENOUGH_WORDS = 4, 0.8, 10
"""Prompts among which the most telling is looked for; each counts this share of the one before."""

_SHELL = regex(r"^(?:bash|shell|exec\w*|run_\w+|terminal|powershell|zsh)\b", re.IGNORECASE)
_EDIT = regex(
    r"^(?:edit|multiedit|write|notebookedit|apply_patch|replace|write_file|search_replace|patch)",
    re.IGNORECASE,
)
_CHECK = regex(
    r"(?<![\w/.-])(?:pytest|vitest|jest|mocha|rspec|phpunit|ctest|tox|nox|tsc|mypy|ruff|eslint"
    r"|playwright test|cypress run|python3? -m (?:pytest|unittest)|(?:npx|uv run|poetry run) \w*test\w*"
    r"|(?:npm|pnpm|yarn|bun|deno)(?: run)? (?:test|build|lint|check|typecheck)[\w:-]*"
    r"|(?:cargo|go|swift|dotnet|mix|zig|flutter|sbt|bazel) (?:test|build|vet|clippy|check)"
    r"|(?:make|just|gradle|gradlew|mvn|mvnw|rake)(?: \w+)? ?(?:test|check|build|lint|verify)\w*)(?![\w-])"
)
"""A command that runs tests, a build or another check."""
_NOT_RUN = regex(
    r"script not found|missing script|missing entrypoints?|command not found|no such file or directory"
    r"|no tests? (?:files? )?(?:found|ran)|unknown (?:option|command)|^usage:|could not read package\.json",
    re.IGNORECASE | re.MULTILINE,
)
"""A check that was called in a wrong way says nothing about the work."""
_PLACE = regex(r"^(?:cd\s+\S+\s*(?:&&|;)\s*)+")
_FAILED = regex(
    r"(?<!\b0 )\b(?:[1-9]\d* (?:tests? )?(?:failed|failing|fail|errors?)|FAIL(?:ED|URES?)?\b|error TS\d+"
    r"|Traceback|npm ERR!|error(?:\[|:)|(?:exit|exited with) (?:code|status):? [1-9]|command not found"
    r"|BUILD FAILED|panicked)"
)
_PASSED = regex(
    r"\b(?:[1-9]\d* (?:tests? )?(?:passed|passing|pass|ok)|(?:0|no) (?:failed|failures|errors?|fail|problems)"
    r"|all checks passed|BUILD SUCCESS\w*|test result: ok|PASS\b|OK\b|built in|compiled successfully"
    r"|no issues found)",
    re.IGNORECASE,
)
_LONG_CODE = regex(r"`[^`\n]{41,200}`")
"""Code that may be quoted from elsewhere; a shorter one is a name."""
_QUOTING = regex(r"[\"“”„«»「`<>]|^\s*[#>|]")
_LIST = regex(r"todo|task|plan", re.IGNORECASE)
"""A tool that keeps a list of what is to be done."""
_MENTION = regex(r"[@#/][\w./-]+")
"""A file that is mentioned, a number, a path: no word of a request."""
_NUMBERED = regex(r"^\s*\d{1,2}\.\s+([A-Z][^:\n]{3,60}):\s*$", re.MULTILINE)
"""A heading of the summaries that Claude Code writes."""
_BARE_COMMAND = regex(
    r"^/(?:[\w:-]+\s*$|(?:compact|clear|model|resume|rewind|config|login|logout|help|cost|exit|quit|init|mcp|ide|"
    r"agents|permissions|memory|status|usage|context|export|doctor|hooks|plugin|theme|vim)\b)"
)
"""A command without words of the user, or one that is for the client."""
_TODO = regex(r"^[ \t]*+(?:[-*][ \t]*+)?\[(?P<mark>[ ~xX-])\][ \t]*+(?P<text>\S[^\n]*+)$", re.MULTILINE)


def report_of(spoken: Sequence[Spoken]) -> Account:
    """The account of a conversation: what its turns say of themselves, and what their tools show."""
    request = _request(spoken)
    closings = closings_of(spoken, " ".join(one.text for one in request))
    recap = next((turn for turn in reversed(spoken) if turn.role == "summary" and turn.tool == RECAP), None)
    foreign = foreign_words(spoken)
    done = list(_done(closings, foreign))
    request += _later(request, closings, done)
    left = list(_left(spoken, closings))
    by = EXTRACTED
    if summary := next((turn for turn in reversed(spoken) if turn.role == "summary" and not turn.tool), None):
        by, written = SUMMARY, of_summary(summary, foreign)
        later = [one for one in done if one.turns[0] > summary.number]
        request, done = written.request or request, [*later, *written.done] or done
        left = left or ([] if later else written.left)
    if recap is not None:
        by, done = RECAP, [Point(text=preview(recap.text, RECAP_CHARACTERS), turns=(recap.number,)), *done]
    return Account(
        title=_title(request),
        request=tuple(request),
        done=tuple(done),
        decisions=tuple(_decisions(spoken))[-MOST_DECISIONS:],
        state=tuple(_state(spoken)),
        left=tuple(left[:MOST_LEFT]),
        files=tuple(name for name, _ in _files(spoken).most_common(MOST_FILES)),
        by=by,
    )


# --- what the client wrote itself
class Written(NamedTuple):
    """What a client's summary says of a conversation."""

    request: list[Point]
    done: list[Point]
    left: list[Point]


def of_summary(turn: Spoken, foreign: str) -> Written:
    """The parts of a client's summary: what was wanted, what was being done last, what is pending.

    foreign: see `Closing.summary`.
    """
    sections = sections_of(_NUMBERED.sub(r"## \1", turn.text))

    def points(name: str, most: int) -> list[Point]:
        found = [
            one for part in sections if pattern(name).match(part.heading) for one in sentences_of(part.text)
        ]
        own = [one for one in found if not pattern("hollow").match(one) and plain_words(one) not in foreign]
        return [_point(one, turn) for one in own[:most]]

    return Written(points("wanted", 1), points("working", 2), points("remaining", MOST_LEFT))


# --- what was asked
def _title(request: Sequence[Point]) -> str:
    """The most telling prompt of the beginning."""
    early = [one.text for one in request if not one.text.startswith("later: ")]
    return preview(early[-1], TITLE_CHARACTERS) if early else ""


def _request(spoken: Sequence[Spoken]) -> list[Point]:
    """The most telling of the user's first real prompts, behind the first one if both are short."""
    early: list[Point] = []
    for turn in spoken:
        text = asked_in(turn.text) if is_prompt(turn) else ""
        if text and is_new(text, (one.text for one in early)):
            early.append(_point(text, turn))
        if len(early) == EARLY_PROMPTS:
            break
    if not early:
        return []
    telling = max(enumerate(early), key=lambda one: _telling(one[1].text) * LATER ** one[0])[1]
    return [telling] if telling is early[0] or len(early[0].text) > ENOUGH_CHARACTERS else [early[0], telling]


def _later(request: list[Point], closings: Sequence[Closing], done: Sequence[Point]) -> list[Point]:
    """What the last report answers, if that is something else than what was asked at first."""
    prompt = next((one.prompt for one in reversed(closings) if done and one.turn == done[0].turns[0]), None)
    text = asked_in(prompt.text) if prompt else ""
    if prompt is None or not is_new(text, (one.text for one in request)) or _telling(text) < LEAST_TELLING:
        return []
    if any(prompt.number in one.turns for one in request):
        return []
    return [_point(f"later: {preview(text, LATER_CHARACTERS)}", prompt)]


def _telling(text: str) -> float:
    """How much a prompt says about what is wanted: a question tells less than an order."""
    share = 0.6 if text.rstrip().endswith("?") else 1.0
    return share * min(ENOUGH_WORDS, len(content_words(_MENTION.sub(" ", text))))


def asked_in(prompt: str) -> str:
    """What a prompt asks for, in its own words; empty if it only says go on, or is a bare command."""
    text = prompt.strip()
    if _BARE_COMMAND.match(text) or pattern("going on").match(text):
        return ""
    if len(text) > PASTED_CHARACTERS:
        text = _around_pasted(text)
    sentences = _own(text)
    whole = " ".join([*map(ended, sentences[:-1]), *sentences[-1:]]) if sentences else _short_line(text)
    if len(whole) > REQUEST_CHARACTERS:
        whole = _core(sentences)
    return whole if any(map(str.isalpha, _MENTION.sub("", whole))) else ""


def _short_line(text: str) -> str:
    """A prompt of a few words, which are no sentence but the user's; empty for anything longer."""
    return text if len(text) <= SHORT_PROMPT and "\n" not in text and not _QUOTING.search(text) else ""


def _own(text: str) -> list[str]:
    """The sentences of the user, with short code in them and without quotations."""
    return [_LONG_CODE.sub(" ", unquoted(one)) for one in own_statements(text)]


def _core(sentences: Sequence[str]) -> str:
    """Of a long prompt the sentence that asks for most, behind its first one where both fit."""

    def asked(sentence: str) -> float:
        return _telling(sentence) * (2.0 if orders(sentence) or IMPERATIVE.match(sentence) else 1.0)

    early = list(enumerate(sentences[:SENTENCES_READ]))
    place, best = max(early, key=lambda one: asked(one[1]) * 0.95 ** one[0])
    both = f"{sentences[0]} {best}"
    return best if place == 0 or len(both) > REQUEST_CHARACTERS else both


def _around_pasted(text: str) -> str:
    """The short paragraphs of the user before and after a pasted text."""
    paragraphs = [one.strip() for one in text.split("\n\n") if one.strip()]
    ends = [one for one in dict.fromkeys((paragraphs[0], paragraphs[-1])) if len(one) <= SHORT_PARAGRAPH]
    return "\n\n".join(end for end in ends if own_words(end))


# --- what came of it
def _done(closings: Sequence[Closing], foreign: str) -> Iterator[Point]:
    """The last report, the one of most worth, the agent's last words, and further reports.

    A report is worth more the later it stands, and nothing if the user denied it at once. foreign: see
    `Closing.summary`.
    """
    reports = [one for one in closings if one.is_report and (one.last or not one.disputed)]
    places = {one.turn: place / len(closings) for place, one in enumerate(closings, 1)}
    best = sorted(reports, key=lambda one: -one.worth * (EARLY + (1 - EARLY) * places[one.turn]))
    said: list[str] = []
    for one in (*reports[-1:], *best[:1], *closings[-1:], *best[1:MOST_REPORTS]):
        text = one.summary(SUMMARY_CHARACTERS, foreign)
        if text and is_new(text, said):
            said.append(text)
            yield Point(text=text, turns=(one.turn,))


def _decisions(spoken: Sequence[Spoken]) -> Iterator[Point]:
    """The user's answers to the agent's questions, plans accepted or sent back, and stated decisions."""
    stated = {turn: one.text for one in statements_of(spoken) if one.type == "decision" for turn in one.turns}
    for turn in spoken:
        if turn.role == "user" and turn.tool == PLAN:
            yield Point(
                text=f"plan sent back: {preview(turn.text, REQUEST_CHARACTERS)}", turns=(turn.number,)
            )
        elif turn.role == "user" and turn.tool:
            yield _point(turn.text, turn)
        elif turn.role == "tool" and turn.tool == PLAN and not turn.failed:
            name = turn.text.removeprefix(f"{PLAN}: ").strip().partition("\n")[0].lstrip("# ")
            yield _point(f"plan accepted: {name}", turn)
        elif turn.role == "user" and (chosen := _chosen(turn.text)):
            yield _point(f"the user: “{chosen}”", turn)
        elif turn.number in stated:
            yield _point(stated[turn.number], turn)


def _chosen(prompt: str) -> str:
    """A short sentence by which the user chooses one thing over another; empty without one."""
    if len(prompt) > PASTED_CHARACTERS:
        return ""
    said = (one for one in _own(prompt) if not asks(one) and not pattern("hollow").match(one))
    found = (one for one in said if (at := pattern("switching").search(one)) and at.start() > 0)
    return next((one for one in found if len(one) <= CHOICE_CHARACTERS), "")


# --- what Lore saw itself
def _state(spoken: Sequence[Spoken]) -> Iterator[Point]:
    """The last check and whether it passed, and the files that were changed."""
    checks = ((turn, line) for turn in reversed(spoken) if (line := _check_line(turn)))
    if found := next(checks, None):
        turn, line = found
        yield Point(text=f"`{preview(line, 60)}` {_outcome_of(turn)}", turns=(turn.number,))
    if files := _files(spoken):
        names = ", ".join(name.rpartition("/")[2] for name, _ in files.most_common(3))
        more = f" and {len(files) - 3} more" if len(files) > 3 else ""
        yield Point(text=f"changed {names}{more}")


def _check_line(turn: Spoken) -> str:
    """The command of a tool call that runs tests or a build."""
    if turn.role != "tool" or not _SHELL.match(turn.tool):
        return ""
    call, _, output = turn.text.partition("\n")
    line = _PLACE.sub("", call.removeprefix(f"{turn.tool}: "))
    return line if _CHECK.search(line) and not _NOT_RUN.search(output) else ""


def _outcome_of(turn: Spoken) -> str:
    output = turn.text.partition("\n")[2]
    if turn.failed or _FAILED.search(output):
        return "failed"
    return "passed" if _PASSED.search(output) else "ran"


def _files(spoken: Sequence[Spoken]) -> Counter[str]:
    """File -> how often it was changed."""
    changed = (turn for turn in spoken if turn.role == "tool" and not turn.failed and _EDIT.match(turn.tool))
    names = (turn.text.partition("\n")[0].removeprefix(f"{turn.tool}: ").strip() for turn in changed)
    return Counter(name for name in names if name and " " not in name)


# --- what is open
def _left(spoken: Sequence[Spoken], closings: Sequence[Closing]) -> Iterator[Point]:
    """A last prompt that nobody has answered, the open todos, and what the last report leaves to be done."""
    for turn, text in (*_unanswered(spoken), *_todos(spoken), *_remaining(closings)):
        yield Point(text=preview(text, REQUEST_CHARACTERS), turns=(turn,))


def _todos(spoken: Sequence[Spoken]) -> list[tuple[int, str]]:
    """The items of the last list of todos that are not done."""
    for turn in reversed(spoken):
        items = _TODO.findall(turn.text) if turn.role == "tool" and _LIST.search(turn.tool) else []
        if items:
            return [(turn.number, text) for mark, text in items if mark in " ~-"]
    return []


def _remaining(closings: Sequence[Closing]) -> list[tuple[int, str]]:
    return [(one.turn, text) for one in closings[-1:] if one.last for text in one.left()]


def _point(text: str, turn: Spoken) -> Point:
    return Point(text=preview(text, REQUEST_CHARACTERS), turns=(turn.number,))


def _unanswered(spoken: Sequence[Spoken]) -> list[tuple[int, str]]:
    last = next((turn for turn in reversed(spoken) if turn.role in ("user", "assistant")), None)
    if last is None or not is_prompt(last) or not (text := asked_in(last.text)):
        return []
    return [(last.number, f"not answered yet: {text}")]
