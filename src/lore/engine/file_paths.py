"""file_paths: which paths memory files may have, and which files are at a path."""

import unicodedata
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote

from lore.admit import admit
from lore.errors import Duplicate, Invalid
from lore.model import Filter, Memory
from lore.store import Reader
from lore.store.values import EVERY
from lore.text import TITLE_LIMIT_BYTES, check_storable, preview

FILE = "file"
"""The kind of a memory that an agent keeps as a file; its title is its path."""
ROOT = "/memories"
"""The folder of all memory files."""
SHOWN = 200
"""Characters of a refused path in its error."""


def check_path(path: str) -> str:
    """The path in its one form: NFC, without a slash at the end. Invalid if it is not ROOT or below it.

    Nothing is resolved or decoded: a path that could mean another one is refused. Case matters.
    """
    normal = unicodedata.normalize("NFC", path.removesuffix("/"))
    if fault := _fault(normal):
        shown = preview(repr(str(admit(path))), SHOWN)
        raise Invalid(f"Invalid path {shown}: it {fault}. A path looks like {ROOT}/folder/notes.md")
    return check_storable(normal, "path", TITLE_LIMIT_BYTES)


def _fault(path: str) -> str:
    """What is wrong with a path; empty if nothing is."""
    if "\\" in path or not path.isprintable():
        return "has a backslash or a character that cannot be printed"
    if unquote(path) != path or unicodedata.normalize("NFKC", path) != path:
        return "has an encoded character, or one that only looks like another"
    if path != ROOT and not path.startswith(f"{ROOT}/"):
        return f"is outside {ROOT}"
    if any(part in ("", ".", "..") or part != part.strip() for part in path.split("/")[1:]):
        return "has a part that is empty, `.` or `..`, or that begins or ends with a space"
    return "contains a secret" if admit(path) != path else ""


def own_files(namespace: str, **more: Any) -> Filter:
    """The files of one namespace: those of `shared` are not among the files of another one."""
    return Filter(kinds=frozenset({FILE}), namespaces=frozenset({namespace}), **more)


def file_at(path: str, reader: Reader) -> Memory | None:
    """The file at a path; None for a folder, or if nothing is there."""
    return next(iter(reader.select(own_files(reader.namespace, titles=frozenset({path})), EVERY)), None)


def files_at(path: str, reader: Reader) -> list[Memory]:
    """The file at a path, or all files in the folder at that path; empty if nothing is there."""
    if file := file_at(path, reader):
        return [file]
    candidates = reader.get(reader.containing(f"{path}/", own_files(reader.namespace)))
    return [file for file in candidates.values() if file.title.startswith(f"{path}/")]


def refuse_taken(paths: Sequence[str], reader: Reader, name: str = "File") -> None:
    """Refuse new files where something is already, or below another file. name: of a path in errors."""
    for path in paths:
        parts = path.split("/")
        above = frozenset("/".join(parts[:end]) for end in range(3, len(parts)))
        if paths.count(path) > 1 or not above.isdisjoint(paths):
            raise Invalid(f"{path} and another file of this call need the same path; take them one by one")
        if there := files_at(path, reader):
            raise Duplicate(f"{name} {path} already exists", there[0].id)
        for file in reader.select(own_files(reader.namespace, titles=above), EVERY) if above else ():
            raise Duplicate(f"{file.title} is a file, so nothing can be below it", file.id)
