"""digest: what a conversation leaves behind, once, where it belongs; and what becomes of failures."""

from dataclasses import replace
from itertools import pairwise

import pytest

from lore import Filter, Lore, Query
from lore.clock import Clock
from lore.config import ConsolidationSettings
from lore.engine.consolidation_backlog import ATTEMPTS
from lore.llm.base import Nonsense, OverBudget, Unreachable
from tests.engine.consolidate.sleeping import (
    Fitting,
    asking,
    contents,
    done,
    dump,
    extraction,
    fragment,
    fragments,
    item,
    memory,
    night,
    planned,
    roots,
    say,
    sensing,
    topic,
)

BACKUPS = (
    "Set up nightly backups for the shop database. Note that the dumps are stored in `/srv/dumps`.",
    "Where should copies go?",
    "We use the Hetzner storage box for backups.",
    "The first run failed: the .pgpass file is missing.",
    "Never copy a .pgpass file to the storage box.",
)
DUMPS = "The dumps are stored in `/srv/dumps`."
TITLE = "Nightly backups for the shop database"
FINDINGS = {"We use the Hetzner storage box for backups.", BACKUPS[4], DUMPS}


def links_of(lore: Lore, id: str, kind: str) -> list[tuple[str, str, str]]:
    links = lore.store.reader(lore.namespace).all_links(id)
    return [(link.source, link.target, link.reason) for link in links if link.kind == kind]


def top(lore: Lore) -> str:
    [id] = roots(lore)
    return id


def test_a_conversation_becomes_a_tree(lore: Lore, clock: Clock) -> None:
    say(lore, "backups", *BACKUPS)
    clock.sleep(minutes=10)
    report = night(lore)
    assert done(report) == {"sessions_digested": 1, "fragments_extracted": 4}
    root = memory(lore, top(lore))
    assert (root.title, root.source_type) == (TITLE, "distilled")
    below = [child.memory for child in lore.explore(root.id).children]
    assert {child.content for child in below} == FINDINGS
    assert all(child.depth == 1 and child.project == root.project != "" for child in below)
    assert lore.store.pending(lore.sense.model) == 0, "they are found by meaning at once"


def test_after_a_night_each_statement_is_listed_once_with_the_turn_it_came_from(
    lore: Lore, clock: Clock
) -> None:
    say(lore, "backups", *BACKUPS)
    clock.sleep(minutes=10)
    night(lore)
    lore.embed_pending()
    answer = lore.search(Query(text="Which storage box do we use for backups?"))
    [stating] = [hit for hit in answer.hits if "Hetzner storage box" in hit.memory.content]
    assert stating.memory.id == answer.hits[0].memory.id
    assert (stating.memory.content, stating.memory.source_type) == (BACKUPS[2], "distilled")
    [turn] = stating.sources
    assert (memory(lore, turn).kind, memory(lore, turn).content) == ("turn", BACKUPS[2])
    assert answer.repeated > 0


def test_what_was_found_dates_from_when_it_was_said_and_tells_where(lore: Lore, clock: Clock) -> None:
    said_at = clock()
    say(lore, "backups", *BACKUPS)
    clock.sleep(days=30)
    night(lore)
    [found] = [one for one in fragments(lore) if "Hetzner" in one.content and not one.title]
    assert found.created_at == said_at + 2
    assert found.updated_at == clock()
    [(source, target, _)] = links_of(lore, found.id, "relation")
    assert source == found.id
    assert memory(lore, target).content == BACKUPS[2]


def test_findings_of_a_topic_follow_each_other(lore: Lore, clock: Clock) -> None:
    say(lore, "backups", *BACKUPS)
    clock.sleep(minutes=10)
    night(lore)
    children = lore.look_at(top(lore)).children
    ties = [tie for child in children for tie in links_of(lore, child, "temporal") if tie[0] == child]
    assert [(source, target) for source, target, _ in ties] == list(pairwise(children))


