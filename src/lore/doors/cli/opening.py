"""Opening: flags → settings → a Lore for one command, closed when the command is done."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict

from lore.config import Config, load
from lore.connecting import wire
from lore.doors.cli.flags import Flags
from lore.engine import Lore


def settings(flags: Flags, **more: str | None) -> Config:
    """The settings in force, the flags having the last word."""
    return load(**(asdict(flags) | more))


@contextmanager
def opened(flags: Flags) -> Iterator[Lore]:
    """A Lore that waits for its model: a person asks once and wants the best answer."""
    config = settings(flags)
    lore = wire(config, patient=True).within(config.namespace, surface="cli")
    try:
        yield lore
    finally:
        lore.close()
