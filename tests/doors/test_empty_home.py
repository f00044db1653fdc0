"""Commands that only read leave an empty home as it was, and say how to begin."""

import json
import os
import subprocess
import sys
from pathlib import Path

from lore.doors.cli.render import BEGIN
from tests.doors.command import LORE

READING = {  # command -> exit code, and what stdout or stderr must say
    "status": (0, "does not exist yet"),
    "status --json": (0, '"memories": 0'),
    "search anything": (0, BEGIN),
    "roots": (0, BEGIN),
    "sessions": (0, "`lore ingest` reads those of all known clients"),
    "staged": (0, "`lore ingest` reads conversations"),
    "read ffff": (1, "unknown memory ffff"),
    "forget ffff": (1, "unknown memory ffff"),
    "doctor": (0, "does not exist yet"),
    "backup": (1, "there is nothing to back up"),
    "consolidate --dry-run": (0, "Nothing was changed"),
    "import missing.md": (1, "missing.md cannot be read"),
    "ingest": (0, "Read 0 transcripts"),
    "daemon status": (3, "not running"),
    "daemon stop": (0, "not running"),
    "logs": (1, "no daemon has run"),
    "completion bash": (0, "_LORE_COMPLETE"),
    "--help": (0, "Commands:"),
}


RUN = """
import json, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from lore.doors.cli import main

results = {}
for command in json.loads(sys.argv[1]):
    sys.argv = ["lore", *command.split()]
    with redirect_stdout(StringIO()) as output, redirect_stderr(output):
        try:
            main()
        except SystemExit as end:
            code = end.code
    created = [str(path) for folder in (".", "../tmp") for path in Path(folder).rglob("*")]
    results[command] = (code, output.getvalue(), created)
print(json.dumps(results))
"""


def test_a_command_that_only_reads_creates_nothing(tmp_path: Path) -> None:
    """All of them in one process, which loads Lore once."""
    home, temporary = tmp_path / "home", tmp_path / "tmp"
    home.mkdir()
    temporary.mkdir()
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "TMPDIR": str(temporary)}
    env |= {"PYTHONPATH": os.pathsep.join(sys.path)}
    call = [sys.executable, "-c", RUN, json.dumps(list(READING))]
    done = subprocess.run(call, env=env, cwd=home, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for command, (code, output, created) in json.loads(done.stdout).items():
        expected, words = READING[command]
        assert (code or 0, created) == (expected, []), (command, output)
        assert words in output, command


def test_a_store_that_was_lost_is_not_taken_for_one_that_never_was(tmp_path: Path) -> None:
    call = [*LORE, "--data-dir", str(tmp_path)]
    env = {**os.environ, "LORE_EMBEDDING_MODEL": "hash"}
    subprocess.run([*call, "remember", "tea"], env=env, check=True, capture_output=True, timeout=120)
    (tmp_path / "memory.db").unlink()
    done = subprocess.run([*call, "status"], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "is missing, but a Lore store was here" in done.stderr
