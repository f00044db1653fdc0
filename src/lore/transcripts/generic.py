"""Generic formats: turns from JSON lines, plain text and Markdown that no supported client wrote.

The id of a turn comes from its text, not from its position: when a changed file is read again, only the turns
that changed are new.
"""

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from lore.errors import Invalid
from lore.patterns import regex
from lore.transcripts import fields
from lore.transcripts.turns import Heading, Role, Turn, TurnOrHeading

LONGEST_LINE = 16 * 1024 * 1024
LONGEST_PROSE = 32 * 1024 * 1024
LONGEST_SECTION = 8_000
"""Characters of one turn in a text without speakers; longer sections are split between paragraphs."""
LEAST_PART, MORE_OF_PART = 2_000, 4_000
"""Characters of a part of a longer section: the minimum, and the mean of what is added to it."""

ROLES: dict[str, Role | None] = {
    **dict.fromkeys("user human me you prompter customer".split(), "user"),
    **dict.fromkeys("assistant ai bot gpt model chatgpt claude gemini copilot agent".split(), "assistant"),
    **dict.fromkeys("tool function observation tool_result".split(), "tool"),
    **dict.fromkeys("system developer".split()),
    "summary": "summary",
}
"""Roles of speakers; None: not conversation. Any other speaker is a user whose name is kept."""

SPEAKER = ("role", "speaker", "from", "author", "sender")
CONTENT = ("content", "text", "value", "message", "body")
SEVERAL = ("messages", "conversations", "conversation", "turns")
TIME = ("timestamp", "created_at", "createdAt", "create_time", "time", "date", "at")

