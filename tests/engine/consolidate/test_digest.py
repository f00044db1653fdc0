"""Phase digest: conversations become trees of knowledge, once; failed sessions are tried again."""

from dataclasses import replace
from itertools import pairwise

import pytest

from lore import Filter, Lore, Query
from lore.clock import Clock
from lore.engine.consolidate.backlog import ATTEMPTS
from lore.llm.base import Nonsense, OverBudget, Unreachable
from lore.model import ACCOUNT
from lore.settings import ConsolidationSettings
from tests.engine.consolidate.helpers import (
    FitEmbedder,
    contents,
    converse,
    counts_of,
    descriptions,
    dump,
    extraction,
    fragment,
    fragments,
    item,
    memory,
    roots,
    run_phases,
    verdicts,
    with_answers,
    with_embedder,
)

BACKUPS = (
    "Set up nightly backups for the shop database. Remember that the dumps are stored in `/srv/dumps`.",
    "Where should copies go?",
    "We use the Hetzner storage box for backups.",
    "The first run failed: the .pgpass file is missing.",
    "Never copy a .pgpass file to the storage box.",
)
DUMPS = "The dumps are stored in `/srv/dumps`."
TITLE = "Nightly backups for the shop database"
FINDINGS = {"We use the Hetzner storage box for backups.", BACKUPS[4], DUMPS}


def links_of(lore: Lore, id: str, kind: str) -> list[tuple[str, str, str]]:
    links = lore.store.reader(lore.namespace).links([id], ended=True)
    return [(link.source, link.target, link.reason) for link in links if link.kind == kind]


def top(lore: Lore) -> str:
    [id] = roots(lore)
    return id


def test_a_conversation_becomes_a_tree(lore: Lore, clock: Clock) -> None:
    converse(lore, "backups", *BACKUPS)
    clock.sleep(minutes=10)
    report = run_phases(lore)
    assert counts_of(report) == {"sessions_digested": 1, "fragments_extracted": 4}
    root = memory(lore, top(lore))
    assert (root.title, root.source_type) == (TITLE, "distilled")
    below = [child.memory for child in lore.explore(root.id).children]
    assert {child.content for child in below} == FINDINGS
    assert all(child.depth == 1 and child.project == root.project != "" for child in below)
    assert lore.store.unembedded(lore.embeddings.model, 0).total == 0, "they are found by meaning at once"


def test_after_a_run_search_lists_each_statement_once_with_its_source_turn(lore: Lore, clock: Clock) -> None:
    converse(lore, "backups", *BACKUPS)
    clock.sleep(minutes=10)
    run_phases(lore)
    lore.embed_pending()
    answer = lore.search(Query(text="Which storage box do we use for backups?"))
    stating, other = (hit for hit in answer.hits if "Hetzner storage box" in hit.memory.content)
    assert other.memory.kind == ACCOUNT, "the account of the conversation quotes it, behind the statement"
    assert stating.memory.id == answer.hits[0].memory.id
    assert (stating.memory.content, stating.memory.source_type) == (BACKUPS[2], "distilled")
    [turn] = stating.sources
    assert (memory(lore, turn).kind, memory(lore, turn).content) == ("turn", BACKUPS[2])
    assert answer.repeated > 0


def test_a_finding_has_the_date_of_its_turn_and_a_link_to_it(lore: Lore, clock: Clock) -> None:
    said_at = clock()
    converse(lore, "backups", *BACKUPS)
    clock.sleep(days=30)
    run_phases(lore)
    [found] = [one for one in fragments(lore) if "Hetzner" in one.content and not one.title]
    assert found.created_at == said_at + 2
    assert found.updated_at == clock()
    [(source, target, _)] = links_of(lore, found.id, "relation")
    assert source == found.id
    assert memory(lore, target).content == BACKUPS[2]


def test_the_findings_of_a_topic_are_linked_in_order_of_time(lore: Lore, clock: Clock) -> None:
    converse(lore, "backups", *BACKUPS)
    clock.sleep(minutes=10)
    run_phases(lore)
    children = lore.read(top(lore), use=False).children
    ties = [tie for child in children for tie in links_of(lore, child, "temporal") if tie[0] == child]
    assert [(source, target) for source, target, _ in ties] == list(pairwise(children))


