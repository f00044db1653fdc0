"""Own: the sentences of a turn in the user's own words: not pasted, quoted or meant for others."""

import re

from lore.distil.phrases import alternatives, pattern
from lore.distil.sentences import sentences_of
from lore.patterns import regex

LONGEST_TEXT = 10_000
"""Characters: a longer turn is pasted."""
LONG_TURN, LONGEST_PARAGRAPH = 1_500, 500
"""Characters: of a longer turn only the first and the last paragraph count, if they are short."""

_TAG = regex(r"<(?P<name>[a-z][\w-]{0,60}+)[^<>\n]{0,500}+>", re.IGNORECASE)
_FENCED = regex(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_FOR_OTHERS = regex(
    r"^[ \t*#>-]*(?:(?:now,?|please|from now on,?) )*"
    + alternatives("for others")
    + r"(?!\w)|^#+ ?(?:role|task|instructions|objective|context)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A prompt or a template: its rules are for the model that answers it."""
_BY_CLIENT = regex(
    r"^\s*(?:\[(?:request interrupted|image)|caveat:|this session is being continued|/\w+(?!\S*/)"
    r"|base directory for this skill)",
    re.IGNORECASE,
)
"""A turn that the user's program wrote."""
_LABEL = regex(r"^[ \t]*[\"'*_\[]*[A-Z][^\s:`]*+(?: [^\s:`]++){0,3}+:(?:\s|$)")
_STATED = pattern("stated")
"""A label before a statement of the user."""
_ANNOUNCED = regex(
    r"^[^\n]{0,200}\b(?:says?|said|reads?|wrote|writes|answered|replied|page|readme|docs?|article|e?mail|message"
    r"|reviews?|reviewer|feedback|findings?|suggest(?:s|ed)|report(?:s|ed)?|according to|transcript|prompt"
    r"|codex|copilot|gemini|coderabbit|chatgpt|claude|spec|summary"
    r"|ticket|issue|comment|post|paste[ds]?|output|log|logs|error|response|below|schreibt|sagt|steht|antwort"
    r"|ausgabe|seite|nachricht|dit|écrit|sortie|dice|escribe|salida|mensaje|disse|mensagem|scrive|pagina"
    r"|пишет|ответ|вывод)\b[^\n:]{0,60}:[ \t]*\n"
    r"|^[^\n]{0,200}(?:以下|如下|次の|下記)[^\n]{0,40}[:：][ \t]*\n",
    re.IGNORECASE | re.MULTILINE,
)
"""A line after which somebody else speaks."""
_SEVERITY = (
    r"(?:\[?P[0-4]\]?|\[?(?:critical|high|medium|low|major|minor|nit(?:pick)?|blocker|suggestion|issue|finding"
    r"|severity|impact|recommendation)\]?)"
)
_PASTED = regex(
    r"^#{1,6} \S|^(?:diff --git |@@ |Index: |commit [0-9a-f]{7,}|traceback\b)"
    rf"|^[ \t]*(?:(?:[-*+]|\d{{1,3}}[.)])[ \t]+)?(?:\*\*|{_SEVERITY}(?=\s*[:\]—–-]|\s+\*\*))"
    r"|^[ \t]*[•●○⏺⎿│┃├└╭╰✓✔✅❌⚠🔴🟠🟡🟢]"
    r"|^[^\n]{0,300}(?:\w\.\w{1,4}(?::\d|#L\d)|\w\.\w{1,4}`?,? (?:at |on |in )?lines? \d)",
    re.IGNORECASE | re.MULTILINE,
)
"""A line by which a document, a change of files, a review or the screen of an agent begins."""
_ANSWERED = regex(r"^[^\n]{1,2000}? → ", re.MULTILINE)
"""The question of an agent before the user's answer."""
_QUOTED = regex(
    r"\"[^\"\n]{12,400}\"|“[^”\n]{12,400}”|„[^“”\n]{12,400}[“”]|«[^»\n]{12,400}»|「[^」\n]{6,400}」"
)
"""A quotation inside a sentence; a short one is a name."""
_CODE = regex(r"`[^`\n]{1,200}`")
_MACHINE = regex(
    r"\b(?:error|exception|warning|traceback|failed)\s*:|\bat \S+:\d+|[{};]\s*$|(?:\w=\S+\s*){3}|^\s*[\[{\"]"
    r"|^\s*[+-]{3} \S|\w\.\w{1,4}:\d+|</|^\s*<\w",
    re.IGNORECASE,
)
"""A line of output, of a log or of code."""


def own_words(text: str) -> list[str]:
    """The statements of the user without the quotations and the code in them."""
    return [_CODE.sub(" ", unquoted(one)) for one in own_statements(text)]


def own_statements(text: str) -> list[str]:
    """The sentences that the user wrote for the agent, as far as no document and no words of somebody else
    begin before them."""
    foreign = (found.start() for found in (_ANNOUNCED.search(text), _PASTED.search(text)) if found)
    return own_sentences(_ANSWERED.sub("", text[: min(foreign, default=len(text))]))


def unquoted(sentence: str) -> str:
    """A sentence without the quotations in it."""
    return _QUOTED.sub(" ", sentence)


def own_heading(text: str) -> str:
    """What the user wrote, with quotations inside sentences; empty if all of it is somebody else's."""
    return " ".join(own_statements(text))


def own_sentences(text: str) -> list[str]:
    """The sentences that the user wrote for the agent; none of a prompt for another model."""
    if len(text) > LONGEST_TEXT or _BY_CLIENT.match(text) or _FOR_OTHERS.search(text):
        return []
    untagged = _untagged(text) if "</" in text else text
    lines = (line for line in _ends(_FENCED.sub("\n", untagged)).splitlines() if not _foreign(line))
    return [sentence for sentence in sentences_of("\n".join(lines)) if not _in_quotes(sentence)]


def _untagged(text: str) -> str:
    """Without the elements of markup; one that is not closed stays."""
    lower = text.lower()
    kept: list[str] = []
    unclosed: set[str] = set()
    end = 0
    for tag in _TAG.finditer(text):
        name = tag["name"].lower()
        if tag.start() < end or name in unclosed:
            continue
        closing = lower.find(f"</{name}", tag.end())
        if closing < 0:
            unclosed.add(name)
            continue
        kept += [text[end : tag.start()], "\n"]
        end = (lower.find(">", closing) + 1) or len(text)
    return "".join([*kept, text[end:]])


def _ends(text: str) -> str:
    """The text; the first and the last paragraph of a long one."""
    if len(text) <= LONG_TURN:
        return text
    parts = [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]
    ends = dict.fromkeys((parts[0], parts[-1])) if parts else {}
    return "\n\n".join(part for part in ends if len(part) <= LONGEST_PARAGRAPH)


def _foreign(line: str) -> bool:
    """Whether it is a line of a dialogue, of a form or of a program."""
    return bool(_MACHINE.search(line) or (_LABEL.match(line) and not _STATED.match(line)))


def _in_quotes(sentence: str) -> bool:
    """Whether a quotation begins or ends here, or is all of it."""
    opened = sentence.count('"') % 2 or sentence.count("“") != sentence.count("”")
    return bool(opened) or sentence[0] in "\"“«„‘'"
