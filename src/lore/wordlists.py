"""Word lists: text files of words that rules refer to. A file has sections; entries stand between commas.

# A comment.
[articles]
a, an, the
"""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files


@cache
def sections(package: str, file: str) -> Mapping[str, tuple[str, ...]]:
    """Section name -> its lines without comments and empty lines, in the order of the file."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (files(package) / file).read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text.startswith("[") and text.endswith("]"):
            lines = found.setdefault(text[1:-1], [])
        elif text and not text.startswith("#"):
            lines.append(text)
    return {name: tuple(lines) for name, lines in found.items()}


@cache
def word_lists(package: str, file: str) -> Mapping[str, frozenset[str]]:
    """Section name -> its entries."""
    return {
        name: frozenset(entry for line in lines for part in line.split(",") if (entry := part.strip()))
        for name, lines in sections(package, file).items()
    }
