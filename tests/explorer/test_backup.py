"""Backup: an export holds everything, an import shows first what it would do and can be taken back."""

import gzip
import json
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lore.config import load
from lore.connecting import wire
from lore.engine.export import ExportScope
from lore.model import Draft
from tests.explorer.explorer import Explorer

BERTHS = ("Berth 1 is for ferries.", "Berth 2 is for tankers.", "Berth 3 is closed in winter.")


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """The export of another store with three memories."""
    path = tmp_path / "berths.jsonl"
    config = load({}, data_dir=tmp_path / "elsewhere", embedding_model="hash")
    with closing(wire(config)) as lore, path.open("wb") as file:
        for text in BERTHS:
            lore.remember(Draft(content=text))
        lore.export(file, ExportScope(), lambda *_: None)
    return path


def found(explorer: Explorer, text: str, kind: str = "note") -> list[str]:
    """The texts of memories that have these words."""
    hits = explorer.call("search", {"query": {"text": text, "where": {"kinds": [kind]}}})["hits"]
    return [hit["memory"]["content"] for hit in hits if text in hit["memory"]["content"]]


def test_an_export_has_the_memories_and_the_history(explorer: Explorer) -> None:
    page = explorer.open("backup")
    page.get_by_label("With the history of all changes").check()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export to a file").click()
    path = download.value.path()
    assert download.value.suggested_filename.endswith(".jsonl.gz")
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    contents = {line["memory"]["content"] for line in lines if "memory" in line}
    assert any("Tuesday mornings" in text for text in contents)
    assert any("journal" in line for line in lines)


def test_an_import_is_previewed_and_confirmed(explorer: Explorer, backup: Path) -> None:
    page = explorer.open("backup")
    region = page.get_by_role("region", name="Import")
    page.get_by_label("File to import").set_input_files(backup)
    expect(region).to_contain_text("berths.jsonl is a backup of Lore")
    expect(region.get_by_role("listitem").filter(has_text="New")).to_contain_text("3")
    assert found(explorer, "Berth 1") == []
    region.get_by_role("button", name="Import 3 memories").click()
    expect(region).to_contain_text("berths.jsonl was imported")
    assert found(explorer, "Berth 1") == [BERTHS[0]]
    page.get_by_label("File to import").set_input_files(backup)
    expect(region.get_by_role("button", name="Nothing new to import")).to_be_disabled()


def test_an_import_is_taken_back_by_undo(explorer: Explorer, tmp_path: Path) -> None:
    talk = tmp_path / "talk.jsonl"
    said = {"role": "user", "content": "The lighthouse keeper is called Olaf."}
    talk.write_text(json.dumps(said), encoding="utf-8")
    page = explorer.open("backup")
    region = page.get_by_role("region", name="Import")
    page.get_by_label("File to import").set_input_files(talk)
    region.get_by_role("button", name="Import 1 message").click()
    expect(explorer.toast("talk.jsonl was imported")).to_be_visible()
    assert found(explorer, "lighthouse keeper", "turn") == [said["content"]]
    region.get_by_role("button", name="Undo the import").click()
    expect(region).to_contain_text("was taken back: 2 memories forgotten")
    assert found(explorer, "lighthouse keeper", "turn") == []


def test_a_file_that_cannot_be_read_is_explained_and_changes_nothing(
    explorer: Explorer, backup: Path
) -> None:
    cut = backup.with_name("cut.jsonl")
    cut.write_bytes(b"\n".join(backup.read_bytes().splitlines()[:-1]) + b"\n")
    page = explorer.open("backup")
    page.get_by_label("File to import").set_input_files(cut)
    expect(page.get_by_role("alert")).to_contain_text("cut.jsonl is cut: it ends in line 4")
    expect(page.get_by_label("File to import")).to_be_attached()
