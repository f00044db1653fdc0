"""edit_file, move_files: no edit is lost, whoever else writes; consolidation leaves the files alone."""

import threading
from collections import Counter
from dataclasses import replace

import pytest

from lore import Draft, Filter, Invalid, Lore, Query
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.file_paths import FILE
from lore.model import Memory
from tests.engine.consolidate.helpers import converse, fragment, run_phases

NOTES = "/memories/notes.md"
WRITERS, EDITS = 4, 10
OLD, NEW = "The capital of Atlantis is Poseidonis.", "The capital of Atlantis is Basileia."


def files(lore: Lore) -> dict[str, Memory]:
    return {file.title: file for file in lore.select(Filter(kinds=frozenset({FILE})), 100)}


def write(lore: Lore, path: str, text: str) -> Memory:
    return lore.edit_file(path, lambda existing: text).file


def test_edits_of_several_writers_are_all_kept(lore: Lore, config: Config, clock: Clock) -> None:
    """Half of the writers have the file open through a Lore of their own, as another process has."""
    write(lore, NOTES, "Notes\n")
    other = wire(config, embedder=HashEmbedder(), clock=clock)

    def append(writer: int) -> None:
        for number in range(EDITS):
            append_line = f"{{}}line {number} of writer {writer}\n".format
            (lore, other)[writer % 2].edit_file(NOTES, append_line)

    threads = [threading.Thread(target=append, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    other.close()
    lines = files(lore)[NOTES].content.splitlines()
    assert len(lines) == len(set(lines)) == 1 + WRITERS * EDITS


def test_two_writers_cannot_both_create_a_file(lore: Lore) -> None:
    seen: list[str | None] = []

    def create(existing: str | None) -> str:
        seen.append(existing)
        return f"{existing or ''}x"

    threads = [threading.Thread(target=lore.edit_file, args=(NOTES, create)) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [None, "x", "xx", "xxx"]
    assert list(files(lore)) == [NOTES]


def test_an_edit_that_fails_changes_nothing(lore: Lore) -> None:
    write(lore, NOTES, "Notes")

    def fail(text: str | None) -> str:
        raise Invalid("no")

    before = lore.history(files(lore)[NOTES].id)
    for wrong in (fail, lambda text: " "):
        with pytest.raises(Invalid):
            lore.edit_file(NOTES, wrong)
    lore.edit_file(NOTES, lambda text: text or "")
    assert lore.history(files(lore)[NOTES].id) == before


def test_a_file_belongs_to_no_project(lore: Lore) -> None:
    assert write(replace(lore, project="/repo/ferry"), NOTES, "Notes").project == ""


def test_the_new_words_of_a_file_and_its_new_name_are_found(lore: Lore) -> None:
    write(lore, NOTES, "walrus")
    lore.move_files(NOTES, "/memories/lighthouse.md")
    write(lore, "/memories/lighthouse.md", "penguin")
    for word in ("penguin", "lighthouse"):
        assert [hit.memory.content for hit in lore.search(Query(text=word)).hits] == ["penguin"]
    assert lore.search(Query(text="walrus")).hits == ()


def test_consolidation_leaves_files_as_they_are(lore: Lore, clock: Clock) -> None:
    """Files that repeat, resemble and contradict other memories, and that nobody reads for years."""
    lore = replace(lore, tuning=replace(lore.tuning, prune=True))
    for path, text in {"a": OLD, "b": OLD, "folder/c": f"{OLD}\nIt lies by the sea.\n"}.items():
        write(lore, f"/memories/{path}", text)
    for _ in range(2):
        lore.remember(Draft(content=OLD))
    for text in ("It has two harbours.", "It has ten temples.", "It has a wall of brass."):
        fragment(lore, text, parent=fragment(lore, OLD), importance=0.1)
        fragment(lore, text, parent=files(lore)["/memories/folder/c"].id, importance=0.1)
    before = files(lore)
    journals = {file.id: lore.history(file.id) for file in before.values()}
    clock.sleep(days=1)
    lore.remember(Draft(content=NEW, updates=True, embed_now=True))
    converse(lore, "s", f"Remember that {NEW}", "Noted.")
    counts = Counter(run_phases(lore).counts)
    clock.sleep(days=2_000)
    counts += Counter(run_phases(lore).counts)
    assert {"twins_merged", "contradictions_resolved", "fragments_pruned"} <= counts.keys()
    assert files(lore) == before
    assert {file.id: lore.history(file.id) for file in before.values()} == journals
