"""Import formats: exports of Claude.ai and ChatGPT, zipped or not, JSON lines, and plain text.

An export is one long JSON array. It is parsed one conversation at a time, so that no more is held in memory.
"""

import codecs
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, Literal, TypeAlias, get_args

from lore.errors import Invalid
from lore.patterns import regex
from lore.transcripts import chat_exports, fields, generic
from lore.transcripts.turns import TurnOrHeading

Export: TypeAlias = Literal["claude-ai", "chatgpt"]
Format: TypeAlias = Literal[Export, "jsonl", "text"]
FORMATS: tuple[Format, ...] = get_args(Format)
NAME = "import"
"""The source of turns that no supported client wrote."""
SOURCES: tuple[str, ...] = (NAME, *get_args(Export))
"""The sources of imported turns."""

READERS = {"claude-ai": chat_exports.claude_ai, "chatgpt": chat_exports.chatgpt}
FIELDS: dict[bytes, Export] = {
    b"chat_messages": "claude-ai",
    b"mapping": "chatgpt",
    b"current_node": "chatgpt",
}
"""Fields that identify an export. A text cannot contain them: its quotes are escaped."""
EXPECTED = "right is the zip or the conversations.json of an export of Claude.ai or ChatGPT"

CHUNK_BYTES = 65_536
LONGEST = 256 * 1024 * 1024
"""Characters of one conversation that are held in memory."""
ZIP = b"PK\x03\x04"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MEMBER = regex(r"(?:.*/)?conversations(-\d+)?\.json")
_ARRAY = regex(rb"\s*\[\s*\{")
_EMPTY = regex(rb"\s*\[\s*\]\s*")
_FIELD = regex(rb'"(' + b"|".join(FIELDS) + rb')"\s*:')
_BROKEN_ZIP = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, RuntimeError, ValueError,
    OverflowError,
)  # fmt: skip
"""Exceptions of `zipfile` for a damaged, encrypted or unusual zip."""
_DECODER = json.JSONDecoder(strict=False)
_LONGEST_WORD = 16
"""An error this many characters before the end, or nearer to it, may come from missing characters."""


def format_of(file: BinaryIO) -> Format | None:
    """The format of a file, which is rewound; None for an export without conversations."""
    beginning = file.read(CHUNK_BYTES)
    file.seek(0)
    if beginning.startswith(ZIP) or _ARRAY.match(_unmarked(beginning)) or _is_empty(beginning):
        export = next((export_of(first) for first, _ in _arrays(file)), None)
        file.seek(0)
        return export
    return "jsonl" if _unmarked(beginning).lstrip().startswith(b"{") else "text"


def export_of(beginning: bytes) -> Export:
    """The kind of an export that begins with these bytes."""
    if found := _FIELD.search(beginning):
        return FIELDS[found.group(1)]
    raise Invalid(f"no conversations can be recognised in this; {EXPECTED}")


def source_of(format: Format) -> str:
    """The source of turns that are imported from this format."""
    return NAME if format in ("jsonl", "text") else format


def entries(file: BinaryIO, format: Format, name: str, session: str = "") -> Iterator[TurnOrHeading]:
    """The entries of a file. Exports name their sessions; otherwise it is `session`, or the file's name."""
    if format == "jsonl":
        return generic.json_lines(file, session or fields.text(name))
    if format == "text":
        return generic.prose(file, session or fields.text(name))
    if session:
        raise Invalid(f"an export names its own sessions, it cannot be {session!r}; leave the name out")
    return export_entries(file, format)


def export_entries(file: BinaryIO, export: Export) -> Iterator[TurnOrHeading]:
    """The entries of an export, zipped or not."""
    for first, rest in _arrays(file):
        for conversation in objects(chain([first], rest)):
            yield from READERS[export](conversation)


