"""export: a snapshot of the store → memories, then links, judgements and progress → lines of a file."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import BinaryIO

from lore.admit import admit
from lore.engine.context import Context
from lore.errors import Invalid, NotFound
from lore.model import Entry, Link, Memory
from lore.store import Reader, Snapshot
from lore.store.columns import clean_link, clean_memory
from lore.store.records import DigestProgress
from lore.store.values import JournalFilter, Page, Part, Suggestion, SuggestionFilter
from lore.text import listed
from lore.transfer.export_lines import Lines, Summary
from lore.transfer.items import Digested, Kept

PAGE = 500
"""Memories that are held at once."""
Report = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportScope:
    """What to export; empty sets mean all. history: the journal too. located: say where the store is."""

    namespaces: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    history: bool = False
    located: bool = True

    @property
    def partial(self) -> bool:
        """Whether some memories are left out."""
        return bool(self.namespaces or self.kinds or self.projects)

    def covers(self, memory: Memory) -> bool:
        return (
            (not self.namespaces or memory.namespace in self.namespaces)
            and (not self.kinds or memory.kind in self.kinds)
            and (not self.projects or memory.project in self.projects)
        )


def export(file: BinaryIO, scope: ExportScope, context: Context, report: Report) -> Summary:
    """Write the store as it is at this moment. Secrets are redacted by the rules of this version."""
    if scope.history and scope.partial:
        raise Invalid(
            "the history is of all memories; leave out --history, or --namespace, --kind and --project"
        )
    with context.store.snapshot(context.tenant) as snapshot:
        if context.tenant and not snapshot.readers:
            raise NotFound(f"tenant {context.tenant} has no memories")
        if unknown := scope.namespaces - snapshot.readers.keys():
            existing = listed(snapshot.readers) or "none yet"
            raise Invalid(f"there is no namespace {listed(sorted(unknown))}; there are: {existing}")
        return _Export(snapshot, scope, report).write(file, context)


class _Export:
    """One export of one snapshot."""

    def __init__(self, snapshot: Snapshot, scope: ExportScope, report: Report) -> None:
        self._snapshot, self._scope, self._report = snapshot, scope, report
        names = [name for name in snapshot.readers if not scope.namespaces or name in scope.namespaces]
        self._parts = [Part(name, scope.kinds, scope.projects) for name in names]

    def write(self, file: BinaryIO, context: Context) -> Summary:
        total = sum(map(self._snapshot.count, self._parts))
        filters = {
            name: sorted(value)
            for name, value in asdict(self._scope).items()
            if name not in ("history", "located")
        }
        header = {
            "at": datetime.fromtimestamp(context.now, UTC).isoformat(),
            "source": context.store.report().location if self._scope.located else "",
            "only": {name: values for name, values in filters.items() if values},
            "counts": {"memory": total},
        }
        lines, done = Lines(file, header), 0
        for ids, reader in self._pages():
            for kept in _memories(ids, reader):
                lines.put(kept)
            done += len(ids)
            self._report("memories", done, total)
        done = 0
        for ids, reader in self._pages():
            for tie in self._ties(ids, reader):
                lines.put(tie)
            done += len(ids)
            self._report("links", done, total)
        for part in self._parts:
            for record in self._digested(self._snapshot.readers[part.namespace]):
                lines.put(record)
        for reader in list(self._snapshot.readers.values())[:1] if self._scope.history else ():
            for entry in _entries(reader):  # each reader sees all
                lines.put(entry)
        return lines.end()

    def _pages(self) -> Iterator[tuple[list[str], Reader]]:
        for part in self._parts:
            ids = self._snapshot.ids(part)
            while page := list(islice(ids, PAGE)):
                yield page, self._snapshot.readers[part.namespace]

    def _ties(self, ids: Sequence[str], reader: Reader) -> Iterator[Link | Suggestion]:
        """The links and judged suggestions that begin at these memories."""
        links = [clean_link(link) for link in reader.links(ids, ended=True)]
        suggestions = reader.suggestions(SuggestionFilter(touching=tuple(ids)))
        ties: list[Link | Suggestion] = [*links, *(one for one in suggestions if one.status != "pending")]
        own = set(ids)
        ties = [tie for tie in ties if tie.source in own]
        if self._scope.partial:
            ends = reader.get({tie.target for tie in ties}, forgotten=True)
            ties = [tie for tie in ties if tie.target in ends and self._scope.covers(ends[tie.target])]
        yield from ties

    def _digested(self, reader: Reader) -> Iterator[Digested]:
        """How far the sessions of a namespace are digested, so that another store does not do it again."""
        records = [record for record in reader.records(DigestProgress) if record.turns]
        while batch := records[:PAGE]:
            del records[:PAGE]
            sessions = reader.get([record.session for record in batch], forgotten=True)
            last = reader.resolve([record.until for record in batch], 1)
            for one in batch:
                if one.session in sessions and self._scope.covers(sessions[one.session]) and last[one.until]:
                    yield Digested(
                        namespace=reader.namespace,
                        session=one.session,
                        turns=one.turns,
                        until=last[one.until][0],
                        digested_at=one.digested_at,
                    )


def _memories(ids: Sequence[str], reader: Reader) -> Iterator[Kept]:
    memories, full_texts = reader.get(ids, forgotten=True), reader.full_texts(ids)
    return (Kept(clean_memory(memories[id]), admit(full_texts.get(id, ""))) for id in ids)


def _entries(reader: Reader) -> Iterator[Entry]:
    where, page = JournalFilter(newest_first=False), Page(limit=PAGE)
    more = True
    while more:
        listing = reader.journal(where, page)
        more, page = listing.more, Page(limit=PAGE, cursor=listing.cursor)
        yield from (
            replace(one, cause=admit(one.cause), before=admit(one.before), after=admit(one.after))
            for one in listing
        )
