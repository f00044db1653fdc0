"""contradict: of two statements about one thing that cannot both be true now, the newer one stands."""

from dataclasses import replace
from typing import Any

import pytest

from lore import Draft, Filter, Lore, Query, Tie
from lore.clock import Clock
from lore.engine.consolidate.contradict import PAIRS_EACH
from lore.engine.observe import Subject
from lore.llm.base import Unreachable
from lore.model import Cause
from tests.engine.consolidate.sleeping import (
    Fitting,
    asking,
    contents,
    done,
    dump,
    fragment,
    memory,
    night,
    planned,
    say,
    sensing,
)

OLD, NEW = "The capital of Atlantis is Poseidonis.", "The capital of Atlantis is Basileia."
BARE_OLD, BARE_NEW = "The deadline is 30 June.", "The deadline is 15 July."


def note(lore: Lore, content: str, **more: Any) -> str:
    return lore.remember(Draft(content=content, **more)).id


def both(lore: Lore, clock: Clock, **more: Any) -> tuple[str, str]:
    old = note(lore, OLD, **more)
    clock.sleep(days=1)
    return old, note(lore, NEW, **more)


def test_the_newer_stands_and_the_older_stays_stored_and_linked(lore: Lore, clock: Clock) -> None:
    old, new = both(lore, clock)
    clock.sleep(days=1)
    report = night(lore, "contradict")
    assert done(report) == {"contradictions_resolved": 1}
    assert planned(report) == [f"“{NEW}” replaces “{OLD}” (another value)"]
    gone = memory(lore, old)
    assert (gone.superseded_by, gone.superseded_at, gone.content) == (new, clock(), OLD)
    assert gone.created_at < memory(lore, new).created_at
    [link] = lore.store.reader("shared").all_links(old)
    assert (link.source, link.target, link.kind, link.reason) == (new, old, "supersedes", "another value")


def test_search_shows_the_fresh_one_and_on_request_the_history(lore: Lore, clock: Clock) -> None:
    old, new = both(lore, clock)
    night(lore, "contradict")
    found = lore.search(Query(text="capital of Atlantis")).hits
    history = lore.search(Query(text="capital of Atlantis", where=Filter(superseded=True))).hits
    assert [hit.memory.id for hit in found] == [new]
    assert {hit.memory.id for hit in history} == {old, new}
    assert lore.read(old).memory.content == OLD


def test_what_was_said_earlier_but_came_later_is_the_older_one(lore: Lore, clock: Clock) -> None:
    clock.sleep(days=30)
    new = note(lore, NEW)
    clock.sleep(days=-30)
    old = note(lore, OLD)
    clock.sleep(days=60)
    night(lore, "contradict")
    assert memory(lore, old).superseded_by == new


def test_of_two_that_were_said_at_once_the_one_that_was_said_last_stands(lore: Lore) -> None:
    old, new = note(lore, OLD), note(lore, NEW)
    night(lore, "contradict")
    assert (memory(lore, old).superseded_by, memory(lore, new).superseded_by) == (new, None)


def test_a_chain_of_values_leaves_the_last(lore: Lore, clock: Clock) -> None:
    ids = []
    for city in ("Poseidonis", "Basileia", "Kleito"):
        ids.append(note(lore, f"The capital of Atlantis is {city}."))
        clock.sleep(days=1)
    night(lore, "contradict")
    assert [memory(lore, id).superseded_by is None for id in ids] == [False, False, True]


def test_a_text_of_which_the_rest_may_be_true_stays(lore: Lore, clock: Clock) -> None:
    old = note(lore, f"{OLD} Its harbour has three rings of water and two of land, and a canal to the sea.")
    clock.sleep(days=1)
    note(lore, NEW)
    night(lore, "contradict")
    assert memory(lore, old).superseded_by is None


@pytest.mark.parametrize(("one", "other"), [("here", "there"), ("", "there"), ("here", "")])
def test_projects_do_not_contradict_each_other(lore: Lore, clock: Clock, one: str, other: str) -> None:
    old = note(lore, OLD, project=one)
    clock.sleep(days=1)
    note(lore, NEW, project=other)
    night(lore, "contradict")
    assert memory(lore, old).superseded_by is None


def test_others_do_not_contradict_me(lore: Lore, clock: Clock) -> None:
    old = note(lore, OLD)
    clock.sleep(days=1)
    note(lore.for_namespace("mine"), NEW)
    night(lore.for_namespace("mine"), "contradict")
    night(lore, "contradict")
    assert memory(lore, old).superseded_by is None


def test_what_is_trusted_more_stays(lore: Lore, clock: Clock) -> None:
    old, new = both(lore, clock)
    with lore.store.transaction("shared", Cause(verb="trust"), clock()) as writer:
        writer.put([replace(memory(lore, old), trust=0.9)])
    night(lore, "contradict")
    assert memory(lore, old).superseded_by is None
    assert memory(lore, new).superseded_by is None


