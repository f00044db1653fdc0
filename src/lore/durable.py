"""durable: files that are replaced whole, and folders and files that survive a power cut."""

import os
from contextlib import suppress
from pathlib import Path

OWNER_FILE, OWNER_FOLDER = 0o600, 0o700


def sync_folder(folder: Path) -> None:
    """Flush the names of new, renamed and removed files in a folder to disk. Windows does so by itself."""
    if os.name != "nt":
        sync_file(folder)


def sync_file(path: Path) -> None:
    """Flush the content of a closed file to disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, for their owner only, and flush the new names to disk."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True, mode=OWNER_FOLDER)
    sync_folder(folder.parent)


def write_whole(path: str | Path, text: str, *, sync: bool = False, mode: int = OWNER_FILE) -> None:
    """Replace a file by this text; readers see the old or the new file, never a part.

    sync: the content is on disk before the file takes its place. mode: who may read and write it.
    """
    draft = f"{path}.{os.getpid()}"
    try:
        with open(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_FILE),
            "w",
            encoding="utf-8",
            newline="",
        ) as file:
            file.write(text)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        if mode != OWNER_FILE:
            os.chmod(draft, mode)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)
        raise


def write_durably(path: Path, text: str, *, mode: int = OWNER_FILE) -> None:
    """Like `write_whole`; content and name are on disk when this returns."""
    write_whole(path, text, sync=True, mode=mode)
    sync_folder(path.parent)
