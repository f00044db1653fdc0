"""A process of its own, for what only shows in a fresh one."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest


@pytest.fixture
def run() -> Callable[..., str]:
    """Runs a script and gives what it prints; folders named `first` are imported from first."""

    def runner(script: str, first: str = "") -> str:
        path = os.pathsep.join([first, *sys.path]) if first else os.pathsep.join(sys.path)
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": path})
        assert done.stderr == ""
        return done.stdout

    return runner
