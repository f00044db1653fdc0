"""Terminal: memories are untrusted text of any length; here they become lines that are safe to show."""

import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping

import click

from lore.text import preview

WIDEST = 100
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters and changes of direction: they could rewrite the screen around them."""


def width() -> int:
    """How many columns to use."""
    return min(shutil.get_terminal_size().columns, WIDEST)


def visible(text: str) -> str:
    """The text with a mark in the place of each character that a terminal would obey."""
    return UNSAFE.sub("\N{REPLACEMENT CHARACTER}", text)


def line(text: str, room: int) -> str:
    """The text on one line, safe, within `room` columns."""
    return preview(visible(text), max(room, 10))


def wrapped(text: str, indent: int = 0) -> list[str]:
    """The text, safe; its long lines are broken between words, but only for eyes: a pipe gets it as it is."""
    lines = visible(text).split("\n")
    if not sys.stdout.isatty():
        return lines
    room = width() - indent
    return [part for line in lines for part in textwrap.wrap(line, room, break_on_hyphens=False) or [""]]


def note(text: str) -> None:
    """Something about the answer that is not the answer."""
    click.secho(visible(text), dim=True, err=True)


def warn(warnings: Iterable[str]) -> None:
    """What is wrong without being an error, for example a setting that is ignored."""
    for warning in warnings:
        note(f"lore: {warning}")


def show_rows(rows: Mapping[str, str]) -> None:
    """Names and values in two columns; what is empty is left out."""
    longest = max(map(len, rows))
    for name, value in rows.items():
        if value:
            click.echo(f"{click.style(name.ljust(longest), dim=True)}  {value}")


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 memory`, `2 memories`."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"
