"""Phase contradict: of two statements that cannot both be true now, the newer one stays."""

from dataclasses import replace
from typing import Any

import pytest

from lore import Draft, Filter, Lore, Query, Tie
from lore.clock import Clock
from lore.engine.consolidate.contradict import PAIRS_PER_PARENT
from lore.engine.entity_view import Subject
from lore.llm.base import Unreachable
from lore.model import Cause
from tests.engine.consolidate.helpers import (
    FitEmbedder,
    contents,
    converse,
    counts_of,
    descriptions,
    dump,
    fragment,
    memory,
    run_phases,
    with_answers,
    with_embedder,
)

OLD, NEW = "The capital of Atlantis is Poseidonis.", "The capital of Atlantis is Basileia."
BARE_OLD, BARE_NEW = "The deadline is 30 June.", "The deadline is 15 July."


def note(lore: Lore, content: str, **more: Any) -> str:
    return lore.remember(Draft(content=content, **more)).id


def both(lore: Lore, clock: Clock, **more: Any) -> tuple[str, str]:
    old = note(lore, OLD, **more)
    clock.sleep(days=1)
    return old, note(lore, NEW, **more)


def test_the_newer_statement_supersedes_the_older_one_which_stays_stored_and_linked(
    lore: Lore, clock: Clock
) -> None:
    old, new = both(lore, clock)
    clock.sleep(days=1)
    report = run_phases(lore, "contradict")
    assert counts_of(report) == {"contradictions_resolved": 1}
    assert descriptions(report) == [f"“{NEW}” replaces “{OLD}” (another value)"]
    gone = memory(lore, old)
    assert (gone.superseded_by, gone.superseded_at, gone.content) == (new, clock(), OLD)
    assert gone.created_at < memory(lore, new).created_at
    [link] = lore.store.reader("shared").links([old], ended=True)
    assert (link.source, link.target, link.kind, link.reason) == (new, old, "supersedes", "another value")


def test_search_finds_the_newer_statement_and_on_request_the_older_one(lore: Lore, clock: Clock) -> None:
    old, new = both(lore, clock)
    run_phases(lore, "contradict")
    found = lore.search(Query(text="capital of Atlantis")).hits
    history = lore.search(Query(text="capital of Atlantis", where=Filter(superseded=True))).hits
    assert [hit.memory.id for hit in found] == [new]
    assert {hit.memory.id for hit in history} == {old, new}
    assert lore.read(old).memory.content == OLD


def test_the_date_of_a_statement_counts_and_not_the_time_it_was_stored(lore: Lore, clock: Clock) -> None:
    clock.sleep(days=30)
    new = note(lore, NEW)
    clock.sleep(days=-30)
    old = note(lore, OLD)
    clock.sleep(days=60)
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by == new


def test_of_two_statements_with_the_same_time_the_one_stored_last_stays(lore: Lore) -> None:
    old, new = note(lore, OLD), note(lore, NEW)
    run_phases(lore, "contradict")
    assert (memory(lore, old).superseded_by, memory(lore, new).superseded_by) == (new, None)


def test_of_a_chain_of_values_only_the_last_stays(lore: Lore, clock: Clock) -> None:
    ids = []
    for city in ("Poseidonis", "Basileia", "Kleito"):
        ids.append(note(lore, f"The capital of Atlantis is {city}."))
        clock.sleep(days=1)
    run_phases(lore, "contradict")
    assert [memory(lore, id).superseded_by is None for id in ids] == [False, False, True]


def test_a_text_that_is_outdated_only_in_part_stays(lore: Lore, clock: Clock) -> None:
    old = note(lore, f"{OLD} Its harbour has three rings of water and two of land, and a canal to the sea.")
    clock.sleep(days=1)
    note(lore, NEW)
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by is None


@pytest.mark.parametrize(("one", "other"), [("here", "there"), ("", "there"), ("here", "")])
def test_statements_of_different_projects_do_not_contradict_each_other(
    lore: Lore, clock: Clock, one: str, other: str
) -> None:
    old = note(lore, OLD, project=one)
    clock.sleep(days=1)
    note(lore, NEW, project=other)
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by is None


def test_statements_of_another_namespace_do_not_contradict_mine(lore: Lore, clock: Clock) -> None:
    old = note(lore, OLD)
    clock.sleep(days=1)
    note(lore.for_namespace("mine"), NEW)
    run_phases(lore.for_namespace("mine"), "contradict")
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by is None


def test_a_more_trusted_statement_stays(lore: Lore, clock: Clock) -> None:
    old, new = both(lore, clock)
    with lore.store.transaction("shared", Cause(verb="trust"), clock()) as writer:
        writer.put([replace(memory(lore, old), trust=0.9)])
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by is None
    assert memory(lore, new).superseded_by is None


