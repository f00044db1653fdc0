"""consolidate: like a night's sleep, here and now: phase after phase, and a word on what came of each."""

import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from lore.doors.cli.completing import from_table
from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.opening import directly, embedding
from lore.doors.cli.progress import CLEAR, NAME_WIDTH, progress
from lore.doors.cli.report_text import NOTHING, RULES, amount, models_named, took
from lore.doors.cli.terminal import line, note, plural, show_rows, visible, width, wrapped
from lore.errors import Invalid

if TYPE_CHECKING:
    from lore.doors.consolidation_run import ConsolidationRun
    from lore.engine import Lore
    from lore.engine.consolidate import Done, Report
    from lore.llm.budget import Spent

INTERRUPTED = 130
SHOWN = 3
MANY = 200
"""How many memories that were embedded before the phases are worth a line."""
TOOK_WIDTH = 9
INDENT = "    "


@click.command()
@click.option("--dry-run", "dry", is_flag=True, help="Only say what would be done.")
@click.option(
    "--phase",
    "phases",
    metavar="NAME",
    multiple=True,
    shell_complete=from_table("lore.engine.consolidate:PHASES"),
    help="Only this phase; may be repeated.",
)
@click.option("--offline", is_flag=True, help="Ask no language model.")
@click.option("-v", "--verbose", is_flag=True, help="Tell every step, not only the first of each phase.")
@json_option
@click.pass_context
def consolidate(
    ctx: click.Context, dry: bool, phases: Sequence[str], offline: bool, verbose: bool, as_json: bool
) -> None:
    """Digest conversations, tidy what is known.

    A running daemon does the same by itself. Ctrl-C ends it after the step at hand.
    """
    _known(phases)
    flags: Flags = ctx.obj
    consolidation_run = import_module("lore.doors.consolidation_run")
    with directly(flags) as lore:
        lore = replace(lore, model=None) if offline else lore
        before = _spent(lore)
        with progress() as told, embedding(flags, lore) as embeds:
            night: ConsolidationRun = consolidation_run.ConsolidationRun(lore, told, embeds)
            report, stopped = None, ""
            with _ending(night):
                try:
                    report = night.run(phases, dry=dry)
                except consolidation_run.Ended as ended:
                    stopped = str(ended)
        spent = _Spending(lore, before, _spent(lore), offline)
        young = _young(lore) if not dry else 0
    if as_json:
        show_document(_document(report, spent, night.ended))
    else:
        _show(report, spent, verbose=verbose, stopped=stopped, ended=night.ended)
        if young:
            goes, is_, has = ("goes", "it is", "it has") if young == 1 else ("go", "they are", "they have")
            quiet = f"{has} been quiet for {lore.tuning.idle_threshold:g} s"
            note(f"{plural(young, 'conversation')} {goes} on: {is_} digested when {quiet}")
    if night.ended:
        ctx.exit(INTERRUPTED)


def _known(phases: Sequence[str]) -> None:
    """Before anything is opened for a name that is wrong."""
    known = import_module("lore.engine.consolidate").PHASES
    if unknown := [name for name in phases if name not in known]:
        raise Invalid(f"unknown phase {unknown[0]!r}; known, in order: {', '.join(known)}")


def _young(lore: "Lore") -> int:
    """How many conversations were left because they may go on."""
    backlog = import_module("lore.engine.consolidation_backlog")
    recent_turns = backlog.lately(lore.clock(), lore.tuning.idle_threshold)
    ids = [one.session.id for one in lore.staged()]
    return sum(count > 0 for count in lore.count_below(ids, recent_turns).values())


