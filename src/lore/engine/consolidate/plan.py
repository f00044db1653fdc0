"""Plan: what a phase of consolidation would change. A dry run shows it; each step is all or nothing."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from lore.config import ConsolidationSettings
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import OBSERVATION, refresh_entity_text
from lore.engine.forget import hide
from lore.engine.link import end_link, new_link
from lore.llm.base import LanguageModel
from lore.model import Cause, Link, LinkKind, Memory, Tie
from lore.store import Reader, Store, Writer
from lore.vectors import Vector

VERB = "consolidate"
STEPS_AT_ONCE = 50
"""How many steps share a transaction."""
BREATH_SECONDS = 0.02
"""Between two transactions, so that others who wait to write come in between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A memory as it was looked at, and as it shall be."""

    before: Memory
    after: Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Changes that only make sense together. told: what happens, for a person; counted: under which name."""

    told: str
    counted: Mapping[str, int] = field(default_factory=dict)
    new: tuple[Memory, ...] = ()
    changed: tuple[Change, ...] = ()
    linked: tuple[Link, ...] = ()
    ended: tuple[Link, ...] = ()
    hidden: tuple[Memory, ...] = ()
    vectors: Mapping[str, Vector] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The steps of a phase, and what it notes for its next run.

    expected: what it found noted; if that has changed since, somebody else has done the same work. remarks:
    what it could not do, and why.
    """

    phase: str
    steps: tuple[Step, ...] = ()
    expected: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    noted: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """What it amounts to, by name."""
        total = Counter(self.counted)
        for step in self.steps:
            total.update(step.counted)
        return dict(total)


@dataclass(frozen=True, kw_only=True)
class View:
    """All that a phase may look at.

    marks: what was noted of the phases when the run began. model: the language model, if there is one.
    fallback: the reason why the rules take the place of a language model that was chosen; mostly empty.
    """

    reader: Reader
    sense: Embeddings
    namespace: str
    now: float
    settings: ConsolidationSettings
    marks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    model: LanguageModel | None = None
    fallback: str = ""
    told: Callable[[str, int, int], None] = lambda what, done, total: None

    def link(
        self, source: str, target: str, kind: LinkKind, *, type: str = "", weight: float = 1.0, why: str = ""
    ) -> Link:
        """A new link, made by consolidation."""
        tie = Tie(source=source, target=target, kind=kind, type=type, weight=weight, reason=why)
        return new_link(tie, VERB, self.now)

    def superseded(self, old: Memory, by: str) -> Change:
        """The older of two gives way; it stays stored, linked and readable."""
        return Change(
            before=old, after=replace(old, superseded_by=by, superseded_at=self.now, updated_at=self.now)
        )

    def ended(self, links: Iterable[Link]) -> tuple[Link, ...]:
        return tuple(end_link(link, self.now) for link in links)


class _Overtaken(Exception):
    """Somebody else has done the same work meanwhile."""


def apply(plan: Plan, *, store: Store, model: str, namespace: str, cause: Cause, now: float) -> Plan:
    """What was really done of a plan, some steps a transaction: others who write do not wait for all of it.

    What is noted comes last, so that after an end halfway the next run looks again. A plan that expects
    something is one transaction, however long.
    """
    done: list[Step] = []
    complete = True
    for part in _parts(plan):
        if done:
            time.sleep(BREATH_SECONDS)
        kept = _applied(
            part if complete else replace(part, noted={}),
            store=store,
            model=model,
            namespace=namespace,
            cause=cause,
            now=now,
        )
        complete = complete and len(kept.steps) == len(part.steps)
        done += kept.steps
    return replace(kept, steps=tuple(done))


def _parts(plan: Plan) -> Iterator[Plan]:
    """At least one; what is to be noted is in the last."""
    if plan.expected or len(plan.steps) <= STEPS_AT_ONCE:
        yield plan
        return
    starts = range(0, len(plan.steps), STEPS_AT_ONCE)
    for start in starts:
        noted = plan.noted if start == starts[-1] else {}
        yield replace(plan, steps=plan.steps[start : start + STEPS_AT_ONCE], noted=noted)


def _applied(plan: Plan, *, store: Store, model: str, namespace: str, cause: Cause, now: float) -> Plan:
    """A plan in one transaction; what was really done.

    A step that somebody has overtaken meanwhile is left out; then nothing is noted, so that the next run
    looks again. A plan that expects something is done as a whole or not at all.
    """
    try:
        with store.transaction(namespace, cause, now) as writer:
            if any(writer.noted(name).get(name, {}) != value for name, value in plan.expected.items()):
                raise _Overtaken
            done = []
            for step in plan.steps:
                if _still_true(step, writer):
                    _take(step, writer, model, cause, now)
                    done.append(step)
            if len(done) < len(plan.steps) and plan.expected:
                raise _Overtaken
            if len(done) == len(plan.steps):
                for name, value in plan.noted.items():
                    writer.note(name, value)
    except _Overtaken:
        return replace(plan, steps=(), counted={})
    return replace(plan, steps=tuple(done))


def _still_true(step: Step, writer: Writer) -> bool:
    """Whether all is as it was when it was looked at, and nobody has made the same links or other ones."""
    looked_at = {memory.id: memory for memory in (*(one.before for one in step.changed), *step.hidden)}
    fresh = {memory.id for memory in step.new}
    ends = {end for link in step.linked for end in (link.source, link.target)} - fresh
    there = writer.get(looked_at.keys() | ends)
    links = writer.get_links([link.id for link in step.ended]) if step.ended else {}
    return (
        ends | looked_at.keys() <= there.keys()
        and all(_as_known(there[id], known) for id, known in looked_at.items())
        and all(there[memory.id].access_count == memory.access_count for memory in step.hidden)
        and all(link.id in links and links[link.id].active for link in step.ended)
        and all(_has_room(link, step, writer) for link in step.linked if link.target not in fresh)
    )


def _as_known(there: Memory, known: Memory) -> bool:
    return (there.updated_at, there.superseded_by) == (known.updated_at, known.superseded_by)


def _has_room(link: Link, step: Step, writer: Writer) -> bool:
    """No other parent, no circle; and of two that are alike nobody has said so meanwhile."""
    if link.kind == "hierarchical":
        ending = {ended.id for ended in step.ended}
        above = [
            one.id
            for one in writer.all_links(link.target)
            if one.active and one.kind == "hierarchical" and one.target == link.target
        ]
        return set(above) <= ending and link.target not in writer.ancestors([link.source]).get(
            link.source, []
        )
    if link.kind == "associative" and not step.new and not step.changed:
        return all(one.other(link.source) != link.target for one in writer.all_links(link.source))
    return True


def _take(step: Step, writer: Writer, model: str, cause: Cause, now: float) -> None:
    observed = [change.before.id for change in step.changed if change.before.kind == OBSERVATION]
    homes = writer.parents(observed) if observed else {}
    writer.put([*step.new, *(change.after for change in step.changed)])
    writer.put_links(step.ended)
    writer.put_links(step.linked)
    for memory in step.hidden:
        hide(memory, step.told or cause.reason, writer, now)
    if step.vectors:
        writer.put_vectors(model, step.vectors)
    if homes:
        refresh_entity_text(homes.values(), writer=writer, now=now)
