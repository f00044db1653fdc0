"""Items of a conversation beside what is stored: repeated, updated, closed, and taken back."""

from datetime import timedelta
from typing import Any

import pytest

from lore import Filter, Lore
from lore.clock import Clock
from lore.engine.consolidate.backlog import BY_RULES
from lore.llm.base import Refused, Unreachable
from lore.model import PRIVATE, Memory
from lore.store.records import PhaseMark, SessionAnswers
from tests.engine.consolidate.helpers import accounts, extraction, item, run_phases, verdicts
from tests.engine.consolidate_llm.conftest import (
    FIRST,
    RecordSession,
    fragments,
    is_consistent,
    prompts_of,
    scripted,
    statements,
    store_statement,
    with_model,
)

DIGEST = "digest"
OLD = "The ferry to the island leaves at noon."
NEW = "The ferry to the island leaves at one."


def answering(*items: dict[str, Any], verdict: dict[str, Any], **report: Any) -> Any:
    return scripted(session=extraction(*items, **report), verdicts=verdict)


def memory_of(lore: Lore, id: str) -> Memory:
    return lore.read(id, use=False).memory


def test_new_items_are_compared_with_the_nearest_memories_of_the_project(
    lore: Lore, record_session: RecordSession
) -> None:
    store_statement(lore, OLD)
    store_statement(
        lore, "The ferry to the island is a heading", title="Ferry", metadata={"overview_of": "x"}
    )
    record_session("It leaves at one.", "I see.")
    model = answering(item(NEW), verdict=verdicts())
    run_phases(with_model(lore, model), DIGEST)
    [prompt] = prompts_of(model, "verdicts")
    shown = prompt.text.split("\n\n<memories-")[1].splitlines()[1:-3]
    assert shown == [
        "Memories:",
        "[1] 2025-12-30, fragment: The ferry to the island leaves at noon.",
        "",
        "New items:",
        "[2] 2025-12-31, fact: The ferry to the island leaves at one.",
    ]
    assert statements(lore) == [NEW]


def test_what_is_said_again_gets_the_new_turns_and_weighs_more(
    lore: Lore, record_session: RecordSession
) -> None:
    old = store_statement(lore, OLD, trust=0.8)
    record_session("The ferry leaves at noon.", "Yes.")
    said = item("At noon the island ferry leaves.", turns=[1, 2])
    report = run_phases(with_model(lore, answering(said, verdict=verdicts((2, "same", 1)))), DIGEST)
    assert statements(lore) == []
    assert report.counts["repeats_found"] == 1
    assert memory_of(lore, old.id).importance > old.importance
    sources = [link for link in lore.links([old.id]) if link.type == "derived_from"]
    assert len(sources) == 2
    assert is_consistent(lore)


@pytest.mark.parametrize(
    ("situation", "hidden"),
    [({}, True), ({"trust": 0.9}, False), ({"trust": 0.2}, True), ({"days": 0.5}, False)],
)
@pytest.mark.parametrize("word", ["updates", "contradicts"])
def test_an_item_supersedes_an_older_memory_that_is_not_more_trusted(
    lore: Lore, record_session: RecordSession, situation: dict[str, float], hidden: bool, word: str
) -> None:
    old = store_statement(lore, OLD, **situation)
    record_session("No, it leaves at one.", "I see.")
    run_phases(with_model(lore, answering(item(NEW, turns=[2]), verdict=verdicts((2, word, 1)))), DIGEST)
    new = [memory.id for memory in fragments(lore) if not memory.title]
    assert memory_of(lore, old.id).superseded_by == (new[0] if hidden else None)
    outdated = situation.get("days") == 0.5
    assert len(new) == (0 if outdated else 1), "an item that is older than what it contradicts is outdated"
    assert is_consistent(lore)


RULE = "Always run the linter before a commit."


@pytest.mark.parametrize(
    ("kind", "said", "trust"),
    [
        ("rule", "Please always run the linter before a commit.", 0.8),
        ("rule", "What does the page say?", 0.6),
        ("rule", "Never run the linter before a commit.", 0.6),
        ("fact", "Please always run the linter before a commit.", 0.6),
    ],
)
def test_an_item_is_the_users_word_only_if_the_user_said_it(
    lore: Lore, record_session: RecordSession, kind: str, said: str, trust: float
) -> None:
    record_session(said, "Fine.")
    run_phases(with_model(lore, scripted(session=extraction(item(RULE, type=kind)))), DIGEST)
    assert [memory.trust for memory in fragments(lore) if not memory.title] == [trust]


def test_an_item_in_the_same_words_is_no_new_one_whatever_the_model_says(
    lore: Lore, record_session: RecordSession
) -> None:
    store_statement(lore, OLD, trust=0.8)
    record_session("It leaves at noon.", "I see.")
    run_phases(with_model(lore, answering(item(OLD.upper()), verdict=verdicts((2, "new", None)))), DIGEST)
    assert statements(lore) == []


