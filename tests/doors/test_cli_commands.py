"""What each command shows to a person and to a program."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lore import Draft, Lore, Tie
from lore.config import Config
from lore.connecting import wire
from lore.doors.cli.render import BEGIN, plural
from lore.doors.cli.times import minute
from lore.embed.hashing import HashEmbedder
from lore.engine.embeddings import BATCH
from tests.doors.command import Command


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


@pytest.fixture
def tree(lore: Lore) -> dict[str, str]:
    """tea > green > sencha, and a link from sencha to water; in the folder that `run` uses."""
    tea = lore.remember(Draft(content="All about tea.", title="tea", kind="fragment", type="topic"))
    green = lore.remember(Draft(content="Green tea is not oxidised.", title="green", parent=tea.id))
    sencha = lore.remember(Draft(content="Sencha likes 70 degrees.", title="sencha", parent=green.id))
    water = lore.remember(Draft(content="Soft water is best.", title="water", source="kettle"))
    lore.link([Tie(source=sencha.id, target=water.id)])
    return {"tea": tea.id, "green": green.id, "sencha": sencha.id, "water": water.id}


# --- brief
def test_brief_prints_what_an_agent_would_get_of_a_project(run: Command) -> None:
    assert run("brief").stdout == ""
    run("remember", "We keep Postgres for the walrus.", "--type", "decision")
    shown = run("brief").stdout
    document = run.document("brief", "--budget", "200")
    assert shown == document["text"] + "\n"
    assert "## Decisions in force\n- We keep Postgres for the walrus. [" in shown
    assert document["tokens"] <= 200
    assert run.document("brief", "--budget", "10")["lines"] == []
    assert "unknown project 'tug'" in run("brief", "--project", "tug", code=1).stderr


# --- search
def test_a_hit_shows_rank_score_id_local_time_way_and_passage(run: Command, tree: dict[str, str]) -> None:
    head, way, passage, *_ = run("search", "how", "hot", "for", "sencha").stdout.splitlines()
    rank, score, id, when = head.split(maxsplit=3)
    assert (rank, len(score), id) == ("1.", 5, tree["sencha"][-8:])
    assert when == minute(datetime(2026, 1, 1, tzinfo=UTC).timestamp())
    assert way == "    tea › green › sencha"
    assert passage == "    Sencha likes 70 degrees."


def test_a_hit_shows_the_passage_that_matches(run: Command) -> None:
    filler = "Nobody decided anything that day. " * 30
    run("remember", f"{filler}The walrus pool holds 40 connections. {filler}", "--title", "Minutes")
    _, title, passage = run("search", "how many connections does the pool hold").stdout.splitlines()
    assert title.strip() == "Minutes"
    assert "The walrus pool holds 40 connections." in passage
    assert len(passage) < 310


def test_a_format_says_how_much_of_each_is_shown(run: Command, tree: dict[str, str]) -> None:
    assert run("search", "sencha", "-l1", "--format", "ids").stdout == f"{tree['sencha']}\n"
    [line] = run("search", "sencha", "-l1", "--format", "title").stdout.splitlines()
    assert line.endswith("sencha")
    run("remember", "first line\n  second line")
    assert "    first line\n      second line\n" in run("search", "second", "-l1", "--format", "full").stdout


def test_the_format_holds_for_programs_too(run: Command, tree: dict[str, str]) -> None:
    def first(*args: str) -> dict[str, object]:
        memory: dict[str, object] = run.document("search", "sencha", *args)["hits"][0]["memory"]
        return memory

    assert first("--format", "ids") == {"id": tree["sencha"]}
    assert first("--format", "title") == {"id": tree["sencha"], "title": "sencha"}
    assert first()["content"] == "Sencha likes 70 degrees."


def test_why_says_in_words_what_a_score_is_made_of(run: Command, tree: dict[str, str]) -> None:
    asked = ("search", "how", "hot", "shall", "sencha", "be", "-l1")
    shown = run(*asked, "--why").stdout
    assert re.search("^    █+░*  same words: sencha$", shown, re.MULTILINE)
    [hit] = run.document(*asked)["hits"]
    assert not {name for name in hit["signals"] if re.search(rf"\b{name}\b", shown)} - {"words", "meaning"}
    assert "█" not in run(*asked).stdout


def test_notes_about_the_answer_go_to_stderr(run: Command) -> None:
    result = run("search", "anything")
    assert (result.stdout, result.stderr) == ("", f"Nothing is stored yet.\n{BEGIN}\n")
    assert run.document("search", "anything")["notes"] == ["Nothing is stored yet."]


def found(run: Command, *args: str) -> list[str]:
    hits = run.document("search", *args)["hits"]
    return [hit["memory"]["title"] for hit in hits]


def test_filters_narrow_a_search(run: Command, tree: dict[str, str]) -> None:
    words = ("tea", "water", "sencha")
    assert len(found(run, *words)) == 4
    assert found(run, *words, "--kind", "fragment") == ["tea"]
    assert found(run, *words, "--type", "topic") == ["tea"]
    assert found(run, *words, "--source", "kettle") == ["water"]
    assert found(run, *words, "--under", tree["green"]) == ["sencha"]
    assert found(run, *words, "--limit", "1") == found(run, *words)[:1]
    assert found(run, *words, "--min-score", "9") == []
    assert len(found(run, *words, "--budget", "1")) == 1


def test_a_search_can_be_limited_to_a_time(run: Command, tree: dict[str, str]) -> None:
    """The clock of `tree` stands at the beginning of 2026; what `run` keeps is from today."""
    run.keep("sencha today", "--title", "today")
    assert found(run, "sencha", "--since", "1h") == ["today"]
    that_day = found(run, "sencha", "--until", "2026-01-01")
    assert "sencha" in that_day
    assert "today" not in that_day
    assert found(run, "sencha", "--until", "2025-12-30") == []


def test_named_memories_are_shown_in_the_order_named(run: Command, tree: dict[str, str]) -> None:
    assert found(run, "--among", f"{tree['water']}, {tree['tea']}") == ["water", "tea"]
    assert set(found(run, "sencha", "--among", f"{tree['water']},{tree['tea']}")) <= {"water", "tea"}


def test_a_deep_search_follows_links(run: Command, tree: dict[str, str]) -> None:
    assert "water" not in found(run, "sencha", "--min-score", "0.1")
    assert "water" in found(run, "sencha", "--deep", "--min-score", "0.1")


def test_the_policy_decides_how_to_rank(run: Command, tree: dict[str, str]) -> None:
    [hit] = run.document("search", "water", "-l1", "--policy", "scored")["hits"]
    assert set(hit["signals"]) == {"match", "quality", "use", "similarity", "words"}
    assert {"meaning", "wording"} <= set(hit["evidence"])


# --- read
def test_a_reading_shows_the_text_its_place_and_its_ties(run: Command, tree: dict[str, str]) -> None:
    text = run("read", tree["sencha"]).stdout
    assert text.startswith("sencha\nSencha likes 70 degrees.\n")
    assert tree["sencha"] in text
    assert "tea › green" in text
    assert "→ associative" in text
    assert text.rstrip().endswith("water")
    assert "green" in run("read", tree["tea"]).stdout


def test_reading_counts_as_use_but_not_for_the_neighbours(run: Command, tree: dict[str, str]) -> None:
    run("read", tree["sencha"])
    assert run.document("read", tree["sencha"])["memory"]["access_count"] == 1
    assert run.document("read", tree["water"])["memory"]["access_count"] == 0


def test_the_history_lists_every_change_with_its_reason(run: Command, tree: dict[str, str]) -> None:
    run("forget", tree["tea"], "--reason", "wrong cup")
    run("restore", tree["tea"])
    text = run("read", tree["tea"], "--history").stdout
    assert "forget through cli: wrong cup" in text
    entries = run.document("read", tree["tea"], "--history")["history"]
    assert [entry["cause"]["verb"] for entry in entries] == ["remember", "forget", "restore"]
    assert run.document("read", tree["tea"])["history"] is None


def test_times_are_in_utc_for_programs(run: Command, tree: dict[str, str]) -> None:
    memory = run.document("read", tree["tea"])["memory"]
    assert memory["created_at"] == "2026-01-01T00:00:00.000+00:00"
    assert memory["forgotten_at"] is None


# --- remember
def test_a_remembered_memory_has_the_given_fields_and_is_embedded(run: Command, tree: dict[str, str]) -> None:
    told = ("--title", "oolong", "--type", "fact", "--kind", "fragment", "--importance", "0.9")
    memory = run.document("remember", "half", "oxidised", "--under", tree["tea"][:36], *told)
    assert memory["content"] == "half oxidised"
    assert [memory[name] for name in ("title", "type", "kind", "importance")] == [
        "oolong",
        "fact",
        "fragment",
        0.9,
    ]
    assert memory["depth"] == 1
    assert run.document("status")["pending"] == 0


def test_remember_embeds_its_memory_and_does_not_wait_for_a_backlog(run: Command) -> None:
    lore = wire(Config(data_dir=run.data_dir), embedder=HashEmbedder())
    lore.remember_all([Draft(content=f"turn {number}", kind="turn") for number in range(3 * BATCH)])
    new = run.keep("The ferry leaves at noon")
    assert lore.pending() > BATCH
    waiting = lore.store.unembedded(lore.embeddings.model, 4 * BATCH).passages
    assert new not in {passage.id for passage in waiting}
    lore.close()


def test_a_text_can_come_from_standard_input(run: Command) -> None:
    assert run("remember", "-", input="two\nlines\n").stdout.startswith("Remembered ")
    assert run.document("search", "lines")["hits"][0]["memory"]["content"] == "two\nlines"


def test_a_text_that_was_remembered_before_is_the_same_memory(run: Command) -> None:
    first, again = (run.document("remember", text) for text in ("the same", "The  same"))
    assert again["id"] == first["id"]
    assert run("remember", "the same").stdout.startswith("Remembered before ")


@pytest.mark.parametrize("bytes", [b"", b"\n", b"\xff\xfe", b"a\0b", b"x" * 60_000])
def test_input_that_cannot_be_kept_is_refused(run: Command, bytes: bytes) -> None:
    assert run("remember", "-", code=1, input=bytes).stderr.startswith("lore: content ")
    assert run.document("status")["counts"]["memories"] == 0


def test_text_beyond_ascii_stays_itself(run: Command) -> None:
    run("remember", "Grüße 茶 🍵")
    assert "Grüße 茶 🍵" in run("search", "茶", "--json").stdout


# --- roots and explore
def test_roots_are_a_table(run: Command, tree: dict[str, str]) -> None:
    head, *rows = run("roots").stdout.splitlines()
    assert head.split() == ["ID", "Relevance", "Uses", "Children", "Title"]
    assert sorted(row.split()[2:] for row in rows) == [["0", "1", "tea"], ["0", "water"]]


def test_a_keyword_filters_roots_by_what_they_are_called(run: Command, tree: dict[str, str]) -> None:
    [root] = run.document("roots", "WAT")["roots"]
    assert root["memory"]["title"] == "water"
    assert "has 'zzz' in its title" in run("roots", "zzz").stderr
    assert run.document("roots", "zzz") == {"roots": []}
    assert len(run.document("roots", "e", "--limit", "1")["roots"]) == 1


def test_a_tree_is_drawn(run: Command, tree: dict[str, str]) -> None:
    run.keep("x", "--title", "black", "--under", tree["tea"])
    lines = run("explore", tree["tea"]).stdout.splitlines()
    assert [line.rpartition("  ")[0] for line in lines] == ["tea", "├── green", "│   └── sencha", "└── black"]


def test_a_tree_cut_at_a_depth_counts_the_hidden_children(run: Command, tree: dict[str, str]) -> None:
    assert "[1 below]" in run("explore", tree["tea"], "--depth", "1").stdout.splitlines()[1]
    document = run.document("explore", tree["tea"], "-d", "0")
    assert (document["children"], document["children_count"]) == ([], 1)


# --- forget and restore
def test_forgetting_says_how_to_undo_it(run: Command, tree: dict[str, str]) -> None:
    result = run("forget", tree["tea"], tree["water"])
    assert result.stdout == "Forgot 2 memories.\n"
    undo = result.stderr.strip().removeprefix("Undo: lore ").split()
    assert run.document("status")["counts"]["memories"] == 2
    assert run(*undo).stdout == "Restored 2 memories.\n"
    assert run.document("status")["counts"]["memories"] == 4


def test_memories_that_were_already_forgotten_or_restored_are_reported(
    run: Command, tree: dict[str, str]
) -> None:
    run("forget", tree["tea"])
    assert "is already forgotten." in run("forget", tree["tea"]).stderr
    assert run.document("forget", tree["tea"]) == {
        "forgotten": [],
        "along": [],
        "unchanged": [tree["tea"]],
    }
    assert run.document("restore", tree["tea"]) == {
        "restored": [tree["tea"]],
        "along": [],
        "unchanged": [],
    }
    assert "is not forgotten." in run("restore", tree["tea"]).stderr


def test_one_unknown_id_stops_the_whole_command(run: Command, tree: dict[str, str]) -> None:
    run("forget", tree["tea"], "ffff", code=1)
    assert run.document("status")["counts"]["forgotten"] == 0


def test_all_memories_of_a_project_session_or_day_are_forgotten_and_come_back(
    run: Command, tree: dict[str, str], checkout: Path
) -> None:
    gone = run.keep("mine", "--project", str(checkout))
    assert run("forget", "--project", "ferry", "--dry-run").stdout == "Would forget 1 memory.\n"
    document = run.document("forget", "--project", "ferry", "--kind", "note", "--dry-run")
    assert document == {"dry_run": True, "count": 1, "ids": [gone], "batch": ""}
    assert run("forget", "--project", "ferry", "--kind", "turn").stdout == "Forgot 0 memories.\n"
    forgotten = run("forget", "--project", "ferry", "--reason", "sold")
    assert forgotten.stdout == "Forgot 1 memory.\n"
    assert run.document("status")["counts"]["memories"] == 4
    run(*forgotten.stderr.strip().removeprefix("Undo: lore ").split())
    assert run.document("status")["counts"]["memories"] == 5
    today = datetime.now().date().isoformat()
    assert run.document("forget", "--day", today, "--dry-run")["ids"] == [gone]
    assert run.document("forget", "--day", "2020-01-31", "--dry-run")["count"] == 0


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ([], "give the IDs"),
        (["--dry-run"], "give the IDs"),
        (["ID", "--kind", "note"], "give the IDs"),
        (["ID", "--dry-run"], "give the IDs"),
        (["--day", "3d"], "is no day"),
        (["--project", "nowhere"], "unknown project"),
        (["--session", "ffff"], "unknown memory"),
    ],
)
def test_a_wrong_choice_forgets_nothing(
    run: Command, tree: dict[str, str], options: list[str], error: str
) -> None:
    given = [tree["tea"] if option == "ID" else option for option in options]
    assert error in run("forget", *given, code=1).stderr
    assert run.document("status")["counts"]["forgotten"] == 0


# --- undo and purge
def test_the_last_change_of_a_memory_is_undone_and_redone(run: Command, tree: dict[str, str]) -> None:
    run("forget", tree["green"])
    planned = run("undo", tree["green"][-8:], "--dry-run")
    assert planned.stdout.splitlines()[0] == "Would change 3 memories and links:"
    assert run.document("status")["counts"]["forgotten"] == 1
    done = run("undo", tree["green"])
    assert done.stdout.splitlines()[0] == "Changed back 3 memories and links:"
    assert tree["green"][-8:] in done.stdout
    assert run.document("read", tree["sencha"])["parent"] == tree["green"]
    run(*done.stderr.strip().removeprefix("Undo: lore ").split())
    assert run.document("read", tree["sencha"])["parent"] == tree["tea"]


def test_an_earlier_change_is_undone_by_its_batch_or_refused(run: Command, tree: dict[str, str]) -> None:
    run("forget", tree["tea"])
    run("restore", tree["tea"])
    [made, forgotten, _] = run.document("read", tree["tea"], "--history")["history"]
    assert f"batch {made['batch']}" in run("read", tree["tea"], "--history").stdout
    assert "undo that first" in run("undo", forgotten["batch"], code=1).stderr
    assert "unknown memory" in run("undo", "ffff", code=1).stderr


def test_a_purge_wants_a_confirmation_and_erases_only_what_is_forgotten(
    run: Command, tree: dict[str, str]
) -> None:
    assert "is not forgotten" in run("purge", tree["water"], "--yes", code=1).stderr
    run("forget", tree["water"])
    for options in ((), ("--json",)):
        assert "give --yes" in run("purge", tree["water"], *options, code=1).stderr
    assert run.document("status")["counts"]["forgotten"] == 1
    assert run("purge", tree["water"], "-y").stdout == "Erased 1 memory for good.\n"
    assert run.document("status")["counts"]["forgotten"] == 0
    run("forget", tree["sencha"])
    assert run.document("purge", tree["sencha"], "--yes")["ids"] == [tree["sencha"]]


# --- status
def test_status_tells_where_and_how_much(run: Command, tree: dict[str, str]) -> None:
    text = run("status").stdout
    assert str(run.database) in text
    assert "4 (1 fragment, 3 note)" in text
    counts = run.document("status")["counts"]
    assert (counts["memories"], counts["roots"], counts["links"]) == (4, 2, 3)


def test_a_count_of_one_has_a_singular_noun() -> None:
    assert plural(1, "memory", "memories") == "1 memory"
    assert plural(1_000, "child", "children") == "1,000 children"