def test_a_conversation_is_digested_only_when_it_is_quiet_and_again_when_it_continues(
    lore: Lore, clock: Clock
) -> None:
    converse(lore, "backups", *BACKUPS[:2])
    clock.sleep(minutes=4)
    assert counts_of(run_phases(lore)) == {}
    clock.sleep(minutes=2)
    assert counts_of(run_phases(lore))["sessions_digested"] == 1
    converse(lore, "backups", *BACKUPS[2:])
    clock.sleep(minutes=6)
    run_phases(lore)
    assert BACKUPS[4] in contents(lore)
    assert len([one for one in fragments(lore) if one.content == DUMPS]) == 1
    assert lore.staged() == []


def test_turns_that_follow_forgotten_ones_are_digested(lore: Lore, clock: Clock) -> None:
    converse(lore, "backups", *BACKUPS[:2])
    clock.sleep(minutes=6)
    run_phases(lore)
    turns = lore.select(Filter(kinds=frozenset({"turn"})), 9)
    lore.forget([turn.id for turn in turns])
    assert lore.staged() == []
    converse(lore, "backups", BACKUPS[2])
    clock.sleep(minutes=6)
    run_phases(lore)
    assert BACKUPS[2] in contents(lore)


def test_calls_to_lore_are_not_digested_and_not_staged(lore: Lore, clock: Clock) -> None:
    lore, model = with_answers(lore, extraction(), extraction())
    converse(lore, "backups", BACKUPS[0])
    clock.sleep(minutes=1)
    converse(lore, "backups", BACKUPS[2], tool="mcp__lore__store")
    clock.sleep(minutes=6)
    run_phases(lore, "digest")
    assert lore.staged() == []
    converse(lore, "backups", BACKUPS[3])
    clock.sleep(minutes=6)
    run_phases(lore, "digest")
    first, second = (prompt.text for prompt in model.prompts)
    assert BACKUPS[0] in first
    assert BACKUPS[2] not in first + second
    assert BACKUPS[3] in second


def test_turns_forgotten_before_a_run_are_not_digested(lore: Lore, clock: Clock) -> None:
    lore, model = with_answers(lore, extraction(), extraction())
    for number, text in enumerate(BACKUPS[:3]):
        converse(lore, "backups", text)
        if number == 1:
            [turn] = lore.select(Filter(kinds=frozenset({"turn"}), created_after=clock()), 9)
            lore.forget([turn.id])
        clock.sleep(minutes=6)
        run_phases(lore, "digest")
        assert lore.staged() == []
    first, last = model.prompts
    assert BACKUPS[0] in first.text
    assert BACKUPS[2] in last.text
    assert "user, 2026-01-01: " + BACKUPS[0] not in last.text, "what was digested is not digested again"


def test_a_repeated_statement_gets_another_source_and_no_copy(lore: Lore, clock: Clock) -> None:
    converse(lore, "backups", *BACKUPS)
    clock.sleep(minutes=6)
    run_phases(lore)
    before = {one.id for one in fragments(lore)}
    converse(lore, "again", *BACKUPS)
    clock.sleep(minutes=6)
    report = run_phases(lore)
    assert {one.id for one in fragments(lore)} == before
    assert counts_of(report) == {"sessions_digested": 1}
    [found] = [one for one in fragments(lore) if "Hetzner" in one.content and not one.title]
    assert len(links_of(lore, found.id, "relation")) == 2


def test_statements_that_a_model_calls_new_are_both_stored(lore: Lore, clock: Clock) -> None:
    lore, model = with_answers(
        lore,
        extraction(item("The staging server of the shop listens on port 8080.", "Ports")),
        extraction(item("The staging server of the shop listens on port 8081.", "Ports")),
        verdicts((2, "new", None)),
    )
    for session in ("one", "two"):
        converse(lore, session, "which port?", "this one")
        clock.sleep(minutes=6)
        run_phases(lore, "digest")
    assert len(model.prompts) == 3, "the first item has nothing to be compared with"
    assert len([one for one in fragments(lore) if "listens" in one.content]) == 2
    assert [one.title for one in fragments(lore) if one.title] == ["Ports"]


