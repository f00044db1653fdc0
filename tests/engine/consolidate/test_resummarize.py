"""resummarize: overviews follow what hangs below them, and only Lore's own words are written anew."""

from dataclasses import replace

from lore import Lore
from lore.clock import Clock
from lore.config import ConsolidationSettings
from lore.llm.base import Unreachable
from lore.model import Revision, Tie
from tests.engine.consolidate.sleeping import asking, done, fragment, memory, night, planned

PARTS = ("Dumps go to the storage box.", "The backup of the shop takes 18 minutes, as measured in May.")


def tree(lore: Lore, *parts: str, **more: str) -> str:
    root = fragment(lore, "Backups", **more)
    for part in parts:
        fragment(lore, part, root)
    return root


def test_what_lore_wrote_is_written_anew_from_whole_sentences(lore: Lore) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    assert done(night(lore, "resummarize")) == {"roots_resummarized": 1}
    assert memory(lore, root).content == " ".join(PARTS)
    [first] = [entry for entry in lore.history(root) if entry.before]
    assert first.before is not None
    assert first.before["content"] == "Backups", "its history keeps what it said before"


def test_what_somebody_wrote_gets_a_summary_beside_it(lore: Lore) -> None:
    root = tree(lore, *PARTS)
    night(lore, "resummarize")
    assert (memory(lore, root).content, memory(lore, root).summary) == ("Backups", " ".join(PARTS))


def test_the_most_important_is_told_in_the_order_in_which_it_came(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "Backups", source_type="distilled")
    for text, importance in [("First.", 0.9), ("Trifle.", 0.1), ("Second.", 0.5), ("Third.", 0.9)]:
        fragment(lore, f"{text[:-1]} of many.", root, importance=importance)
        clock.sleep(minutes=1)
    night(lore, "resummarize")
    assert memory(lore, root).content == "First of many. Second of many. Third of many."


def test_a_tree_with_one_branch_needs_no_overview(lore: Lore) -> None:
    tree(lore, PARTS[0])
    assert planned(night(lore, "resummarize")) == []


def test_a_tree_that_has_not_changed_is_left_alone(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    night(lore, "resummarize")
    clock.sleep(days=1)
    lore.revise(Revision(id=root, importance=0.9))
    assert planned(night(lore, "resummarize")) == []


def test_a_new_branch_a_changed_one_and_one_that_is_gone_are_noticed(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    night(lore)
    clock.sleep(days=1)
    new = fragment(lore, "Keys lie in the vault.", root)
    night(lore)
    assert "vault" in memory(lore, root).content
    clock.sleep(days=1)
    lore.revise(Revision(id=new, content="Keys lie in the safe."))
    night(lore)
    assert "safe" in memory(lore, root).content
    clock.sleep(days=1)
    night(lore)
    clock.sleep(days=1)
    lore.forget([new])
    night(lore)
    assert memory(lore, root).content == " ".join(PARTS)


def test_an_overview_of_nothing_tells_nothing_of_what_was(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "Backups", title="Backups", source_type="distilled")
    parts = [fragment(lore, part, root) for part in PARTS]
    night(lore)
    clock.sleep(days=1)
    lore.forget(parts)
    night(lore)
    assert memory(lore, root).content == "Backups"


def test_the_overview_of_a_merged_tree_tells_of_all_its_branches(lore: Lore, clock: Clock) -> None:
    name = "Backups of the shop are made every night, kept for a month, and tried out in May"
    one = fragment(lore, name, importance=0.9)
    other = fragment(lore, name)
    fragment(lore, PARTS[0], one)
    fragment(lore, PARTS[1], other)
    night(lore)
    assert memory(lore, other).superseded_by == one
    assert memory(lore, one).summary == " ".join(PARTS)


def test_what_an_old_tree_takes_over_is_told_as_well(lore: Lore, clock: Clock) -> None:
    name = "Backups of the shop are made every night, kept for a month, and tried out in May"
    one, other = fragment(lore, name, importance=0.9), fragment(lore, "Dumps")
    fragment(lore, PARTS[0], one)
    fragment(lore, PARTS[1], other)
    clock.sleep(days=1)
    night(lore)
    clock.sleep(days=1)
    lore.revise(Revision(id=other, content=name))
    night(lore)
    assert memory(lore, other).superseded_by == one
    assert memory(lore, one).summary == " ".join(PARTS)


def test_a_language_model_is_asked_once_for_each_change(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    lore, model = asking(lore, {"title": "Backups", "overview": "All about backups."})
    night(lore, "resummarize")
    assert memory(lore, root).content == "All about backups."
    assert PARTS[1] in model.prompts[0].text
    clock.sleep(days=1)
    night(lore, "resummarize")
    assert len(model.prompts) == 1


def test_without_an_answer_the_overviews_wait(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS, source_type="distilled")
    lore, _ = asking(
        lore, *[Unreachable("no connection")] * 5, {"title": "Backups", "overview": "All about backups."}
    )
    while "no connection" in night(lore, "resummarize").remarks:
        assert memory(lore, root).content == "Backups"
        clock.sleep(days=1)
    assert memory(lore, root).content == "All about backups."


def test_a_private_branch_is_not_told_in_a_shared_overview(lore: Lore, clock: Clock) -> None:
    root = tree(lore, *PARTS)
    mine = lore.for_namespace("mine")
    night(mine)
    clock.sleep(days=1)
    secret = fragment(mine, "My salary is 4,000 shells.")
    mine.link([Tie(source=root, target=secret, kind="hierarchical")])
    night(mine)
    assert memory(lore, root).summary == ""
    night(lore)
    assert "salary" not in memory(lore, root).summary


def test_what_was_digested_tonight_keeps_its_overview(lore: Lore) -> None:
    """Nothing has changed below it since it was made: there is no reason to ask about it."""
    root = tree(lore, *PARTS, source_type="distilled")
    night(lore)
    told = memory(lore, root)
    night(replace(lore, tuning=ConsolidationSettings(similarity_threshold=0.1)))
    assert memory(lore, root) == told
