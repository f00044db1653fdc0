"""A team: agents see their own namespace, their teams' and the shared one; who wrote what is kept."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lore import Invalid, Lore, Tie
from lore.clock import Clock
from lore.engine.schedule import FIRST_SECONDS, Schedules
from lore.model import DISTILLED, Filter, Revision
from lore.store.records import SyncMark
from lore.transcripts.sources import SOURCES


@pytest.fixture
def clock() -> Clock:
    """Of a day after the conversation."""
    return Clock("2027-01-01T00:00:00")


def member(lore: Lore, name: str, *teams: str, **more: Any) -> Lore:
    """The Lore of a person with a namespace of the same name."""
    return replace(lore, tenant="acme", namespace=name, teams=teams, author=name, actor="codex", **more)


def found(lore: Lore, text: str) -> list[tuple[str, str]]:
    return [(hit.memory.content, hit.memory.author) for hit in lore.search(text).hits]


def test_what_is_kept_for_the_team_is_found_by_its_members_with_its_author(lore: Lore) -> None:
    alice, bob, carol = member(lore, "alice", "web"), member(lore, "bob", "web"), member(lore, "carol")
    replace(alice, namespace="web").remember("The ferry leaves at noon")
    alice.remember("My own ferry ticket is in the drawer")
    assert found(bob, "ferry") == [("The ferry leaves at noon", "alice")]
    assert found(carol, "ferry") == []
    assert len(found(alice, "ferry")) == 2
    assert found(replace(bob, tenant=""), "ferry") == [], "another tenant"


def test_the_author_is_who_wrote_the_present_text_and_the_journal_names_who_changed(lore: Lore) -> None:
    alice, bob = member(lore, "alice", "web"), member(lore, "bob", "web")
    memory = replace(alice, namespace="web").remember("The ferry leaves at noon")
    bob.revise(Revision(id=memory.id, content="The ferry leaves at one"))
    assert found(alice, "ferry") == [("The ferry leaves at one", "bob")]
    assert [entry.cause.actor for entry in alice.history(memory.id)] == ["alice via codex", "bob via codex"]


def test_a_memory_of_the_team_is_not_hidden_behind_one_that_the_others_do_not_see(lore: Lore) -> None:
    alice = member(lore, "alice", "web")
    ours = replace(alice, namespace="web").remember("The ferry leaves at noon")
    mine = alice.remember("The ferry leaves at one")
    with pytest.raises(Invalid, match="belongs to web"):
        alice.supersede(ours.id, mine.id)
    with pytest.raises(Invalid, match="belongs to web"):
        alice.link([Tie(source=mine.id, target=ours.id, kind="hierarchical")])
    alice.link([Tie(source=ours.id, target=mine.id, kind="hierarchical")])
    assert alice.read(ours.id).children == (mine.id,)
    assert member(lore, "bob", "web").read(ours.id).children == ()


def test_a_search_finds_what_one_author_wrote(lore: Lore) -> None:
    for who in ("alice", "bob"):
        replace(member(lore, who), namespace="web").remember(f"The ferry of {who} leaves at noon")
    assert member(lore, "carol", "web").count(Filter(authors=frozenset({"bob"}))) == 1


def test_conversations_of_every_tenant_and_namespace_are_digested_for_their_own(
    lore: Lore, clock: Clock, tmp_path: Path
) -> None:
    alice = member(lore, "alice")
    path = tmp_path / "talk.jsonl"
    line = {"type": "user", "sessionId": "talk", "timestamp": "2026-01-15T20:00:00.000Z"}
    path.write_text(
        "".join(
            json.dumps(line | {"uuid": said, "message": {"role": "user", "content": said}}) + "\n"
            for said in ("We decided to use Postgres for the ferry.", "I prefer short names in the ferry.")
        )
    )
    assert list(alice.ingest(path, SOURCES["claude-code"]))
    schedules = Schedules(replace(lore, tuning=replace(lore.tuning, consolidation_interval=7200.0)))
    assert not schedules.due()
    clock.sleep(seconds=FIRST_SECONDS)
    assert schedules.due()
    schedules.run()
    assert schedules.trouble == ""
    assert not schedules.due()
    distilled = Filter(source_types=frozenset({DISTILLED}))
    assert {(one.namespace, one.author) for one in alice.select(distilled, 9)} == {("alice", "alice")}
    assert alice.staged() == []
    assert lore.store.namespaces() == [("acme", "alice")]


def test_the_copy_of_a_servers_namespace_is_not_consolidated(lore: Lore, clock: Clock) -> None:
    lore = replace(lore, tuning=replace(lore.tuning, consolidation_interval=7200.0))
    copy = lore.for_namespace("web")
    copy.remember("The ferry leaves at noon")
    copy.move_sync_mark(SyncMark(remote="https://lore.example.org", direction="pull", cursor="1"))
    schedules = Schedules(lore)
    assert not schedules.due()
    clock.sleep(seconds=FIRST_SECONDS)
    assert not schedules.due()