@pytest.mark.parametrize(
    ("fit", "place"), [(0.8, "in the tree"), (0.75, "beside"), (0.5, "beside"), (0.3, "alone")]
)
def test_an_item_joins_a_similar_tree_or_its_topic_is_linked_to_it_or_stays_alone(
    lore: Lore, clock: Clock, fit: float, place: str
) -> None:
    answer = extraction(item("Seals sleep on ice.", f"fit {fit}"))
    lore, _ = with_answers(with_embedder(lore, FitEmbedder()), answer, verdicts())
    tree = fragment(lore, "fit 1")
    fragment(lore, "Seals eat fish.", tree)
    converse(lore, "seals", "tell me", "well")
    clock.sleep(minutes=6)
    run_phases(lore, "digest")
    [new] = [one for one in fragments(lore) if one.content == "Seals sleep on ice."]
    assert (lore.read(new.id, use=False).parent == tree) == (place == "in the tree")
    reasons = [tie[2] for tie in links_of(lore, tree, "associative")]
    assert reasons == (["schema-fit link"] if place == "beside" else [])


@pytest.mark.parametrize("more", [{"type": "reflection"}, {}])
def test_an_item_never_joins_a_reflection_or_a_single_statement(
    lore: Lore, clock: Clock, more: dict[str, str]
) -> None:
    lore, _ = with_answers(
        with_embedder(lore, FitEmbedder()), extraction(item("Seals sleep on ice.", "fit 1"))
    )
    fragment(lore, "fit 1", **more)
    converse(lore, "seals", "tell me", "well")
    clock.sleep(minutes=6)
    run_phases(lore, "digest")
    [new] = [one for one in fragments(lore) if one.title == "fit 1"]
    assert lore.read(new.id, use=False).parent is None


def test_topics_of_a_conversation_that_are_about_the_same_have_one_root(lore: Lore, clock: Clock) -> None:
    items = [item("Seals sleep on ice.", "fit 1"), item("They eat fish.", "fit 0.9")]
    lore, _ = with_answers(
        with_embedder(lore, FitEmbedder()), extraction(*items, item("Walrus.", "Fit  1")), extraction()
    )
    converse(lore, "seals", "tell me", "well")
    clock.sleep(minutes=6)
    run_phases(lore, "digest")
    [root] = [one for one in fragments(lore) if one.title]
    assert len(lore.read(root.id, use=False).children) == 3
    assert root.content == root.title == "fit 1"


def test_a_topic_that_the_rules_find_goes_below_a_similar_tree(lore: Lore, clock: Clock) -> None:
    lore = with_embedder(lore, FitEmbedder())
    tree = fragment(lore, "fit 1")
    converse(lore, "backups", *(text.replace("shop", "fit 0.8") for text in BACKUPS))
    clock.sleep(minutes=6)
    run_phases(lore, "digest")
    [new] = [one for one in fragments(lore) if one.title]
    assert lore.read(new.id, use=False).parent == tree


def test_without_an_embedder_importance_is_unchanged_and_nothing_is_stored_twice(
    clock: Clock, without_embedder: Lore
) -> None:
    for session in ("backups", "again"):
        converse(without_embedder, session, *BACKUPS)
        clock.sleep(minutes=6)
        run_phases(without_embedder)
    root = memory(without_embedder, top(without_embedder))
    found = [one for one in fragments(without_embedder) if not one.title]
    assert root.importance == 0.9
    assert {one.importance for one in found} <= {0.9, 0.5, 0.2}
    assert {one.content for one in found} == FINDINGS
    assert len(found) == len(FINDINGS)
    assert BACKUPS[2] in [
        hit.memory.content for hit in without_embedder.search(Query(text="Hetzner", limit=2)).hits
    ]


