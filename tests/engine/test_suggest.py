"""suggest: what belongs together is proposed, once, to those who may see it; a no stays a no."""

from dataclasses import replace

import pytest

from lore import Draft, Lore, NotFound, Tie
from lore.clock import Clock
from lore.engine.background import Sweeping
from lore.engine.suggest import Swept, sweep, sweepable
from lore.model import Cause

WALRUS = "the Walrus Project ships in May with config.py"
ALIKE = "the Walrus Project ships in June with config.py"


def keep(lore: Lore, content: str) -> str:
    return lore.remember(Draft(content=content, embed_now=True)).id


def recommended(lore: Lore, id: str, limit: int = 10) -> list[str]:
    return [candidate.target for candidate in lore.recommend(id, limit)]


def test_the_four_signals_are_told_and_weighed(lore: Lore, clock: Clock) -> None:
    source = keep(lore, WALRUS)
    clock.sleep(days=30)
    target = keep(lore, ALIKE)
    for number in range(20):
        keep(lore, f"zebra {number} grazes quietly")
    [candidate] = lore.recommend(source, 10)
    signals = candidate.signals
    assert candidate.target == target
    assert signals["temporal"] == pytest.approx(0.3679, abs=5e-5)
    assert signals["entity"] == pytest.approx(2 / 4)
    assert 0.7 < signals["cosine"] < 1
    assert 0.5 < signals["bm25"] < 1
    weighed = (
        0.5 * signals["cosine"] + 0.3 * signals["bm25"] + 0.1 * signals["entity"] + 0.1 * signals["temporal"]
    )
    assert candidate.score == pytest.approx(weighed)


def test_what_is_linked_forgotten_or_out_of_sight_is_not_recommended(lore: Lore) -> None:
    source, there, back, gone = (keep(lore, f"{WALRUS} {n}") for n in range(4))
    keep(lore.for_namespace("ada"), f"{WALRUS} private")
    lore.link([Tie(source=source, target=there), Tie(source=back, target=source)])
    lore.forget([gone])
    left = keep(lore, f"{WALRUS} left")
    assert recommended(lore, source) == [left]


def test_a_memory_without_a_vector_is_compared_all_the_same(lore: Lore) -> None:
    target = keep(lore, WALRUS)
    source = lore.remember(Draft(content=ALIKE)).id
    assert recommended(lore, source) == [target]


def test_threshold_and_limit_are_kept(lore: Lore) -> None:
    source = keep(lore, WALRUS)
    for number in range(4):
        keep(lore, f"{WALRUS} {number}")
    assert len(recommended(lore, source, limit=3)) == 3
    strict = replace(lore, tuning=replace(lore.tuning, link_score_threshold=1.1))
    assert recommended(strict, source) == []


def test_recommending_leaves_no_trace(lore: Lore) -> None:
    source, target = keep(lore, WALRUS), keep(lore, ALIKE)
    assert recommended(lore, source) == [target]
    assert lore.links([source]) == []
    assert len(lore.history(source)) == len(lore.history(target)) == 1
    assert lore.look_at(target).memory.access_count == 0


def test_an_unknown_memory_is_named(lore: Lore) -> None:
    with pytest.raises(NotFound, match="unknown memory nobody"):
        lore.recommend("nobody", 10)


# --- sweeps
def swept_by(lore: Lore) -> Swept:
    """A sweep over all memories of a reader."""
    reader = lore.store.reader(lore.namespace)
    return sweep(
        sweepable(reader),
        store=lore.store,
        reader=reader,
        sense=lore.sense,
        namespace=lore.namespace,
        cause=Cause(verb="sweep"),
        now=lore.clock(),
        tuning=lore.tuning,
    )


def test_a_sweep_proposes_each_pair_once(lore: Lore) -> None:
    pair = sorted([keep(lore, WALRUS), keep(lore, ALIKE)])
    keep(lore, "zebras graze quietly")
    swept = swept_by(lore)
    assert (swept.scanned, swept.suggested) == (3, 1)
    [suggestion] = lore.suggestions(10)
    assert [suggestion.source, suggestion.target] == pair
    assert swept_by(lore).suggested == 0
    assert lore.count_suggestions() == 1


def test_an_accepted_suggestion_becomes_a_link(lore: Lore) -> None:
    one, other = keep(lore, WALRUS), keep(lore, ALIKE)
    swept_by(lore)
    [suggestion] = lore.suggestions(10)
    [reviewed] = lore.review([suggestion.id], accepted=True)
    [link] = lore.links([one])
    assert (reviewed.outcome, reviewed.link) == ("accepted", link.id)
    assert ({link.source, link.target}, link.kind, link.type) == ({one, other}, "associative", "references")
    assert lore.history(link.id)[0].cause.verb == "review"
    assert lore.suggestions(10) == []
    for accepted in (True, False):
        [again] = lore.review([suggestion.id], accepted)
        assert (again.outcome, again.why) == ("skipped", "already accepted")


