"""logbook: the log of a daemon, in files of limited size.

An event is a line with its time, level and message; further lines of the message are indented.
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
TALKATIVE = ("mcp", "uvicorn", "httpx2")
"""Loggers that would report every request."""
STANDARD_STREAMS = (1, 2)
"""Descriptors to which libraries and tracebacks write."""


class Logbook(RotatingFileHandler):
    """The log files, for their owner only. everything: with all that is written to stdout and stderr. delay:
    begin with the first event."""

    def __init__(self, path: str, *, everything: bool, delay: bool = False) -> None:
        self._everything = everything
        super().__init__(path, maxBytes=LARGEST_BYTES, backupCount=FILES - 1, encoding="utf-8", delay=delay)
        self.setFormatter(Dated())

    @override
    def _open(self) -> TextIOWrapper:
        file = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if self._everything:
            for stream in STANDARD_STREAMS:
                os.dup2(file, stream)
        return open(file, "a", encoding="utf-8", errors="backslashreplace")

    @override
    def shouldRollover(self, record: logging.LogRecord) -> int:
        """Begin a new file if the current one was moved or removed."""
        if self.stream is not None and not _is_at(self.baseFilename, self.stream):
            self.stream.close()
            self.stream = self._open()
        return super().shouldRollover(record)


class Dated(logging.Formatter):
    """With date and time, for the file."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone().isoformat(timespec="milliseconds")
        return f"{at} {record.levelname} {_indented(super().format(record))}"


class Timed(logging.Formatter):
    """With the time only, for a terminal."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        level = "" if record.levelno <= logging.INFO else f"{record.levelname} "
        return f"{datetime.fromtimestamp(record.created):%H:%M:%S} {level}{_indented(super().format(record))}"


def keep_log(path: str, *, quietly: bool) -> None:
    """Log into this file from now on. quietly: with stdout and stderr; otherwise log to stderr as well."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    _log_to(Logbook(path, everything=quietly))
    if not quietly:
        show_log()


def show_log() -> None:
    """Log to stderr from now on."""
    shown = logging.StreamHandler(sys.stderr)
    shown.setFormatter(Timed())
    _log_to(shown)


def _log_to(handler: logging.Handler) -> None:
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    for name in TALKATIVE:
        logging.getLogger(name).setLevel(logging.WARNING)


def _is_at(path: str, file: TextIOWrapper) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _indented(text: str) -> str:
    return "\n  ".join(text.splitlines())