def _arrays(file: BinaryIO) -> Iterator[tuple[bytes, Iterator[bytes]]]:
    """The first chunk and the other chunks of each array of conversations that is not empty."""
    chunks = _chunks(file)
    first = next(chunks, b"")
    if not first.startswith(ZIP):
        if not _is_empty(first):
            yield first, chunks
        return
    try:
        archive = zipfile.ZipFile(file)
    except _BROKEN_ZIP as error:
        raise Invalid(f"the zip cannot be opened ({error}); {EXPECTED}") from None
    with archive:
        for name in _members(archive):
            chunks = _unzipped(archive, name)
            first = next(chunks, b"")
            if not _is_empty(first):
                yield first, chunks


def _members(archive: zipfile.ZipFile) -> list[str]:
    """The numbered parts of the conversations, or the one file that holds them."""
    found = {name: match for name in archive.namelist() if (match := MEMBER.fullmatch(name))}
    if not found:
        raise Invalid(f"the zip holds no conversations.json; {EXPECTED}")
    return sorted(name for name, match in found.items() if match.group(1)) or sorted(found)


def _unzipped(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    try:
        with archive.open(name) as member:
            yield from _chunks(member)
    except _BROKEN_ZIP as error:
        raise Invalid(f"{name} cannot be read from the zip ({error}); download the export again") from None


def _chunks(file: Any) -> Iterator[bytes]:
    return iter(lambda: file.read(CHUNK_BYTES), b"")


def _unmarked(beginning: bytes) -> bytes:
    return beginning.removeprefix(BYTE_ORDER_MARK)


def _is_empty(beginning: bytes) -> bool:
    return bool(_EMPTY.fullmatch(_unmarked(beginning)))


def objects(chunks: Iterable[bytes], longest: int = LONGEST) -> Iterator[dict[str, Any]]:
    """The objects of a JSON array, one at a time; other values are skipped.

    Invalid if it is not an array or breaks off; the objects before the break come first.
    """
    text = _ArrayText(chunks, longest)
    if text.next() != "[":
        raise Invalid("this is not a JSON array; right is an array of conversations: [{…}, {…}]")
    text.at += 1
    count = 0
    while (following := text.next()) != "]":
        if not following:
            raise Invalid(f"the array ends after {count} conversations without a ]; export it again")
        value = text.value(count)
        if isinstance(value, dict):
            count += 1
            yield value


class _ArrayText:
    """The text of an array that has been read but not parsed."""

    def __init__(self, chunks: Iterable[bytes], longest: int) -> None:
        decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self.rest = (decoder.decode(chunk) for chunk in chunks)
        self.longest = longest
        self.text = ""
        self.at = 0

    def more(self) -> bool:
        """Double the unparsed text, so that a long object is parsed a few times only; False at the end."""
        unparsed = [self.text[self.at :]]
        size = before = len(unparsed[0])
        for chunk in self.rest:
            unparsed.append(chunk)
            size += len(chunk)
            if size > 2 * before:
                break
        self.text, self.at = "".join(unparsed), 0
        return size > before

    def next(self) -> str:
        """The first character of the next value, or the closing bracket; empty at the end."""
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in " \t\r\n,":
                    return self.text[self.at]
                self.at += 1
            if not self.more():
                return ""

    def value(self, count: int) -> Any:
        """The next value; `count` objects came before it."""
        while True:
            try:
                value, self.at = _DECODER.raw_decode(self.text, self.at)
                return value
            except json.JSONDecodeError as error:
                at_end = error.pos >= len(self.text) - _LONGEST_WORD
                problem, incomplete = error.msg, at_end or error.msg.startswith("Unterminated string")
            except (ValueError, RecursionError) as error:
                problem, incomplete = str(error), False
            if incomplete and len(self.text) - self.at > self.longest:
                problem, incomplete = f"it has over {self.longest:,} characters", False
            if not incomplete or not self.more():
                raise Invalid(f"conversation {count + 1} cannot be read: {problem}; export it again")