def test_a_rejected_suggestion_never_comes_back_but_may_still_be_accepted(lore: Lore, clock: Clock) -> None:
    keep(lore, WALRUS), keep(lore, ALIKE)
    swept_by(lore)
    [suggestion] = lore.suggestions(10)
    assert lore.review([suggestion.id], accepted=False)[0].outcome == "rejected"
    clock.sleep(days=40)
    assert (swept_by(lore).suggested, lore.suggestions(10)) == (0, [])
    assert lore.review([suggestion.id], accepted=False)[0].why == "already rejected"
    assert lore.review([suggestion.id], accepted=True)[0].outcome == "accepted"


def test_what_cannot_be_judged_is_skipped(lore: Lore) -> None:
    one, _ = keep(lore, WALRUS), keep(lore, ALIKE)
    swept_by(lore)
    [suggestion] = lore.suggestions(10)
    lore.forget([one])
    assert [item.why for item in lore.review(["nobody", suggestion.id], accepted=True)] == [
        "unknown suggestion",
        "one of the two memories was forgotten",
    ]
    assert lore.suggestions(10) == []


def test_what_nobody_judges_expires(lore: Lore, clock: Clock) -> None:
    keep(lore, WALRUS), keep(lore, ALIKE)
    swept_by(lore)
    clock.sleep(days=31)
    assert swept_by(lore).expired == 1


def test_a_sweep_respects_namespaces(lore: Lore) -> None:
    keep(lore.for_namespace("ada"), WALRUS)
    keep(lore.for_namespace("bob"), ALIKE)
    assert [swept_by(lore.for_namespace(name)).suggested for name in ("ada", "bob", "shared")] == [0, 0, 0]
    keep(lore, f"{WALRUS} shared")
    assert swept_by(lore.for_namespace("ada")).suggested == 1
    assert lore.for_namespace("bob").suggestions(10) == []


def test_a_sweep_leaves_alone_what_has_no_vector_yet(lore: Lore) -> None:
    keep(lore, WALRUS)
    lore.remember(Draft(content=ALIKE))
    assert (swept_by(lore).scanned, lore.count_suggestions()) == (1, 0)
    lore.embed_pending()
    assert swept_by(lore).suggested == 1


# --- sweeping in the background
def sweeping(lore: Lore) -> Sweeping:
    return Sweeping(lore.store, lore.sense, lore.namespace, lore.tuning, lore.clock)


def test_a_sweep_is_made_when_it_is_due_by_one_of_all_processes(lore: Lore, clock: Clock) -> None:
    keep(lore, WALRUS), keep(lore, ALIKE)
    sweeping(lore).step()
    assert lore.count_suggestions() == 1
    keep(lore, f"{WALRUS} later")
    sweeping(lore).step()
    assert lore.count_suggestions() == 1
    clock.sleep(hours=12)
    sweeping(lore).step()
    assert lore.count_suggestions() == 3


def test_a_large_sweep_is_made_in_small_steps(lore: Lore) -> None:
    for number in range(25):
        keep(lore, f"{WALRUS} number{number}")
    work = sweeping(lore)
    work.step()
    first = lore.count_suggestions()
    work.step()
    assert 0 < first < lore.count_suggestions()


def test_a_sweep_that_was_broken_off_is_made_again_soon(lore: Lore, clock: Clock) -> None:
    for number in range(25):
        keep(lore, f"{WALRUS} number{number}")
    sweeping(lore).step()
    some = lore.count_suggestions()
    clock.sleep(minutes=11)
    work = sweeping(lore)
    work.step()
    work.step()
    assert lore.count_suggestions() > some


def test_sweeps_can_be_turned_off(lore: Lore) -> None:
    keep(lore, WALRUS), keep(lore, ALIKE)
    sweeping(replace(lore, tuning=replace(lore.tuning, suggest_interval_hours=0.0))).step()
    assert lore.count_suggestions() == 0


def test_each_namespace_in_use_is_swept(lore: Lore) -> None:
    other = lore.for_namespace("other")
    for reader in (lore, other):
        keep(reader, WALRUS), keep(reader, ALIKE)
    lore.background.sweep_on()
    assert (lore.count_suggestions(), other.count_suggestions()) == (1, 1)
    lore.background.sweep_also("other", lore.tuning)
    lore.background.sweep_on()
    assert other.count_suggestions() > 1


def test_a_namespace_that_is_named_again_goes_on_with_its_sweep(lore: Lore) -> None:
    for number in range(25):
        keep(lore, f"{WALRUS} number{number}")
    lore.background.sweep_on()
    first = lore.count_suggestions()
    lore.background.sweep_also(lore.namespace, lore.tuning)
    lore.background.sweep_on()
    assert 0 < first < lore.count_suggestions()
