"""Generic: turns from files that no client of ours wrote, as JSON lines or as plain text and Markdown.

A turn is named after what it says, not after where it stands: of a file that was changed and is read again,
what stayed is known, and only the rest is new.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Literal, TypeAlias

from lore.errors import Invalid
from lore.transcripts import fields, lines, words
from lore.transcripts.base import Heading, Role, Said, Turn

LONGEST_LINE = 16 * 1024 * 1024
LONGEST_PROSE = 32 * 1024 * 1024
LONGEST_SECTION = 8_000
"""Characters of one turn of a text in which nobody speaks; longer sections are parted between paragraphs."""
LEAST_SECTION, MORE_OF_SECTION = 2_000, 4_000
"""Characters of a part of a longer section: so many at least, and about so many more."""

ROLES: dict[str, Role | None] = {
    **dict.fromkeys("user human me you prompter customer".split(), "user"),
    **dict.fromkeys("assistant ai bot gpt model chatgpt claude gemini copilot agent".split(), "assistant"),
    **dict.fromkeys("tool function observation tool_result".split(), "tool"),
    **dict.fromkeys("system developer".split()),
    "summary": "summary",
}
"""Who is who; what the system says is no conversation. Anybody else is a user whose name is kept."""

SPEAKER = ("role", "speaker", "from", "author", "sender")
CONTENT = ("content", "text", "value", "message", "body")
SEVERAL = ("messages", "conversations", "conversation", "turns")
TIME = ("timestamp", "created_at", "createdAt", "create_time", "time", "date", "at")

_NAME = (
    r"(?P<name>user|human|me|you|assistant|ai|bot|model|chatgpt|claude|gemini|copilot|system|tool)(?: said)?"
)
_ASIDE = r"(?:[ \t]*\([^()\n]{1,80}\))?"
_STYLES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"#{{1,6}}[ \t]+[*_]{{0,3}}{_NAME}{_ASIDE}:?[*_]{{0,3}}{_ASIDE}:?[ \t]*+(?P<rest>)",
        rf"[*_]{{2,3}}{_NAME}{_ASIDE}:?[*_]{{2,3}}{_ASIDE}(?:(?<=:[*_]{{2}})|:|[ \t]*$)[ \t]*+(?P<rest>.*)",
        rf"{_NAME}{_ASIDE}:[ \t]*+(?P<rest>.*)",
    )
]
"""How speakers are named: by a heading, in bold, or plainly. A text keeps to one of these."""
_HEADING = re.compile(r"#{1,6}[ \t]+(?P<title>\S.*)")
_FENCE = re.compile(r"[ \t]{0,3}(```+|~~~+)")
_FRONT = re.compile(r"\A---\n(?P<inside>.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = re.compile(r"^title:(?P<title>.*)$", re.MULTILINE)
_DATE = re.compile(r"^(?:date|created|created_at):(?P<date>.*)$", re.MULTILINE)


Line: TypeAlias = tuple[int, str, bool]
"""Its number, its text, and whether it is bare: not part of a block of code."""
Block: TypeAlias = tuple[int, Role | None, str]
"""Where it begins, who says it (None where nobody speaks), and what."""


def which(first: bytes) -> Literal["jsonl", "prose"]:
    """How to read what begins with these bytes."""
    return "jsonl" if first.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{") else "prose"


def jsonl(stream: BinaryIO, session: str) -> Iterator[Said]:
    """A turn per line, or several in a list; Invalid at the end if there were lines and none was a turn."""
    seen = understood = 0
    names = _Names(session)
    for number, line in enumerate(_lines(stream), 1):
        seen += bool(line.strip())
        for record in _records(fields.mapping(fields.loaded(line.removeprefix(b"\xef\xbb\xbf")))):
            role, text = _role_and_text(record)
            understood += bool(role or text)
            if role and text:
                times = (words.moment(record.get(name)) for name in TIME)
                at = next((time for time in times if time is not None), None)
                yield Turn(
                    uuid=names.next(role, text, at),
                    session=session,
                    role=role,
                    text=text,
                    at=at,
                    tool=fields.text(record.get("name")) if role == "tool" else "",
                    model=fields.text(record.get("model")) if role == "assistant" else "",
                    line=number,
                )
    if seen and not understood:
        raise Invalid(
            f"none of {seen} lines is a turn; right is one JSON object a line, with role and content, "
            "speaker and text, from and value, or author and text"
        )


def prose(stream: BinaryIO, session: str) -> Iterator[Said]:
    """Markdown or text: turns where somebody is named as speaking, else a user's turn for each section.

    All are of the date that the front matter gives, if it does.
    """
    data = stream.read(LONGEST_PROSE + 1)
    if len(data) > LONGEST_PROSE:
        raise Invalid(f"the text has over {LONGEST_PROSE:,} bytes; split it")
    if b"\0" in data:
        raise Invalid("this is not text; right is Markdown or plain text in UTF-8")
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT.match(text)
    inside = front.group("inside") or "" if front else ""
    dated = _DATE.search(inside)
    at = words.moment(_unquoted(dated.group("date"))) if dated else None
    written = list(_marked(text, front.end() if front else 0))
    if title := _title(inside, written):
        yield Heading(session=session, title=title)
    names = _Names(session)
    for line, role, block in _dialogue(written) or _sections(written):
        by: Role = role or "user"
        for part in _parted(block) if role is None else [words.spoken(block)]:
            if part:
                yield Turn(uuid=names.next(by, part), session=session, role=by, text=part, at=at, line=line)


class _Names:
    """Names for the turns of one file. Of those that are equal, each has its own."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._given: Counter[str] = Counter()

    def next(self, role: Role, text: str, at: float | None = None) -> str:
        said = words.excerpt(text)
        name = lines.name_of(self._session, role, said, "" if at is None else str(at))
        self._given[name] += 1
        return lines.name_of(name, self._given[name])


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Lines, empty where one is too long to be held."""
    whole = True
    while line := stream.readline(LONGEST_LINE):
        begins, whole = whole, line.endswith(b"\n") or len(line) < LONGEST_LINE
        if whole:
            yield line if begins else b""


def _records(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The turns of a line: those in a list, the one inside of it, or itself."""
    listed = next((found for name in SEVERAL if (found := fields.several(record.get(name)))), None)
    if listed is not None:
        yield from (fields.mapping(entry) for entry in listed)
    elif isinstance(inside := record.get("message"), dict):
        yield {**record, **inside}
    elif record:
        yield record