def test_what_hangs_below_the_older_one_goes_to_the_newer(lore: Lore, clock: Clock) -> None:
    old = fragment(lore, OLD)
    child = fragment(lore, "It lies on the fourth ring.", old)
    clock.sleep(days=1)
    new = fragment(lore, NEW)
    night(lore, "contradict")
    assert memory(lore, old).superseded_by == new
    assert lore.look_at(child).parent == new
    assert all(finding.passed for finding in lore.check())


def test_a_correction_below_what_it_corrects_takes_its_place(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "Atlantis")
    old = fragment(lore, OLD, root)
    child = fragment(lore, "It lies on the fourth ring.", old)
    clock.sleep(days=1)
    new = fragment(lore, NEW, old)
    night(lore, "contradict")
    assert memory(lore, old).superseded_by == new
    assert (lore.look_at(new).parent, lore.look_at(child).parent) == (root, new)
    assert all(finding.passed for finding in lore.check())


def test_what_the_newer_one_hangs_far_below_stays(lore: Lore, clock: Clock) -> None:
    old = fragment(lore, OLD)
    clock.sleep(days=1)
    between = fragment(lore, "It lies on the fourth ring.", old)
    new = fragment(lore, NEW, between)
    night(lore, "contradict")
    assert memory(lore, old).superseded_by is None
    assert lore.look_at(new).parent == between


def test_observations_are_read_with_the_name_of_their_entity(lore: Lore, clock: Clock) -> None:
    lore.graph.introduce([Subject(name="Ana", observations=("lives in Oslo",))])
    clock.sleep(days=1)
    lore.graph.observe([Subject(name="Ana", observations=("lives in Rome",))])
    night(lore, "contradict")
    [ana] = lore.graph.opened(["Ana"]).views
    assert [one.content for one in ana.observations] == ["lives in Rome"]
    assert ana.entity.context == "lives in Rome"


def distilled(lore: Lore, root: str, text: str) -> tuple[str, str]:
    top = fragment(lore, root, title=root, source_type="distilled")
    return top, fragment(lore, text, top, source_type="distilled")


@pytest.mark.parametrize(
    ("trees", "contradicts"),
    [(("fit 1 release", "fit 0.6 release"), True), (("fit 1 release", "fit 0.4 tax return"), False)],
)
def test_the_deadline_is_one_of_its_tree_and_of_those_alike(
    lore: Lore, clock: Clock, trees: tuple[str, str], contradicts: bool
) -> None:
    lore = sensing(lore, Fitting())
    _, old = distilled(lore, trees[0], BARE_OLD)
    clock.sleep(days=1)
    _, new = distilled(lore, trees[1], BARE_NEW)
    night(lore, "contradict")
    assert memory(lore, old).superseded_by == (new if contradicts else None)


def test_another_tree_between_two_statements_changes_nothing(lore: Lore, clock: Clock) -> None:
    lore = sensing(lore, Fitting())
    release, old = distilled(lore, "fit 1 release", BARE_OLD)
    clock.sleep(days=1)
    _, tax = distilled(lore, "fit 0.1 tax return", "The deadline is 31 July.")
    clock.sleep(days=1)
    new = fragment(lore, BARE_NEW, release, source_type="distilled")
    night(lore, "contradict")
    assert memory(lore, old).superseded_by == new
    assert memory(lore, tax).superseded_by is None


def test_what_names_its_subject_counts_in_the_whole_project(lore: Lore, clock: Clock) -> None:
    lore = sensing(lore, Fitting())
    _, old = distilled(lore, "fit 1 geography", OLD)
    clock.sleep(days=1)
    _, new = distilled(lore, "fit 0.1 sailing", NEW)
    night(lore, "contradict")
    assert memory(lore, old).superseded_by == new


def test_an_overview_states_nothing_of_its_own(lore: Lore, clock: Clock) -> None:
    top = fragment(lore, OLD, title="Atlantis", source_type="distilled")
    fragment(lore, "It lies beyond the pillars.", top, source_type="distilled")
    clock.sleep(days=1)
    note(lore, NEW)
    night(lore, "contradict")
    assert memory(lore, top).superseded_by is None


def test_the_overview_follows_in_the_same_night(lore: Lore, clock: Clock) -> None:
    top = fragment(lore, "Atlantis", source_type="distilled")
    fragment(lore, OLD, top)
    fragment(lore, "Its ships are fast.", top)
    night(lore)
    assert "Poseidonis" in memory(lore, top).content
    clock.sleep(days=1)
    note(lore, NEW)
    night(lore)
    assert memory(lore, top).content == "Its ships are fast."


def test_a_dry_run_changes_nothing(lore: Lore, clock: Clock) -> None:
    both(lore, clock)
    lore.embed_pending()
    before = dump(lore)
    assert len(planned(night(lore, "contradict", dry=True))) == 1
    assert dump(lore) == before


def judged(*pairs: int) -> dict[str, Any]:
    return {"contradictions": [{"pair": pair, "reason": "it moved"} for pair in pairs]}


