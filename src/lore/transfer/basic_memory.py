"""basic-memory: a folder of Markdown notes with front matter, observations and relations.

A note becomes a memory with the prose of its file; each observation `- [category] text #tag (context)` hangs
below it, each relation `- type [[Target]]` and each `[[Target]]` in the prose is a link to another note.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lore.model import Link, Memory
from lore.transcripts.untrusted_files import find_files, printable, read_text
from lore.transfer.items import Item, Passed, Unreadable, id_of, kept, link_between, seconds_of

NAME = "basic-memory"
LARGEST_BYTES = 16 << 20
IGNORED = (".obsidian", ".git", ".trash", "node_modules")
FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
FIELD = re.compile(r"([\w-]+):(.*)")
ITEM = re.compile(r"[ \t]*-[ \t](.*)")
CATEGORY = re.compile(r"\[([^\[\]()]+)\][ \t](.+)")
CLOCK = re.compile(r"\d{1,3}:\d{2}(:\d{2})?([.,]\d{1,3})?( +- +\d.*)?")
TASKS = frozenset("xX-/>?!")
"""Marks of tasks, which look like categories."""
TAG = re.compile(r"(?:^|\s)#([^\s#]+)")
CONTEXT = re.compile(r"(.*\S)[ \t]+\(([^()]*)\)")
RELATION = re.compile(
    r"""(?:"([^"]+)"|'([^']+)'|([^\s\[]+))[ \t]*\[\[([^\[\]]+)\]\][ \t]*(?:\(([^()]*)\))?"""
)
WIKI_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
HEADING = re.compile(r"#{1,6}[ \t]")


@dataclass(slots=True)
class Note:
    """One file: its front matter, its prose, and the parts of its lists that have a meaning."""

    path: str
    front: dict[str, Any]
    written_at: float
    prose: list[str] = field(default_factory=list)
    observations: list[tuple[str, str, list[str], str]] = field(default_factory=list)
    relations: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def title(self) -> str:
        return str(self.front.get("title") or Path(self.path).stem)

    @property
    def key(self) -> str:
        """The permalink, which stays when a file moves; else the path."""
        return str(self.front.get("permalink") or self.path)

    @property
    def id(self) -> str:
        return id_of(NAME, self.key)

    @property
    def names(self) -> tuple[str, ...]:
        """What other notes may call it."""
        stem = self.path.removesuffix(".md")
        return tuple(name.casefold() for name in (self.title, self.key, stem, Path(stem).name))


def notes_in(folder: Path) -> list[Path]:
    """The Markdown files of a folder, hidden and ignored folders left out."""
    found = sorted(find_files(folder, "**/*.md", {}))
    return [path for path in found if not _is_hidden(path.relative_to(folder))]


def _is_hidden(path: Path) -> bool:
    return any(part in IGNORED or part.startswith(".") for part in path.parts)


def of_folder(folder: Path, paths: list[Path]) -> Iterator[Item]:
    """The notes with their observations, then the links between them."""
    names: dict[str, str] = {}
    links: list[tuple[str, float, str, str, str]] = []
    for path in paths:
        try:
            note = parsed(path, folder)
        except (OSError, ValueError) as error:
            yield Unreadable(printable(path), str(error))
            continue
        for name in note.names:
            names.setdefault(name, note.id)
        yield from _memories(note)
        at = _created(note)
        links += [(note.id, at, *relation) for relation in note.relations]
        links += [(note.id, at, "", "", _observation_id(note, one)) for one in note.observations]
    yield from _links(links, names)


def parsed(path: Path, folder: Path) -> Note:
    """The note of one file."""
    content = read_text(path, LARGEST_BYTES).removeprefix("\ufeff").replace("\r\n", "\n").replace("\0", "")
    front = FRONT.match(content)
    relative = printable(path.relative_to(folder).as_posix())
    note = Note(relative, front_matter(front.group(1)) if front else {}, path.stat().st_mtime)
    in_code = False
    for line in content[front.end() if front else 0 :].splitlines():
        in_code ^= line.lstrip().startswith("```")
        item = None if in_code else ITEM.fullmatch(line)
        if item is None or not _add_item(note, item.group(1).strip()):
            note.prose.append(line)
            note.relations += [("links_to", target, "") for target in WIKI_LINK.findall(line) if not in_code]
    return note