def _role_and_text(record: dict[str, Any]) -> tuple[Role | None, str]:
    """Who says what; no role of what is not conversation."""
    values = (record.get(name) for name in SPEAKER)
    names = (fields.first((value, *map(fields.mapping(value).get, ("role", "name")))) for value in values)
    speaker = next(filter(None, names), "")
    text = words.spoken(next(filter(None, (_content(record.get(name)) for name in CONTENT)), ""))
    if not speaker or not text:
        return None, ""
    if (known := speaker.strip().lower()) in ROLES:
        return ROLES[known], text
    return "user", f"{speaker.strip()}: {text}"


def _content(value: object) -> str:
    """Text as it is, or in parts."""
    if isinstance(value, dict):
        return fields.first((value.get("text"), value.get("content"), *fields.several(value.get("parts"))))
    return lines.texts_of(value) or "\n".join(filter(None, map(fields.text, fields.several(value))))


def _marked(text: str, start: int) -> Iterator[Line]:
    fence = ""
    for number, line in enumerate(text[start:].split("\n"), 1 + text.count("\n", 0, start)):
        mark = _FENCE.match(line)
        yield number, line, not fence and not mark
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence = ""


def _unquoted(value: str) -> str:
    """A value of a front matter without the quotes around it."""
    value = value.strip(" \t")
    value = value[1:] if value.startswith(("'", '"')) else value
    return value[:-1] if value.endswith(("'", '"')) else value


