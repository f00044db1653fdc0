"""Encryption: give connections their key, and write a store again with a key or without one.

SQLite with ciphers encrypts every page of a database, its write-ahead log and its copies. It comes as another
build of the module `apsw`; without it, Lore never opens a file with a key, because a plain SQLite would
ignore the key and write in clear.
"""

import os
import time
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

import apsw

from lore.durable import OWNER_FILE, make_folder, sync_file, sync_folder
from lore.errors import Unavailable
from lore.keys import INSTALL, KEYRING, KeySource
from lore.model import new_id

MAGIC = b"SQLite format 3\0"
CLEAR = slice(21, 24)
FRACTIONS = b"\x40\x20\x20"
"""Bytes of a database's head that stay in clear when it is encrypted, and that are the same in all."""


def ciphers() -> str:
    """The build of SQLite with ciphers; empty if this one has none."""
    return str(getattr(apsw, "mc_version", ""))


def require_ciphers() -> None:
    """Unavailable, naming the extra, if this SQLite cannot encrypt."""
    if not ciphers():
        raise Unavailable(f"encryption needs an SQLite with ciphers: {INSTALL}")


def is_encrypted(path: Path) -> bool:
    """Whether a file is an encrypted database. No connection of this process may have it open and locked."""
    head = _head(path)
    return not head.startswith(MAGIC) and head[CLEAR] == FRACTIONS


def is_clear(path: Path) -> bool:
    """Whether a file is a database that anybody can read; the same holds for it."""
    return _head(path).startswith(MAGIC)


def _head(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(CLEAR.stop)
    except OSError:
        return b""


def unlock(connection: apsw.Connection, path: Path, key: str) -> None:
    """Give a new connection its key, before any other statement; Unavailable if that does not open it."""
    if not key:
        return
    try:
        require_ciphers()
        connection.execute(f"PRAGMA key = 'raw:{key}'").fetchall()
        connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
    except apsw.NotADBError as error:
        connection.close()
        raise Unavailable(_refused(path)) from error
    except apsw.SQLError as error:  # the file layer without locks has no ciphers
        connection.close()
        raise Unavailable(
            f"{path} is encrypted and has a log that is not folded; that can only be read where it can be"
            f" written ({error})"
        ) from error
    except Unavailable:
        connection.close()
        raise


def _refused(path: Path) -> str:
    if is_clear(path):
        return (
            f"{path} is not encrypted, but the settings say so: `lore encryption on` encrypts the store; to"
            " use this file as it is, set encryption to off"
        )
    return (
        f"the key of the settings does not open {path}: it is encrypted with another key, or damaged."
        " `lore encryption status` says where the key is looked for. Nothing was changed"
    )


def locked(path: Path) -> str:
    """What to say of a file that a connection without a key could not read; empty if it has no key."""
    if not is_encrypted(path):
        return ""
    return (
        f"{path} is encrypted, and the settings name no key: set encryption to {KEYRING}, or to file and"
        f" encryption_key_file to the file of the key (docs/encryption.md)"
    )


def convert(store: Path, old: KeySource, new: KeySource) -> Path:
    """Write a copy of the store with the key of `new` among its backups, complete or not at all.

    Nobody may write meanwhile. The log of the store is folded into it.
    """
    folder = store.parent / "backups"
    make_folder(folder)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    form = "encrypted" if new.read() else "decrypted"
    copy = folder / f"{store.stem}-{stamp}-{new_id(time.time())[-8:]}-{form}.db"
    partial = copy.with_name(f"{copy.name}.{new_id(time.time())}.partial")
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    key = f"raw:{new.read()}" if new.read() else ""
    try:
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_FILE))
        with closing(apsw.Connection(f"file:{quote(str(store))}", flags=flags)) as connection:
            unlock(connection, store, old.read())
            connection.execute("PRAGMA temp_store = MEMORY").fetchall()
            connection.execute("VACUUM INTO ?", (f"file:{quote(str(partial))}?key={key}",))
        sync_file(partial)
        partial.replace(copy)
        sync_folder(folder)
    finally:
        with suppress(FileNotFoundError):
            partial.unlink()
    return copy
