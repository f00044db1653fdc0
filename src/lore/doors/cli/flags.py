"""Flags: what every command may be told. Light, because help and completion load it too."""

from dataclasses import dataclass
from pathlib import Path

import click

JSON = "lore.json"
"""Where a command notes for the one who catches errors that JSON was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """Settings given before the command; None was not given. The names are those of the settings."""

    db_path: Path | None = None
    data_dir: Path | None = None
    namespace: str | None = None


def _noted(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    ctx.meta[JSON] = value
    return value


json_option = click.option(
    "--json", "as_json", is_flag=True, callback=_noted, help="Print one JSON document; errors too."
)