def test_a_conversation_that_goes_on_is_left_alone_and_digested_later(lore: Lore, clock: Clock) -> None:
    say(lore, "backups", *BACKUPS[:2])
    clock.sleep(minutes=4)
    assert done(night(lore)) == {}
    clock.sleep(minutes=2)
    assert done(night(lore))["sessions_digested"] == 1
    say(lore, "backups", *BACKUPS[2:])
    clock.sleep(minutes=6)
    night(lore)
    assert BACKUPS[4] in contents(lore)
    assert len([one for one in fragments(lore) if one.content == DUMPS]) == 1
    assert lore.staged() == []


def test_what_is_said_after_turns_were_forgotten_is_digested_too(lore: Lore, clock: Clock) -> None:
    say(lore, "backups", *BACKUPS[:2])
    clock.sleep(minutes=6)
    night(lore)
    turns = lore.select(Filter(kinds=frozenset({"turn"})), 9)
    lore.forget([turn.id for turn in turns])
    assert lore.staged() == []
    say(lore, "backups", BACKUPS[2])
    clock.sleep(minutes=6)
    night(lore)
    assert BACKUPS[2] in contents(lore)


def test_calls_to_lore_are_not_digested_and_do_not_wait(lore: Lore, clock: Clock) -> None:
    lore, model = asking(lore, extraction(), extraction())
    say(lore, "backups", BACKUPS[0])
    clock.sleep(minutes=1)
    say(lore, "backups", BACKUPS[2], tool="mcp__lore__store")
    clock.sleep(minutes=6)
    night(lore, "digest")
    assert lore.staged() == []
    say(lore, "backups", BACKUPS[3])
    clock.sleep(minutes=6)
    night(lore, "digest")
    first, second = (prompt.text for prompt in model.prompts)
    assert BACKUPS[0] in first
    assert BACKUPS[2] not in first + second
    assert BACKUPS[3] in second


def test_turns_that_were_forgotten_before_leave_nothing(lore: Lore, clock: Clock) -> None:
    lore, model = asking(lore, extraction(), extraction())
    for number, text in enumerate(BACKUPS[:3]):
        say(lore, "backups", text)
        if number == 1:
            [turn] = lore.select(Filter(kinds=frozenset({"turn"}), created_after=clock()), 9)
            lore.forget([turn.id])
        clock.sleep(minutes=6)
        night(lore, "digest")
        assert lore.staged() == []
    first, last = model.prompts
    assert BACKUPS[0] in first.text
    assert BACKUPS[2] in last.text
    assert "user, 2026-01-01: " + BACKUPS[0] not in last.text, "what was digested is not digested again"


def test_what_is_known_already_gains_a_source_and_no_copy(lore: Lore, clock: Clock) -> None:
    say(lore, "backups", *BACKUPS)
    clock.sleep(minutes=6)
    night(lore)
    known = {one.id for one in fragments(lore)}
    say(lore, "again", *BACKUPS)
    clock.sleep(minutes=6)
    report = night(lore)
    assert {one.id for one in fragments(lore)} == known
    assert done(report) == {"sessions_digested": 1}
    [found] = [one for one in fragments(lore) if "Hetzner" in one.content and not one.title]
    assert len(links_of(lore, found.id, "relation")) == 2


def test_what_differs_in_a_number_is_not_the_same(lore: Lore, clock: Clock) -> None:
    lore, _ = asking(
        lore,
        extraction(topic("Ports", item("The staging server of the shop listens on port 8080."))),
        extraction(topic("Ports", item("The staging server of the shop listens on port 8081."))),
    )
    for session in ("one", "two"):
        say(lore, session, "which port?", "this one")
        clock.sleep(minutes=6)
        night(lore, "digest")
    assert len([one for one in fragments(lore) if "listens" in one.content]) == 2


def test_what_two_topics_of_a_conversation_say_is_kept_once(lore: Lore, clock: Clock) -> None:
    same = item("Always anonymise customers after a restore.")
    lore, _ = asking(
        lore, extraction(topic("Restore staging", same), topic("Audit", same, item("Legal has approved it.")))
    )
    say(lore, "restore", "please restore", "done")
    clock.sleep(minutes=6)
    night(lore, "digest")
    assert sorted(one.content for one in fragments(lore) if not one.title) == [
        "Always anonymise customers after a restore.",
        "Legal has approved it.",
    ]


