"""Encryption at rest: with it, no stored text is in any file, and a wrong key changes nothing.

All of it runs in processes whose apsw has ciphers, which `scripts/setup test` puts into a folder of its own.
"""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.command import LORE, Command

CIPHERS = Path(sys.prefix) / "ciphers"
SECRET = "the walrus keeps its herring under the third floorboard"
LATER = "the penguin paints the lighthouse at midnight"
WORDS = [word.encode() for text in (SECRET, LATER) for word in (text, "floorboard", "lighthouse")]
BACKEND = """
import json, os
from keyring.backend import KeyringBackend

class Keyring(KeyringBackend):
    priority = 1
    file = os.environ["KEYRING_FILE"]

    def get_password(self, service, username):
        held = json.load(open(self.file)) if os.path.exists(self.file) else {}
        return held.get(f"{service} {username}")

    def set_password(self, service, username, password):
        json.dump({f"{service} {username}": password}, open(self.file, "w"))
"""
KEEP_OPEN = """
import sys
from lore import connect
from lore.store.sqlite import index_files
index_files.FROZEN_FROM = 1  # so few vectors would not be written anyway
lore = connect(sys.argv[1])
lore.remember(sys.argv[2])
lore.embed_pending()
assert lore.search("penguin").hits
print("stored", flush=True)
sys.stdin.read()
"""

pytestmark = pytest.mark.skipif(
    not (CIPHERS / "apsw").is_dir() and not os.environ.get("CI"),
    reason="scripts/setup test installs the ciphers",
)


