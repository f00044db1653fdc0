"""consolidate: like sleep, phase after phase: look → plan → apply, step by step, each all or nothing."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.engine.consolidate.contradict import contradict
from lore.engine.consolidate.decay import decay
from lore.engine.consolidate.digest import digest
from lore.engine.consolidate.fallback import FallibleModel
from lore.engine.consolidate.link import link
from lore.engine.consolidate.merge import merge
from lore.engine.consolidate.plan import Plan, View, apply
from lore.engine.consolidate.prune import prune
from lore.engine.consolidate.reflect import reflect
from lore.engine.consolidate.relevance import recompute
from lore.engine.consolidate.resummarize import resummarize
from lore.engine.consolidation_backlog import RUN
from lore.errors import Invalid
from lore.health import Embedding
from lore.model import Cause
from lore.store import Store

PHASES: Mapping[str, Callable[[View], Iterator[Plan]]] = {
    "digest": digest,
    "relevance": recompute,
    "merge": merge,
    "link": link,
    "resummarize": resummarize,
    "reflect": reflect,
    "contradict": contradict,
    "decay": decay,
    "prune": prune,
}
"""In the order of a night."""
RUNS_KEPT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What became of one phase: what it told, what that amounts to, what it could not do, and how long."""

    phase: str
    told: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole run. applied: False of a dry run, which changes nothing. embedding: the work before it.

    fallback: the reason why the rules took the place of the language model; empty if they did not.
    """

    began_at: float
    applied: bool
    phases: tuple[Done, ...]
    embedding: Embedding | None = None
    fallback: str = ""

    @property
    def counts(self) -> dict[str, int]:
        total: Counter[str] = Counter()
        for done in self.phases:
            total.update(done.counts)
        return dict(total)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What several phases say alike is said once."""
        return tuple(dict.fromkeys(remark for done in self.phases for remark in done.remarks))

    @property
    def seconds(self) -> float:
        """The time that passed for whoever waited, embedding included."""
        before = self.embedding.seconds if self.embedding else 0.0
        return before + sum(done.seconds for done in self.phases)


def consolidate(
    names: Sequence[str],
    *,
    store: Store,
    view: View,
    cause: Cause,
    applied: bool = True,
    ended: threading.Event | None = None,
    embedding: Embedding | None = None,
) -> Report:
    """The phases of these names, or all, in their order. Dry, each is planned on what is there now.

    Once the language model cannot be asked, the phase at hand goes on by rules, and so do all behind it.
    """
    if unknown := [name for name in names if name not in PHASES]:
        raise Invalid(f"unknown phase {unknown[0]!r}; known, in order: {', '.join(PHASES)}")
    wanted = [name for name in PHASES if not names or name in names]
    phases = []
    model = None if view.model is None else FallibleModel(view.model)
    view = replace(view, model=model)
    for name in wanted:
        if ended is not None and ended.is_set():
            break
        phases.append(_done(name, store, view, cause, applied))
        if model is not None and model.failure is not None and not view.fallback:
            view = replace(view, model=None, fallback=str(model.failure))
            by_rules = _done(name, store, view, cause, applied)
            phases[-1] = _joined(phases[-1], by_rules, view.fallback)
    report = Report(
        began_at=view.now,
        applied=applied,
        phases=tuple(phases),
        embedding=embedding,
        fallback=view.fallback,
    )
    if applied:
        _keep(report, store, view, replace(cause, reason="statistics"))
    return report


def _done(name: str, store: Store, view: View, cause: Cause, applied: bool) -> Done:
    began = time.monotonic()
    told: list[str] = []
    counts: Counter[str] = Counter()
    remarks: list[str] = []
    for plan in PHASES[name](view):
        if applied and (plan.steps or plan.noted):
            because = replace(cause, reason=name)
            plan = apply(
                plan,
                store=store,
                model=view.sense.model,
                namespace=view.namespace,
                cause=because,
                now=view.now,
            )
        told += [step.told for step in plan.steps if step.told]
        counts.update(plan.counts)
        remarks += plan.remarks
    return Done(
        phase=name,
        told=tuple(told),
        counts={key: count for key, count in counts.items() if count},
        remarks=tuple(remarks),
        seconds=time.monotonic() - began,
    )


def _joined(asked: Done, by_rules: Done, reason: str) -> Done:
    """One phase that began with a language model and went on by rules."""
    remarks = [f"{reason}; the rules do its work" if remark == reason else remark for remark in asked.remarks]
    return Done(
        phase=asked.phase,
        told=(*asked.told, *by_rules.told),
        counts=Counter(asked.counts) + Counter(by_rules.counts),
        remarks=(*remarks, *by_rules.remarks),
        seconds=asked.seconds + by_rules.seconds,
    )


def _keep(report: Report, store: Store, view: View, cause: Cause) -> None:
    noted = {
        "began_at": report.began_at,
        "seconds": round(report.seconds, 3),
        "phases": [done.phase for done in report.phases],
        "counts": report.counts,
        "remarks": list(report.remarks),
        "fallback": report.fallback,
    }
    with store.transaction(view.namespace, cause, view.now) as writer:
        name = f"{RUN}{report.began_at:017.3f}"
        writer.note(name, noted)
        runs = sorted(writer.noted(RUN))
        kept = [run for run in runs if run <= name][-RUNS_KEPT:]  # a later one ran while the clock was ahead
        for old in set(runs).difference(kept):
            writer.note(old, None)
