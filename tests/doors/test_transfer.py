"""`lore export` and `lore import` of memories, as a person runs them."""

import gzip
import json
import sys
from pathlib import Path

import pytest

from lore.transfer.items import FORMATS
from tests.doors.command import Command
from tests.transfer import foreign

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GRAPH = [
    {"type": "entity", "name": "Bob", "entityType": "person", "observations": ["likes tea"]},
    {"type": "relation", "from": "Bob", "to": "Bob's cat", "relationType": "feeds"},
]


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


@pytest.fixture
def other(tmp_path: Path) -> Command:
    return Command(tmp_path / "other")


def contents(run: Command) -> list[str]:
    hits = run.document("search", "--everywhere", "tea")["hits"]
    return sorted(hit["memory"]["content"] for hit in hits)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.zst"])
def test_memories_move_to_another_store_by_a_file(
    run: Command, other: Command, tmp_path: Path, suffix: str
) -> None:
    run("remember", "green tea")
    run("remember", "black tea")
    path = tmp_path / f"memories{suffix}"
    assert run("export", str(path)).stdout.startswith("Exported 2 memories and ")
    assert path.stat().st_mode & 0o777 == 0o600
    opened = {".gz": gzip.decompress, ".zst": zstd.decompress}.get(path.suffix, bytes)
    assert opened(path.read_bytes()).startswith(b'{"format":"lore-export"')
    other("import", str(path))
    assert contents(other) == ["black tea", "green tea"]
    assert "2 memories are here already" in other("import", str(path)).stderr


def test_memories_move_through_a_pipe(run: Command, other: Command) -> None:
    run("remember", "green tea")
    exported = run("export").stdout_bytes
    other("import", "-", input=exported)
    assert contents(other) == ["green tea"]


def test_the_summary_of_an_export_is_a_document(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea", "--kind", "note")
    run("remember", "a fragment of tea", "--kind", "fragment")
    path = tmp_path / "memories.jsonl"
    document = run.document("export", str(path), "--kind", "note", "--force")
    assert (document["counts"]["memory"], document["size_bytes"]) == (1, path.stat().st_size)
    assert "exists; --force overwrites it" in run("export", str(path), code=1).stderr
    assert "give a FILE" in run("export", "--json", code=1).stderr
    assert "does not exist yet" in Command(tmp_path / "nowhere")("export", code=1).stderr


def test_a_preview_creates_no_store(run: Command, tmp_path: Path) -> None:
    path = foreign.mem0(tmp_path / "mem0.json")
    done = run("import", "--preview", str(path), code=1)
    assert done.stdout == "Would import 2 memories and 0 links from mem0.json (mem0).\n"
    assert "  Likes green tea" in done.stderr
    assert "memory 3: it has no text" in done.stderr
    assert not run.data_dir.exists()


def test_strict_imports_nothing_of_a_file_with_unreadable_parts(run: Command, tmp_path: Path) -> None:
    path = foreign.mem0(tmp_path / "mem0.json")
    error = run("import", "--strict", str(path), code=1).stderr
    assert "1 unreadable parts, so nothing was imported; the first: memory 3" in error
    assert contents(run) == []
    run("import", str(path), code=1)
    assert contents(run) == ["Likes green tea"]


def test_the_command_that_it_names_takes_an_import_back(run: Command, tmp_path: Path) -> None:
    run("remember", "black tea")
    done = run("import", str(foreign.mem0(tmp_path / "mem0.json")), code=1)
    assert contents(run) == ["Likes green tea", "black tea"]
    undone = run(*done.stderr.splitlines()[-1].removeprefix("Undo: lore ").split())
    assert undone.stdout == "Took the import back: 2 memories forgotten, 0 links ended, 0 reverted.\n"
    assert contents(run) == ["black tea"]
    assert "is not the id of an import" in run("import", "--undo", "x", code=1).stderr


def test_an_import_of_conversations_can_be_previewed_and_taken_back(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "talk.md"
    path.write_text("# User\n\nwhere is the tea?\n")
    preview = run("import", "--preview", str(path)).stdout
    done = run("import", str(path))
    assert preview == done.stdout
    assert contents(run)
    run(*done.stderr.splitlines()[-1].removeprefix("Undo: lore ").split())
    assert contents(run) == []


def test_the_graph_of_the_official_server_is_previewed_imported_and_taken_back(
    run: Command, tmp_path: Path
) -> None:
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join(map(json.dumps, GRAPH)))
    run("remember", "something else")
    before = run.document("status")["counts"]
    preview = run("import", "--preview", str(path)).stdout
    assert run.document("status")["counts"] == before
    done = run("import", str(path))
    assert preview.replace("Would import", "Imported") == done.stdout
    assert "likes tea" in contents(run)
    assert run("import", str(path)).stdout == "Imported 0 memories and 0 links from memory.jsonl (graph).\n"
    run(*done.stderr.splitlines()[-1].removeprefix("Undo: lore ").split())
    assert contents(run) == []


def test_an_import_goes_to_the_namespace_that_is_named(run: Command, tmp_path: Path) -> None:
    path = foreign.mem0(tmp_path / "mem0.json")
    run("import", "--namespace", "team", str(path), code=1)
    assert contents(run) == []
    hits = run.document("--namespace", "team", "search", "--everywhere", "green tea")["hits"]
    assert [hit["memory"]["namespace"] for hit in hits] == ["team"]


def test_tenants_of_a_server_are_exported_and_imported_one_by_one(run: Command, tmp_path: Path) -> None:
    path = foreign.mem0(tmp_path / "mem0.json")
    run("import", "--tenant", "acme", str(path), code=1)
    assert contents(run) == []
    assert run.document("export", str(tmp_path / "acme.jsonl"), "--tenant", "acme")["counts"] == {"memory": 2}
    assert run.document("export", str(tmp_path / "own.jsonl"))["counts"] == {}
    assert "tenant acne has no memories" in run("export", "--tenant", "acne", code=1).stderr


def test_a_format_that_is_named_must_fit(run: Command, tmp_path: Path) -> None:
    path = foreign.mem0(tmp_path / "mem0.json")
    error = run("import", "--format", "lorekeeper", str(path), code=1).stderr
    assert "holds no memories of lorekeeper; known are" in error
    missing = str(tmp_path / "missing.db")
    assert "missing.db" in run("import", "--format", "claude-mem", missing, code=1).stderr


def test_every_format_of_memories_is_documented() -> None:
    text = (Path(__file__).parent.parent.parent / "docs" / "transfer.md").read_text()
    assert [name for name in FORMATS if f"`{name}`" not in text] == []
