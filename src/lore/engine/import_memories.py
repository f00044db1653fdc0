"""import_memories: items of a file → those that are new here → stored in batches; a repeat adds nothing."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from lore.engine.context import Context
from lore.errors import Invalid, NotFound
from lore.model import SHARED, VERBATIM, Filter, Link, Memory
from lore.store import Reader, Writer
from lore.store.columns import clean_memory, columns_of
from lore.store.records import DigestProgress
from lore.store.values import Suggestion, SuggestionFilter
from lore.text import folded, label_of, terms
from lore.transfer.items import Digested, Item, Kept, Passed, Unreadable, checked, id_of

BATCH = 500
"""Memories or links in one transaction."""
BATCH_CHARACTERS = 4_000_000
MOST_PROBLEMS, MOST_EXAMPLES = 20, 5
SAME_TEXT_AMONG = 20
"""How many of the best matches by words are looked at for the same text."""
TIMES = frozenset({"created_at", "updated_at"})
"""Fields in which memories may differ and still be the same: not every system keeps them."""
TAKEN_BACK = "import taken back: "
"""The reason, followed by an id, of memories that were forgotten because their import was taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Importing:
    """How to import. id: of this import; its journal entries name it. namespace: where all goes; empty:
    to the namespaces that the file names. replace: memories that differ take the values of the file.
    preview: change nothing, and look for memories of the same text."""

    id: str
    namespace: str = ""
    replace: bool = False
    preview: bool = False

    @property
    def reason(self) -> str:
        """The reason of all changes, by which the import can be taken back."""
        return f"import {self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """Counts of one import. different: memories that exist with other values; replaced: those that took the
    values of the file. duplicates: new ones whose text is stored already (preview only). links_left_out:
    an end is not there, or the place in the tree is taken. passed: what is never imported, by noun."""

    new: int = 0
    same: int = 0
    different: int = 0
    replaced: int = 0
    duplicates: int = 0
    links: int = 0
    links_same: int = 0
    links_left_out: int = 0
    unreadable: int = 0
    items: int = 0
    passed: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __add__(self, other: "Imported") -> "Imported":
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        names = dict.fromkeys((*self.examples, *other.examples))
        examples = {
            name: (*self.examples.get(name, ()), *other.examples.get(name, ()))[:MOST_EXAMPLES]
            for name in names
        }
        return Imported(
            **counts,
            passed=Counter(self.passed) + Counter(other.passed),
            problems=(*self.problems, *other.problems)[:MOST_PROBLEMS],
            examples=examples,
        )


COUNTS = (
    "new", "same", "different", "replaced", "duplicates", "links", "links_same", "links_left_out",
    "unreadable", "items",
)  # fmt: skip


def import_memories(items: Iterable[Item], how: Importing, context: Context) -> Iterator[Imported]:
    """Keep what is new; yields the counts of each batch as soon as it is committed."""
    importer = _Import(how, context)
    for kind, group in groupby(checked(items), key=type):
        for batch in _batches(group):
            counts = importer.keep(kind, batch)
            yield replace(counts, items=len(batch))


def _batches(items: Iterator[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    characters = 0
    for item in items:
        batch.append(item)
        if isinstance(item, Kept):
            characters += len(item.memory.content) + len(item.full_text)
        if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


@dataclass(slots=True)
class _Sorted:
    """The memories of a batch: new here, existing with equal values, existing with others."""

    new: list[Kept] = field(default_factory=list)
    same: list[Kept] = field(default_factory=list)
    different: list[Kept] = field(default_factory=list)


class _Import:
    """One import: where its memories go. For a preview also the texts in the file, and the new ids of it."""

    def __init__(self, how: Importing, context: Context) -> None:
        self._how, self._context = how, context
        self._namespaces: dict[str, None] = {}
        self._texts: set[int] = set()
        self._origins: dict[str, str] = {}
        self._coming: set[str] = set()
        self._projects = tuple(context.reader.counts().projects)
        self._keepers: dict[type, Callable[[Sequence[Any]], Imported]] = {
            Kept: self._keep_memories,
            Link: self._keep_links,
            Suggestion: self._keep_suggestions,
            Digested: self._keep_progress,
            Unreadable: _count_unreadable,
            Passed: lambda batch: Imported(passed=Counter(one.noun for one in batch)),
        }

    def keep(self, kind: type, batch: Sequence[Any]) -> Imported:
        """Keep a batch of items of one type, in one transaction for each namespace."""
        return self._keepers[kind](batch)

    # --- memories
    def _keep_memories(self, batch: Sequence[Kept]) -> Imported:
        placed = [self._placed(one) for one in batch]
        self._origins = {new.memory.id: old.memory.id for new, old in zip(placed, batch, strict=True)}
        self._namespaces |= dict.fromkeys(one.memory.namespace for one in placed)
        return self._keep_placed(list({one.memory.id: one for one in placed}.values()))

    def _keep_placed(self, batch: Sequence[Kept]) -> Imported:
        if self._how.preview:
            return self._previewed(_sorted(batch, self._reader), self._reader)
        try:
            with self._transaction() as writer:
                return self._put(_sorted(batch, writer), writer)
        except NotFound as error:  # the id of one of them is taken in a namespace out of sight
            if len(batch) == 1:
                return _count_unreadable([Unreadable(batch[0].memory.id, str(error))])
        half = len(batch) // 2
        return self._keep_placed(batch[:half]) + self._keep_placed(batch[half:])

    def _put(self, found: _Sorted, writer: Writer) -> Imported:
        replaced = found.different if self._how.replace else []
        put = [*found.new, *replaced]
        writer.put(
            [one.memory for one in put], {one.memory.id: one.full_text for one in put if one.full_text}
        )
        different = len(found.different) - len(replaced)
        return Imported(new=len(found.new), same=len(found.same), different=different, replaced=len(replaced))

    def _previewed(self, found: _Sorted, reader: Reader) -> Imported:
        self._coming |= {self._origins[one.memory.id] for one in found.new}
        duplicates = [one for one in found.new if self._is_repeated(one.memory, reader)]
        examples = {"new": found.new, "different": found.different, "duplicates": duplicates}
        return Imported(
            new=len(found.new),
            same=len(found.same),
            different=len(found.different),
            duplicates=len(duplicates),
            examples={
                name: tuple(label_of(one.memory.title, one.memory.content) for one in some[:MOST_EXAMPLES])
                for name, some in examples.items()
                if some
            },
        )

    def _is_repeated(self, memory: Memory, reader: Reader) -> bool:
        """Whether another memory, here or earlier in the file, has the same text."""
        if memory.kind in VERBATIM:
            return False
        text = " ".join(folded(memory.content).split())
        if hash(text) in self._texts:
            return True
        self._texts.add(hash(text))
        found = reader.get(reader.matching(terms(memory.content), SAME_TEXT_AMONG, Filter()).strengths)
        return any(" ".join(folded(one.content).split()) == text for one in found.values())

    def _placed(self, one: Kept) -> Kept:
        """The memory in the namespace where it goes, and in the project that its name stands for."""
        memory = one.memory
        origin = memory.namespace or SHARED
        target = self._how.namespace or memory.namespace or self._context.namespace
        changes: dict[str, Any] = {"namespace": target, "project": self._project(memory.project)}
        if not memory.created_at:  # the other system does not say
            changes |= {"created_at": self._context.now, "updated_at": self._context.now}
        if target != origin:
            changes["id"] = moved_id(memory.id, target)
            changes["superseded_by"] = memory.superseded_by and moved_id(memory.superseded_by, target)
        return Kept(clean_memory(replace(memory, **changes)), one.full_text)

    def _project(self, name: str) -> str:
        """The one known project whose last part is this name; the name itself if there is none or several."""
        if not name or "/" in name:
            return name
        alike = [key for key in self._projects if key.endswith(f"/{name}")]
        return alike[0] if len(alike) == 1 else name

    # --- links
    def _keep_links(self, batch: Sequence[Link]) -> Imported:
        reader = self._reader
        ends = self._ends(batch, reader)
        ends |= {end: end for link in batch for end in (link.source, link.target) if end in self._coming}
        links = [_between(link, ends) for link in batch if link.source in ends and link.target in ends]
        left_out = len(batch) - len(links)
        if self._how.preview:
            new = _new_links(links, reader)
            return Imported(links=len(new), links_same=len(links) - len(new), links_left_out=left_out)
        with self._transaction() as writer:
            new = links if self._how.replace else _new_links(links, writer)
            refused = _put_links(new, writer)
        return Imported(
            links=len(new) - refused, links_same=len(links) - len(new), links_left_out=left_out + refused
        )

    def _ends(self, ties: Iterable[Any], reader: Reader) -> dict[str, str]:
        """id in the file -> id here, of the ends in sight."""
        ids = {end for tie in ties for end in (tie.source, tie.target)}
        moved = {id: moved_id(id, self._home) for id in ids} if self._home != SHARED else {}
        found = reader.get([*ids, *moved.values()], forgotten=True)
        kept = {id: id for id in ids if id in found}
        return kept | {id: other for id, other in moved.items() if other in found}

    # --- judgements and progress
    def _keep_suggestions(self, batch: Sequence[Suggestion]) -> Imported:
        if self._how.preview:
            return Imported()
        with self._transaction() as writer:
            ends = self._ends(batch, writer)
            here = [_between(one, ends) for one in batch if one.source in ends and one.target in ends]
            touching = tuple(end for one in here for end in (one.source, one.target))
            judged = writer.suggestions(SuggestionFilter(touching=touching)) if here else []
            pairs = {frozenset((one.source, one.target)) for one in judged}
            writer.put_suggestions(one for one in here if frozenset((one.source, one.target)) not in pairs)
        return Imported()

    def _keep_progress(self, batch: Sequence[Digested]) -> Imported:
        """Sessions that were digested are not digested again: the last digested turn has another alias."""
        if self._how.preview:
            return Imported()
        context, target = self._context, self._how.namespace
        for namespace, group in groupby(batch, key=lambda one: target or one.namespace):
            records = [_moved_progress(one, namespace) for one in group]
            with context.store.transaction(namespace, context.cause, context.now, context.tenant) as writer:
                last = writer.get([one.until for one in records], forgotten=True)
                done = {one.session for one in writer.records(DigestProgress)}
                writer.put_records(
                    DigestProgress(
                        session=one.session,
                        turns=one.turns,
                        until=last[one.until].alias,
                        digested_at=one.digested_at,
                    )
                    for one in records
                    if one.until in last and one.session not in done
                )
        return Imported()

    # --- the store as the import sees it: its home, shared memories, and all namespaces that the file names
    @property
    def _home(self) -> str:
        return self._how.namespace or self._context.namespace

    @property
    def _reader(self) -> Reader:
        return self._context.store.reader(self._home, self._context.tenant, tuple(self._namespaces))

    def _transaction(self) -> AbstractContextManager[Writer]:
        context, teams = self._context, tuple(self._namespaces)
        return context.store.transaction(self._home, context.cause, context.now, context.tenant, teams)


def _moved_progress(one: Digested, namespace: str) -> Digested:
    if one.namespace == namespace:
        return one
    return replace(one, session=moved_id(one.session, namespace), until=moved_id(one.until, namespace))


def moved_id(id: str, namespace: str) -> str:
    """The id of a memory's copy in another namespace."""
    return id_of("copy", namespace, id)


