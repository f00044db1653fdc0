"""lore verify: lists memories whose files have changed; search and read say so too."""

import json
from pathlib import Path

import pytest

from tests.doors.command import Command

RULE = "The walrus pool in src/app.py:1 must stay small."


@pytest.fixture
def run(tmp_path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.chdir(checkout)
    return Command(tmp_path / "data")


def test_search_read_and_verify_show_what_no_longer_matches(run: Command, checkout: Path) -> None:
    id = run.keep(RULE)
    run.keep("The seal pool is large.")
    assert "cites src/app.py:1 fresh" in run("search", "walrus").stdout
    assert run("verify", "--strict").stdout == ""
    (checkout / "src" / "app.py").write_text("pool = 8\n")
    assert "cites src/app.py:1 changed" in run("search", "walrus").stdout
    assert "cites src/app.py:1 changed" in run("read", id).stdout
    assert run("verify").stdout == f"{id[-8:]}  {RULE}\n    src/app.py:1 changed\n"
    assert "1 memory with 1 citation: 0 fresh, 1 changed, 0 gone" in run("verify").stderr
    assert run("verify", "--strict", code=1).stdout
    assert run("verify", "docs").stdout == ""


def test_documents_have_the_states_too(run: Command, checkout: Path) -> None:
    id = run.keep(RULE)
    (checkout / "src" / "app.py").unlink()
    cited = {"src/app.py:1": "gone"}
    listed = {"id": id, "title": RULE, "citations": cited}
    assert run.document("verify") == {"memories": [listed], "fresh": 0, "changed": 0, "gone": 1}
    assert run.document("search", "walrus")["hits"][0]["citations"] == cited
    assert run.document("read", id)["citations"] == cited
    assert json.loads(run("verify", "--strict", "--json", code=1).stdout)["gone"] == 1


def test_an_accepted_memory_cites_its_files_as_they_are(run: Command, checkout: Path) -> None:
    id = run.keep(RULE)
    (checkout / "src" / "app.py").write_text("pool = 8\n")
    assert run("verify", "--accept", id[-8:]).stdout == f"Accepted {id[-8:]}  {RULE}\n"
    assert run("verify", "--strict").stdout == ""
    assert run.document("verify", "--accept", id) == {"accepted": [id]}


def test_another_project_is_verified_by_its_folder(
    run: Command, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = run.keep(RULE)
    (checkout / "src" / "app.py").unlink()
    monkeypatch.chdir(tmp_path)
    assert "in no repository" in run("verify", code=1).stderr
    for name in (str(checkout), "ferry"):
        assert run.document("verify", "--project", name, "src")["memories"][0]["id"] == id
    assert "unknown project 'tug'" in run("verify", "--project", "tug", code=1).stderr
