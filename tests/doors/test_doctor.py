"""The doctor says what is wrong, repairs what is derived, and reports even on a store that does not open."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from lore import Draft, Lore
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from tests.doors.command import Command

MANY = 201


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


def execute(database: Path, statement: str) -> None:
    connection = apsw.Connection(str(database))
    connection.set_busy_timeout(30_000)
    connection.execute(statement)
    connection.close()


def lose_words(database: Path) -> None:
    execute(database, "INSERT INTO words (words) VALUES ('delete-all')")


def failed(document: dict[str, list[dict[str, object]]]) -> list[object]:
    return [finding["check"] for finding in document["findings"] if not finding["passed"]]


def test_a_sound_store_passes_every_check(run: Command) -> None:
    run("remember", "all is well")
    lines = run("doctor").stdout.splitlines()
    assert len(lines) > 5
    assert all(line.startswith("✓ ") for line in lines)
    assert run.document("doctor")["healthy"] is True


def test_what_another_process_wrote_is_no_damage(lore: Lore, config: Config) -> None:
    """Not even when it has merged parts of the index that we remember."""
    other = wire(config, embedder=HashEmbedder())
    lore.remember(Draft(content="all is well"))
    for round in range(4):
        for number in range(5):
            other.remember(Draft(content=f"word{number} of {round}"))
        broken = {finding.check for finding in lore.check() if not finding.passed}
        assert broken <= {"vectors"}
    other.close()


def test_a_damaged_text_index_is_found_and_repaired(run: Command) -> None:
    run("remember", "the deploy key is in the vault")
    lose_words(run.database)
    sick = run("doctor", code=1)
    assert "✗ words" in sick.stdout
    assert "lore doctor --fix" in sick.stderr

    assert "✓ words         repaired: " in run("doctor", "--fix").stdout
    [hit] = run.document("search", "vault")["hits"]
    assert hit["evidence"]["wording"]["strength"] > 0.25
    assert "repaired" not in run("doctor").stdout


def test_programs_read_the_findings(run: Command) -> None:
    run("remember", "the deploy key is in the vault")
    lose_words(run.database)
    sick = run("doctor", "--json", code=1)
    assert '"healthy": false' in sick.stdout
    mended = run.document("doctor", "--fix")
    assert (mended["healthy"], mended["repaired"], failed(mended)) == (True, ["words"], [])


def test_the_doctor_embeds_what_waits(run: Command, lore: Lore) -> None:
    lore.remember_all([Draft(content=f"memory {number}") for number in range(MANY)])
    assert run.document("status")["pending"] == MANY
    run("doctor", "--fix")
    assert run.document("status")["pending"] == 0


def garbage(database: Path) -> None:
    database.parent.mkdir()
    database.write_bytes(b"this is not a database at all" * 100)


def torn(database: Path) -> None:
    garbage(database)
    database.write_bytes(b"SQLite format 3\0" + b"\xff" * 8_000)


def foreign(database: Path) -> None:
    database.parent.mkdir()
    execute(database, "CREATE TABLE invoice (number INTEGER)")


def newer(database: Path) -> None:
    Command(database.parent)("remember", "from today")
    execute(database, "INSERT INTO migration VALUES ('9999 from the future', 0)")


def lost(database: Path) -> None:
    Command(database.parent)("remember", "from today")
    database.unlink()


@pytest.mark.parametrize(
    ("break_it", "said"),
    [
        (garbage, "not a Lore database"),
        (torn, "not a Lore database"),
        (foreign, "another program"),
        (newer, "written by a newer Lore"),
        (lost, "is missing, but a Lore store was here"),
    ],
)
def test_a_store_that_does_not_open_is_a_finding(
    run: Command, break_it: Callable[[Path], None], said: str
) -> None:
    break_it(run.database)
    result = run("doctor", code=1)
    assert result.stdout.startswith("✗ opening  ")
    assert said in result.stdout
    assert said in run("doctor", "--fix", "--json", code=1).stdout
    assert said in run("search", "anything", code=1).stderr