def front_matter(block: str) -> dict[str, Any]:
    """Simple YAML: `key: value`, `key: [a, b]`, and lists of `- value` below a key."""
    fields: dict[str, Any] = {}
    key = ""
    for line in block.splitlines():
        if (match := FIELD.fullmatch(line)) is not None:
            key, value = match.group(1), match.group(2).strip()
            listed = value.startswith("[") and value.endswith("]")
            fields[key] = [_scalar(one) for one in value[1:-1].split(",")] if listed else _scalar(value)
        elif key and (item := ITEM.fullmatch(line)) is not None:
            before = fields[key]
            fields[key] = [*(before if isinstance(before, list) else []), _scalar(item.group(1))]
    return fields


def _scalar(value: str) -> str:
    value = value.strip()
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def _add_item(note: Note, item: str) -> bool:
    """Whether a list item is a relation or an observation, which is then kept in the note."""
    if (relation := RELATION.fullmatch(item)) is not None:
        quoted, also_quoted, word, target, context = relation.groups()
        note.relations.append((quoted or also_quoted or word, target.strip(), context or ""))
        return True
    match = CATEGORY.fullmatch(item)
    category = match.group(1).strip() if match else ""
    if match is None or not category or category in TASKS or CLOCK.fullmatch(category):
        return False
    content, context = match.group(2).strip(), ""
    if (ending := CONTEXT.fullmatch(content)) is not None:
        content, context = ending.groups()
    note.observations.append((category, content, TAG.findall(content), context))
    note.relations += [("links_to", target, "") for target in WIKI_LINK.findall(content)]
    return True


def _memories(note: Note) -> Iterator[Item]:
    created, updated = _created(note), seconds_of(note.front.get("modified"), note.written_at) or 0.0
    tags = note.front.get("tags") or []
    metadata = {key: value for key, value in note.front.items() if key not in ("title", "type") and value}
    common: dict[str, Any] = {
        "namespace": "", "source": NAME, "author": str(note.front.get("author") or ""),
        "created_at": created, "updated_at": max(created, updated),
    }  # fmt: skip
    if tags:
        metadata["tags"] = tags if isinstance(tags, list) else [one.strip() for one in str(tags).split(",")]
    yield kept(
        Memory(
            id=note.id,
            type=str(note.front.get("type") or "note"),
            title=note.title,
            content=_prose(note.prose) or note.title,
            metadata={**metadata, "file": note.path},
            **common,
        )
    )
    for one in note.observations:
        category, content, marks, context = one
        more = {"tags": marks, "context": context}
        yield kept(
            Memory(
                id=_observation_id(note, one),
                kind="observation",
                type=category,
                content=content,
                metadata={name: value for name, value in more.items() if value},
                **common,
            )
        )


def _created(note: Note) -> float:
    return seconds_of(note.front.get("created"), note.written_at) or note.written_at


def _observation_id(note: Note, one: tuple[str, str, list[str], str]) -> str:
    return id_of(NAME, note.key, "observation", one[0], one[1])


def _prose(lines: list[str]) -> str:
    """The lines without headings that have nothing below them."""
    kept_lines: list[str] = []
    for line in reversed(lines):
        below = next((one for one in reversed(kept_lines) if one.strip()), None)
        if HEADING.match(line) and (below is None or _is_as_high(below, line)):
            continue
        kept_lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(reversed(kept_lines))).strip()


def _is_as_high(line: str, heading: str) -> bool:
    """Whether a line is a heading of the same level or a higher one."""
    level = len(line) - len(line.lstrip("#"))
    return bool(HEADING.match(line)) and level <= len(heading) - len(heading.lstrip("#"))


def _links(links: list[tuple[str, float, str, str, str]], names: dict[str, str]) -> Iterator[Link | Passed]:
    for source, at, type, target, context in links:
        if not type:
            yield link_between(source, context, "hierarchical", at, created_by=NAME)
            continue
        name = target.partition("|")[0].partition("#")[0].strip().removeprefix("memory://").casefold()
        found = names.get(name) or names.get(name.removesuffix(".md"))
        if found is None:
            yield Passed("link to a missing note")
        elif found != source:
            yield link_between(source, found, "relation", at, type=type, reason=context, created_by=NAME)