def _title(front: str, written: Iterable[Line]) -> str:
    """The title of a text: told at its front, or its first heading unless that names a speaker."""
    if told := _TITLE.search(front):
        return fields.text(_unquoted(told.group("title")))
    headings = (found for _, line, bare in written if bare and (found := _HEADING.fullmatch(line)))
    heading = next(headings, None)
    if not heading or any(style.fullmatch(heading.group()) for style in _STYLES):
        return ""
    return fields.text(heading.group("title")).strip("# \t")


def _dialogue(written: list[Line]) -> list[Block]:
    """What each one says, if a user and an assistant both speak, or the text begins with a speaker."""
    begins = next((line for _, line, _ in written if line.strip()), "")
    for style in _STYLES:
        said = _spoken(written, style)
        if {"user", "assistant"} <= {role for _, role, _ in said} or style.fullmatch(begins):
            return said
    return []


def _first(written: Iterable[Line]) -> int:
    return next((number for number, line, _ in written if line.strip()), 0)


def _spoken(written: list[Line], style: re.Pattern[str]) -> list[Block]:
    """The text parted at its speakers; what comes before them is a user's, if it is more than a title."""
    blocks: list[tuple[int, Role | None, list[str]]] = []
    before = list(itertools.takewhile(lambda line: not (line[2] and style.fullmatch(line[1])), written))
    if len(before) == len(written):
        return []
    if any(line.strip() and not _HEADING.fullmatch(line) for _, line, _ in before):
        blocks.append((_first(before), "user", [line for _, line, _ in before]))
    for number, line, bare in written[len(before) :]:
        if bare and (speaker := style.fullmatch(line)):
            blocks.append((number, ROLES[speaker.group("name").lower()], [speaker.group("rest")]))
        else:
            blocks[-1][2].append(line)
    return [(number, role, "\n".join(said)) for number, role, said in blocks if role]


def _sections(written: Iterable[Line]) -> Iterator[Block]:
    """From heading to heading; a heading with nothing under it goes with the next."""
    section: list[Line] = []
    filled = False
    for number, line, bare in written:
        heading = bare and _HEADING.fullmatch(line)
        if heading and filled:
            yield _first(section), None, "\n".join(line for _, line, _ in section)
            section, filled = [], False
        section.append((number, line, bare))
        filled = filled or bool(line.strip() and not heading)
    yield _first(section), None, "\n".join(line for _, line, _ in section)


def _parted(section: str) -> Iterator[str]:
    """A section in parts that are not too long.

    Where a part ends is told by what comes next, not by what came before: words that are put in at one place
    do not move the ends of all parts behind it.
    """
    section = words.without_data(section)
    part = ""
    for between, piece in _pieces(section) if len(section) > LONGEST_SECTION else [("", section)]:
        full = len(part) + len(between) + len(piece) > LONGEST_SECTION
        if part and (full or (len(part) >= LEAST_SECTION and _begins_a_part(piece))):
            yield fields.text(part).strip()
            part = ""
        part = f"{part}{between}{piece}" if part else piece
    yield fields.text(part).strip()


def _pieces(section: str) -> Iterator[tuple[str, str]]:
    """Paragraphs, the lines of those that are too long, and pieces of such lines; what stands before each."""
    for paragraph in re.split(r"\n[ \t]*\n", section):
        rows = [paragraph] if len(paragraph) <= LONGEST_SECTION else paragraph.split("\n")
        for place, row in enumerate(rows):
            for start in range(0, max(1, len(row)), LONGEST_SECTION):
                yield "" if start else "\n" if place else "\n\n", row[start : start + LONGEST_SECTION]


def _begins_a_part(piece: str) -> bool:
    """Always the same of the same words; the longer they are, the likelier."""
    return int(lines.name_of(piece)[:8], 16) * MORE_OF_SECTION < len(piece) << 32
