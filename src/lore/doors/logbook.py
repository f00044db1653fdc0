"""logbook: what a daemon has to say, in files that do not grow without end.

An event is a line: its time, its level, its message. What does not fit on one line follows, indented.
"""

import logging
import os
import sys
from datetime import datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler

from typing_extensions import override

LARGEST_BYTES = 1_000_000
FILES = 3
TALKATIVE = ("mcp",)
"""Those who would tell of every request."""
PAST_THE_LOGGERS = (1, 2)
"""Where libraries and tracebacks write."""


class Logbook(RotatingFileHandler):
    """The last megabytes, for their owner alone. everything: also what is written past the loggers."""

    def __init__(self, path: str, *, everything: bool) -> None:
        self._everything = everything
        super().__init__(path, maxBytes=LARGEST_BYTES, backupCount=FILES - 1, encoding="utf-8")
        self.setFormatter(Dated())

    @override
    def _open(self) -> TextIOWrapper:
        file = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if self._everything:
            for stream in PAST_THE_LOGGERS:
                os.dup2(file, stream)
        return open(file, "a", encoding="utf-8", errors="backslashreplace")

    @override
    def shouldRollover(self, record: logging.LogRecord) -> int:
        """A file that was moved or removed is nobody's any more: go on in a new one."""
        if self.stream is not None and not _is_at(self.baseFilename, self.stream):
            self.stream.close()
            self.stream = self._open()
        return super().shouldRollover(record)


class Dated(logging.Formatter):
    """For a file that is read days later."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")
        return f"{at} {record.levelname} {_indented(super().format(record))}"


class Timed(logging.Formatter):
    """For a person who looks on."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        level = "" if record.levelno <= logging.INFO else f"{record.levelname} "
        return f"{datetime.fromtimestamp(record.created):%H:%M:%S} {level}{_indented(super().format(record))}"


def keep_log(path: str, *, quietly: bool) -> None:
    """Write down what happens from now on. quietly: there only, and all of it; otherwise also to stderr."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(Logbook(path, everything=quietly))
    if not quietly:
        shown = logging.StreamHandler(sys.stderr)
        shown.setFormatter(Timed())
        root.addHandler(shown)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def _is_at(path: str, file: TextIOWrapper) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _indented(text: str) -> str:
    return "\n  ".join(text.splitlines())
