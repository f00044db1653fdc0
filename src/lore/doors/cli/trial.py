"""trial: show what a language model would be sent of one real conversation, and what it makes of it."""

import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lore import lazy
from lore.config import IGNORE_LIST, Config
from lore.doors.cli.group import Flags
from lore.doors.cli.render import complain, line, plural, width
from lore.environment import of_clients
from lore.llm.base import LanguageModel, Prompt, Reply, Role
from lore.model import VERBATIM, Filter

if TYPE_CHECKING:
    from lore.engine import Lore
    from lore.transcripts.turns import Source

LONGEST_BYTES = 4_000_000
"""Of a transcript; longer ones would take a whole day's budget."""
FEWEST_TURNS = 4
FILES = 20
"""Newest transcripts among which one is looked for."""
SHOWN_LINES = 12
INDENT = "    "
NOTHING_THERE = "No conversation of a client was found that could be tried."


def try_out(flags: Flags, config: Config) -> None:
    """Have the model of these settings digest the newest conversation, in a store for this once."""
    with tempfile.TemporaryDirectory(prefix="lore-") as folder:
        trial = replace(
            config,
            data_dir=Path(folder),
            db_path=Path(folder, "trial.db"),
            database_url="",
            encryption="off",
            embedding_model="hash",
            idle_threshold=0.0,
            llm=replace(config.llm, idle_secs=0.0, daily_conversations=0),
        )
        with closing(lazy.connecting.wire(trial)) as lore:
            ignored = lazy.ignore_rules.load(config.data_dir / IGNORE_LIST, Path.home())
            if not any(_read(lore, path, source, ignored) for path, source in _newest()):
                click.echo(NOTHING_THERE)
                return
            _digest(lore)


def _newest() -> Iterator[tuple[Path, "Source"]]:
    """Transcripts of one conversation each, the newest first."""
    sources = [one for one in lazy.sources.SOURCES.values() if not one.log_suffix]
    variables = of_clients(lazy.sources.VARIABLES)
    found = [(path, one) for one in sources for path in one.files(Path.home(), variables, {})]
    found.sort(key=lambda each: -each[1].written_at(each[0]))
    return ((path, one) for path, one in found[:FILES] if path.stat().st_size <= LONGEST_BYTES)


def _read(lore: "Lore", path: Path, source: "Source", ignored: "lazy.ignore_rules.IgnoreRules") -> bool:
    """Whether the store now has a conversation to digest."""
    for _ in lore.ingest(path, source, ignored):
        pass
    return any(one.turns >= FEWEST_TURNS for one in lore.staged())


def _digest(lore: "Lore") -> None:
    assert lore.model is not None
    shown = _Shown(lore.model)
    session = max(lore.staged(), key=lambda one: one.turns).session
    click.echo(f"\nSending “{line(session.title, width() - 20)}” …")
    report = lazy.consolidate.consolidate(
        replace(lore, model=shown), lazy.consolidate.Run(phases=("digest",))
    )
    if report.fallback or report.remarks:
        complain(report.fallback or report.remarks[0])
    else:
        kept = lore.select(Filter(other_kinds=VERBATIM), 1_000)
        click.echo(f"\nIt would keep {plural(len(kept), 'memory', 'memories')}:")
        for memory in kept:
            click.echo(line(f"  - {memory.content}", width()))
    replies = shown.replies
    took, dollars = (
        sum(one.tokens_in + one.tokens_out for one in replies),
        sum(one.cost or 0.0 for one in replies),
    )
    click.echo(f"\nIt took {plural(took, 'token')} and ${dollars:,.4f}. Nothing was stored.\n")


class _Shown:
    """See `LanguageModel`. Shows the beginning of each prompt."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.replies: list[Reply] = []

    @property
    def address(self) -> str:
        return self._model.address

    def model(self, role: Role) -> str:
        return self._model.model(role)

    def complete(self, prompt: Prompt) -> Reply:
        lines = prompt.text.strip().splitlines()
        shown = [line(f"{INDENT}{text}", width()) for text in lines[:SHOWN_LINES]]
        more = len(lines) - len(shown)
        rest = f"\n{INDENT}… and {plural(more, 'more line')}" if more > 0 else ""
        head = f"{len(prompt.system) + len(prompt.text):,} characters, with Lore's instructions:"
        click.secho("\n".join((head, *shown)) + rest, dim=True)
        reply = self._model.complete(prompt)
        self.replies.append(reply)
        return reply
