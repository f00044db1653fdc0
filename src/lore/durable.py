"""durable: folders and small files that are still there after a power cut."""

import os
from pathlib import Path

OWNER_FILE, OWNER_FOLDER = 0o600, 0o700


def sync_folder(folder: Path) -> None:
    """Have the names of new, renamed and removed files in a folder on disk. Windows does so by itself."""
    if os.name != "nt":
        _sync(folder)


def sync_file(path: Path) -> None:
    """Have the content of a closed file on disk, whoever wrote it."""
    _sync(path)


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents, for their owner only, and sync the names of the new ones."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True, mode=OWNER_FOLDER)
    sync_folder(folder.parent)


def write_durably(path: Path, text: str) -> None:
    """Put a file in place whole, for its owner only; content and name are on disk when this returns."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        with open(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, OWNER_FILE), "w", encoding="utf-8"
        ) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
