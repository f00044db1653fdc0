"""imports: files that people hand over. What they are is said, or seen by how they begin."""

import re
from collections.abc import Iterator
from typing import BinaryIO, Literal, TypeAlias, get_args

from lore.errors import Invalid
from lore.transcripts import exports, fields, generic
from lore.transcripts.base import Said

Format: TypeAlias = Literal[exports.Export, "jsonl", "text"]
FORMATS: tuple[Format, ...] = get_args(Format)
NAME = "import"
"""The source of turns that no client of ours wrote down."""
SOURCES: tuple[str, ...] = (NAME, *get_args(exports.Export))
"""The sources of imported turns."""

PROBE_BYTES = 65_536
_MARK = b"\xef\xbb\xbf"
_ARRAY = re.compile(rb"\[\s*\{")


def format_of(file: BinaryIO) -> Format | None:
    """What is in a file, which is at its beginning again afterwards; None: an export of no conversations."""
    first = file.read(PROBE_BYTES)
    file.seek(0)
    told = first.removeprefix(_MARK).strip()
    if first.startswith(exports.ZIP) or _ARRAY.match(told) or exports.EMPTY.fullmatch(told):
        export = exports.whose(file)
        file.seek(0)
        return export
    return "jsonl" if generic.which(first) == "jsonl" else "text"


def source_of(format: Format) -> str:
    """Whose turns they are."""
    return NAME if format in ("jsonl", "text") else format


def said_in(file: BinaryIO, format: Format, name: str, session: str = "") -> Iterator[Said]:
    """What a file of this name says. An export names its sessions; else it is `session`, or the name."""
    if format == "jsonl":
        return generic.jsonl(file, session or fields.text(name))
    if format == "text":
        return generic.prose(file, session or fields.text(name))
    if session:
        raise Invalid(f"an export names its own sessions, it cannot be {session!r}; leave the name out")
    return exports.opened(file, format)
