"""Own: the sentences of a turn that are the user's own words, and not pasted, quoted or meant for others."""

import re

from lore.distil.phrases import alternatives, beginning
from lore.distil.sentences import is_document, sentences_of

LONGEST_TEXT = 10_000
"""Characters: a longer turn is pasted."""
LONG_TURN, LONGEST_PARAGRAPH = 1_500, 500
"""Characters: of a longer turn only the first and the last paragraph count, if they are short."""
LONGEST_QUOTE = 60
"""Characters of a quotation within a sentence."""

_TAG = re.compile(r"<(?P<name>[a-z][\w-]{0,60}+)[^<>\n]{0,500}+>", re.IGNORECASE)
_FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1|\Z)", re.DOTALL | re.MULTILINE)
_LONG_QUOTE = re.compile(
    rf"\"[^\"\n]{{{LONGEST_QUOTE},}}+\"|“[^“”\n]{{{LONGEST_QUOTE},}}+”|«[^«»\n]{{{LONGEST_QUOTE},}}+»"
)
_REMOVED = "\x1a"
_FOR_OTHERS = re.compile(
    r"^[ \t*#>-]*(?:(?:now,?|please|from now on,?) )*"
    + alternatives("""
        you are (?:an?|the|my|now) | you will (?:act|be|follow) | act as
        i want you to (?:act|be|become|play) | pretend | imagine | role play | roleplay | output:
        your (?:task|role|job|goal|mission) (?:is|will)
        ask (?:a|the) (?:user|customer|client) | (?:system )?prompt:
    """)
    + r"(?!\w)|^#+ ?(?:role|task|instructions|objective|context)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""A prompt or a template: its rules are for whoever answers to it."""
_MAIL = re.compile(
    r"^[ \t*>]*(?:(?:subject|betreff|objet|asunto|oggetto|from|to|cc):|(?:dear|sehr geehrte[rs]?|estimad[oa]"
    r"|gentile) \w+|(?:(?:best|kind|warm) (?:regards|wishes)|regards|sincerely|yours|mit freundlichen grüßen"
    r"|cordialement|saludos|cordiali saluti|atenciosamente)\b.{0,20}$)",
    re.IGNORECASE | re.MULTILINE,
)
_BY_CLIENT = re.compile(
    r"^\s*(?:\[(?:request interrupted|image)|caveat:|this session is being continued|/\w+(?!\S*/)"
    r"|base directory for this skill)",
    re.IGNORECASE,
)
"""A turn that the user's program wrote."""
_LABEL = re.compile(r"^[ \t]*[\"'*_\[]*[A-Z][^\s:`]*+(?: [^\s:`]++){0,3}+:(?:\s|$)")
_STATED = beginning("""
    note | important | remember | reminder | fyi | rule | btw | ps | update | correction
    (?:tech )?stack | languages? | database | framework | backend | frontend | hosting""")
"""A label before a statement of the user."""
_MACHINE = re.compile(
    r"\b(?:error|exception|warning|traceback|failed)\s*:|\bat \S+:\d+|[{};]\s*$|(?:\w=\S+\s*){3}|^\s*[\[{\"]"
    r"|^\s*[+-]{3} \S|\w\.\w{1,4}:\d+|</|^\s*<\w",
    re.IGNORECASE,
)
"""A line of output, of a log or of code."""


def own_sentences(text: str) -> list[str]:
    """The sentences that the user wrote for the agent; none of a pasted page, a mail or a prompt."""
    if len(text) > LONGEST_TEXT or _BY_CLIENT.match(text):
        return []
    if _FOR_OTHERS.search(text) or _MAIL.search(text) or is_document(text):
        return []
    untagged = _untagged(text) if "</" in text else text
    plain = _ends(_FENCED.sub("\n", untagged))
    lines = (line for line in plain.splitlines() if not _foreign(line))
    marked = _LONG_QUOTE.sub(_REMOVED, "\n".join(lines))
    return [one for one in sentences_of(marked) if _REMOVED not in one and not _in_quotes(one)]


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
