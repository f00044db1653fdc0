"""The library as a program uses it, with the real embedding model."""

import subprocess
import sys
from pathlib import Path

SECONDS = 90
WITHOUT_CLOSE = """
import sys, lore
brain = lore.connect(sys.argv[1])
brain.remember_all([lore.Draft(content=f"note {number} about the ferry " * 20) for number in range(60)])
print(brain.brief().tokens > 0)
"""


def test_a_program_that_does_not_close_its_lore_ends_in_peace_while_memories_are_embedded(
    tmp_path: Path,
) -> None:
    call = [sys.executable, "-c", WITHOUT_CLOSE, str(tmp_path / "notes.db")]
    done = subprocess.run(call, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
