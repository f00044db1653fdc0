"""Scenarios over months: knowledge grows into trees, is corrected, fades, and returns when it is used."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lore import Filter, Lore, Query, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.settings import ConsolidationSettings
from lore.transcripts.sources import SOURCES
from tests.engine.consolidate.helpers import (
    contents,
    converse,
    counts_of,
    descriptions,
    fragment,
    fragments,
    memory,
    roots,
    run_phases,
)

SETUP = (
    "Set up nightly backups for the shop database",
    "I'll use pg_dump from a systemd timer. Where should the dumps go?",
    "We use the Hetzner storage box for backups. Remember that the retention is 14 days.",
    "Dumps are plain SQL, compressed with zstd. The root cause of the failure was a missing .pgpass file.",
)
FAILED = (
    "The nightly backup of the shop database failed again, please find out why",
    "The cause was a full disk on the storage box: two weeks of dumps need 92 GB.",
    "Remember that the retention is 7 days now. Always anonymise customers after a restore. "
    "We use the Hetzner storage box for backups.",
    "Old dumps are deleted by shop-backup-clean.timer.",
)
RELEASE = (
    "Help me plan the release of version 2",
    "Which features are left? The changelog is missing.",
    "Remember that the deadline is 30 June. Remember that the release manager is Mira.",
    "We'll write the changelog first. I've added docs/changes.md.",
)
MOVED = (
    "Release of version 2: open work before the shipping date",
    "The migration guide is missing.",
    "Remember that the deadline is 15 July now. Remember that the release manager is Jonas.",
    "I've updated RELEASES.md.",
)
TAXES = (
    "Prepare the tax return for 2025",
    "Which receipts do you have?",
    "Remember that the deadline is 31 July. Remember that the accountant is Ms Berger.",
    "I've listed 48 receipts in list.csv.",
)


@pytest.fixture(scope="module")
def consolidated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lore, Clock]]:
    """Half a year with the real embedding model, and no language model."""
    clock = Clock()
    lore = wire(Config(data_dir=tmp_path_factory.mktemp("half a year")), clock=clock)
    for name, texts in {
        "setup": SETUP,
        "release": RELEASE,
        "failed": FAILED,
        "tax": TAXES,
        "moved": MOVED,
    }.items():
        converse(lore, name, *texts)
        clock.sleep(days=30)
        run_phases(lore)
    yield lore, clock
    lore.close()


def found(lore: Lore, text: str, where: Filter | None = None) -> list[str]:
    where = where or Filter(kinds=frozenset({"fragment"}))
    return [hit.memory.content for hit in lore.search(Query(text=text, where=where, counted=False)).hits]


def test_each_subject_becomes_a_tree_with_readable_sentences(consolidated: tuple[Lore, Clock]) -> None:
    lore, _ = consolidated
    titles = {memory(lore, id).title for id in roots(lore)}
    assert titles == {
        "Nightly backups for the shop database",
        "Nightly backup of the shop database failed again",
        "Release of version 2",
        "Release of version 2: open work before the shipping date",
        "Tax return for 2025",
    }
    assert all("…" not in one.content for one in fragments(lore))


def test_related_trees_are_linked(consolidated: tuple[Lore, Clock]) -> None:
    lore, _ = consolidated
    ids = {memory(lore, id).title: id for id in roots(lore)}
    linked = {
        frozenset((link.source, link.target))
        for link in lore.links(list(ids.values()))
        if link.kind == "associative"
    }
    release = {id for title, id in ids.items() if title.startswith("Release of version 2")}
    assert frozenset(release) in linked
    assert not any(ids["Tax return for 2025"] in pair for pair in linked)


def test_a_statement_of_two_conversations_is_stored_once(consolidated: tuple[Lore, Clock]) -> None:
    lore, _ = consolidated
    statement = "We use the Hetzner storage box for backups."
    box = [one for one in fragments(lore) if one.content == statement and not one.title]
    assert len(box) == 1
    sources = [link for link in lore.links([box[0].id]) if link.type == "derived_from"]
    assert len(sources) == 2


def test_the_newer_of_two_statements_about_one_thing_supersedes_the_other(
    consolidated: tuple[Lore, Clock],
) -> None:
    lore, _ = consolidated
    texts = contents(lore)
    assert texts >= {
        "The deadline is 15 July now.",
        "The release manager is Jonas.",
        "The retention is 7 days now.",
    }
    assert not texts & {
        "The deadline is 30 June.",
        "The release manager is Mira.",
        "The retention is 14 days.",
    }
    assert "The deadline is 31 July." in texts, "that of the tax return is another one"


def test_search_finds_the_newer_statement_first_and_the_older_one_on_request(
    consolidated: tuple[Lore, Clock],
) -> None:
    lore, _ = consolidated
    assert "Jonas" in found(lore, "Who is the release manager?")[0]
    assert not any("Mira" in text for text in found(lore, "Who is the release manager?"))
    where = Filter(kinds=frozenset({"fragment"}), superseded=True)
    assert any("Mira" in text for text in found(lore, "Who is the release manager?", where))


def test_outdated_statements_disappear_from_the_overviews(consolidated: tuple[Lore, Clock]) -> None:
    lore, _ = consolidated
    overviews = " ".join(memory(lore, id).content for id in roots(lore))
    assert "Mira" not in overviews
    assert "14 days" not in overviews


def line(number: int, role: str, text: str, at: float) -> str:
    content = text if role == "user" else [{"type": "text", "text": text}]
    timestamp = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return json.dumps(
        {
            "type": role,
            "message": {"role": role, "content": content},
            "uuid": f"{number:08x}-0000-4000-8000-000000000000",
            "timestamp": timestamp,
            "cwd": "/gone/ferry",
            "sessionId": "0d6f2f0b-8c11-4c55-9a5e-7b0c6b1e5d0f",
        }
    )


def test_a_transcript_on_disk_becomes_knowledge_and_grows_with_it(
    lore: Lore, clock: Clock, tmp_path: Path
) -> None:
    path = tmp_path / "0d6f2f0b-8c11-4c55-9a5e-7b0c6b1e5d0f.jsonl"
    number = 0
    for texts in (SETUP, FAILED):
        with path.open("a") as file:
            for place, text in enumerate(texts):
                number += 1
                file.write(line(number, ("user", "assistant")[place % 2], text, clock() + place) + "\n")
        for _ in lore.ingest(path, SOURCES["claude-code"]):
            pass
        clock.sleep(hours=3)
        assert counts_of(run_phases(lore))["sessions_digested"] == 1
    statements = contents(lore)
    assert "Always anonymise customers after a restore." in statements
    assert "The retention is 7 days now." in statements
    assert lore.staged() == []
    assert counts_of(run_phases(lore)) == {}


def test_a_year_of_runs_keeps_used_memories_and_ends_unused_links(lore: Lore, clock: Clock) -> None:
    converse(lore, "setup", *SETUP)
    converse(lore, "release", *RELEASE)
    clock.sleep(hours=1)
    run_phases(lore)
    one, other = sorted(roots(lore))
    lore.link([Tie(source=one, target=other, weight=0.5)])
    kept, forsaken = lore.read(one, use=False).children[0], lore.read(other, use=False).children[0]
    early = {id: lore.read(id, use=False).relevance for id in (kept, forsaken)}
    for week in range(52):
        clock.sleep(days=7)
        lore.read(kept)
        if week < 26:
            lore.read(one)
            lore.read(other)
        run_phases(lore)
        if week == 25:
            assert any(link.kind == "associative" for link in lore.links([one]))
    late = {id: lore.read(id, use=False).relevance for id in (kept, forsaken)}
    assert late[kept] > early[kept]
    assert late[forsaken] < early[forsaken]
    assert not any(link.kind == "associative" for link in lore.links([one]))
    lore.read(forsaken)
    assert lore.read(forsaken, use=False).relevance > late[forsaken], "what is used comes back"


def test_years_without_use_prune_only_if_the_user_wants_it_and_can_be_undone(
    lore: Lore, clock: Clock
) -> None:
    converse(lore, "setup", *SETUP)
    clock.sleep(hours=1)
    run_phases(lore)
    [root] = roots(lore)
    fragment(lore, "I am Ana, the keeper of the lighthouse", root, type="identity", importance=0.2)
    trifle = fragment(lore, "the kettle hums", root, importance=0.2)
    before = {one.id for one in fragments(lore)}
    for _ in range(8):
        clock.sleep(days=90)
        run_phases(lore)
    assert {one.id for one in fragments(lore)} == before
    wanting = replace(lore, tuning=ConsolidationSettings(prune=True))
    assert counts_of(run_phases(wanting))["fragments_pruned"] == 1
    gone = [
        one.id
        for one in fragments(lore, Filter(forgotten=True, kinds=frozenset({"fragment"})))
        if one.forgotten_at
    ]
    assert gone == [trifle]
    assert descriptions(run_phases(wanting)) == []
    assert set(lore.restore(gone)) == set(gone)
    assert {memory(lore, id).content for id in gone} <= contents(lore)
    assert all(finding.passed for finding in lore.check())