# --- meanwhile
@contextmanager
def _ending(night: "ConsolidationRun") -> Iterator[None]:
    """The first Ctrl-C lets it finish what is at hand, the second does not."""

    def end(signum: int, frame: FrameType | None) -> None:
        if night.ended:
            raise KeyboardInterrupt
        night.end()
        if sys.stderr.isatty():
            click.echo(f"{CLEAR}ending after the step at hand; Ctrl-C once more ends it now", err=True)

    before = signal.signal(signal.SIGINT, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


# --- afterwards
class _Spending:
    """What language models took: in this run, and today, in which it may have been others that asked."""

    def __init__(
        self, lore: "Lore", before: Mapping[str, "Spent"], after: Mapping[str, "Spent"], offline: bool
    ) -> None:
        self.models: dict[str, str] | None = import_module("lore.doors.consolidation_run").language_models(
            lore
        )
        self.today = after
        self.offline = offline
        self.daily_dollars = lore.tuning.llm_daily_dollars
        self.now = {
            name: _less(one, before[name]) if name in before else one
            for name, one in after.items()
            if one != before.get(name)
        }

    def rows(self, fallback: str) -> dict[str, str]:
        """For a person: which were asked, and what that took."""
        if self.models is None:
            return {"language model": "none was asked" if self.offline else RULES}
        named = visible(models_named(self.models))
        if fallback:
            named += "; could not be asked, so it worked by rules"
        if not self.now:
            return {"language model": named, "took": "nothing"}
        rows = {visible(name): _took(one) for name, one in self.now.items()}
        limit = f" of ${self.daily_dollars:,.2f}" if self.daily_dollars else ""
        return rows | {"today": f"${sum(one.dollars for one in self.today.values()):,.2f}{limit}"}


def _took(one: "Spent") -> str:
    tokens = plural(one.tokens_in + one.tokens_out, "token")
    price = "no price is known" if one.unpriced else f"${one.dollars:,.2f}"
    return f"{plural(one.calls, 'question')}, {tokens}, {price}"


def _less(one: "Spent", before: "Spent") -> "Spent":
    return replace(
        one,
        calls=one.calls - before.calls,
        tokens_in=one.tokens_in - before.tokens_in,
        tokens_out=one.tokens_out - before.tokens_out,
        dollars=one.dollars - before.dollars,
        unpriced=one.unpriced - before.unpriced,
    )


def _spent(lore: "Lore") -> dict[str, "Spent"]:
    ledger = import_module("lore.engine.spending").StoreLedger(lore.store, lore.clock)
    day = datetime.fromtimestamp(lore.clock(), UTC).date().isoformat()
    return {one.model: one for one in ledger.load(day)}


def _document(report: "Report | None", spent: _Spending, ended: bool) -> dict[str, Any]:
    whole: dict[str, Any] = {"began_at": None, "applied": None, "phases": []}
    whole |= {"seconds": None, "counts": {}, "remarks": [], "fallback": ""}
    if report is not None:
        whole |= plain(report)
        whole |= {"seconds": report.seconds, "counts": report.counts, "remarks": list(report.remarks)}
    asked = [plain(one) for one in spent.now.values()]
    today = [plain(one) for one in spent.today.values()]
    return {**whole, "interrupted": ended, "language_model": spent.models, "asked": asked, "today": today}


def _show(report: "Report | None", spent: _Spending, *, verbose: bool, stopped: str, ended: bool) -> None:
    if report is None:
        click.echo(f"Stopped {stopped}.")
        note("What was done until then stays; the next run goes on from there.")
        return
    for text in wrapped(_head(report, ended)):
        click.secho(text, bold=True)
    click.echo()
    _show_embedding(report)
    for done in report.phases:
        _show_phase(done, verbose)
    click.echo()
    show_rows(spent.rows(report.fallback))
    for done in report.phases:
        for remark in done.remarks:
            note(f"{done.phase}: {remark}")
    if not report.applied:
        note("Each phase was planned on what is there now; it does not see what earlier ones would do.")


def _head(report: "Report", ended: bool) -> str:
    if not report.applied:
        return "Nothing was changed. This is what a consolidation would do:"
    word = "Stopped after" if ended else "Consolidated in"
    return f"{word} {took(report.seconds)}: {_deed(report, routine=False)}."


def _deed(done: "Done | Report", routine: bool = True) -> str:
    """What was done; or that something could not be, and says why further down."""
    deed = amount(done.counts, routine)
    return "nothing, see below" if deed == NOTHING and done.remarks else deed


def _show_embedding(report: "Report") -> None:
    """A line like that of a phase, where it took its time."""
    work = report.embedding
    if work is not None and work.done >= MANY:
        deed = f"{plural(work.done, 'memory', 'memories')} embedded{' elsewhere' if work.elsewhere else ''}"
        name = click.style("embed".ljust(NAME_WIDTH), fg="cyan")
        click.echo(f"{name}{took(work.seconds).rjust(TOOK_WIDTH)}  {deed}")


def _show_phase(done: "Done", verbose: bool) -> None:
    deed = _deed(done)
    idle = deed == NOTHING
    name = click.style(done.phase.ljust(NAME_WIDTH), fg=None if idle else "cyan", dim=idle)
    first, *rest = wrapped(deed, NAME_WIDTH + TOOK_WIDTH + 2)
    click.echo(name + click.style(f"{took(done.seconds).rjust(TOOK_WIDTH)}  {first}", dim=idle))
    for text in rest:
        click.secho(" " * (NAME_WIDTH + TOOK_WIDTH + 2) + text, dim=idle)
    shown = done.told if verbose else done.told[:SHOWN]
    for told in shown:
        click.secho(f"{INDENT}{line(told, width() - len(INDENT))}", dim=True)
    if more := len(done.told) - len(shown):
        click.secho(f"{INDENT}… and {more:,} more; -v tells all", dim=True)