_NAME = (
    r"(?P<name>user|human|me|you|assistant|ai|bot|model|chatgpt|claude|gemini|copilot|system|tool)(?: said)?"
)
_ASIDE = r"(?:[ \t]*\([^()\n]{1,80}\))?"
_STYLES = [
    regex(pattern, re.IGNORECASE)
    for pattern in (
        rf"#{{1,6}}[ \t]+[*_]{{0,3}}{_NAME}{_ASIDE}:?[*_]{{0,3}}{_ASIDE}:?[ \t]*+(?P<rest>)",
        rf"[*_]{{2,3}}{_NAME}{_ASIDE}:?[*_]{{2,3}}{_ASIDE}(?:(?<=:[*_]{{2}})|:|[ \t]*$)[ \t]*+(?P<rest>.*)",
        rf"{_NAME}{_ASIDE}:[ \t]*+(?P<rest>.*)",
    )
]
"""Styles that name a speaker: a heading, bold text, plain text. A document uses one of them."""
_HEADING = regex(r"#{1,6}[ \t]+(?P<title>\S.*)")
_FENCE = regex(r"[ \t]{0,3}(```+|~~~+)")
_FRONT = regex(r"\A---\n(?P<inside>.*?\n)?---[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE = regex(r"^title:(?P<title>.*)$", re.MULTILINE)
_DATE = regex(r"^(?:date|created|created_at):(?P<date>.*)$", re.MULTILINE)


class Line(NamedTuple):
    """A line of a text. bare: it is not part of a block of code."""

    number: int
    text: str
    bare: bool


Block: TypeAlias = tuple[int, Role | None, str]
"""The number of its first line, the speaker's role (None in a text without speakers), and the text."""


def json_lines(stream: BinaryIO, session: str) -> Iterator[TurnOrHeading]:
    """A turn per line, or several in a list; Invalid at the end if no line holds a turn."""
    seen = valid = 0
    ids = _Ids(session)
    for number, line in enumerate(_lines(stream), 1):
        seen += bool(line.strip())
        for record in _records(fields.parse_object(line.removeprefix(b"\xef\xbb\xbf"))):
            role, text = _role_and_text(record)
            valid += bool(role or text)
            if role and text:
                times = (fields.timestamp(record.get(name)) for name in TIME)
                at = next((time for time in times if time is not None), None)
                yield Turn(
                    uuid=ids.next(role, text, at),
                    session=session,
                    role=role,
                    text=text,
                    at=at,
                    tool=fields.text(record.get("name")) if role == "tool" else "",
                    model=fields.text(record.get("model")) if role == "assistant" else "",
                    agent=_agent(record),
                    line=number,
                )
    if seen and not valid:
        raise Invalid(
            f"none of {seen} lines is a turn; right is one JSON object a line, with role and content, "
            "speaker and text, from and value, or author and text"
        )


def prose(stream: BinaryIO, session: str) -> Iterator[TurnOrHeading]:
    """Markdown or text: a turn per speaker if there are any, otherwise a user's turn per section.

    All turns have the date of the front matter, if it gives one.
    """
    data = stream.read(LONGEST_PROSE + 1)
    if len(data) > LONGEST_PROSE:
        raise Invalid(f"the text has over {LONGEST_PROSE:,} bytes; split it")
    if b"\0" in data:
        raise Invalid("this is not text; right is Markdown or plain text in UTF-8")
    text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
    front = _FRONT.match(text)
    inside = front.group("inside") or "" if front else ""
    date = _DATE.search(inside)
    at = fields.timestamp(_unquoted(date.group("date"))) if date else None
    lines = list(_split_lines(text, front.end() if front else 0))
    if title := _title(inside, lines):
        yield Heading(session=session, title=title)
    ids = _Ids(session)
    for line, speaker, block in _dialogue(lines) or _sections(lines):
        role: Role = speaker or "user"
        for part in _parts(block) if speaker is None else [fields.message(block)]:
            if part:
                yield Turn(uuid=ids.next(role, part), session=session, role=role, text=part, at=at, line=line)


def _agent(record: Mapping[str, Any]) -> str:
    """The subagent to or by which this was said, as agents that write such lines mark it."""
    sidechain = "sidechain" if record.get("isSidechain") is True else ""
    return fields.first(record.get("agentId"), record.get("subagent"), sidechain)


class _Ids:
    """Ids for the turns of one file. Equal turns get different ids."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._counts: Counter[str] = Counter()

    def next(self, role: Role, text: str, at: float | None = None) -> str:
        id = fields.digest(self._session, role, fields.excerpt(text), "" if at is None else str(at))
        self._counts[id] += 1
        return fields.digest(id, self._counts[id])


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines; a line over LONGEST_LINE is empty."""
    whole = True
    while line := stream.readline(LONGEST_LINE):
        begins, whole = whole, line.endswith(b"\n") or len(line) < LONGEST_LINE
        if whole:
            yield line if begins else b""


def _records(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The turns of a line: those in a list, the one in `message`, or the line itself."""
    several = next((found for name in SEVERAL if (found := fields.array(record.get(name)))), None)
    if several is not None:
        yield from (fields.mapping(item) for item in several)
    elif isinstance(inside := record.get("message"), dict):
        yield {**record, **inside}
    elif record:
        yield record


def _role_and_text(record: dict[str, Any]) -> tuple[Role | None, str]:
    """The role and the text of a record; no role if it is not conversation."""
    values = (record.get(name) for name in SPEAKER)
    names = (fields.first(value, fields.get(value, "role"), fields.get(value, "name")) for value in values)
    speaker = next(filter(None, names), "").strip()
    text = fields.message(next(filter(None, (_content(record.get(name)) for name in CONTENT)), ""))
    if not speaker or not text:
        return None, ""
    if speaker.lower() in ROLES:
        return ROLES[speaker.lower()], text
    return "user", f"{speaker}: {text}"


def _content(value: object) -> str:
    """Text, or the text of its parts."""
    if isinstance(value, dict):
        return fields.first(value.get("text"), value.get("content"), *fields.array(value.get("parts")))
    return fields.joined(value) or "\n".join(filter(None, map(fields.text, fields.array(value))))


def _split_lines(text: str, start: int) -> Iterator[Line]:
    fence = ""
    for number, line in enumerate(text[start:].split("\n"), 1 + text.count("\n", 0, start)):
        mark = _FENCE.match(line)
        yield Line(number, line, not fence and not mark)
        if mark and not fence:
            fence = mark.group(1)
        elif mark and mark.group(1).startswith(fence):
            fence = ""


def _unquoted(value: str) -> str:
    """A value of the front matter without the quotes around it."""
    value = value.strip(" \t")
    value = value[1:] if value.startswith(("'", '"')) else value
    return value[:-1] if value.endswith(("'", '"')) else value


def _title(front: str, lines: Iterable[Line]) -> str:
    """The title in the front matter, or the first heading unless it names a speaker."""
    if title := _TITLE.search(front):
        return fields.text(_unquoted(title.group("title")))
    headings = (found for line in lines if line.bare and (found := _HEADING.fullmatch(line.text)))
    heading = next(headings, None)
    if not heading or any(style.fullmatch(heading.group()) for style in _STYLES):
        return ""
    return fields.text(heading.group("title")).strip("# \t")


def _dialogue(lines: list[Line]) -> list[Block]:
    """The blocks of the speakers, if a user and an assistant speak, or the text begins with a speaker."""
    beginning = next((line.text for line in lines if line.text.strip()), "")
    for style in _STYLES:
        blocks = _speaker_blocks(lines, style)
        if {"user", "assistant"} <= {role for _, role, _ in blocks} or style.fullmatch(beginning):
            return blocks
    return []


def _block(lines: list[Line], role: Role | None = None) -> Block:
    """These lines as a block that begins at the first line that is not blank."""
    number = next((line.number for line in lines if line.text.strip()), 0)
    return number, role, "\n".join(line.text for line in lines)


def _speaker_blocks(lines: list[Line], style: re.Pattern[str]) -> list[Block]:
    """The text split at its speakers. Text before the first is a user's, unless it is only a title."""
    before = list(itertools.takewhile(lambda line: not (line.bare and style.fullmatch(line.text)), lines))
    if len(before) == len(lines):
        return []
    blocks: list[tuple[int, Role | None, list[str]]] = []
    for number, text, bare in lines[len(before) :]:
        if bare and (speaker := style.fullmatch(text)):
            blocks.append((number, ROLES[speaker.group("name").lower()], [speaker.group("rest")]))
        else:
            blocks[-1][2].append(text)
    has_text = any(line.text.strip() and not _HEADING.fullmatch(line.text) for line in before)
    first = [_block(before, "user")] if has_text else []
    return first + [(number, role, "\n".join(texts)) for number, role, texts in blocks if role]


def _sections(lines: Iterable[Line]) -> Iterator[Block]:
    """From heading to heading; a heading without text belongs to the next section."""
    section: list[Line] = []
    has_text = False
    for line in lines:
        heading = line.bare and _HEADING.fullmatch(line.text)
        if heading and has_text:
            yield _block(section)
            section, has_text = [], False
        section.append(line)
        has_text = has_text or bool(line.text.strip() and not heading)
    yield _block(section)


def _parts(section: str) -> Iterator[str]:
    """A section in parts of limited length.

    The text after a boundary decides where a part ends, not the text before it: text inserted at one place
    does not move all later boundaries.
    """
    section = fields.without_base64(section)
    part = ""
    for separator, piece in _pieces(section) if len(section) > LONGEST_SECTION else [("", section)]:
        full = len(part) + len(separator) + len(piece) > LONGEST_SECTION
        if part and (full or (len(part) >= LEAST_PART and _is_boundary(piece))):
            yield fields.text(part).strip()
            part = ""
        part = f"{part}{separator}{piece}" if part else piece
    yield fields.text(part).strip()


def _pieces(section: str) -> Iterator[tuple[str, str]]:
    """Paragraphs, lines of long paragraphs and pieces of long lines, each after its separator."""
    for paragraph in re.split(r"\n[ \t]*\n", section):
        lines = [paragraph] if len(paragraph) <= LONGEST_SECTION else paragraph.split("\n")
        for place, line in enumerate(lines):
            for start in range(0, max(1, len(line)), LONGEST_SECTION):
                yield "" if start else "\n" if place else "\n\n", line[start : start + LONGEST_SECTION]


def _is_boundary(piece: str) -> bool:
    """Whether a part begins with this piece: fixed by its text, more likely the longer it is."""
    return int(fields.digest(piece)[:8], 16) * MORE_OF_PART < len(piece) << 32
