"""Plan: the changes that a phase proposes. A dry run shows them; `apply` writes each step as a whole."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, cast

from lore.engine.context import Context
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import OBSERVATION, refresh_entity_text
from lore.engine.forget import hide
from lore.engine.link import end_link, new_link
from lore.llm.base import LanguageModel, NoAnswer
from lore.model import Link, Memory, Tie
from lore.settings import ConsolidationSettings
from lore.store import Reader, Writer
from lore.store.records import PhaseMark, Record, key_of
from lore.store.values import parents_of
from lore.vectors import Vector

VERB = "consolidate"
MERGED = "the same in other words"
"""The reason of a link between a memory and the one that it was merged into."""
STEPS_PER_TRANSACTION = 50
PAUSE_SECONDS = 0.02
"""Pause between two transactions, so that other writers get their turn."""

Progress: TypeAlias = Callable[[str, int, int], None]
"""Called with the running phase, the number of items done, and the number of all items."""


def no_progress(phase: str, done: int, total: int) -> None:
    """For callers that show no progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A memory as the phase read it, and its new state."""

    before: Memory
    after: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Changes that are written together or not at all.

    description: for a person; empty for steps that need no mention. counts: what the step adds to the report.
    """

    description: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    new_memories: tuple[Memory, ...] = ()
    changes: tuple[Change, ...] = ()
    new_links: tuple[Link, ...] = ()
    ended_links: tuple[Link, ...] = ()
    forgotten: tuple[Memory, ...] = ()
    vectors: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps of a phase, and its records for the next run.

    expected: records that the phase read; if one of them has changed, another process has done the same work.
    A record without values stands for none. removed: records that go. more_counts: counts that belong to no
    single step. error: why the language model gave no answer. remarks: what else could not be done, and why.
    """

    steps: tuple[Step, ...] = ()
    expected: tuple[Record, ...] = ()
    records: tuple[Record, ...] = ()
    removed: tuple[Record, ...] = ()
    more_counts: Mapping[str, int] = field(default_factory=dict)
    error: NoAnswer | None = None
    remarks: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """The totals by name; none is 0."""
        return dict(sum((Counter(step.counts) for step in self.steps), Counter(self.more_counts)))


@dataclass(frozen=True, kw_only=True)
class View:
    """Everything that a phase may read.

    marks: the marks of all phases when the run began. model: the language model, if there is one. fallback:
    the reason why rules replace a configured language model; empty if they do not.
    """

    reader: Reader
    embeddings: Embeddings
    namespace: str
    now: float
    settings: ConsolidationSettings
    marks: Mapping[str, PhaseMark] = field(default_factory=dict)
    model: LanguageModel | None = None
    fallback: str = ""
    progress: Progress = no_progress

    def link(self, tie: Tie) -> Link:
        """A new link, created by consolidation."""
        return new_link(tie, VERB, self.now)

    def branch(self, parent: str, child: str) -> Link:
        """A new link that puts `child` below `parent`."""
        return self.link(Tie(source=parent, target=child, kind="hierarchical"))

    def supersede(self, old: Memory, new: str, reason: str) -> tuple[Change, Link]:
        """Hide `old` behind the memory with the id `new`; it stays stored, linked and readable."""
        after = replace(old, superseded_by=new, superseded_at=self.now, updated_at=self.now)
        tie = Tie(source=new, target=old.id, kind="supersedes", reason=reason)
        return Change(before=old, after=after), self.link(tie)

    def end(self, links: Iterable[Link]) -> tuple[Link, ...]:
        """The same links, no longer active."""
        return tuple(end_link(link, self.now) for link in links)


class _Overtaken(Exception):
    """Another process has done the same work since this one read the store."""


def apply(plan: Plan, context: Context, *, model: str) -> Plan:
    """Write a plan, some steps per transaction; returns what was really done.

    Other writers wait for one transaction at most. Records come last, so that after a crash the next run
    looks again. A plan that expects records is one transaction, however long. model: of the vectors.
    """
    size = max(1, len(plan.steps)) if plan.expected else STEPS_PER_TRANSACTION
    starts = range(0, max(1, len(plan.steps)), size)
    done: list[Step] = []
    complete = True
    for start in starts:
        if done:
            time.sleep(PAUSE_SECONDS)
        part = replace(plan, steps=plan.steps[start : start + size])
        if not complete or start != starts[-1]:
            part = replace(part, records=(), removed=())
        written = _apply_part(part, context, model)
        complete = complete and len(written.steps) == len(part.steps)
        done += written.steps
    return replace(written, steps=tuple(done))


def _apply_part(plan: Plan, context: Context, model: str) -> Plan:
    """Write a plan in one transaction; returns what was really done.

    A step is skipped if another process changed its inputs meanwhile; then no record is kept, so that the
    next run looks again. A plan that expects records is written as a whole or not at all.
    """
    try:
        with context.transaction() as writer:
            if any(_stored(record, writer) != record for record in plan.expected):
                raise _Overtaken
            done = []
            for step in plan.steps:
                if _is_current(step, writer):
                    _write(step, writer, model)
                    done.append(step)
            if len(done) < len(plan.steps) and plan.expected:
                raise _Overtaken
            if len(done) == len(plan.steps):
                writer.put_records(plan.records, plan.removed)
    except _Overtaken:
        return replace(plan, steps=(), more_counts={})
    return replace(plan, steps=tuple(done))


def _stored(record: Record, reader: Reader) -> Record:
    """The record of this key as it stands now; without values if there is none."""
    key, kind = key_of(record), cast(Any, type(record))
    stored: list[Record] = reader.records(kind, **key)
    return stored[0] if stored else cast(Record, kind(**key))


def _is_current(step: Step, writer: Writer) -> bool:
    """Whether every input of the step is as the phase read it, and its links are still possible."""
    before = {memory.id: memory for memory in (*(change.before for change in step.changes), *step.forgotten)}
    new = {memory.id for memory in step.new_memories}
    ends = {end for link in step.new_links for end in (link.source, link.target)} - new
    stored = writer.get(before.keys() | ends)
    ended = writer.links(ids=[link.id for link in step.ended_links], ended=True) if step.ended_links else []
    links = {link.id: link for link in ended}
    return (
        ends | before.keys() <= stored.keys()
        and all(
            (stored[id].updated_at, stored[id].superseded_by) == (memory.updated_at, memory.superseded_by)
            for id, memory in before.items()
        )
        and all(stored[memory.id].access_count == memory.access_count for memory in step.forgotten)
        and all(link.id in links and links[link.id].active for link in step.ended_links)
        and all(_is_possible(link, step, writer) for link in step.new_links if link.target not in new)
    )


def _is_possible(link: Link, step: Step, writer: Writer) -> bool:
    """Whether the target has no other parent, no circle arises, and the two are not associated already."""
    if link.kind == "hierarchical":
        ending = {ended.id for ended in step.ended_links}
        above = [
            one.id
            for one in writer.links([link.target], ended=True)
            if one.active and one.kind == "hierarchical" and one.target == link.target
        ]
        return set(above) <= ending and link.target not in writer.ancestors([link.source]).get(
            link.source, []
        )
    if link.kind == "associative" and not step.new_memories and not step.changes:
        return all(one.other(link.source) != link.target for one in writer.links([link.source], ended=True))
    return True


def _write(step: Step, writer: Writer, model: str) -> None:
    observations = [change.before.id for change in step.changes if change.before.kind == OBSERVATION]
    entities = parents_of(writer.ancestors(observations)) if observations else {}
    writer.put([*step.new_memories, *(change.after for change in step.changes)])
    writer.put_links(step.ended_links)
    writer.put_links(step.new_links)
    for memory in step.forgotten:
        hide(memory, step.description or writer.cause.reason, writer)
    if step.vectors:
        writer.put_vectors(model, step.vectors)
    if entities:
        refresh_entity_text(entities.values(), writer=writer)
