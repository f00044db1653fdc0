"""edit_file, move_files: find memory files by path → change their text or their path → keep, at once."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from lore.engine.context import Context
from lore.engine.file_paths import FILE, ROOT, check_path, file_at, files_at, refuse_taken
from lore.errors import Invalid, NotFound
from lore.model import Memory, new_id
from lore.text import require_text

Edit = Callable[[str | None], str]
"""Makes the new text of a file from its text; None: there is no file yet."""


class Edited(NamedTuple):
    """A file as stored, its text before the edit, and the text of the edit: secrets in it are not stored."""

    file: Memory
    before: str
    text: str


def edit_file(path: str, edit: Edit, context: Context) -> Edited:
    """Keep the text that `edit` returns; without a file at the path, as a new file.

    `edit` runs inside the transaction, so that no other writer's edit is lost. If it raises, nothing changes.
    A file belongs to no project: its folder is the same in all of them.
    """
    path = check_path(path)
    if path == ROOT:
        raise Invalid(f"{ROOT} is a folder; name a file in it")
    with context.transaction() as writer:
        file = file_at(path, writer)
        text = require_text(edit(file.content if file else None), f"the text of {path}")
        if file is None:
            refuse_taken([path], writer)
        [stored] = writer.put([_edited(file, text, context) if file else _new_file(path, text, context)])
    return Edited(stored, file.content if file else "", text)


def _new_file(path: str, text: str, context: Context) -> Memory:
    now = context.now
    return Memory(
        id=new_id(now),
        namespace=context.namespace,
        kind=FILE,
        title=path,
        content=text,
        created_at=now,
        updated_at=now,
    )


def _edited(file: Memory, text: str, context: Context) -> Memory:
    return file if text == file.content else replace(file, content=text, updated_at=context.now)


def move_files(path: str, new_path: str, context: Context) -> list[Memory]:
    """Give a file, or all files in a folder, a new path; all of them or none."""
    path, new_path = check_path(path), check_path(new_path)
    if path == ROOT or new_path.startswith(f"{path}/"):
        raise Invalid(f"{path} cannot be moved to {new_path}: that is inside itself")
    with context.transaction() as writer:
        files = files_at(path, writer)
        if not files:
            raise NotFound(f"The path {path} does not exist")
        refuse_taken([new_path], writer, "The destination")
        titles = [check_path(new_path + file.title.removeprefix(path)) for file in files]
        moved = zip(files, titles, strict=True)
        return writer.put([replace(file, title=title, updated_at=context.now) for file, title in moved])