def _between(tie: Any, ends: Mapping[str, str]) -> Any:
    """A link or suggestion between the memories that stand here for its ends; a copy has an id of its own."""
    source, target = ends[tie.source], ends[tie.target]
    same = (source, target) == (tie.source, tie.target)
    return (
        tie if same else replace(tie, id=id_of("copy", source, target, tie.id), source=source, target=target)
    )


def _sorted(batch: Sequence[Kept], reader: Reader) -> _Sorted:
    existing = reader.get([one.memory.id for one in batch], forgotten=True)
    result = _Sorted()
    for one in batch:
        stored = existing.get(one.memory.id)
        if stored is None or stored.forgotten_reason.startswith(TAKEN_BACK):
            result.new.append(one)
        elif _differs(stored, one.memory):
            result.different.append(one)
        else:
            result.same.append(one)
    return result


def _differs(stored: Memory, given: Memory) -> bool:
    ours, theirs = columns_of(stored), columns_of(given)
    return any(ours[name] != theirs[name] for name in ours if name not in TIMES)


def _new_links(links: Sequence[Link], reader: Reader) -> list[Link]:
    """The links that are not there; those that went with an import that was taken back count as absent."""
    ends = {end for link in links for end in (link.source, link.target)}
    stored = reader.links(between=ends, ended=True)
    there = {_place(link) for link in stored if not link.created_by.startswith(TAKEN_BACK)}
    return [link for link in {_place(link): link for link in links}.values() if _place(link) not in there]


def _place(link: Link) -> tuple[str, str, str, str]:
    return link.source, link.target, link.kind, link.type


def _put_links(links: Sequence[Link], writer: Writer) -> int:
    """Put all links that the store takes; returns the number of those that it refuses."""
    try:
        writer.put_links(links)
    except (Invalid, NotFound):
        return sum(_is_refused(link, writer) for link in links)
    return 0


def _is_refused(link: Link, writer: Writer) -> bool:
    try:
        writer.put_links([link])
    except (Invalid, NotFound):
        return True
    return False


def _count_unreadable(batch: Sequence[Unreadable]) -> Imported:
    problems = tuple(f"{one.place}: {one.reason}" for one in batch[:MOST_PROBLEMS])
    return Imported(unreadable=len(batch), problems=problems)
