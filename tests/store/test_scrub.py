"""scrub: secrets that were stored before a rule knew them leave no byte behind. The secrets are made up."""

import random
import string
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from lore import Draft, Lore
from lore.engine.entity_view import Subject
from lore.model import Cause, Revision
from lore.store.records import Bookmark, DigestProgress
from lore.store.sqlite.text_index import packed

SECRET = "ghp_" + "".join(random.Random(5).choices(string.ascii_letters + string.digits, k=36))
HARMLESS = "stand_in_for_the_key"
"""The old store is written with it."""
NEEDLES = [SECRET.encode(), SECRET[4:].lower()[:20].encode()]


def data(path: Path) -> bytes:
    log = path.with_name(f"{path.name}-wal")
    return path.read_bytes() + (log.read_bytes() if log.exists() else b"")


def copies(content: bytes) -> int:
    return sum(needle in content or needle in content.lower() for needle in NEEDLES)


def _undone(*values: Any) -> Any:
    [text] = values
    return text and text.replace(HARMLESS, SECRET)


@pytest.fixture
def old(lore: Lore, tmp_path: Path) -> Path:
    """A store as a Lore without rules has left it: a secret in every table, and in pages that are free."""
    memory = lore.remember(Draft(content=f"Deploy with {HARMLESS} tonight.", metadata={"note": HARMLESS}))
    lore.revise(Revision(id=memory.id, content=f"Deploy tomorrow with {HARMLESS} instead."), reason=HARMLESS)
    lore.introduce([Subject(name=f"Key {HARMLESS}", observations=(f"It is {HARMLESS}.",))])
    gone = lore.remember(Draft(content=f"Forget {HARMLESS}."))
    lore.forget([gone.id], reason=f"it told {HARMLESS}")
    bookmark = Bookmark(
        path="/a.jsonl", source="claude-code", device=1, inode=1, offset=1, lines=1, first="", last="",
        state={"reader": {"calls": {"t1": ["Bash", f"export TOKEN={HARMLESS}"]}}}, read_at=0.0,
    )  # fmt: skip
    with lore.store.transaction(lore.namespace, Cause(verb="test"), 0.0) as writer:
        writer.put_records([bookmark, DigestProgress(session="s1", error=HARMLESS)])
        writer.put([], {memory.id: f"{'long ' * 1_000}{HARMLESS}"})
    lore.embed_pending()
    path = Path(lore.store.report().location)
    with closing(apsw.Connection(str(path))) as db:
        db.create_scalar_function("undone", _undone, 1)
        for table, columns in {
            "memory": ("title", "summary", "content", "context", "metadata", "forgotten_reason"),
            "journal": ("reason", "before", "after"),
            "bookmark": ("state",),
            "digest_progress": ("error",),
        }.items():
            db.execute(f"UPDATE {table} SET {', '.join(f'{name} = undone({name})' for name in columns)}")
        db.execute("INSERT INTO words (words) VALUES ('rebuild')")
        db.execute("UPDATE subject SET name = replace(name, ?, ?)", (HARMLESS.lower(), SECRET.lower()))
        whole = f"{'long ' * 1_000}{SECRET}"
        _, characters, compressed = packed(0, whole)
        db.execute("UPDATE full_text SET characters = ?, data = ?", (characters, compressed))
        db.execute("PRAGMA secure_delete = OFF")
        db.execute("CREATE TABLE scratch (content)")
        db.executemany("INSERT INTO scratch VALUES (?)", [(f"{number} {SECRET}",) for number in range(5_000)])
        db.execute("DROP TABLE scratch")
    lore.embed_pending()
    assert copies(data(path)) == 2
    return path


def quiet(part: str, done: int, total: int) -> None:
    """No progress."""


def test_after_a_scrub_no_byte_of_the_store_holds_the_secret(lore: Lore, old: Path) -> None:
    found = lore.store.scrub(True, quiet)
    assert copies(data(old)) == 2
    scrubbed = lore.store.scrub(False, quiet)
    assert (scrubbed.rows, scrubbed.kinds) == (found.rows, found.kinds)
    assert scrubbed.rows.keys() == {"memory", "journal", "bookmark", "digest_progress", "full_text"}
    assert scrubbed.kinds.keys() >= {"github token"}
    assert copies(data(old)) == 0
    assert lore.store.scrub(True, quiet).rows == {}


def test_a_scrub_leaves_a_sound_store_that_is_searched_and_embedded_anew(lore: Lore, old: Path) -> None:
    lore.embed_pending()
    assert lore.pending() == 0
    lore.store.scrub(False, quiet)
    assert lore.pending() > 0
    lore.embed_pending()
    assert [finding for finding in lore.check() if not finding.passed] == []
    [memory] = lore.similar("Deploy tomorrow with [redacted: github token] instead.", limit=1)
    assert memory.memory.content == "Deploy tomorrow with [redacted: github token] instead."
    texts = lore.full_texts([memory.memory.id])
    assert texts[memory.memory.id].endswith("long [redacted: github token]")
    history = lore.history(memory.memory.id)
    assert [entry.before and "[redacted: github token]" in str(entry.before) for entry in history] == [
        None,
        True,
    ]


def test_a_scrub_names_the_copies_that_keep_the_secret(lore: Lore, old: Path) -> None:
    folder = old.parent / "backups"
    folder.mkdir()
    lore.backup(folder / f"{old.stem}-20260101-000000.db")
    scrubbed = lore.store.scrub(False, quiet)
    [copy] = scrubbed.backups
    assert copies(Path(copy).read_bytes()) == 2