class Encrypted(Command):
    """The command with ciphers; its key is in a file outside of the data folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "data")
        self.key_file = folder / "keys" / "lore.key"
        backend = folder / "backend"
        backend.mkdir()
        (backend / "walrus_keyring.py").write_text(BACKEND)
        self.ciphers = {
            "PYTHONPATH": os.pathsep.join(map(str, (CIPHERS, backend))),
            "PYTHON_KEYRING_BACKEND": "walrus_keyring.Keyring",
            "KEYRING_FILE": str(folder / "keyring.json"),
        }

    def run(self, *args: str, code: int = 0, env: dict[str, str] | None = None) -> str:
        """What a process of its own prints, errors too."""
        done = subprocess.run(
            [*LORE, *args],
            env=self.env(self.ciphers | (env or {})),
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout + done.stderr

    def on(self) -> str:
        return self.run("encryption", "on", "--key-file", str(self.key_file))

    def in_clear(self) -> list[str]:
        """The files of the data folder that hold a stored text."""
        files = [path for path in self.data_dir.rglob("*") if path.is_file()]
        assert files
        return [path.name for path in files if any(word in path.read_bytes() for word in WORDS)]


@pytest.fixture
def lore(tmp_path: Path) -> Encrypted:
    return Encrypted(tmp_path)


def test_a_store_is_encrypted_in_every_file_and_decrypted_again(lore: Encrypted) -> None:
    lore.run("remember", SECRET)
    assert "memory.db" in lore.in_clear()
    assert "Encrypted" in lore.on()
    assert stat.S_IMODE(lore.key_file.stat().st_mode) == 0o600
    lore.run("remember", LATER)
    lore.run("backup")
    assert "walrus keeps" in lore.run("search", "walrus herring")
    lore.run("doctor", "--fix")
    assert lore.in_clear() == []
    [backup] = [
        path for path in (lore.data_dir / "backups").glob("memory-*.db") if "crypted" not in path.name
    ]
    lore.run("restore-backup", str(backup), "--yes")
    assert "penguin paints" in lore.run("search", "penguin")
    assert "penguin paints" in lore.run("--db", str(backup), "search", "penguin")
    assert lore.in_clear() == []

    assert "Decrypted" in lore.run("encryption", "off")
    assert "memory.db" in lore.in_clear()
    assert "penguin paints" in lore.run("search", "penguin")
    assert "walrus keeps" in lore("search", "walrus herring").stdout, "a plain SQLite reads it again"


def test_nothing_is_in_clear_while_it_runs_and_after_a_kill(lore: Encrypted) -> None:
    lore.run("remember", SECRET)
    lore.on()
    arguments = [sys.executable, "-c", KEEP_OPEN, str(lore.database), LATER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(arguments, env=lore.env(lore.ciphers), **pipes) as process:  # type: ignore[call-overload]
        assert process.stdout.readline() == b"stored\n"
        assert (lore.data_dir / "memory.db-wal").stat().st_size > 0
        assert lore.in_clear() == []
        assert not (lore.data_dir / "memory.db.index").exists(), "vectors tell of their texts"
        process.send_signal(signal.SIGKILL)
    assert lore.in_clear() == []
    assert "penguin paints" in lore.run("search", "penguin")
    lore.run("doctor")


def test_a_wrong_or_missing_key_says_what_to_do_and_changes_nothing(lore: Encrypted) -> None:
    lore.run("remember", SECRET)
    lore.on()
    before, key = lore.database.read_bytes(), lore.key_file.read_text()
    lore.key_file.write_text("ab" * 32)
    assert "does not open" in lore.run("search", "walrus", code=1)
    assert "does not open" in lore.run("encryption", "off", code=1)
    lore.key_file.write_text("not a key")
    assert "is no key" in lore.run("remember", "x", code=1)
    lore.key_file.unlink()
    assert "there is no key in" in lore.run("remember", "x", code=1)
    lore.key_file.write_text(key)
    lore.key_file.chmod(0o644)
    assert "chmod 600" in lore.run("remember", "x", code=1)
    lore.key_file.chmod(0o600)
    settings = lore.data_dir / "config.toml"
    settings.write_text(settings.read_text().replace('encryption = "file"', 'encryption = "off"'))
    assert "is encrypted, and the settings name no key" in lore.run("search", "walrus", code=1)
    assert lore.database.read_bytes() == before
    settings.write_text(settings.read_text().replace('encryption = "off"', 'encryption = "file"'))
    assert "walrus keeps" in lore.run("search", "walrus herring")


def test_without_the_extra_an_encrypted_store_names_it(lore: Encrypted) -> None:
    lore.run("remember", SECRET)
    assert "agent-lore[encryption]" in lore("encryption", "on", code=1).stderr
    assert lore.in_clear(), "nothing was changed"
    lore.on()
    before = lore.database.read_bytes()
    for command in (("search", "walrus"), ("remember", "x"), ("encryption", "off")):
        assert "agent-lore[encryption]" in lore(*command, code=1).stderr
    assert lore.database.read_bytes() == before


def test_the_key_may_be_in_the_systems_keyring(lore: Encrypted) -> None:
    assert "Encrypted" in lore.run("encryption", "on"), "also before there is a store"
    lore.run("remember", SECRET)
    assert lore.in_clear() == []
    assert "walrus keeps" in lore.run("search", "walrus herring")
    status = json.loads(lore.run("encryption", "status", "--json"))
    assert (status["encrypted"], status["setting"]) == (True, "keyring")
    broken = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    assert "--key-file" in lore.run("search", "walrus", code=1, env=broken)


@pytest.mark.parametrize("done", ["copied", "set", "replaced"])
def test_an_interrupted_conversion_is_completed_by_running_it_again(lore: Encrypted, done: str) -> None:
    """The states that a kill can leave behind, one after another."""
    lore.run("remember", SECRET)
    readable = lore.database.read_bytes()
    lore.on()
    settings = lore.data_dir / "config.toml"
    if done in ("copied", "set"):
        lore.database.write_bytes(readable)
    if done == "copied":
        settings.write_text(settings.read_text().replace('encryption = "file"', 'encryption = "off"'))
        assert "walrus keeps" in lore.run("search", "walrus herring")
    if done == "set":
        assert "lore encryption on" in lore.run("search", "walrus", code=1)
    if done == "replaced":
        (lore.data_dir / "backups" / "memory-1-before-restore.db").write_bytes(readable)
    left = ["memory-1-before-restore.db"] if done == "replaced" else []
    shown = lore.on()
    assert all(name in shown for name in left), "what can still be read is listed"
    assert lore.in_clear() == left
    assert "walrus keeps" in lore.run("search", "walrus herring")


def test_an_index_that_writes_in_clear_is_refused(lore: Encrypted) -> None:
    lore.run("remember", SECRET)
    other = {"LORE_VECTOR_STORE": "sqlite-vec"}
    assert "writes in clear" in lore.run(
        "encryption", "on", "--key-file", str(lore.key_file), code=1, env=other
    )
    lore.on()
    assert "writes in clear" in lore.run("search", "walrus", code=1, env=other)