@pytest.mark.parametrize(("turns", "kept"), [([2], [NEW, "At two."]), ([3], ["At two."])])
def test_an_item_replaces_an_earlier_one_of_its_conversation_that_is_not_more_trusted(
    lore: Lore, record_session: RecordSession, turns: list[int], kept: list[str]
) -> None:
    store_statement(lore, OLD)
    record_session("It leaves at one.", "No, at two.", "Right, at two.")
    judged = verdicts((2, "new", None), (3, "contradicts", 2))
    model = answering(item(NEW), item("At two.", turns=turns), verdict=judged)
    run_phases(with_model(lore, model), DIGEST)
    assert statements(lore) == kept


def test_an_item_that_repeats_an_earlier_one_adds_its_turns(
    lore: Lore, record_session: RecordSession
) -> None:
    store_statement(lore, OLD)
    record_session("It leaves at one.", "Right, at one.")
    judged = verdicts((3, "same", 2))
    model = answering(item(NEW), item("At one.", turns=[2]), verdict=judged)
    run_phases(with_model(lore, model), DIGEST)
    [found] = [memory for memory in fragments(lore) if not memory.title]
    assert found.content == NEW
    assert len([link for link in lore.links([found.id]) if link.type == "derived_from"]) == 2


def test_a_todo_is_closed_by_what_was_done_and_the_line_of_the_run_says_so(
    lore: Lore, record_session: RecordSession
) -> None:
    todo = store_statement(lore, "Write the timetable", type="todo", trust=0.8)
    fact = store_statement(lore, "The timetable is a table", type="fact", trust=0.8)
    record_session("Write it.", "Done.")
    model = answering(verdict=verdicts((2, "closes", 1)), done=["Wrote the timetable", "Tested it"])
    report = run_phases(with_model(lore, model), DIGEST)
    assert "[2] done: Wrote the timetable" in prompts_of(model, "verdicts")[0].text
    assert memory_of(lore, todo.id).status == "done"
    assert memory_of(lore, fact.id).status == ""
    assert report.counts["todos_closed"] == 1
    assert statements(lore) == []


def test_a_todo_that_was_set_later_stays_open(lore: Lore, record_session: RecordSession) -> None:
    todo = store_statement(lore, "Write the timetable", type="todo", days=0.5)
    record_session("Write it.", "Done.")
    model = answering(verdict=verdicts((2, "closes", 1)), done=["Wrote the timetable"])
    run_phases(with_model(lore, model), DIGEST)
    assert memory_of(lore, todo.id).status == ""


def test_a_private_memory_is_not_shown_to_the_model(lore: Lore, record_session: RecordSession) -> None:
    store_statement(lore, OLD, flags=frozenset({PRIVATE}))
    store_statement(lore, "Buy a ferry", type="todo", flags=frozenset({PRIVATE}))
    record_session("It leaves at one.", "I see.")
    model = answering(item(NEW), verdict=verdicts(), done=["Bought it"])
    run_phases(with_model(lore, model), DIGEST)
    assert prompts_of(model, "verdicts") == []


@pytest.mark.parametrize("judged", [(2, "closes", 1), (9, "same", 1), (2, "same", 7), (2, "updates", 2)])
def test_a_verdict_that_cannot_be_makes_an_item_new(
    lore: Lore, record_session: RecordSession, judged: tuple[int, str, int]
) -> None:
    old = memory_of(lore, store_statement(lore, OLD).id)
    record_session("It leaves at one.", "I see.")
    run_phases(with_model(lore, answering(item(NEW), verdict=verdicts(judged))), DIGEST)
    assert statements(lore) == [NEW]
    assert memory_of(lore, old.id) == old