def test_the_children_of_the_older_statement_move_to_the_newer_one(lore: Lore, clock: Clock) -> None:
    old = fragment(lore, OLD)
    child = fragment(lore, "It lies on the fourth ring.", old)
    clock.sleep(days=1)
    new = fragment(lore, NEW)
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by == new
    assert lore.read(child, use=False).parent == new
    assert all(finding.passed for finding in lore.check())


def test_a_correction_below_the_corrected_statement_takes_its_place(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "Atlantis")
    old = fragment(lore, OLD, root)
    child = fragment(lore, "It lies on the fourth ring.", old)
    clock.sleep(days=1)
    new = fragment(lore, NEW, old)
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by == new
    assert (lore.read(new, use=False).parent, lore.read(child, use=False).parent) == (root, new)
    assert all(finding.passed for finding in lore.check())


def test_a_distant_ancestor_of_the_newer_statement_stays(lore: Lore, clock: Clock) -> None:
    old = fragment(lore, OLD)
    clock.sleep(days=1)
    between = fragment(lore, "It lies on the fourth ring.", old)
    new = fragment(lore, NEW, between)
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by is None
    assert lore.read(new, use=False).parent == between


def test_an_observation_is_compared_with_the_name_of_its_entity_as_subject(lore: Lore, clock: Clock) -> None:
    lore.introduce([Subject(name="Ana", observations=("lives in Oslo",))])
    clock.sleep(days=1)
    lore.observe([Subject(name="Ana", observations=("lives in Rome",))])
    run_phases(lore, "contradict")
    [ana] = lore.open_nodes(["Ana"]).views
    assert [one.content for one in ana.observations] == ["lives in Rome"]
    assert ana.entity.context == "lives in Rome"


def distilled(lore: Lore, root: str, text: str) -> tuple[str, str]:
    top = fragment(lore, root, title=root, source_type="distilled")
    return top, fragment(lore, text, top, source_type="distilled")


@pytest.mark.parametrize(
    ("trees", "contradicts"),
    [(("fit 1 release", "fit 0.6 release"), True), (("fit 1 release", "fit 0.4 tax return"), False)],
)
def test_a_statement_without_a_named_subject_is_compared_within_similar_trees(
    lore: Lore, clock: Clock, trees: tuple[str, str], contradicts: bool
) -> None:
    lore = with_embedder(lore, FitEmbedder())
    _, old = distilled(lore, trees[0], BARE_OLD)
    clock.sleep(days=1)
    _, new = distilled(lore, trees[1], BARE_NEW)
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by == (new if contradicts else None)


def test_another_tree_between_two_statements_changes_nothing(lore: Lore, clock: Clock) -> None:
    lore = with_embedder(lore, FitEmbedder())
    release, old = distilled(lore, "fit 1 release", BARE_OLD)
    clock.sleep(days=1)
    _, tax = distilled(lore, "fit 0.1 tax return", "The deadline is 31 July.")
    clock.sleep(days=1)
    new = fragment(lore, BARE_NEW, release, source_type="distilled")
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by == new
    assert memory(lore, tax).superseded_by is None


def test_a_statement_that_names_its_subject_is_compared_in_its_whole_project(
    lore: Lore, clock: Clock
) -> None:
    lore = with_embedder(lore, FitEmbedder())
    _, old = distilled(lore, "fit 1 geography", OLD)
    clock.sleep(days=1)
    _, new = distilled(lore, "fit 0.1 sailing", NEW)
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by == new


def test_an_overview_is_not_compared_as_a_statement(lore: Lore, clock: Clock) -> None:
    top = fragment(lore, OLD, title="Atlantis", source_type="distilled")
    fragment(lore, "It lies beyond the pillars.", top, source_type="distilled")
    clock.sleep(days=1)
    note(lore, NEW)
    run_phases(lore, "contradict")
    assert memory(lore, top).superseded_by is None


def test_the_overview_follows_in_the_same_run(lore: Lore, clock: Clock) -> None:
    top = fragment(lore, "Atlantis", source_type="distilled")
    fragment(lore, OLD, top)
    fragment(lore, "Its ships are fast.", top)
    run_phases(lore)
    assert "Poseidonis" in memory(lore, top).content
    clock.sleep(days=1)
    note(lore, NEW)
    run_phases(lore)
    assert memory(lore, top).content == "Its ships are fast."


def test_a_dry_run_changes_nothing(lore: Lore, clock: Clock) -> None:
    both(lore, clock)
    lore.embed_pending()
    before = dump(lore)
    assert len(descriptions(run_phases(lore, "contradict", dry=True))) == 1
    assert dump(lore) == before


def judged(*pairs: int) -> dict[str, Any]:
    return {"contradictions": [{"pair": pair, "reason": "it moved"} for pair in pairs]}


def test_a_language_model_may_reject_a_contradiction_that_rules_find(lore: Lore, clock: Clock) -> None:
    old, _ = both(lore, clock)
    lore, model = with_answers(lore, judged())
    assert descriptions(run_phases(lore, "contradict")) == []
    clock.sleep(days=1)
    note(lore, "Its ships are fast.")
    run_phases(lore, "contradict")
    assert len(model.prompts) == 1, "what it has judged it is not asked again"
    assert memory(lore, old).superseded_by is None


