"""keys: the key of an encrypted store, from the system's keyring or from a file, as the settings say.

A process has one source of keys, that of its settings: every file of a store that it opens has the same key.
"""

import os
import secrets
import stat
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lore.durable import OWNER_FILE, make_folder, sync_folder
from lore.errors import Invalid, Unavailable
from lore.patterns import regex

OFF, KEYRING, FILE = "off", "keyring", "file"
SERVICE, ACCOUNT = "agent-lore", "store"
"""The name of the key in the system's keyring."""
KEY_BYTES = 32
OTHERS = stat.S_IRWXG | stat.S_IRWXO
INSTALL = (
    "pip install 'agent-lore[encryption]', then pip install --force-reinstall --no-deps apsw-sqlite3mc"
    " (docs/encryption.md)"
)
_HEX = regex(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class KeySource:
    """Where the key is. kind: one of OFF, KEYRING and FILE. path: of the file."""

    kind: str = OFF
    path: Path | None = None

    def __str__(self) -> str:
        return {OFF: "none", KEYRING: f"the system's keyring ({SERVICE}, {ACCOUNT})"}.get(
            self.kind, str(self.path)
        )

    def read(self) -> str:
        """The key in hexadecimal digits; empty for OFF. Unavailable says what is missing or wrong."""
        if self.kind == OFF:
            return ""
        text = self._stored()
        if text is None:
            raise Unavailable(
                f"there is no key in {self}. Put the key of the store there again; for a store that is not"
                " encrypted yet, `lore encryption on` makes one"
            )
        if not _HEX.fullmatch(text.strip().lower()):
            raise Unavailable(f"what is in {self} is no key: a key has {2 * KEY_BYTES} hexadecimal digits")
        return text.strip().lower()

    def make(self) -> bool:
        """Put a new key there, unless there is one; returns whether it did."""
        if self._stored() is not None:
            self.read()
            return False
        key = secrets.token_hex(KEY_BYTES)
        if self.path is None:
            _keyring("set_password", SERVICE, ACCOUNT, key)
        else:
            make_folder(self.path.parent)
            with open(os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_FILE), "w") as file:
                file.write(key + "\n")
                file.flush()
                os.fsync(file.fileno())
            sync_folder(self.path.parent)
        return True

    def _stored(self) -> str | None:
        if self.path is None:
            text = _keyring("get_password", SERVICE, ACCOUNT)
            return None if text is None else str(text)
        try:
            with open(self.path, encoding="utf-8", errors="replace") as file:
                status = os.fstat(file.fileno())
                if os.name != "nt" and status.st_mode & OTHERS:
                    raise Unavailable(
                        f"others can read the key in {self.path}; close it to them: chmod 600 {self.path}"
                    )
                return file.read(4 * KEY_BYTES)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unavailable(f"the key in {self.path} cannot be read: {error.strerror}") from error


NO_KEY = KeySource()
_in_force = [NO_KEY]


def key_source(encryption: str, key_file: Path | None) -> KeySource:
    """The source that the settings name."""
    if encryption == FILE and key_file is None:
        raise Invalid("encryption is file, but encryption_key_file is not set; set it to the file of the key")
    return KeySource(encryption, key_file if encryption == FILE else None)


def use_key_of(source: KeySource) -> None:
    """Open the files of stores with the key of this source from now on."""
    _in_force[0] = source


def store_key() -> str:
    """The key of the source in force; empty if stores are not encrypted."""
    return _in_force[0].read()


def _keyring(call: str, *arguments: str) -> Any:
    """Ask the system's keyring."""
    try:
        keyring, errors = import_module("keyring"), import_module("keyring.errors")
    except ImportError as error:
        raise Unavailable(f"the system's keyring needs more packages ({error}); {INSTALL}") from error
    try:
        return getattr(keyring, call)(*arguments)
    except errors.KeyringError as error:
        raise Unavailable(
            f"the system's keyring cannot be used: {error}. Unlock it, or keep the key in a file:"
            " lore encryption on --key-file FILE"
        ) from error
