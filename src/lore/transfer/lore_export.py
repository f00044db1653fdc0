"""Lore's own export, read: checked to its end, and as items. `export_lines` describes the format."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from lore.errors import Invalid, LoreError, Unavailable
from lore.model import Link, Memory
from lore.store.values import Suggestion
from lore.transfer.export_lines import FORMAT, FORMAT_VERSION, STORE_ONLY, Summary
from lore.transfer.items import Digested, Item, Kept, Passed, Unreadable
from lore.transfer.streams import reading
from lore.version import VERSION

LONGEST_LINE = 256 << 20
ADAPTERS: dict[str, TypeAdapter[Any]] = {
    "memory": TypeAdapter(Memory),
    "link": TypeAdapter(Link),
    "suggestion": TypeAdapter(Suggestion),
    "digested": TypeAdapter(Digested),
}


def is_export(beginning: bytes) -> bool:
    """Whether a file that begins like this is an export of Lore."""
    first = beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:200]
    return first.startswith(b"{") and f'"format":"{FORMAT}"'.encode() in first.replace(b'": "', b'":"')


def verify(path: Path) -> Summary:
    """Read an export to its end; Invalid says what is wrong with it and in which line."""
    checksum, size, number, last = sha256(), 0, 0, b""
    with reading(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            if number == 1:
                check_header(line, path)
            checksum.update(last)
            size, last = size + len(last), line
    end = _parsed(last).get("end") if last.startswith(b'{"end"') else None
    if not isinstance(end, dict):
        raise Invalid(f"{path} is cut: it ends in line {number} without the last line of an export")
    if end.get("sha256") != checksum.hexdigest():
        raise Invalid(f"{path} was altered: its lines do not give the checksum in line {number}")
    return Summary(end.get("counts", {}), size, checksum.hexdigest())


def check_header(line: bytes, path: Path) -> None:
    """Raise Invalid unless this is the first line of an export that this Lore can read."""
    header = _parsed(line)
    version = header.get("version")
    if header.get("format") != FORMAT or not isinstance(version, int):
        raise Invalid(f"{path} is no export of Lore: line 1 is not the header of one")
    if version > FORMAT_VERSION:
        raise Invalid(
            f"{path} has version {version} of the export format, written by Lore {header.get('lore')}; "
            f"Lore {VERSION} reads up to version {FORMAT_VERSION}: upgrade it (pip install -U agent-lore)"
        )


def items(path: Path, damaged: bool = False) -> Iterator[Item]:
    """The nouns of an export, one at a time. A line that cannot be read is an item too.

    damaged: the end of a compressed file may be missing.
    """
    try:
        yield from _items(path)
    except Unavailable as error:
        if not damaged:
            raise
        yield Unreadable("the end", str(error))


def _items(path: Path) -> Iterator[Item]:
    with reading(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            if number == 1:
                check_header(line, path)
            elif line.strip():
                try:
                    item = _item(line)
                except LoreError as error:
                    item = Unreadable(f"line {number}", str(error))
                if item is not None:
                    yield item


def _item(line: bytes) -> Item | None:
    """The noun of a line; None for the last line."""
    document = _parsed(line)
    name = next((name for name in (*ADAPTERS, "journal", "end") if name in document), "")
    if name == "end":
        return None
    if name == "journal":
        return Passed("history entry")
    if not name:
        raise Invalid(f"unknown noun; known: {', '.join(ADAPTERS)}, journal")
    value = document[name]
    if not isinstance(value, dict):
        raise Invalid(f"{name} is not an object")
    try:
        noun = ADAPTERS[name].validate_python({k: v for k, v in value.items() if k not in STORE_ONLY})
    except ValidationError as error:
        first = error.errors()[0]
        raise Invalid(f"{name}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    if not isinstance(noun, Memory):
        return cast(Item, noun)
    full_text = document.get("full_text", "")
    if not isinstance(full_text, str):
        raise Invalid("full_text is not a text")
    return Kept(noun, full_text)


def _parsed(line: bytes) -> dict[str, Any]:
    try:
        document = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"not a line of JSON ({error})") from None
    if not isinstance(document, dict):
        raise Invalid("not a JSON object")
    return document


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number")