def test_a_language_model_finds_contradictions_among_siblings_that_rules_miss(
    lore: Lore, clock: Clock
) -> None:
    lore = with_embedder(lore, FitEmbedder())
    home = fragment(lore, "Atlantis")
    old = fragment(lore, "fit 1 king Atlas rules", home)
    clock.sleep(days=1)
    new = fragment(lore, "fit 0.9 queen Kleito rules", home)
    far = fragment(lore, "ships", home)
    lore, model = with_answers(lore, judged(1))
    report = run_phases(lore, "contradict")
    assert counts_of(report)["contradictions_resolved"] == 1
    assert memory(lore, old).superseded_by == new
    assert memory(lore, far).content not in model.prompts[0].text
    clock.sleep(days=1)
    run_phases(lore, "contradict")
    assert len(model.prompts) == 1


def test_a_language_model_is_asked_about_the_closest_siblings_only(lore: Lore) -> None:
    lore = with_embedder(lore, FitEmbedder())
    home = fragment(lore, "Atlantis")
    for number in range(15):
        fragment(lore, f"fit 1 ship {'abcdefghijklmno'[number]}", home)
    lore, model = with_answers(lore, *[judged()] * 50)
    run_phases(lore, "contradict")
    assert sum(prompt.text.count("ship ") // 2 for prompt in model.prompts) == PAIRS_PER_PARENT


def test_a_language_model_gets_no_memories_of_other_namespaces_and_no_overviews(lore: Lore) -> None:
    lore = with_embedder(lore, FitEmbedder())
    home = fragment(lore, "Atlantis")
    fragment(lore, "fit 1 shared", home)
    mine, model = with_answers(lore.for_namespace("mine"))
    for word in ("one", "two"):
        topic = fragment(mine, f"fit 1 {word}", home, source_type="distilled")
        fragment(mine, f"{word} of many", topic)
    fragment(mine, "fit 1 mine", home)
    run_phases(mine, "contradict")
    assert model.prompts == []


def test_without_an_answer_nothing_is_superseded_and_the_next_run_asks_again(
    lore: Lore, clock: Clock
) -> None:
    old, new = both(lore, clock)
    lore, _ = with_answers(lore, *[Unreachable("no connection")] * 5, judged(1))
    while "no connection" in run_phases(lore, "contradict").remarks:
        assert memory(lore, old).superseded_by is None
        clock.sleep(days=1)
    assert memory(lore, old).superseded_by == new


def test_without_an_embedder_rules_still_find_contradictions(without_embedder: Lore, clock: Clock) -> None:
    old, new = both(without_embedder, clock)
    run_phases(without_embedder)
    assert memory(without_embedder, old).superseded_by == new


def test_an_outdated_statement_that_is_made_again_becomes_current(lore: Lore, clock: Clock) -> None:
    _, new = both(lore, clock)
    run_phases(lore, "contradict")
    clock.sleep(days=1)
    again = note(lore, OLD)
    lore.link([Tie(source=again, target=new)])
    run_phases(lore, "contradict")
    assert memory(lore, new).superseded_by == again


def test_a_correction_ranks_first_at_once_and_supersedes_the_older_statement_after_a_run(
    lore: Lore, clock: Clock
) -> None:
    old = note(lore, "The API rate limit of Zephyr is 100 requests per minute", embed_now=True)
    clock.sleep(days=1)
    new = note(
        lore, "Correction: the API rate limit of Zephyr is now 250 requests per minute", embed_now=True
    )
    question = Query(text="What is the API rate limit of Zephyr?")
    assert [hit.memory.id for hit in lore.search(question).hits] == [new, old]
    run_phases(lore, "contradict")
    assert memory(lore, old).superseded_by == new
    assert [hit.memory.id for hit in lore.search(question).hits] == [new]


def test_a_statement_is_not_superseded_by_a_merely_likely_update(lore: Lore) -> None:
    first, second = (
        lore.remember(Draft(content=f"Our monitoring of the harbour runs on {name}.", embed_now=True)).id
        for name in ("Heron", "Osprey")
    )
    run_phases(lore, "contradict")
    assert memory(lore, first).superseded_by is memory(lore, second).superseded_by is None


def test_without_a_language_model_an_agent_does_not_supersede_a_statement_of_a_user(
    lore: Lore, clock: Clock
) -> None:
    statement = "The gateway listens on port 8443."
    converse(lore, "first", f"Remember that {statement}", "Understood.")
    clock.sleep(days=1)
    run_phases(lore)
    converse(lore, "second", "how is it reached?", "Remember that the gateway listens on port 9000.")
    clock.sleep(days=1)
    run_phases(lore)
    assert statement in contents(lore)
    converse(lore, "third", "Remember that the gateway listens on port 9443.", "Understood.")
    clock.sleep(days=1)
    run_phases(lore)
    assert statement not in contents(lore)
