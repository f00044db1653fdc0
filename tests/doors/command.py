"""The `lore` command for tests: in this process, or as a process of its own; always on its own folder."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from lore.doors.cli import cli

LORE = (sys.executable, "-m", "lore.doors.cli")


class Command:
    """Hashed words stand for meaning, so that no model has to be loaded."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.database = data_dir / "memory.db"
        self._settings = {
            "LORE_DATA_DIR": str(data_dir),
            "LORE_EMBEDDING_MODEL": "hash",
            "LORE_DB_PATH": "",
            "LORE_NAMESPACE": "",
            "NO_COLOR": "",
            "COLUMNS": "80",
        }

    def __call__(
        self,
        *args: str,
        code: int = 0,
        input: str | bytes | None = None,
        env: dict[str, str] | None = None,
    ) -> Result:
        """Run it here; anything but the expected exit code fails the test, and so does a traceback."""
        settings = {**self._settings, **(env or {})}
        result = CliRunner().invoke(
            cli, args, input=input, env=settings, catch_exceptions=False, prog_name="lore"
        )
        assert result.exit_code == code, result.output
        return result

    def document(self, *args: str) -> Any:
        """What `--json` prints: one document and nothing else."""
        return json.loads(self(*args, "--json").stdout)

    def keep(self, *args: str) -> str:
        """Remember something; its id."""
        return str(self.document("remember", *args)["id"])

    def start(self, *args: str, env: dict[str, str] | None = None, **streams: Any) -> subprocess.Popen[bytes]:
        """Run it as a process of its own."""
        return subprocess.Popen([*LORE, *args], env=self.env(env), **streams)

    def env(self, more: dict[str, str] | None = None) -> dict[str, str]:
        """The environment of such a process."""
        return {**os.environ, **self._settings, **(more or {})}

    def output(self, *args: str, env: dict[str, str] | None = None) -> str:
        """What a process of its own prints to a pipe."""
        with self.start(*args, env=env, stdout=subprocess.PIPE) as process:
            out, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        return out.decode()

    def on_a_terminal(self, *args: str, columns: int = 80, env: dict[str, str] | None = None) -> str:
        """What a process of its own shows on a terminal of this width."""
        ours, theirs = pty.openpty()
        settings = {"COLUMNS": str(columns), **(env or {})}
        with self.start(*args, env=settings, stdout=theirs, stderr=subprocess.DEVNULL) as process:
            os.close(theirs)
            shown = read_to_the_end(ours)
            assert process.wait(60) == 0
        return shown.decode()


def read_to_the_end(terminal: int) -> bytes:
    """What a process writes to the other side of a terminal, until it closes that."""
    shown = b""
    try:
        while part := os.read(terminal, 4096):
            shown += part
    except OSError:  # Linux says so when the other side is closed
        pass
    os.close(terminal)
    return shown
