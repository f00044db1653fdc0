"""adopt: another server's file becomes part of the graph, once; no other file can be read through it."""

import json
import os
from pathlib import Path

import pytest

from lore import Invalid, Lore, LoreError, NotFound
from lore.engine.import_graph import SIZE_LIMIT_BYTES, ImportedGraph, file_within

LINES = [
    {"type": "entity", "name": "A", "entityType": "Project", "observations": ["one", "two"]},
    {"type": "entity", "name": "B", "entityType": "Person", "observations": []},
    {"type": "relation", "from": "A", "to": "B", "relationType": "contains"},
    {"type": "relation", "from": "A", "to": "Nobody", "relationType": "knows"},
    {"type": "entity", "entityType": "Nameless", "observations": []},
    {"type": "entity", "name": "C", "observations": "not a list"},
    {"type": "something else"},
    {"type": "entity", "name": "D", "entityType": "T", "observations": ["nul \0"]},
    ["a list"],
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "memory.jsonl"
    path.write_text("\n".join([*map(json.dumps, LINES), "{corrupt", ""]), encoding="utf-8")
    return path


def test_every_line_is_counted_and_twice_is_like_once(lore: Lore, file: Path) -> None:
    counts = ImportedGraph(entities=2, relations=1, refused=1, skipped=6)
    assert lore.import_graph(file, faithful=False) == counts
    graph = lore.nodes()
    assert [(p.name, p.entity.type, len(p.observations)) for p in graph.views] == [
        ("A", "Project", 2),
        ("B", "Person", 0),
    ]
    assert [(b.source, b.link.type, b.target) for b in graph.bonds] == [
        ("A", "contains", "B"),
        ("B", "part_of", "A"),
    ]
    changed = lore.status().counts
    assert lore.import_graph(file, faithful=False) == counts
    assert lore.status().counts == changed


def test_a_relation_before_its_entities_is_skipped(lore: Lore, file: Path) -> None:
    early = {"type": "relation", "from": "A", "to": "B", "relationType": "early"}
    file.write_text("\n".join(map(json.dumps, [early, *LINES[:2]])), encoding="utf-8")
    assert lore.import_graph(file, faithful=False) == ImportedGraph(entities=2, skipped=1)


def test_a_faithful_import_keeps_what_the_other_server_kept(lore: Lore, file: Path) -> None:
    assert lore.import_graph(file) == ImportedGraph(entities=2, relations=2, refused=1, skipped=5)
    assert [(b.source, b.link.type, b.target) for b in lore.nodes().bonds] == [
        ("A", "contains", "B"),
        ("A", "knows", "Nobody"),
    ]


def test_what_was_imported_is_embedded_later(lore: Lore, file: Path) -> None:
    lore.import_graph(file)
    lore.embed_pending()
    assert lore.status().pending == 0
    assert lore.search_entities("one two")[0].view.name == "A"


def test_only_files_below_the_given_folders_can_be_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside.jsonl"
    inside.mkdir()
    outside.write_text("secret", encoding="utf-8")
    (inside / "link.jsonl").symlink_to(outside)
    (inside / "own.jsonl").write_text("", encoding="utf-8")
    (inside / "near.jsonl").symlink_to(inside / "own.jsonl")
    assert file_within(str(inside / "near.jsonl"), [inside]) == (inside / "own.jsonl").resolve()
    for path in (outside, inside / "link.jsonl", inside / ".." / "outside.jsonl", Path("/etc/passwd")):
        with pytest.raises(Invalid, match="Only files below"):
            file_within(str(path), [inside])


def test_only_regular_files_of_a_sensible_size_are_read(lore: Lore, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(SIZE_LIMIT_BYTES + 1)
    for name, error, message in (
        ("pipe", Invalid, "not a regular file"),
        (".", Invalid, "not a regular file"),
        ("huge", Invalid, "the limit is"),
        ("missing", NotFound, "Source file not found"),
    ):
        with pytest.raises(error, match=message):
            lore.import_graph(tmp_path / name, faithful=False)
    for path in ("", "  ", "nul\0", "~nobody-here/x"):
        with pytest.raises(LoreError):
            file_within(path, [tmp_path])


def test_bytes_that_are_no_text_are_refused_line_by_line(lore: Lore, tmp_path: Path) -> None:
    good = json.dumps({"type": "entity", "name": "Good", "entityType": "T", "observations": []}).encode()
    bad = b'{"type": "entity", "name": "Bad \xff", "entityType": "T", "observations": []}'
    (tmp_path / "memory.jsonl").write_bytes(bad + b"\n" + good)
    imported = lore.import_graph(tmp_path / "memory.jsonl")
    assert (imported.entities, imported.refused) == (1, 1)


def test_empty_texts_of_the_official_server_cost_nothing_but_themselves(lore: Lore, tmp_path: Path) -> None:
    lines = [
        {"type": "entity", "name": "A", "entityType": "", "observations": ["", "fact"]},
        {"type": "relation", "from": "", "to": "A", "relationType": "x"},
    ]
    file = tmp_path / "memory.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    assert lore.import_graph(file) == ImportedGraph(entities=1, refused=1)
    [view] = lore.nodes().views
    assert (view.entity.type, [m.content for m in view.observations]) == ("", ["fact"])
