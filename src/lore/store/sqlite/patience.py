"""Patience: how long, and in which steps, a connection waits for others that have the file locked."""

import random
import time

import apsw

BUSY_SECONDS = 30.0


class Patience:
    """SQLite's busy handler: wait a random moment, give up after BUSY_SECONDS."""

    def __init__(self) -> None:
        self._since = 0.0

    def __call__(self, tries: int) -> bool:
        if tries == 0:
            self._since = time.monotonic()
        time.sleep(random.uniform(0.0005, 0.003))
        return time.monotonic() - self._since < BUSY_SECONDS


def switched_to_wal(writer: apsw.Connection) -> str:
    """The mode after the switch. SQLite does not wait here when several create a file at once, so we do."""
    patience, tries = Patience(), 0
    while True:
        try:
            ((mode,),) = writer.execute("PRAGMA journal_mode = WAL").fetchall()
            return str(mode)
        except apsw.BusyError:
            if not patience(tries):
                raise
            tries += 1
