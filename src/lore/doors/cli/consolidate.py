"""consolidate: run the phases of a consolidation now, and report the result of each."""

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from lore import lazy
from lore.doors.cli.complete import complete_phases
from lore.doors.cli.connect import announced, open_embedder, open_store
from lore.doors.cli.group import Flags, command
from lore.doors.cli.progress import CLEAR, NAME_WIDTH, progress
from lore.doors.cli.render import hanging, line, note, plain, plural, show_document, show_rows, width, wrapped
from lore.doors.cli.status import NOTHING, RULES, counts_text, models_text
from lore.doors.cli.times import stopwatch
from lore.errors import Invalid

if TYPE_CHECKING:
    from lore.engine import Lore
    from lore.engine.consolidate.phases import PhaseResult, Report
    from lore.engine.consolidation_run import ConsolidationRun
    from lore.llm.budget import Spent

INTERRUPTED = 130
SHOWN = 3
"""Steps that are shown of each phase without --verbose."""
MANY = 200
"""Memories embedded before the phases that are worth a line."""
SECONDS_WIDTH = 9
INDENT = "    "


@command()
@click.option("--dry-run", "dry", is_flag=True, help="Only show what would be done.")
@click.option(
    "--phase",
    "phases",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_phases,
    help="Only this phase; may be repeated.",
)
@click.option("--offline", is_flag=True, help="Do not use the language model.")
@click.option("-v", "--verbose", is_flag=True, help="Show every step, not only the first of each phase.")
def consolidate(flags: Flags, /, *, verbose: bool, as_json: bool, **options: Any) -> int:
    """Digest conversations and tidy up memories.

    A running daemon does this on its own. Ctrl-C ends it after the current step.
    """
    phases = lazy.consolidate.PHASES
    if unknown := [name for name in options["phases"] if name not in phases]:
        raise Invalid(f"unknown phase {unknown[0]!r}; known, in order: {', '.join(phases)}")
    result = _run(flags, **options)
    if as_json:
        show_document(_document(result))
    else:
        _show(result, verbose, options["offline"])
    return INTERRUPTED if result.interrupted else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Result:
    """A run. report: None if it was stopped in the middle of a phase; stopped: where that was.

    before, today: the use of each language model today, before and after the run. young: conversations that
    were left alone because they may still go on.
    """

    lore: "Lore"
    report: "Report | None"
    stopped: str
    interrupted: bool
    before: Mapping[str, "Spent"]
    today: Mapping[str, "Spent"]
    young: int

    @property
    def usage(self) -> dict[str, "Spent"]:
        """The use of each language model since the run began, also by other processes."""
        return {
            name: _difference(one, self.before[name]) if name in self.before else one
            for name, one in self.today.items()
            if one != self.before.get(name)
        }


def _run(flags: Flags, phases: Sequence[str], dry: bool, offline: bool) -> _Result:
    runs = lazy.consolidation_run
    announcement = nullcontext() if dry else announced(flags, "consolidating")
    with announcement, open_store(flags) as lore:
        lore = replace(lore, model=None) if offline else lore
        before = _spent_today(lore)
        report, stopped = None, ""
        with progress() as shown, open_embedder(flags, lore) as embeds:
            run = runs.ConsolidationRun(lore, shown, embeds)
            with _end_on_ctrl_c(run):
                try:
                    report = run.run(phases, dry=dry)
                except runs.Ended as ended:
                    stopped = str(ended)
        return _Result(
            lore=lore,
            report=report,
            stopped=stopped,
            interrupted=run.ended,
            before=before,
            today=_spent_today(lore),
            young=0 if dry else _count_young(lore),
        )


@contextmanager
def _end_on_ctrl_c(run: "ConsolidationRun") -> Iterator[None]:
    """The first Ctrl-C ends the run after the current step, the second one at once."""

    def end(signum: int, frame: FrameType | None) -> None:
        if run.ended:
            raise KeyboardInterrupt
        run.end()
        if sys.stderr.isatty():
            click.echo(f"{CLEAR}ending after the current step; Ctrl-C once more ends it now", err=True)

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _count_young(lore: "Lore") -> int:
    """Count the conversations that have not been quiet for long enough."""
    recent_turns = lazy.consolidation_backlog.recent_turns(lore.clock(), _quiet_seconds(lore))
    ids = [one.session.id for one in lore.staged()]
    return sum(count > 0 for count in lore.count_below(ids, recent_turns).values())


def _quiet_seconds(lore: "Lore") -> float:
    return lore.tuning.quiet_seconds(by_model=lore.model is not None)


