"""helper: the one question of `lore setup`: whose language model may write down what lasts."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from lore import lazy
from lore.config import FILE_NAME, Config, of_text
from lore.doors.cli.connect import endpoint_of, settings
from lore.doors.cli.group import Flags
from lore.doors.cli.render import note
from lore.doors.cli.trial import try_out
from lore.doors.daemon_status import read_status
from lore.durable import OWNER_FILE, make_folder, write_durably
from lore.errors import Invalid, Unavailable
from lore.llm import NONE

CLAUDE, CODEX, OLLAMA = "claude", "codex", "ollama"
HELPERS = (CLAUDE, CODEX, OLLAMA, NONE)
HAIKU = "haiku"
QUIET_SECONDS = 6 * 3600.0
GUARDS: Mapping[str, Any] = {
    "llm_daily_conversations": 20,
    "llm_daily_tokens": 500_000,
    "llm_daily_dollars": 0.25,
    "llm_idle_secs": QUIET_SECONDS,
}
"""Limits for a model that takes from the user's own plan."""
FREE: Mapping[str, Any] = {
    "llm_daily_conversations": None,
    "llm_daily_tokens": 0,
    "llm_daily_dollars": None,
    "llm_idle_secs": None,
}
"""A model on this machine costs nothing; None restores a default."""
OFF = "lore setup --model none"
GONE = "{program} is not installed here: nothing on the path has that name"
NO_SERVER = (
    "no model server answers on this machine (Ollama, LM Studio and llama.cpp were looked for at their usual"
    " addresses); start one that has a model"
)
WHY = (
    "A language model can write down what lasts in your conversations: decisions, rules, causes of bugs.\n"
    "Without one, Lore keeps little more than your own sentences."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Helper:
    """A language model that is there. runs: its command or address. values: of settings, for the file."""

    name: str
    title: str
    runs: str
    sends: str
    price: str
    values: Mapping[str, Any]


def ask(flags: Flags, name: str | None, *, dry_run: bool, quiet: bool) -> None:
    """Use the model of this name; without one, ask on a terminal about a model that is there.

    quiet: print nothing, and do not ask. A user who has answered before is not asked again.
    """
    config = settings(flags)
    if name is None:
        if quiet or dry_run or config.llm.backend or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return
        found = next((one for one in map(_found, HELPERS[:-1]) if one is not None), None)
        if found is None:
            return
        values: Mapping[str, Any] = found.values if _agreed(flags, found) else {"llm_backend": NONE}
    else:
        values = _wanted(name)
    _write(config, values, dry_run=dry_run)
    if not quiet:
        _tell(flags, config, values, dry_run=dry_run)


# --- what is there
def _wanted(name: str) -> Mapping[str, Any]:
    if name == NONE:
        return {"llm_backend": NONE}
    helper = _found(name)
    if helper is None:
        raise Invalid(NO_SERVER if name == OLLAMA else GONE.format(program=name))
    return helper.values


def _found(name: str) -> Helper | None:
    if name == OLLAMA:
        return _on_loopback()
    path = shutil.which(name)
    if path is None:
        return None
    program = shlex.quote(os.path.abspath(path))
    return _claude(program) if name == CLAUDE else _codex(program)


def _claude(program: str) -> Helper:
    command = f"{program} -p --output-format json"
    models = {"extraction_model": HAIKU, "compression_model": HAIKU}
    return Helper(
        name=CLAUDE,
        title=f"Claude Code ({HAIKU})",
        runs=lazy.llm_command.shown(command, HAIKU),
        sends="to Anthropic, through your own Claude Code",
        price="About 0.3 cents a conversation, at most {} a day, from your plan.",
        values={"llm_backend": "command", "llm_command": command, "llm_base_url": None, **models, **GUARDS},
    )


def _codex(program: str) -> Helper:
    command = f"{program} exec"
    models = {"extraction_model": None, "compression_model": None}
    return Helper(
        name=CODEX,
        title="Codex",
        runs=lazy.llm_command.shown(command, ""),
        sends="to the service of your own Codex",
        price="At most {} conversations a day, from your plan.",
        values={"llm_backend": "command", "llm_command": command, "llm_base_url": None, **models, **GUARDS},
    )


def _on_loopback() -> Helper | None:
    served = lazy.loopback.served()
    if served is None:
        return None
    title, url, model = served
    models = {"extraction_model": model, "compression_model": model}
    return Helper(
        name=OLLAMA,
        title=f"{title} ({model})",
        runs=url,
        sends="nowhere: it stays on this machine",
        price="It costs nothing.",
        values={"llm_backend": "openai", "llm_base_url": url, "llm_command": None, **models, **FREE},
    )


# --- the question
def _agreed(flags: Flags, helper: Helper) -> bool:
    limit = helper.values["llm_daily_conversations"]
    click.echo(f"\n{WHY}\n")
    click.echo(f"  runs   {helper.runs}")
    click.echo(f"  sends  one conversation at a time, without known kinds of secrets, {helper.sends}")
    if limit:
        tokens, dollars = (helper.values[f"llm_daily_{unit}"] for unit in ("tokens", "dollars"))
        most = f"{limit} conversations, {tokens:,} tokens and ${dollars:.2f}"
        click.echo(f"  limit  {most} a day; a conversation must have been quiet for 6 hours")
    click.echo(f"  off    {OFF}\n")
    question = (
        f"Let {helper.title} write down what lasts, while the computer is idle? {helper.price.format(limit)}"
    )
    answers = click.Choice(["y", "n", "d"], case_sensitive=False)
    hint = " [y/N, d: try it with one conversation, and store nothing]"
    while True:
        answer = click.prompt(
            question + hint, type=answers, default="n", show_default=False, show_choices=False
        )
        if answer != "d":
            return bool(answer == "y")
        try_out(flags, with_values(settings(flags), helper.values))


def with_values(config: Config, values: Mapping[str, Any]) -> Config:
    """The settings, with those of a helper."""
    return lazy.config.replaced(config, {name: value for name, value in values.items() if value is not None})


# --- the file
def _write(config: Config, values: Mapping[str, Any], *, dry_run: bool) -> None:
    """Change these settings in the file and keep everything else in it."""
    path = config.data_dir / FILE_NAME
    try:
        text = path.read_text(encoding="utf-8")
        mode = path.stat().st_mode & 0o777
    except FileNotFoundError:
        text, mode = "", OWNER_FILE
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(f"{path} cannot be read: {error}") from error
    new = lazy.http_settings.changed(text, values)
    of_text(new, path)
    if new == text or dry_run:
        return
    try:
        make_folder(path.parent)
        write_durably(Path(os.path.realpath(path)), new, mode=mode)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}") from error


def _tell(flags: Flags, config: Config, values: Mapping[str, Any], *, dry_run: bool) -> None:
    path = config.data_dir / FILE_NAME
    would = "would be written" if dry_run else "is written"
    if values["llm_backend"] == NONE:
        click.echo(f"No language model is used; that {would} in {path}. `lore setup --model` chooses one.")
    else:
        runs = values.get("llm_base_url") or values["llm_command"]
        click.echo(f"The language model is {runs}; that {would} in {path}. `{OFF}` turns it off.")
    if not dry_run and read_status(endpoint_of(flags))["running"]:
        note("The running daemon does so after `lore daemon restart`.")