def test_a_language_model_has_the_last_word_on_what_rules_find(lore: Lore, clock: Clock) -> None:
    old, _ = both(lore, clock)
    lore, model = asking(lore, judged())
    assert planned(night(lore, "contradict")) == []
    clock.sleep(days=1)
    note(lore, "Its ships are fast.")
    night(lore, "contradict")
    assert len(model.prompts) == 1, "what it has judged it is not asked again"
    assert memory(lore, old).superseded_by is None


def test_a_language_model_finds_what_rules_do_not_among_siblings(lore: Lore, clock: Clock) -> None:
    lore = sensing(lore, Fitting())
    home = fragment(lore, "Atlantis")
    old = fragment(lore, "fit 1 king Atlas rules", home)
    clock.sleep(days=1)
    new = fragment(lore, "fit 0.9 queen Kleito rules", home)
    far = fragment(lore, "ships", home)
    lore, model = asking(lore, judged(1))
    report = night(lore, "contradict")
    assert done(report)["contradictions_resolved"] == 1
    assert memory(lore, old).superseded_by == new
    assert memory(lore, far).content not in model.prompts[0].text
    clock.sleep(days=1)
    night(lore, "contradict")
    assert len(model.prompts) == 1


def test_a_language_model_is_asked_about_the_closest_siblings_only(lore: Lore) -> None:
    lore = sensing(lore, Fitting())
    home = fragment(lore, "Atlantis")
    for number in range(15):
        fragment(lore, f"fit 1 ship {'abcdefghijklmno'[number]}", home)
    lore, model = asking(lore, *[judged()] * 50)
    night(lore, "contradict")
    assert sum(prompt.text.count("ship ") // 2 for prompt in model.prompts) == PAIRS_EACH


def test_a_language_model_is_not_asked_about_what_others_own_nor_about_overviews(lore: Lore) -> None:
    lore = sensing(lore, Fitting())
    home = fragment(lore, "Atlantis")
    fragment(lore, "fit 1 shared", home)
    mine, model = asking(lore.for_namespace("mine"))
    for word in ("one", "two"):
        topic = fragment(mine, f"fit 1 {word}", home, source_type="distilled")
        fragment(mine, f"{word} of many", topic)
    fragment(mine, "fit 1 mine", home)
    night(mine, "contradict")
    assert model.prompts == []


def test_without_an_answer_nothing_gives_way_and_it_is_asked_the_next_time(lore: Lore, clock: Clock) -> None:
    old, new = both(lore, clock)
    lore, _ = asking(lore, *[Unreachable("no connection")] * 5, judged(1))
    while "no connection" in night(lore, "contradict").remarks:
        assert memory(lore, old).superseded_by is None
        clock.sleep(days=1)
    assert memory(lore, old).superseded_by == new


def test_without_an_embedder_rules_still_hold(blind: Lore, clock: Clock) -> None:
    old, new = both(blind, clock)
    night(blind)
    assert memory(blind, old).superseded_by == new


def test_what_is_said_again_after_it_was_outdated_holds_again(lore: Lore, clock: Clock) -> None:
    _, new = both(lore, clock)
    night(lore, "contradict")
    clock.sleep(days=1)
    again = note(lore, OLD)
    lore.link([Tie(source=again, target=new)])
    night(lore, "contradict")
    assert memory(lore, new).superseded_by == again


def test_a_correction_comes_first_and_after_a_night_replaces_the_older_statement(
    lore: Lore, clock: Clock
) -> None:
    old = note(lore, "The API rate limit of Zephyr is 100 requests per minute", embed_now=True)
    clock.sleep(days=1)
    new = note(
        lore, "Correction: the API rate limit of Zephyr is now 250 requests per minute", embed_now=True
    )
    question = Query(text="What is the API rate limit of Zephyr?")
    assert [hit.memory.id for hit in lore.search(question).hits] == [new, old]
    night(lore, "contradict")
    assert memory(lore, old).superseded_by == new
    assert [hit.memory.id for hit in lore.search(question).hits] == [new]


def test_what_is_only_likely_an_update_is_not_superseded(lore: Lore) -> None:
    first, second = (
        lore.remember(Draft(content=f"Our monitoring of the harbour runs on {name}.", embed_now=True)).id
        for name in ("Heron", "Osprey")
    )
    night(lore, "contradict")
    assert memory(lore, first).superseded_by is memory(lore, second).superseded_by is None


def test_without_a_language_model_an_agent_does_not_hide_what_a_user_said(lore: Lore, clock: Clock) -> None:
    told = "The gateway listens on port 8443."
    say(lore, "first", f"Note that {told}", "Understood.")
    clock.sleep(days=1)
    night(lore)
    say(lore, "second", "how is it reached?", "Note that the gateway listens on port 9000.")
    clock.sleep(days=1)
    night(lore)
    assert told in contents(lore)
    say(lore, "third", "Note that the gateway listens on port 9443.", "Understood.")
    clock.sleep(days=1)
    night(lore)
    assert told not in contents(lore)
