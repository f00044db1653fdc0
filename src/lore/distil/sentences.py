"""Sentences: prose out of Markdown, one statement at a time, without what is said out of politeness."""

import re
from collections.abc import Iterator

from lore.distil.phrases import alternatives
from lore.patterns import regex
from lore.wordlists import word_lists

LONGEST_TEXT = 40_000
"""Characters of one text that are read."""
LONGEST, SHORTEST = 320, 10
FEWEST_WORDS = 3
WIDE = 0x2E7F
"""Characters beyond this are as good as half a word."""
MOST_ITEMS, LONGEST_LIST = 5, 240
SHORT_LINE = 60
"""Characters: a line that was wrapped is longer."""

_FENCE = regex(r"^[ \t]*(`{3,}|~{3,})")
_HEADING = regex(r"^#{1,6}\s+(.*)$")
_ITEM = regex(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?(.*)$")
_CODE = regex(r"`[^`\n]+`")
_LINK = regex(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]{0,500}\)")
_MARKS = regex(r"(\*\*|__|~~)(?=\S)|(?<=\S)(\*\*|__|~~)|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
_TAG = regex(
    r"</?(?:a|b|i|p|br|hr|em|li|ul|ol|td|tr|th|div|img|sub|sup|kbd|pre|code|span|table|strong|details|summary)"
    r"(?:\s[^<>\n]{0,200})?/?>",
    re.IGNORECASE,
)
_WIDE_END = regex(r"(?<=[。！？])")
_END = regex(r"(?<=[.!?…])[\"')\]»”’*]*\s+")
_LAST_WORD = regex(r"(\S+)$")
_ABBREVIATIONS = word_lists("lore.distil", "words.txt")["abbreviations"]
_DAY = regex(r"^\(?\d{1,2}\.$")
_MONTH = regex(r"(?:jan|feb|mär|mar|apr|mai|may|jun|jul|aug|sep|okt|oct|nov|dez|dec)[a-zäé]*", re.IGNORECASE)
_POLITE = regex(
    rf"^(?:{alternatives('polite')}"
    r"(?:\s*[!,.;:…–—-]+\s*|\s+(?=(?:let['’]?s|i|we|we['’]ll|so|there|the|it|that['’]?s|never|always"
    r"|please|don['’]?t|lass|wir)\s)))+",
    re.IGNORECASE,
)
_PASTED = regex(r"❯|^\s*\d+ \||^\s*[$>%] \S|^\s*at \S+ \(")
"""A line of a terminal, a listing or a stack trace."""
_FRAGMENT = regex(r":[*_\s]*$|:;|^(?:_|[^\w`\"'“„«¿¡/~$.@*])")
"""The header of a list, lists in one another, and lines that begin with a mark: no statements."""


def sentences_of(text: str) -> list[str]:
    """The sentences of a text in order, each once, as far as they could say something."""
    found = (cleaned(one) for block in _blocks(text[:LONGEST_TEXT]) for one in _parted(block))
    return list(dict.fromkeys(one for one in found if one))


def cleaned(sentence: str) -> str:
    """Without the polite words at its beginning; empty if nothing or not one statement is left."""
    sentence = " ".join(sentence.split())
    rest = _POLITE.sub("", sentence)
    wide = 0 if rest.isascii() else sum(ord(character) > WIDE for character in rest)
    if _FRAGMENT.search(rest) or not SHORTEST - wide <= len(rest) <= LONGEST:
        return ""
    if len(rest.split()) < FEWEST_WORDS and rest.isascii():
        return ""
    return rest[0].upper() + rest[1:] if rest != sentence else rest


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs, list items and short lists with the words that introduce them; no code, no tables."""
    paragraph: list[str] = []
    items: list[str] = []
    after_gap = False
    for line in [*_prose(text), ""]:
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if item and item.group(1):
            items.append(item.group(1))
            continue
        if items and line.startswith((" ", "\t")) and line.strip():
            items[-1] = f"{items[-1]} {line.strip()}"
            continue
        if not line.strip() and paragraph and paragraph[-1].endswith(":") and not items:
            after_gap = True  # a list may follow its introduction after an empty line
            continue
        introduced = after_gap and bool(line.strip())
        after_gap = False
        if items or not line.strip() or heading or introduced or _stands_alone(paragraph, line):
            yield from _introduced(" ".join(paragraph), items)
            paragraph, items = [], []
        if line.strip() and not heading:
            paragraph.append(line.strip())
    yield from _introduced(" ".join(paragraph), items)


def _stands_alone(paragraph: list[str], line: str) -> bool:
    """Whether a line begins anew: the one before is short and has no end, as in a menu or under a heading."""
    before = paragraph[-1] if paragraph else ""
    return 0 < len(before) < SHORT_LINE and before[-1] not in ".,;:!?" and line.strip()[:1].isupper()


def _prose(text: str) -> Iterator[str]:
    """The lines outside of fenced code, tables and quotes, without marks of emphasis."""
    fence = ""
    for line in text.splitlines():
        if found := _FENCE.match(line):
            mark = found.group(1)
            if not fence:
                fence = mark
                yield ""
            elif mark.startswith(fence):
                fence = ""
            continue
        if (
            fence
            or _PASTED.search(line)
            or line.lstrip().startswith((">", "|"))
            or (line.startswith(("    ", "\t")) and not _ITEM.match(line))
        ):
            continue
        yield _unmarked(line)


def _unmarked(line: str) -> str:
    kept: list[str] = []
    end = 0
    for code in _CODE.finditer(line):
        kept += [_plain(line[end : code.start()]), code.group()]
        end = code.end()
    return "".join([*kept, _plain(line[end:])])


def _plain(text: str) -> str:
    return _MARKS.sub("", _TAG.sub(" ", _LINK.sub(r"\1", text)))


def _introduced(paragraph: str, items: list[str]) -> Iterator[str]:
    """A short list is one statement with its introduction, a long one is a statement per item."""
    together = "; ".join(item.rstrip(" .;") for item in items)
    if paragraph.endswith(":") and items and len(items) <= MOST_ITEMS and len(together) <= LONGEST_LIST:
        yield f"{paragraph} {together}."
        return
    if paragraph:
        yield paragraph
    yield from items


def _parted(block: str) -> Iterator[str]:
    """A block at its full stops; those of abbreviations, days and inline code end nothing."""
    codes = _CODE.findall(block)
    masked = _CODE.sub("\0", block.replace("\0", ""))
    waiting = iter(codes)
    for part in _split(masked):
        yield re.sub("\0", lambda _: next(waiting), part)


def _split(text: str) -> Iterator[str]:
    begin = 0
    for end in _END.finditer(text):
        word = _LAST_WORD.search(text, max(begin, end.start() - 24), end.start())
        quoted = end.group().strip() and text[end.end() : end.end() + 1].islower()
        if quoted or (word and _goes_on(word.group(1), text[end.end() : end.end() + 12])):
            continue
        yield from _WIDE_END.split(text[begin : end.end()])
        begin = end.end()
    yield from _WIDE_END.split(text[begin:])


def _goes_on(word: str, following: str) -> bool:
    """Whether a full stop belongs to the word before it."""
    if word.lower().lstrip("(\"'") in _ABBREVIATIONS or re.fullmatch(r"\(?[A-Za-z]\.", word):
        return True
    return bool(_DAY.match(word) and _MONTH.match(following))
