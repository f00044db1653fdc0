"""Citations: the files and lines that a text names, and how a memory keeps them in its metadata. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from lore.patterns import regex

CITATIONS = "citations"
"""The name in a memory's metadata of the files that it cites."""
State = Literal["fresh", "changed", "gone"]
"""A cited file compared with the working tree: the same content, another content, or no such file."""
FILES_LIMIT = 20
"""Files of one text that are cited."""
LONGEST_TEXT, LONGEST_PATH = 20_000, 400
"""Characters of a text that are searched for paths, and of one path."""
WINDOW = 60
"""Characters beside a path that are searched for its line numbers."""
BARE_NAMES = frozenset(
    """Brewfile CMakeLists CODEOWNERS Containerfile Dockerfile Gemfile Jenkinsfile Justfile LICENSE Makefile
    Pipfile Procfile Rakefile README Tiltfile Vagrantfile justfile makefile""".split()
)
"""Names of files that have no extension and stand in no folder."""

_URL = regex(r"\b[a-z][a-z0-9+.-]{1,15}://\S++", re.IGNORECASE)
_PATH = regex(r"(?<![\w./@+\\~-])/?+@?+[\w.+-]++(?:/@?+[\w.+-]++)*+(?![/\\@])")
_NAME = regex(r"\.?[\w+-][\w.+-]{0,200}\.[A-Za-z]\w{0,9}|\.[A-Za-z][\w-]{1,40}")
"""The last part of a path that is a file: it has an extension, or a dot before it."""
_SPAN = r"(?P<first>\d{1,6})(?:\s?(?:-|–|to|and)\s?L?(?P<last>\d{1,6}))?(?!\d)"
_BESIDE = regex(
    rf"(?:[:#]L?|['`\")\]]{{0,2}},?\s{{0,2}}\(?(?:(?:at|on|in)\s)?lines?\s){_SPAN}", re.IGNORECASE
)
_BEFORE = regex(rf"\blines?\s{_SPAN}\s(?:of|in)\s(?:the\sfile\s)?['`\"(\[]{{0,2}}$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A file of a repository, or some of its lines.

    path: relative to the root of the repository. first, last: its lines, from 1; 0: the whole file. hash: of
    the cited content; empty: it is not known, so that the file counts as changed.
    """

    path: str
    first: int = 0
    last: int = 0
    hash: str = ""

    @property
    def label(self) -> str:
        """The path with its lines: `src/app.py:12-30`."""
        lines = f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.path}:{lines}" if self.first else self.path


@dataclass(frozen=True, slots=True, kw_only=True)
class Cited:
    """The files that a memory cites. repository: the key of the project that they belong to."""

    repository: str
    files: tuple[Citation, ...]

    def metadata(self) -> Mapping[str, Any]:
        """The entry of a memory's metadata that holds this; none if there are no files."""
        files = [
            {"path": one.path, "hash": one.hash} | ({"lines": [one.first, one.last]} if one.first else {})
            for one in self.files
        ]
        return {CITATIONS: {"repository": self.repository, "files": files}} if files else {}


NOTHING = Cited(repository="", files=())


def cited_by(metadata: Mapping[str, Any]) -> Cited:
    """The files that a memory with this metadata cites. Entries of any other form are left out."""
    entry = metadata.get(CITATIONS)
    match entry:
        case {"repository": str(repository), "files": [*files]}:
            found = (_citation(one) for one in files[:FILES_LIMIT])
            return Cited(repository=repository, files=tuple(one for one in found if one is not None))
    return NOTHING


def _citation(entry: object) -> Citation | None:
    match entry:
        case {"path": str(path), "hash": str(hash), "lines": [int(first), int(last)]}:
            return Citation(path=path, first=first, last=last, hash=hash)
        case {"path": str(path), "hash": str(hash)}:
            return Citation(path=path, hash=hash)
    return None


def without_citations(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """The other entries of a memory's metadata."""
    return {name: value for name, value in metadata.items() if name != CITATIONS}


def files_in(text: str) -> list[Citation]:
    """The paths that a text names, each once, with their lines and without a hash; they need not exist.

    Addresses, versions, dates and words with a slash between them are no paths.
    """
    found: dict[str, Citation] = {}
    text = _URL.sub(lambda url: " " * len(url[0]), text[:LONGEST_TEXT])
    for match in _PATH.finditer(text):
        path = match[0].rstrip(".").removeprefix("./")
        if len(path) <= LONGEST_PATH and _is_file_name(path):
            one = _with_lines(path, text, match.start(), match.start() + len(match[0].rstrip(".")))
            found.setdefault(one.label, one)
        if len(found) == FILES_LIMIT:
            break
    return list(found.values())


def _is_file_name(path: str) -> bool:
    folder, _, name = path.rpartition("/")
    named = bool(_NAME.fullmatch(name)) or name in BARE_NAMES
    return named or (bool(folder) and not name.replace(".", "").isdigit())


def _with_lines(path: str, text: str, start: int, end: int) -> Citation:
    span = _BESIDE.match(text[end : end + WINDOW]) or _BEFORE.search(text[max(0, start - WINDOW) : start])
    if span is None:
        return Citation(path=path)
    first = int(span["first"])
    return Citation(path=path, first=first, last=max(first, int(span["last"] or first)))
