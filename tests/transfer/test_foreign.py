"""Memories of other systems: what they become here, and that a second import adds nothing."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lore import Lore
from lore.errors import Invalid, LoreError
from lore.model import Filter, Memory
from lore.store.values import EVERY, SuggestionFilter
from lore.transfer.formats import format_of, opened
from lore.transfer.items import id_of
from tests.transfer import foreign
from tests.transfer.foreign import SECRET
from tests.transfer.importing import import_into

MAKERS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "lorekeeper.json": ("lorekeeper", foreign.lorekeeper_json),
    "lorekeeper.db": ("lorekeeper", foreign.lorekeeper_database),
    "memory.db": ("reference-lore", foreign.reference_lore),
    "claude-mem.db": ("claude-mem", foreign.claude_mem),
    "mem0.json": ("mem0", foreign.mem0),
    "notes": ("basic-memory", foreign.basic_memory),
}


def memories(lore: Lore, types: frozenset[str] = frozenset()) -> dict[str, Memory]:
    """Memories by content, forgotten and superseded ones included."""
    where = Filter(superseded=True, forgotten=True, types=types)
    found = lore.store.reader("ops").select(where, EVERY)
    return {memory.content: memory for memory in found}


def bytes_below(path: Path) -> dict[str, bytes]:
    parts = sorted(path.parent.glob(f"{path.name}*")) if path.is_file() else sorted(path.rglob("*.md"))
    return {part.name: part.read_bytes() for part in parts}


@pytest.mark.parametrize("name", MAKERS)
def test_a_format_is_detected_and_a_second_import_adds_nothing(lore: Lore, tmp_path: Path, name: str) -> None:
    format, make = MAKERS[name]
    path = make(tmp_path / name)
    assert format_of(path) == format
    before = bytes_below(path)
    preview = import_into(lore, path, preview=True)
    assert memories(lore) == {}
    first = import_into(lore, path)
    assert first.new > 0
    assert (preview.new, preview.links, preview.unreadable) == (first.new, first.links, first.unreadable)
    second = import_into(lore, path)
    assert (second.new, second.different, second.links) == (0, 0, 0)
    assert second.same == first.new
    assert bytes_below(path) == before


def test_no_file_appears_beside_a_database_while_it_is_read(tmp_path: Path) -> None:
    path = foreign.reference_lore(tmp_path / "memory.db")
    with opened(path, "reference-lore") as source:
        next(source.items)
        assert [file.name for file in tmp_path.iterdir()] == ["memory.db"]


@pytest.mark.parametrize("make", [foreign.lorekeeper_json, foreign.lorekeeper_database])
def test_lorekeeper_keeps_scores_use_namespaces_and_links(
    lore: Lore, tmp_path: Path, make: Callable[[Path], Path]
) -> None:
    import_into(lore, make(tmp_path / "export"))
    found = memories(lore)
    note = found["Deploys go out on Tuesdays."]
    assert (note.title, note.summary, note.score, note.confidence) == ("Deploys", "How we ship", 8.5, 9.0)
    assert (note.access_count, note.source, note.source_type) == (7, "lorekeeper", "user_stated")
    assert (note.created_at, note.last_accessed_at) == (1767323045.0, 1772323200.0)
    old = found["The service listens on 8080."]
    assert (old.namespace, old.forgotten_at is not None) == ("ops", True)
    [link] = lore.links([note.id])
    assert (link.type, link.reason, link.score) == ("references", "both about shipping", 1.5)
    assert link.target == found["The runbook is in the wiki."].id


def test_sessions_and_rejected_pairs_come_from_the_database_of_lorekeeper(lore: Lore, tmp_path: Path) -> None:
    import_into(lore, foreign.lorekeeper_database(tmp_path / "lk.db"))
    [session] = lore.select(Filter(kinds=frozenset({"reflection"})), 5)
    assert (session.title, session.session, session.type) == ("Deploy trouble", "s-1", "session")
    assert session.content.startswith("Fixed the deploy.\n\nDecisions:\nShip on Tuesdays.")
    assert session.metadata["memory_ids"] == [id_of("lorekeeper", "lk-1")]
    assert lore.sessions() == ["s-1"]
    [judged] = lore.store.reader("shared").suggestions(SuggestionFilter())
    assert judged.status == "rejected"


def test_reference_lore_keeps_trees_importance_and_successors(lore: Lore, tmp_path: Path) -> None:
    counts = import_into(lore, foreign.reference_lore(tmp_path / "memory.db"))
    found = memories(lore)
    root, leaf = found["Harbour project"], found["The ferry runs in summer only."]
    old = found["The ferry runs all year."]
    assert [branch.memory.id for branch in lore.explore(root.id).children] == [leaf.id]
    assert (root.importance, leaf.access_count, leaf.session) == (0.9, 3, "c-1")
    assert (leaf.last_reinforced_at, leaf.metadata["topic"]) == (1_771_000_000.0, "ferry")
    assert old.superseded_by == leaf.id
    assert counts.unreadable == 1  # a second parent
    [staged] = lore.staged()
    assert (staged.session.session, staged.turns) == ("c-2", 2)


def test_claude_mem_keeps_sessions_prompts_observations_and_summaries(lore: Lore, tmp_path: Path) -> None:
    import_into(lore, foreign.claude_mem(tmp_path / "claude-mem.db"))
    by_kind = {memory.kind: memory for memory in lore.select(Filter(), 10)}
    assert {memory.session for memory in by_kind.values()} == {"claude-1"}
    note = by_kind["note"]
    assert note.content == "The timetable moved to ferry.toml.\n\n- ferry.toml holds all times"
    assert (note.type, note.title, note.project) == ("decision", "Ferry timetable", "harbour")
    assert (note.created_at, note.metadata["files_modified"]) == (1_780_308_000.0, ["ferry.toml"])
    assert "Learned: Times are strings." in by_kind["reflection"].content
    assert by_kind["turn"].type == "user"
    assert {link.target for link in lore.links([note.id])} == {by_kind["session"].id}


def test_mem0_keeps_owners_and_secrets_stay_outside(lore: Lore, tmp_path: Path) -> None:
    counts = import_into(lore, foreign.mem0(tmp_path / "mem0.json", listed=True))
    assert (counts.new, counts.unreadable) == (2, 1)
    assert counts.problems == ("memory 3: it has no text in the field `memory`",)
    found = memories(lore)
    tea = found["Likes green tea"]
    assert (tea.author, tea.session, tea.metadata["category"]) == ("ada", "run-7", "food")
    assert tea.created_at == 1769968800.0
    assert SECRET not in json.dumps(list(found))


def test_basic_memory_notes_have_observations_and_relations(lore: Lore, tmp_path: Path) -> None:
    counts = import_into(lore, foreign.basic_memory(tmp_path / "notes"))
    by_title = {memory.title or memory.content: memory for memory in memories(lore).values()}
    ferry, harbour = by_title["Ferry"], by_title["Harbour"]
    assert ferry.content == "# Ferry\n\nThe ferry crosses the bay.\n\n## Observations\n- [ ] call again\n" + (
        "- [00:01] a spoken line"
    )
    assert (ferry.type, ferry.author, ferry.metadata["tags"]) == ("service", "ada", ["boats", "summer"])
    [seen] = [memory for memory in by_title.values() if memory.kind == "observation"]
    assert (seen.type, seen.content) == ("schedule", "Runs in summer only #season")
    assert seen.metadata == {"tags": ["season"], "context": "checked by phone"}
    ties = {(link.source, link.type, link.target) for link in lore.links([ferry.id])}
    assert ties == {
        (ferry.id, "", seen.id),
        (ferry.id, "docks_at", harbour.id),
        (harbour.id, "links_to", ferry.id),
    }
    assert counts.passed == {"link to a missing note": 1}


def test_who_imports_is_not_the_author(lore: Lore, tmp_path: Path) -> None:
    path = foreign.mem0(tmp_path / "mem0.json")
    eve = replace(lore, author="eve")
    import_into(eve, path)
    assert sorted(memory.author for memory in memories(lore).values()) == ["", "ada"]
    assert import_into(eve, path).different == 0


def test_a_grown_source_adds_only_what_is_new(lore: Lore, tmp_path: Path) -> None:
    notes = foreign.basic_memory(tmp_path / "notes")
    import_into(lore, notes)
    (notes / "Bay.md").write_text("The bay is deep.\n")
    assert import_into(lore, notes).new == 1


def test_a_project_name_becomes_the_one_project_here_that_it_stands_for(lore: Lore, tmp_path: Path) -> None:
    lore.in_folder("").remember("something")
    with lore.store.transaction("shared", lore._context("x").cause, 1.0) as writer:
        writer.put(
            [Memory(id="p", content="p", created_at=1, updated_at=1, project="github.com/ada/harbour")]
        )
    import_into(lore, foreign.claude_mem(tmp_path / "claude-mem.db"))
    assert memories(lore, types=frozenset({"decision"})).popitem()[1].project == "github.com/ada/harbour"


def test_everything_can_go_to_another_namespace_and_is_a_copy_there(lore: Lore, tmp_path: Path) -> None:
    path = foreign.reference_lore(tmp_path / "memory.db")
    first = import_into(lore, path)
    team = import_into(lore, path, namespace="team")
    assert (team.new, team.links) == (first.new, first.links)
    assert import_into(lore, path, namespace="team").new == 0
    roots = lore.for_namespace("team").roots(where=Filter(namespaces=frozenset({"team"})))
    assert [branch.memory.content for branch in roots if branch.memory.kind == "fragment"] == [
        "Harbour project"
    ]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("cut.json", b'{"results": [{"id": "1", "memory": "tea"}', "cut or damaged: line 1"),
        ("other.db", b"", "a database without memories that Lore knows"),
        ("empty", None, "a folder without Markdown notes"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(
    lore: Lore, tmp_path: Path, name: str, content: bytes | None, problem: str
) -> None:
    path = tmp_path / name
    if content is None:
        path.mkdir()
    elif content:
        path.write_bytes(content)
    else:
        foreign.insert(path, "CREATE TABLE other (x)", {})
    with pytest.raises(LoreError, match=problem):
        import_into(lore, path)


def test_a_store_of_lore_is_no_import(lore: Lore, tmp_path: Path) -> None:
    lore.backup(tmp_path / "copy.db")
    with pytest.raises(Invalid, match=r"is a store of Lore.*restore-backup"):
        format_of(tmp_path / "copy.db")
