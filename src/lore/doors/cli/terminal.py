"""Terminal: memories are untrusted text of any length; here they become lines that are safe to show.

Lines fit the terminal. A pipe gets them whole: nothing is cut or broken for a program.
"""

import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping

import click

WIDEST = 100
"""Columns of running text; longer lines are hard to read."""
UNLIMITED = 1_000_000
NARROW = 60
"""Terminals with fewer columns get shorter dates and fewer columns."""
LEAST = 10
BEGIN = "`lore remember TEXT` keeps a first memory; `lore ingest` reads the conversations of your agents."
"""The next step for somebody whose store is empty."""
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters and changes of direction: they could rewrite the screen around them."""
_WIDE = "\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
_CHUNK = re.compile(rf"\s+|[{_WIDE}]|[^\s{_WIDE}]+")
"""Spaces, words, and each character of a script that is written without spaces."""


def width() -> int:
    """Columns of the terminal; practically unlimited where stdout is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else UNLIMITED


def columns(text: str) -> int:
    """Columns that the text takes: wide characters two, combining ones and colours none."""
    plain = click.unstyle(text)
    return len(plain) if plain.isascii() else sum(map(_columns, plain))


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def padded(text: str, room: int) -> str:
    """Like str.ljust, by columns."""
    return text + " " * (room - columns(text))


def visible(text: str) -> str:
    """The text with a mark in the place of each character that a terminal would obey."""
    return UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def line(text: str, room: int) -> str:
    """The text on one line, safe, within `room` columns; "…" marks where it was cut."""
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
    """The text in a column of a table: within `room` columns on a terminal, whole in a pipe."""
    return line(text, room if sys.stdout.isatty() else UNLIMITED)


def wrapped(text: str, indent: int = 0) -> list[str]:
    """The text, safe, its long lines broken between words; for a pipe they stay whole.

    A word that is longer than a line stays whole as well: an address can be copied.
    """
    room = min(width(), WIDEST) - indent if sys.stdout.isatty() else UNLIMITED
    return [part for line in visible(text).split("\n") for part in broken(line, room)]


def broken(line: str, room: int) -> list[str]:
    """One line as several that fit, each indented as the first one is."""
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


def note(text: str, *, broken_to_fit: bool = True) -> None:
    """Write something about the answer to stderr. A command that may be copied is not broken."""
    click.secho(_fitting(text) if broken_to_fit else visible(text), dim=True, err=True)


def complain(text: str) -> None:
    """Write an error to stderr."""
    click.echo(_fitting(f"lore: {text}"), err=True)


def _fitting(text: str) -> str:
    """The text, safe, in lines that fit the terminal of stderr; for a pipe it stays whole."""
    room = min(shutil.get_terminal_size().columns, WIDEST) if sys.stderr.isatty() else UNLIMITED
    return "\n".join(part for line in visible(text).split("\n") for part in broken(line, room))


def warn(warnings: Iterable[str]) -> None:
    """What is wrong without being an error, for example a setting that is ignored."""
    for warning in warnings:
        note(f"lore: {warning}")


def show_rows(rows: Mapping[str, str]) -> None:
    """Names and values in two columns; what is empty is left out, long values go on below."""
    longest = max(map(len, rows))
    room = width() - longest - 2
    for name, value in rows.items():
        if not value:
            continue
        first, *rest = broken(value, room)
        if columns(first) > room:
            click.echo(f"{click.style(name, dim=True)}\n  {value}")
            continue
        click.echo(f"{click.style(name.ljust(longest), dim=True)}  {first}")
        for text in rest:
            click.echo(" " * (longest + 2) + text)


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 memory`, `2 memories`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"
