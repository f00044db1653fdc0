"""Nothing leaves this machine: the sockets and files of a day's use, as the system calls show them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.resident import short_folder
from tests.privacy.day import day, python, search_day, write_transcript
from tests.privacy.observing import PATHS, Event, impossible, observe

pytestmark = pytest.mark.skipif(bool(impossible()), reason=impossible())
KEPT_VARIABLES = ("PATH", "PYTHONPATH", "LANG", "LD_LIBRARY_PATH")
LOOPBACK_PROBE = ("AF_INET6", "AF_INET6 ::1 0")
"""urllib3, which LanceDB loads, binds a socket to ::1 to learn whether there is IPv6, and closes it."""
FOREIGN_CHROMA = """
chroma_api_impl=chromadb.api.fastapi.FastAPI
chroma_server_host=192.0.2.1
chroma_server_http_port=9
"""
"""A `.env` file of somebody's project that names a Chroma server."""
NATIVE_SOCKET = """
import ctypes, struct
libc = ctypes.CDLL(None)
sender = libc.socket(2, 2, 0)
libc.connect(sender, struct.pack("=H", 2) + struct.pack(">H", 9) + bytes([192, 0, 2, 1]) + bytes(8), 16)
"""
NAME_LOOK_UP = """
import socket
try:
    socket.getaddrinfo("lore.example.org", 443)
except socket.gaierror:
    pass
"""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty home, a folder for temporary files beside it, and an environment that names nothing else."""
    with short_folder() as folder:
        for name in set(os.environ) - set(KEPT_VARIABLES):
            monkeypatch.delenv(name)
        for name, variable in {"home": "HOME", "tmp": "TMPDIR"}.items():
            (folder / name).mkdir()
            monkeypatch.setenv(variable, str(folder / name))
        monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
        monkeypatch.chdir(folder / "home")
        yield folder / "home"


def sockets(events: list[Event]) -> list[Event]:
    """All but connections within the data folder."""
    ours = f"AF_UNIX {os.environ['HOME']}/.lore/"
    return [
        one for one in events if one.call not in PATHS and one.subject and not one.subject.startswith(ours)
    ]


def strange_files(events: list[Event]) -> list[Event]:
    """Files and folders outside of the data folder and the folder for temporary files."""
    ours = (f"{os.environ['HOME']}/.lore", os.environ["TMPDIR"])
    return [one for one in events if one.call in PATHS and not one.subject.startswith(ours)]


def test_a_days_use_opens_no_socket_but_the_daemons_and_writes_no_file_but_lores(home: Path) -> None:
    write_transcript(home)
    events = observe(lambda: day(home))
    assert (sockets(events), strange_files(events)) == ([], [])
    assert any(one.subject.endswith("/.lore/daemon.sock") for one in events)
    assert sorted(path.name for path in home.iterdir()) == [".claude", ".lore"]


@pytest.mark.parametrize("name", ["chroma", "lancedb"])
def test_a_vector_store_asks_nobody_whatever_the_working_folder_says(
    home: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LORE_VECTOR_STORE", name)
    (home / ".env").write_text(FOREIGN_CHROMA)
    events = observe(search_day)
    assert [one for one in sockets(events) if one.subject not in LOOPBACK_PROBE] == []
    assert strange_files(events) == []


@pytest.mark.parametrize(
    ("script", "subject"), [(NATIVE_SOCKET, "AF_INET 192.0.2.1 9"), (NAME_LOOK_UP, "AF_INET")]
)
def test_the_observer_sees_native_sockets_and_name_look_ups(home: Path, script: str, subject: str) -> None:
    events = observe(lambda: _run(script))
    assert subject in [one.subject for one in sockets(events)]


def test_the_observer_sees_files_of_native_code(home: Path) -> None:
    script = f"import ctypes; ctypes.CDLL(None).fopen({os.fsencode(home / 'trace')!r}, b'w')"
    assert [one.subject for one in strange_files(observe(lambda: _run(script)))] == [str(home / "trace")]


def _run(script: str) -> None:
    python("-c", script)