def test_a_dry_run_describes_its_steps_and_changes_nothing(lore: Lore, clock: Clock) -> None:
    converse(lore, "backups", *BACKUPS)
    clock.sleep(minutes=6)
    lore.embed_pending()
    before = dump(lore)
    report = run_phases(lore, dry=True)
    assert descriptions(report) == [f"“{TITLE}”: 3 things worth knowing"]
    assert not report.applied
    assert dump(lore) == before


def test_a_failed_session_keeps_its_turns_and_each_retry_waits_longer(lore: Lore, clock: Clock) -> None:
    converse(lore, "backups", *BACKUPS)
    failing, model = with_answers(lore, *[Nonsense("gibberish")] * 50)
    waits = []
    for _ in range(ATTEMPTS - 1):
        clock.sleep(minutes=6)
        [remark] = run_phases(failing, "digest").remarks
        [one] = failing.staged()
        assert "gibberish" in remark
        assert "gibberish" in one.trouble
        waits.append(one.retry_at - clock())
        prompts = len(model.prompts)
        assert run_phases(failing, "digest").remarks == ()
        assert len(model.prompts) == prompts, "it is not asked before its time"
        clock.sleep(seconds=waits[-1])
    assert waits == [900, 1800, 3600, 7200]
    run_phases(failing, "digest")
    clock.sleep(days=1)
    assert run_phases(failing, "digest").remarks == (), "it is left to a person"
    assert failing.retry([failing.staged()[0].session.id])
    run_phases(lore)
    assert contents(lore) >= FINDINGS


def test_a_session_is_never_given_up_while_the_model_is_unreachable(lore: Lore, clock: Clock) -> None:
    converse(lore, "backups", *BACKUPS)
    away, _ = with_answers(lore, *[Unreachable("no connection")] * 100)
    for _ in range(3 * ATTEMPTS):
        clock.sleep(days=1)
        assert "no connection" in run_phases(away, "digest").remarks[0]
    clock.sleep(hours=3)
    run_phases(lore)
    assert contents(lore) >= FINDINGS


def test_a_spent_budget_does_not_count_as_a_failed_attempt(lore: Lore, clock: Clock) -> None:
    converse(lore, "backups", *BACKUPS)
    clock.sleep(minutes=1)
    converse(lore, "seals", "Tell me about seals", "Seals sleep on ice.")
    clock.sleep(minutes=6)
    poor, model = with_answers(lore, OverBudget("enough for today", resumes=None))
    assert run_phases(poor, "digest").remarks == ("enough for today",)
    [prompt] = model.prompts
    assert "seals" in prompt.text, "the newest conversation comes first"
    assert [one.attempts for one in lore.staged()] == [0, 0]


def test_a_topic_never_joins_a_tree_of_another_project(lore: Lore, clock: Clock) -> None:
    for folder in ("/gone/ferry", "/gone/shop"):
        converse(lore, folder, *BACKUPS, folder=folder)
        clock.sleep(minutes=6)
        run_phases(lore)
    assert len(roots(lore)) == 2
    assert len({memory(lore, id).project for id in roots(lore)}) == 2


def test_conversations_of_another_namespace_are_not_digested(lore: Lore, clock: Clock) -> None:
    theirs = lore.for_namespace("theirs")
    converse(theirs, "backups", *BACKUPS)
    clock.sleep(minutes=6)
    assert counts_of(run_phases(lore)) == {}
    assert counts_of(run_phases(theirs))["sessions_digested"] == 1
    assert {one.namespace for one in fragments(theirs)} == {"theirs"}
    assert fragments(lore) == []


def test_a_long_conversation_is_split_into_several_prompts(lore: Lore, clock: Clock) -> None:
    texts = [f"Tell me more about seal number {n}, where it sleeps and what it eats" for n in range(40)]
    lore, model = with_answers(lore, *[extraction()] * 20)
    lore = replace(lore, tuning=ConsolidationSettings(max_chars_per_extraction=400))
    converse(lore, "seals", *texts)
    clock.sleep(minutes=6)
    assert counts_of(run_phases(lore, "digest")) == {"sessions_digested": 1}
    assert len(model.prompts) >= 4