# --- language models
def _spent_today(lore: "Lore") -> dict[str, "Spent"]:
    ledger = lazy.spending.StoreLedger(lore.store, lore.clock)
    today = datetime.fromtimestamp(lore.clock(), UTC).date().isoformat()
    return {one.model: one for one in ledger.load(today)}


def _difference(one: "Spent", before: "Spent") -> "Spent":
    counts = {name: value - getattr(before, name) for name, value in asdict(one).items() if name != "model"}
    return replace(one, **counts)


def _usage_rows(result: _Result, fallback: str, offline: bool) -> dict[str, str]:
    """The language models and their use. fallback: why the rules did the work instead."""
    models = lazy.consolidation_run.language_models(result.lore)
    if models is None:
        return {"language model": "not used" if offline else RULES}
    if not result.usage:
        failed = "; could not be asked, so it worked by rules" if fallback else ""
        return {"language model": models_text(models) + failed, "usage": "none"}
    daily = result.lore.tuning.llm.daily_dollars
    dollars = sum(one.dollars for one in result.today.values())
    rows = {name: _usage_text(one) for name, one in result.usage.items()}
    return rows | {"today": f"${dollars:,.2f}{f' of ${daily:,.2f}' if daily else ''}"}


def _usage_text(one: "Spent") -> str:
    price = "price unknown" if one.unpriced else f"${one.dollars:,.2f}"
    return f"{plural(one.calls, 'question')}, {plural(one.tokens, 'token')}, {price}"


# --- output
def _document(result: _Result) -> dict[str, Any]:
    report = result.report
    document: dict[str, Any] = {"began_at": None, "applied": None, "phases": []}
    document |= {"seconds": None, "counts": {}, "remarks": [], "fallback": ""}
    if report is not None:
        document |= plain(report)
        document |= {"seconds": report.seconds, "counts": report.counts, "remarks": report.remarks}
    models = lazy.consolidation_run.language_models(result.lore)
    used = {"asked": list(result.usage.values()), "today": list(result.today.values())}
    return {**document, "interrupted": result.interrupted, "language_model": models, **used}


def _show(result: _Result, verbose: bool, offline: bool) -> None:
    if result.report is None:
        click.echo(f"Stopped {result.stopped}.")
        note("The work done so far is kept; the next run continues from there.")
    else:
        _show_report(result.report, result.interrupted, verbose)
        show_rows(_usage_rows(result, result.report.fallback, offline))
        for phase in result.report.phases:
            for remark in phase.remarks:
                note(f"{phase.phase}: {remark}")
        if not result.report.applied:
            note("Each phase was planned on the present memories; it does not see the work of earlier ones.")
    if young := result.young:
        goes, are, have = ("goes", "it is", "it has") if young == 1 else ("go", "they are", "they have")
        quiet = f"{have} been quiet for {_quiet_seconds(result.lore):g} s"
        note(f"{plural(young, 'conversation')} {goes} on: {are} digested when {quiet}")


def _show_report(report: "Report", interrupted: bool, verbose: bool) -> None:
    done = f"{'Stopped after' if interrupted else 'Consolidated in'} {stopwatch(report.seconds)}"
    head = f"{done}: {_summary(report, routine=False)}."
    if not report.applied:
        head = "Nothing was changed. This is what a consolidation would do:"
    click.secho("\n".join(wrapped(head)), bold=True)
    click.echo()
    work = report.embedding
    if work is not None and work.done >= MANY:
        where = " elsewhere" if work.elsewhere else ""
        _show_phase("embed", work.seconds, f"{plural(work.done, 'memory', 'memories')} embedded{where}")
    for phase in report.phases:
        _show_phase(phase.phase, phase.seconds, _summary(phase))
        steps = phase.steps if verbose else phase.steps[:SHOWN]
        for step in steps:
            click.secho(f"{INDENT}{line(step, width() - len(INDENT))}", dim=True)
        if more := len(phase.steps) - len(steps):
            click.secho(f"{INDENT}… and {more:,} more; -v shows all", dim=True)
    click.echo()


def _show_phase(name: str, seconds: float, summary: str) -> None:
    idle = summary == NOTHING
    styled = click.style(name.ljust(NAME_WIDTH), fg=None if idle else "cyan", dim=idle)
    head = click.style(f"{stopwatch(seconds).rjust(SECONDS_WIDTH)}  ", dim=idle)
    for text in hanging(styled + head, summary):
        click.secho(text, dim=idle)


def _summary(done: "PhaseResult | Report", routine: bool = True) -> str:
    """The results in words; if there are none, a hint at the remarks that explain it."""
    summary = counts_text(done.counts, routine)
    return "nothing, see below" if summary == NOTHING and done.remarks else summary
