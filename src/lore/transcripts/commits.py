"""commits: which commits somebody made in a repository during a conversation."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

SECONDS = 2.0
"""How long git may take."""
MOST = 50
SAFE = (
    *("-c", "log.showSignature=false", "-c", "core.fsmonitor=false", "-c", "core.hooksPath="),
    *("-c", "protocol.allow=never"),
)
"""Settings under which `git log` runs no program that the repository names, and fetches nothing."""


def commits_between(folder: str, first: float, last: float) -> list[str]:
    """The subjects of the own commits of the repository's user in that time, oldest first."""
    if not Path(folder).is_dir():
        return []
    author = _git(folder, "config", "user.email").strip()
    since, until = (datetime.fromtimestamp(at, UTC).isoformat() for at in (first, last))
    own = (f"--author={author}",) if author else ()
    found = _git(
        folder, "log", f"--since={since}", f"--until={until}", f"--max-count={MOST}", "--no-merges",
        "--fixed-strings", *own, "--format=%s",
    )  # fmt: skip
    return [line for line in reversed(found.splitlines()) if line.strip()]


def _git(folder: str, *arguments: str) -> str:
    command = ["git", "--no-optional-locks", "-C", folder, *SAFE, *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace") if done.returncode == 0 else ""