@pytest.mark.parametrize(
    ("fit", "place"), [(0.8, "below"), (0.75, "beside"), (0.5, "beside"), (0.3, "alone")]
)
def test_new_knowledge_goes_where_it_fits(lore: Lore, clock: Clock, fit: float, place: str) -> None:
    answer = extraction(topic(f"fit {fit}", item("Seals sleep on ice.")))
    lore, _ = asking(sensing(lore, Fitting()), answer)
    tree = fragment(lore, "fit 1")
    say(lore, "seals", "tell me", "well")
    clock.sleep(minutes=6)
    night(lore, "digest")
    [new] = [one for one in fragments(lore) if one.title == f"fit {fit}"]
    ties = [tie for tie in links_of(lore, new.id, "associative") if tree in tie]
    assert (lore.look_at(new.id).parent == tree) == (place == "below")
    assert [tie[2] for tie in ties] == (["schema-fit link"] if place == "beside" else [])
    assert new.importance == pytest.approx(min(1.0, 0.9 * (1 + 0.5 * (1 - fit))))


def test_nothing_hangs_below_a_reflection(lore: Lore, clock: Clock) -> None:
    lore, _ = asking(sensing(lore, Fitting()), extraction(topic("fit 1", item("Seals sleep on ice."))))
    fragment(lore, "fit 1", type="reflection")
    say(lore, "seals", "tell me", "well")
    clock.sleep(minutes=6)
    night(lore, "digest")
    [new] = [one for one in fragments(lore) if one.title == "fit 1"]
    assert (lore.look_at(new.id).parent, new.importance) == (None, 1.0)


def test_a_correction_outdates_what_it_says_is_not_so(lore: Lore, clock: Clock) -> None:
    wrong = fragment(lore, "The service listens on port 8080.")
    right = item(
        "The service listens on port 8443.",
        type="correction",
        importance="high",
        replaces="The service listens on port 8080.",
    )
    lore, _ = asking(lore, extraction(topic("Docs", right)))
    clock.sleep(days=1)
    say(lore, "docs", "No, it is 8443", "Right")
    clock.sleep(minutes=6)
    assert done(night(lore, "digest"))["contradictions_resolved"] == 1
    old = memory(lore, wrong)
    assert old.superseded_by is not None
    assert memory(lore, old.superseded_by).content == "The service listens on port 8443."
    assert links_of(lore, wrong, "supersedes") == [(old.superseded_by, wrong, "corrected")]


def test_a_correction_never_outdates_a_tree(lore: Lore, clock: Clock) -> None:
    tree = fragment(lore, "The service listens on port 8080.")
    fragment(lore, "It was 80 once.", tree)
    wrong = "The service listens on port 8080."
    lore, _ = asking(
        lore, extraction(topic("Docs", item("It listens on 8443.", type="correction", replaces=wrong)))
    )
    say(lore, "docs", "No, it is 8443", "Right")
    clock.sleep(minutes=6)
    night(lore, "digest")
    assert memory(lore, tree).superseded_by is None


def test_topics_that_have_to_do_with_each_other_are_linked(lore: Lore, clock: Clock) -> None:
    tie = {"from": 1, "to": 2, "text": "the index made it slow"}
    answer = extraction(
        topic("Slow query", item("It takes minutes.")),
        topic("Migration", item("It dropped an index.")),
        relations=[tie],
    )
    lore, _ = asking(lore, answer)
    say(lore, "query", "why?", "because")
    clock.sleep(minutes=6)
    night(lore, "digest")
    one, other = sorted(roots(lore), key=lambda root: memory(lore, root).title, reverse=True)
    assert links_of(lore, one, "associative") == [(one, other, "the index made it slow")]


def test_without_an_embedder_importance_stays_as_it_is_and_nothing_is_kept_twice(
    clock: Clock, blind: Lore
) -> None:
    for session in ("backups", "again"):
        say(blind, session, *BACKUPS)
        clock.sleep(minutes=6)
        night(blind)
    root = memory(blind, top(blind))
    found = [one for one in fragments(blind) if not one.title]
    assert root.importance == 0.9
    assert {one.importance for one in found} <= {0.9, 0.5, 0.2}
    assert {one.content for one in found} == FINDINGS
    assert len(found) == len(FINDINGS)
    assert BACKUPS[2] in [hit.memory.content for hit in blind.search(Query(text="Hetzner", limit=2)).hits]


