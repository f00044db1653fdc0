"""Phases: consolidation, phase after phase. Each phase plans; its steps are applied as it goes.

Heavy to import: it loads all phases.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.engine import Lore
from lore.engine.consolidate.backlog import to_embed
from lore.engine.consolidate.contradict import contradict
from lore.engine.consolidate.digest import digest
from lore.engine.consolidate.insight import reflect
from lore.engine.consolidate.plan import VERB, Plan, Progress, View, apply, no_progress
from lore.engine.consolidate.prune import count_memories, decay, prune
from lore.engine.consolidate.resummarize import resummarize
from lore.engine.consolidate.similar_trees import link, merge
from lore.engine.context import Context
from lore.errors import Invalid
from lore.health import Embedding, embed_progress
from lore.llm.base import NoAnswer, OverBudget
from lore.model import Cause
from lore.store.records import ConsolidationRun, PhaseMark

PHASES: Mapping[str, Callable[[View], Iterator[Plan]]] = {
    "digest": digest,
    "relevance": count_memories,
    "merge": merge,
    "link": link,
    "resummarize": resummarize,
    "reflect": reflect,
    "contradict": contradict,
    "decay": decay,
    "prune": prune,
}
"""In the order of a run."""
RUNS_KEPT = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How to consolidate.

    phases: names, or none for all; they run in the order of PHASES. dry: plan only, change nothing. stop:
    once set, the running phase is the last. embedding: the work done for this run before; its time counts.
    """

    phases: Sequence[str] = ()
    dry: bool = False
    stop: threading.Event | None = None
    embedding: Embedding | None = None
    progress: Progress = no_progress


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseResult:
    """The result of one phase. steps: descriptions for a person. remarks: what could not be done, and why."""

    phase: str
    steps: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of a run. applied: False for a dry run. embedding: the work before the phases.

    fallback: the reason why rules replaced the language model; empty if they did not.
    """

    began_at: float
    applied: bool
    phases: tuple[PhaseResult, ...]
    embedding: Embedding | None = None
    fallback: str = ""

    @property
    def counts(self) -> dict[str, int]:
        return dict(sum((Counter(result.counts) for result in self.phases), Counter[str]()))

    @property
    def remarks(self) -> tuple[str, ...]:
        """The remarks of all phases, each once."""
        return tuple(dict.fromkeys(remark for result in self.phases for remark in result.remarks))

    @property
    def seconds(self) -> float:
        """The duration of the run, embedding included."""
        before = self.embedding.seconds if self.embedding else 0.0
        return before + sum(result.seconds for result in self.phases)


def consolidate(lore: Lore, run: Run | None = None) -> Report:
    """Embed what is pending, then run the phases. In a dry run each phase plans on the present state.

    Once the language model fails for good, the running phase continues by rules, and so do all later ones.
    """
    run = run or Run()
    if unknown := [name for name in run.phases if name not in PHASES]:
        raise Invalid(f"unknown phase {unknown[0]!r}; known, in order: {', '.join(PHASES)}")
    now = lore.clock()
    for _ in embed_progress(to_embed(lore)):
        pass
    cause = Cause(verb=VERB, surface=lore.surface, actor=lore.actor)
    context = Context(store=lore.store, namespace=lore.namespace, tenant=lore.tenant, cause=cause, now=now)
    view = view_of(lore, context, run.progress)
    results = []
    for name in [name for name in PHASES if not run.phases or name in run.phases]:
        if run.stop is not None and run.stop.is_set():
            break
        result, failure = _run_phase(name, view, None if run.dry else context)
        if failure is not None:
            view = replace(view, model=None, fallback=str(failure))
            by_rules, _ = _run_phase(name, view, None if run.dry else context)
            result = _combined(result, by_rules, view.fallback)
        results.append(result)
    report = Report(
        began_at=now,
        applied=not run.dry,
        phases=tuple(results),
        embedding=run.embedding,
        fallback=view.fallback,
    )
    if report.applied:
        _keep_statistics(report, replace(context, cause=replace(cause, reason="statistics")))
    return report


def view_of(lore: Lore, context: Context, progress: Progress = no_progress) -> View:
    """What the phases of a run see."""
    reader = context.reader
    return View(
        reader=reader,
        embeddings=lore.embeddings,
        namespace=context.namespace,
        now=context.now,
        settings=lore.tuning,
        model=lore.model,
        marks={mark.phase: mark for mark in reader.records(PhaseMark)},
        progress=progress,
    )


def _run_phase(name: str, view: View, context: Context | None) -> tuple[PhaseResult, NoAnswer | None]:
    """Plan, and apply each plan before the phase goes on. No context: a dry run.

    Also returns the error that every other prompt would meet too: an unreachable service, a wrong key or a
    wrong setting. A spent budget is none: its prompts wait for the next day.
    """
    began = time.monotonic()
    steps: list[str] = []
    counts: Counter[str] = Counter()
    remarks: list[str] = []
    failure = None
    for plan in PHASES[name](view):
        if context is not None and (plan.steps or plan.records or plan.removed):
            phase_context = replace(context, cause=replace(context.cause, reason=name))
            plan = apply(plan, phase_context, model=view.embeddings.model)
        steps += [step.description for step in plan.steps if step.description]
        counts.update(plan.counts)
        remarks += [*([str(plan.error)] if plan.error else []), *plan.remarks]
        if plan.error is not None and plan.error.general and not isinstance(plan.error, OverBudget):
            failure = failure or plan.error
    result = PhaseResult(
        phase=name,
        steps=tuple(steps),
        counts=dict(counts),
        remarks=tuple(remarks),
        seconds=time.monotonic() - began,
    )
    return result, failure


def _combined(by_model: PhaseResult, by_rules: PhaseResult, reason: str) -> PhaseResult:
    """The result of a phase that began with a language model and continued by rules."""
    remarks = [
        f"{reason}; the rules do its work" if remark == reason else remark for remark in by_model.remarks
    ]
    return PhaseResult(
        phase=by_model.phase,
        steps=(*by_model.steps, *by_rules.steps),
        counts=dict(Counter(by_model.counts) + Counter(by_rules.counts)),
        remarks=(*remarks, *by_rules.remarks),
        seconds=by_model.seconds + by_rules.seconds,
    )


def _keep_statistics(report: Report, context: Context) -> None:
    run = ConsolidationRun(
        began_at=report.began_at,
        seconds=round(report.seconds, 3),
        phases=tuple(result.phase for result in report.phases),
        counts=report.counts,
        remarks=tuple(report.remarks),
        fallback=report.fallback,
    )
    with context.transaction() as writer:
        runs = [old for old in writer.records(ConsolidationRun) if old.began_at != run.began_at]
        earlier = [old for old in runs if old.began_at < run.began_at]  # a later one: the clock was ahead
        kept = earlier[1 - RUNS_KEPT :]
        writer.put_records([run], removed=[old for old in runs if old not in kept])
