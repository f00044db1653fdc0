"""Render: all output of the commands: safe lines that fit the terminal, tables, notes, and JSON documents.

Memories are untrusted text of any length. Lines are cut or broken to fit a terminal; a pipe gets them whole.
"""

import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import click

from lore.doors.cli.times import iso
from lore.patterns import regex

WIDEST = 100
"""Columns of running text; longer lines are hard to read."""
UNLIMITED = 1_000_000
NARROW = 60
"""Terminals with fewer columns get shorter dates and fewer columns in tables."""
LEAST, LEAST_LAST = 10, 15
"""Columns that a cut text keeps at least, and the last cell of a row in a table."""
BEGIN = "`lore remember TEXT` stores a first memory; `lore ingest` reads the conversations of your agents."
"""The next step where the store is empty."""
UNSAFE = regex("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters and changes of direction: they could rewrite the screen around them."""
SIZES = ("bytes", "KB", "MB", "GB", "TB")
_WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_CHUNK = regex(rf"\s+|[{_WIDE}]|[^\s{_WIDE}]+")
"""Spaces, words, and each character of a script that is written without spaces."""


# --- lines
def width() -> int:
    """Columns of the terminal; practically unlimited if stdout is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else UNLIMITED


def columns(text: str) -> int:
    """Columns that the text takes: wide characters two, combining ones and colours none."""
    plain = click.unstyle(text)
    return len(plain) if plain.isascii() else sum(map(_columns, plain))


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def visible(text: str) -> str:
    """The text with a mark in place of each character that would control the terminal."""
    return UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def line(text: str, room: int) -> str:
    """The text on one safe line of at most `room` columns; "…" marks a cut."""
    whole = " ".join(visible(text).split())
    room = max(room, LEAST)
    if columns(whole) <= room:
        return whole
    used = 0
    for at, character in enumerate(whole):
        used += _columns(character)
        if used > room - 1:
            return whole[:at].rstrip() + "…"
    return whole


def cell(text: str, room: int) -> str:
    """The text in a column of a table: at most `room` columns on a terminal, whole in a pipe."""
    return line(text, room if sys.stdout.isatty() else UNLIMITED)


def wrapped(text: str, indent: int = 0) -> list[str]:
    """The text as safe lines, broken between words on a terminal. A word longer than a line stays whole."""
    return _fitted(text, min(width(), WIDEST) - indent if sys.stdout.isatty() else UNLIMITED)


def _fitted(text: str, room: int) -> list[str]:
    return [part for line in visible(text).split("\n") for part in broken(line, room)]


def broken(line: str, room: int) -> list[str]:
    """One line as several of at most `room` columns, each indented like the first."""
    if columns(line) <= room:
        return [line]
    text = line.lstrip()
    indentation = line[: min(len(line) - len(text), room // 2)]
    room -= columns(indentation)
    lines: list[list[str]] = [[]]
    used = 0
    for chunk in _CHUNK.findall(text):
        taken = columns(chunk)
        if lines[-1] and used + taken > room and not chunk.isspace():
            lines.append([])
            used = 0
        lines[-1].append(chunk)
        used += taken
    return [indentation + "".join(chunks).rstrip() for chunks in lines]


def hanging(head: str, text: str) -> list[str]:
    """The text behind `head`, broken to fit the terminal; further lines begin below its first word."""
    indent = columns(head)
    first, *rest = _fitted(text, width() - indent)
    return [head + first, *(" " * indent + part for part in rest)]


# --- what a command prints
def note(text: str, *, whole: bool = False) -> None:
    """Print a remark on the answer to stderr. whole: do not break it, it may be copied."""
    click.secho(visible(text) if whole else _for_stderr(text), dim=True, err=True)


def complain(text: str) -> None:
    """Print an error to stderr."""
    click.echo(_for_stderr(f"lore: {text}"), err=True)


def _for_stderr(text: str) -> str:
    room = min(shutil.get_terminal_size().columns, WIDEST) if sys.stderr.isatty() else UNLIMITED
    return "\n".join(_fitted(text, room))


def warn(warnings: Iterable[str]) -> None:
    """Print problems that are no errors, for example a setting that is ignored."""
    for warning in warnings:
        note(f"lore: {warning}")


def show_rows(rows: Mapping[str, str]) -> None:
    """Print names and values in two columns, without empty values; one too long goes below its name."""
    filled = {name: value for name, value in rows.items() if value}
    longest = max(map(len, filled))
    for name, value in filled.items():
        lines = hanging(click.style(name.ljust(longest), dim=True) + "  ", value)
        if columns(lines[0]) > width():
            lines = [click.style(name, dim=True), f"  {visible(value)}"]
        click.echo("\n".join(lines))


def show_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[str] = (), below: Sequence[str] = ()
) -> None:
    """Print rows in columns; the last one takes the rest of the line, or a line of its own if that is short.

    numbers: the columns to align right. below: a line to print after each row, empty for none.
    """
    *widths, _ = (max(map(columns, column)) for column in zip(head, *rows, strict=True))
    room = width() - sum(widths) - 2 * len(widths)
    fits = room >= LEAST_LAST
    for row, after in zip((head, *rows), ("", *(below or [""] * len(rows))), strict=True):
        cells = [
            _aligned(text, wide, name in numbers) for text, wide, name in zip(row, widths, head, strict=False)
        ]
        if row is head:
            click.secho("  ".join([*cells, row[-1]] if fits else cells), dim=True)
            continue
        cells[0] = click.style(cells[0], fg="yellow")
        last = line(row[-1], room) if fits else f"\n  {line(row[-1], width() - 2)}"
        click.echo("  ".join(cells) + ("  " if fits else "") + last)
        if after:
            click.echo(after)


def _aligned(text: str, wide: int, right: bool) -> str:
    padding = " " * (wide - columns(text))
    return padding + text if right else text + padding


def show_document(document: Mapping[str, Any]) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(plain(document), ensure_ascii=False, indent=2))


def plain(value: Any, name: str = "") -> Any:
    """A value as JSON: dataclasses by field, times (`at`, `…_at`, `since`) in UTC, metadata as it is."""
    if name == "metadata":
        return dict(value)
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name), field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(inner, key) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, float) and (name in ("at", "since") or name.endswith("_at")):
        return iso(value)
    return value


# --- amounts
def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 memory`, `2 memories`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def size_text(size_bytes: float) -> str:
    """A number of bytes in the largest unit that fits: `413.7 KB`."""
    units = iter(SIZES)
    unit = next(units)
    while size_bytes >= 1000 and unit != SIZES[-1]:
        size_bytes, unit = size_bytes / 1000, next(units)
    return f"{size_bytes:.0f} {unit}" if unit == SIZES[0] else f"{size_bytes:.1f} {unit}"
