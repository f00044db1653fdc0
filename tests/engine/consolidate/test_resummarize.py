"""Phase resummarize: overviews follow their children; only texts that Lore wrote are replaced."""

from dataclasses import replace

from lore import Lore
from lore.clock import Clock
from lore.llm.base import Unreachable
from lore.model import Revision, Tie
from lore.settings import ConsolidationSettings
from tests.engine.consolidate.helpers import (
    counts_of,
    descriptions,
    fragment,
    memory,
    run_phases,
    with_answers,
)

PARTS = ("Dumps go to the storage box.", "The backup of the shop takes 18 minutes, as measured in May.")


def tree(lore: Lore, *parts: str, **more: str) -> str:
    root = fragment(lore, "Backups", **more)
    for part in parts:
        fragment(lore, part, root)
    return root


def test_a_distilled_text_is_replaced_by_whole_sentences_of_its_children(lore: Lore) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    assert counts_of(run_phases(lore, "resummarize")) == {"roots_resummarized": 1}
    assert memory(lore, root).content == " ".join(PARTS)
    [first] = [entry for entry in lore.history(root) if entry.before]
    assert first.before is not None
    assert first.before["content"] == "Backups", "its history keeps what it said before"


def test_a_text_by_another_author_gets_a_summary_beside_it(lore: Lore) -> None:
    root = tree(lore, *PARTS)
    run_phases(lore, "resummarize")
    assert (memory(lore, root).content, memory(lore, root).summary) == ("Backups", " ".join(PARTS))


def test_an_overview_has_the_most_important_children_in_order_of_time(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "Backups", source_type="distilled")
    for text, importance in [("First.", 0.9), ("Trifle.", 0.1), ("Second.", 0.5), ("Third.", 0.9)]:
        fragment(lore, f"{text[:-1]} of many.", root, importance=importance)
        clock.sleep(minutes=1)
    run_phases(lore, "resummarize")
    assert memory(lore, root).content == "First of many. Second of many. Third of many."


def test_a_tree_with_one_branch_needs_no_overview(lore: Lore) -> None:
    tree(lore, PARTS[0])
    assert descriptions(run_phases(lore, "resummarize")) == []


def test_a_tree_without_changes_keeps_its_overview(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    run_phases(lore, "resummarize")
    clock.sleep(days=1)
    lore.revise(Revision(id=root, importance=0.9))
    assert descriptions(run_phases(lore, "resummarize")) == []


def test_an_overview_follows_new_changed_and_forgotten_children(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    run_phases(lore)
    clock.sleep(days=1)
    new = fragment(lore, "Keys lie in the vault.", root)
    run_phases(lore)
    assert "vault" in memory(lore, root).content
    clock.sleep(days=1)
    lore.revise(Revision(id=new, content="Keys lie in the safe."))
    run_phases(lore)
    assert "safe" in memory(lore, root).content
    clock.sleep(days=1)
    run_phases(lore)
    clock.sleep(days=1)
    lore.forget([new])
    run_phases(lore)
    assert memory(lore, root).content == " ".join(PARTS)


def test_an_overview_without_children_mentions_none_of_the_former_ones(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "Backups", title="Backups", source_type="distilled")
    parts = [fragment(lore, part, root) for part in PARTS]
    run_phases(lore)
    clock.sleep(days=1)
    lore.forget(parts)
    run_phases(lore)
    assert memory(lore, root).content == "Backups"


def test_the_overview_of_merged_trees_covers_the_children_of_both(lore: Lore, clock: Clock) -> None:
    name = "Backups of the shop are made every night, kept for a month, and tried out in May"
    one = fragment(lore, name, importance=0.9)
    other = fragment(lore, name)
    fragment(lore, PARTS[0], one)
    fragment(lore, PARTS[1], other)
    run_phases(lore)
    assert memory(lore, other).superseded_by == one
    assert memory(lore, one).summary == " ".join(PARTS)


def test_the_overview_of_an_old_tree_covers_children_that_it_takes_over(lore: Lore, clock: Clock) -> None:
    name = "Backups of the shop are made every night, kept for a month, and tried out in May"
    one, other = fragment(lore, name, importance=0.9), fragment(lore, "Dumps")
    fragment(lore, PARTS[0], one)
    fragment(lore, PARTS[1], other)
    clock.sleep(days=1)
    run_phases(lore)
    clock.sleep(days=1)
    lore.revise(Revision(id=other, content=name))
    run_phases(lore)
    assert memory(lore, other).superseded_by == one
    assert memory(lore, one).summary == " ".join(PARTS)


def test_a_language_model_is_asked_once_for_each_change(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    lore, model = with_answers(lore, {"title": "Backups", "overview": "All about backups."})
    run_phases(lore, "resummarize")
    assert memory(lore, root).content == "All about backups."
    assert PARTS[1] in model.prompts[0].text
    clock.sleep(days=1)
    run_phases(lore, "resummarize")
    assert len(model.prompts) == 1


def test_without_an_answer_overviews_stay_until_the_next_run(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    lore, _ = with_answers(
        lore, *[Unreachable("no connection")] * 5, {"title": "Backups", "overview": "All about backups."}
    )
    while "no connection" in run_phases(lore, "resummarize").remarks:
        assert memory(lore, root).content == "Backups"
        clock.sleep(days=1)
    assert memory(lore, root).content == "All about backups."


def test_a_shared_overview_does_not_mention_a_private_child(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS)
    mine = lore.for_namespace("mine")
    run_phases(mine)
    clock.sleep(days=1)
    secret = fragment(mine, "My salary is 4,000 shells.")
    mine.link([Tie(source=root, target=secret, kind="hierarchical")])
    run_phases(mine)
    assert memory(lore, root).summary == ""
    run_phases(lore)
    assert "salary" not in memory(lore, root).summary


def test_an_overview_is_not_rewritten_if_its_children_did_not_change(lore: Lore) -> None:
    """Nothing has changed below it since it was made: there is no reason to ask about it."""
    root = tree(lore, *PARTS, source_type="distilled")
    run_phases(lore)
    before = memory(lore, root)
    run_phases(replace(lore, tuning=ConsolidationSettings(similarity_threshold=0.1)))
    assert memory(lore, root) == before