def test_a_dry_run_tells_and_changes_nothing(lore: Lore, clock: Clock) -> None:
    say(lore, "backups", *BACKUPS)
    clock.sleep(minutes=6)
    lore.embed_pending()
    before = dump(lore)
    report = night(lore, dry=True)
    assert planned(report) == [f"“{TITLE}”: 3 things worth knowing"]
    assert not report.applied
    assert dump(lore) == before


def test_a_failure_keeps_the_turns_and_tries_again_later_and_later(lore: Lore, clock: Clock) -> None:
    say(lore, "backups", *BACKUPS)
    failing, model = asking(lore, *[Nonsense("gibberish")] * 50)
    waits = []
    for _ in range(ATTEMPTS - 1):
        clock.sleep(minutes=6)
        [remark] = night(failing, "digest").remarks
        [one] = failing.staged()
        assert "gibberish" in remark
        assert "gibberish" in one.trouble
        waits.append(one.noted["retry_at"] - clock())
        asked = len(model.prompts)
        assert night(failing, "digest").remarks == ()
        assert len(model.prompts) == asked, "it is not asked before its time"
        clock.sleep(seconds=waits[-1])
    assert waits == [900, 1800, 3600, 7200]
    night(failing, "digest")
    clock.sleep(days=1)
    assert night(failing, "digest").remarks == (), "it is left to a person"
    assert failing.retry([failing.staged()[0].session.id])
    night(lore)
    assert contents(lore) >= FINDINGS


def test_a_model_that_is_away_never_gives_a_conversation_up(lore: Lore, clock: Clock) -> None:
    say(lore, "backups", *BACKUPS)
    away, _ = asking(lore, *[Unreachable("no connection")] * 100)
    for _ in range(3 * ATTEMPTS):
        clock.sleep(days=1)
        assert "no connection" in night(away, "digest").remarks[0]
    clock.sleep(hours=3)
    night(lore)
    assert contents(lore) >= FINDINGS


def test_a_spent_budget_is_no_failure(lore: Lore, clock: Clock) -> None:
    say(lore, "backups", *BACKUPS)
    say(lore, "seals", "Tell me about seals", "Seals sleep on ice.")
    clock.sleep(minutes=6)
    poor, model = asking(lore, OverBudget("enough for today", resumes=None))
    assert night(poor, "digest").remarks == ("enough for today",)
    assert len(model.prompts) == 1
    assert [one.attempts for one in lore.staged()] == [0, 0]


def test_a_conversation_of_another_project_fits_no_tree_of_this_one(lore: Lore, clock: Clock) -> None:
    for folder in ("/gone/ferry", "/gone/shop"):
        say(lore, folder, *BACKUPS, folder=folder)
        clock.sleep(minutes=6)
        night(lore)
    assert len(roots(lore)) == 2
    assert len({memory(lore, id).project for id in roots(lore)}) == 2


def test_conversations_of_others_are_not_digested(lore: Lore, clock: Clock) -> None:
    theirs = lore.for_namespace("theirs")
    say(theirs, "backups", *BACKUPS)
    clock.sleep(minutes=6)
    assert done(night(lore)) == {}
    assert done(night(theirs))["sessions_digested"] == 1
    assert {one.namespace for one in fragments(theirs)} == {"theirs"}
    assert fragments(lore) == []


def test_a_long_conversation_is_asked_about_in_parts(lore: Lore, clock: Clock) -> None:
    texts = [f"Tell me more about seal number {n}, where it sleeps and what it eats" for n in range(40)]
    lore, model = asking(lore, *[extraction()] * 20)
    lore = replace(lore, tuning=ConsolidationSettings(max_turns_per_extraction=10))
    say(lore, "seals", *texts)
    clock.sleep(minutes=6)
    assert done(night(lore, "digest")) == {"sessions_digested": 1}
    assert len(model.prompts) >= 4
