"""`lore import`: files that somebody hands over, from the command line."""

import json
from pathlib import Path

import pytest

from tests.doors.command import Command
from tests.engine.test_importing import CHATGPT, LINES, MARKDOWN, SECRET, claude, zipped


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return zipped(tmp_path / "export.zip", claude())


def test_what_was_imported_is_found(run: Command, tmp_path: Path, export: Path) -> None:
    notes = tmp_path / "harbour.md"
    notes.write_text(MARKDOWN)
    assert run("import", str(export), str(notes)).stdout == "Read 2 files: 4 new turns, 2 new sessions.\n"
    assert "no ferry in winter" in run("search", "ferry", "in", "winter").stdout


def test_a_second_time_there_is_nothing_new(run: Command, export: Path) -> None:
    run("import", str(export))
    assert run("import", str(export)).stdout == "Read 1 file: 0 new turns, 0 new sessions.\n"


def test_the_json_document_of_an_import_has_the_same_counts(run: Command, tmp_path: Path) -> None:
    path = tmp_path / "tea.txt"
    path.write_text(f"{LINES}\nThe token is {SECRET}.")
    told = run.document("import", "--format", "text", "--session", "tea", str(path))
    assert (told["files"], told["turns"], told["sessions"]) == (1, 1, 1)
    assert (told["bytes"], told["failed"]) == (path.stat().st_size, {})
    assert sum(told["redacted"].values()) == 1
    [hit] = run.document("search", "token", "-l1")["hits"]
    assert hit["memory"]["session"] == "tea"


def test_a_file_that_cannot_be_read_does_not_keep_the_others_from_it(
    run: Command, tmp_path: Path, export: Path
) -> None:
    users, missing = tmp_path / "users.json", tmp_path / "missing.md"
    users.write_text(json.dumps([{"uuid": "u-1"}]))
    done = run("import", str(users), str(missing), str(export), code=1)
    assert "2 new turns" in done.stdout
    assert "no conversations can be recognised" in done.stderr
    assert "missing.md cannot be read" in done.stderr
    told = json.loads(run("import", str(missing), "--json", code=1).stdout)
    assert list(told["failed"]) == [str(missing)]


def test_reading_a_large_file_shows_progress(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "g.json"
    path.write_text(json.dumps([CHATGPT]))
    monkeypatch.setattr("lore.doors.cli.progress.LINE_SECONDS", 0.0)
    assert "bytes read" not in run("import", str(path)).stderr
    monkeypatch.setattr("lore.doors.cli.ingest.MANY_BYTES", 0)
    assert (
        f"bytes read: {path.stat().st_size:,} of {path.stat().st_size:,}" in run("import", str(path)).stderr
    )


def test_a_file_and_a_known_format_are_asked_for(run: Command, export: Path) -> None:
    assert "FILE" in run("import", code=2).stderr
    assert "'claude-ai', 'chatgpt'" in run("import", "--format", "pdf", str(export), code=2).stderr