def test_a_conversation_waits_for_the_second_answer_and_keeps_the_first(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    store_statement(lore, OLD)
    session = record_session("It leaves at one.", "I see.")
    before = accounts(lore)
    failing = scripted(session=extraction(item(NEW)), verdicts=Refused("not now"))
    report = run_phases(with_model(lore, failing), DIGEST)
    assert "not now" in report.remarks[0]
    assert statements(lore) == []
    assert accounts(lore) == before
    assert [(one.session.id, one.attempts) for one in lore.staged()] == [(session.id, 1)]
    clock.sleep(hours=1)
    again = answering(verdict=verdicts())
    run_phases(with_model(lore, again), DIGEST)
    assert prompts_of(again, "session") == [], "the first answer is kept"
    assert statements(lore) == [NEW]
    assert lore.store.reader(lore.namespace).records(SessionAnswers) == []


def test_a_digest_of_a_conversation_can_be_undone(lore: Lore, record_session: RecordSession) -> None:
    old = store_statement(lore, OLD)
    todo = store_statement(lore, "Write the timetable", type="todo")
    record_session("It leaves at one. Write it down.", "Done.")
    [account] = accounts(lore)
    judged = verdicts((3, "updates", 1), (4, "closes", 2))
    model = answering(item(NEW), verdict=judged, done=["Wrote the timetable"])
    run_phases(with_model(lore, model))
    assert memory_of(lore, old.id).superseded_by
    [kept] = [memory for memory in fragments(lore) if not memory.title]
    [entry] = [entry for entry in lore.history(kept.id) if entry.before is None]
    assert memory_of(lore, account.id).content.endswith("Reported: Wrote the timetable")
    lore.undo(entry.batch)
    assert fragments(lore) == []
    restored = memory_of(lore, account.id)
    assert (restored.title, restored.content, restored.metadata) == (
        account.title,
        account.content,
        account.metadata,
    )
    assert memory_of(lore, old.id).superseded_by is None
    assert memory_of(lore, todo.id).status == ""
    assert lore.staged() == [], "what was undone is not digested again"
    assert is_consistent(lore)


def test_a_digest_is_undone_after_the_conversation_went_on(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    said = ["It leaves at one.", "I see."]
    record_session(*said)
    run_phases(with_model(lore, scripted(session=extraction(item(NEW)))), DIGEST)
    [kept] = [memory for memory in fragments(lore) if not memory.title]
    [entry] = [entry for entry in lore.history(kept.id) if entry.before is None]
    clock.sleep(hours=1)
    record_session(*said, "Cancel the trip to the island.", more=True)
    [account] = accounts(lore)
    assert "Cancel the trip" in account.content
    lore.undo(entry.batch)
    assert fragments(lore) == []
    assert accounts(lore) == [account], "it tells of turns that came later"


def test_what_a_model_wrote_of_a_forgotten_turn_is_shown_to_nobody(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    said = ["Write the timetable of the ferry.", "The vault is open."]
    record_session(*said)
    run_phases(with_model(lore, scripted(session=extraction(done=["Opened the vault"]))), DIGEST)
    [account] = accounts(lore)
    assert "vault" in account.content
    [vault] = [one for one in lore.select(Filter(kinds=frozenset({"turn"})), 9) if one.content == said[1]]
    lore.forget([vault.id])
    assert "vault" not in accounts(lore)[0].content
    clock.sleep(hours=1)
    record_session(*said, "Cancel the trip to the island.", more=True)
    model = scripted()
    run_phases(with_model(lore, model), DIGEST)
    [prompt] = prompts_of(model, "session")
    assert "Cancel the trip" in prompt.text
    assert "vault" not in prompt.text


def test_what_rules_digested_while_the_service_was_down_the_model_digests_again(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    record_session("The pilot boards at ten.", "Noted.")
    run_phases(with_model(lore, scripted(session=Unreachable("nobody listens", general=True))))
    assert lore.staged() == []
    clock.sleep(days=1)
    back = scripted(session=extraction(item("The pilot boards at ten.")))
    run_phases(with_model(lore, back), DIGEST)
    assert statements(lore) == ["The pilot boards at ten."]
    run_phases(with_model(lore, back), DIGEST)
    assert len(prompts_of(back, "session")) == 1
    [mark] = lore.store.reader(lore.namespace).records(PhaseMark, phase=BY_RULES)
    assert mark.seen == ()


def test_what_rules_digest_without_a_model_stays_digested(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    record_session("The pilot boards at ten.", "Noted.")
    run_phases(lore, DIGEST)
    clock.sleep(days=1)
    model = scripted()
    run_phases(with_model(lore, model), DIGEST)
    assert model.prompts == []


def test_the_newest_conversation_is_digested_first(lore: Lore, record_session: RecordSession) -> None:
    for number in range(3):
        record_session(f"Pier {number}", "Yes.", session=f"s{number}", at=FIRST + timedelta(hours=number))
    model = scripted()
    run_phases(with_model(lore, model), DIGEST)
    assert [prompt.text.split("Pier ")[1][0] for prompt in prompts_of(model, "session")] == ["2", "1", "0"]


def test_the_contradiction_phase_does_not_judge_what_was_reconciled(
    lore: Lore, record_session: RecordSession
) -> None:
    record_session("The ferry leaves at noon. And at one.", "I see.")
    model = answering(item(OLD), item(NEW), verdict=verdicts())
    run_phases(with_model(lore, model), DIGEST, "contradict")
    assert statements(lore) == [OLD, NEW]
    assert prompts_of(model, "contradictions") == []


def test_forgetting_a_conversation_forgets_its_items_and_their_heading(
    lore: Lore, record_session: RecordSession
) -> None:
    session = record_session("It leaves at one.", "I see.")
    run_phases(with_model(lore, scripted(session=extraction(item(NEW)))), DIGEST)
    assert len(fragments(lore)) == 2
    lore.forget([session.id])
    assert fragments(lore) == []
    assert lore.select(Filter(kinds=frozenset({"turn"})), 9) == []
