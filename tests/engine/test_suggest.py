"""suggest: related memories are suggested once to readers who see both; a rejected pair stays rejected."""

from dataclasses import replace

import pytest

from lore import Draft, Lore, NotFound, Tie
from lore.clock import Clock
from lore.engine.background import Sweep
from lore.engine.context import Context
from lore.engine.jobs import Jobs
from lore.engine.suggest import Swept, sweep, sweepable
from lore.model import Cause

WALRUS = "the Walrus Project ships in May with config.py"
ALIKE = "the Walrus Project ships in June with config.py"


def keep(lore: Lore, content: str) -> str:
    return lore.remember(Draft(content=content, embed_now=True)).id


def recommended(lore: Lore, id: str, limit: int = 10) -> list[str]:
    return [candidate.target for candidate in lore.recommend(id, limit)]


def test_a_recommendation_has_four_weighted_signals(lore: Lore, clock: Clock) -> None:
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


def test_linked_forgotten_and_invisible_memories_are_not_recommended(lore: Lore) -> None:
    source, there, back, gone = (keep(lore, f"{WALRUS} {n}") for n in range(4))
    keep(lore.for_namespace("ada"), f"{WALRUS} private")
    lore.link([Tie(source=source, target=there), Tie(source=back, target=source)])
    lore.forget([gone])
    left = keep(lore, f"{WALRUS} left")
    assert recommended(lore, source) == [left]


def test_a_memory_without_a_vector_is_embedded_for_a_recommendation(lore: Lore) -> None:
    target = keep(lore, WALRUS)
    source = lore.remember(Draft(content=ALIKE)).id
    assert recommended(lore, source) == [target]


def test_recommendations_respect_threshold_and_limit(lore: Lore) -> None:
    source = keep(lore, WALRUS)
    for number in range(4):
        keep(lore, f"{WALRUS} {number}")
    assert len(recommended(lore, source, limit=3)) == 3
    strict = replace(lore, tuning=replace(lore.tuning, link_score_threshold=1.1))
    assert recommended(strict, source) == []


def test_recommending_changes_nothing(lore: Lore) -> None:
    source, target = keep(lore, WALRUS), keep(lore, ALIKE)
    assert recommended(lore, source) == [target]
    assert lore.links([source]) == []
    assert len(lore.history(source)) == len(lore.history(target)) == 1
    assert lore.read(target, use=False).memory.access_count == 0


def test_an_unknown_memory_is_an_error_that_names_it(lore: Lore) -> None:
    with pytest.raises(NotFound, match="unknown memory nobody"):
        lore.recommend("nobody", 10)


# --- sweeps
def swept_by(lore: Lore) -> Swept:
    """A sweep over all memories of a reader."""
    reader = lore.store.reader(lore.namespace)
    cause = Cause(verb="sweep")
    context = Context(store=lore.store, namespace=lore.namespace, cause=cause, now=lore.clock())
    return sweep(sweepable(reader), context, embeddings=lore.embeddings, tuning=lore.tuning)


def test_a_sweep_suggests_each_pair_once(lore: Lore) -> None:
    pair = sorted([keep(lore, WALRUS), keep(lore, ALIKE)])
    keep(lore, "zebras graze quietly")
    swept = swept_by(lore)
    assert (swept.scanned, swept.suggested) == (3, 1)
    [suggestion] = lore.suggestions(10).best
    assert [suggestion.source, suggestion.target] == pair
    assert swept_by(lore).suggested == 0
    assert lore.suggestions(1).total == 1


def test_an_accepted_suggestion_becomes_a_link(lore: Lore) -> None:
    one, other = keep(lore, WALRUS), keep(lore, ALIKE)
    swept_by(lore)
    [suggestion] = lore.suggestions(10).best
    [reviewed] = lore.review([suggestion.id], accepted=True)
    [link] = lore.links([one])
    assert (reviewed.outcome, reviewed.link) == ("accepted", link.id)
    assert ({link.source, link.target}, link.kind, link.type) == ({one, other}, "associative", "references")
    assert lore.history(link.id)[0].cause.verb == "review"
    assert lore.suggestions(10).best == ()
    for accepted in (True, False):
        [again] = lore.review([suggestion.id], accepted)
        assert (again.outcome, again.why) == ("skipped", "already accepted")


def test_a_rejected_suggestion_never_comes_back_but_may_still_be_accepted(lore: Lore, clock: Clock) -> None:
    keep(lore, WALRUS), keep(lore, ALIKE)
    swept_by(lore)
    [suggestion] = lore.suggestions(10).best
    assert lore.review([suggestion.id], accepted=False)[0].outcome == "rejected"
    clock.sleep(days=40)
    assert (swept_by(lore).suggested, lore.suggestions(10).best) == (0, ())
    assert lore.review([suggestion.id], accepted=False)[0].why == "already rejected"
    assert lore.review([suggestion.id], accepted=True)[0].outcome == "accepted"


def test_unknown_reviewed_and_forgotten_suggestions_are_skipped(lore: Lore) -> None:
    one, _ = keep(lore, WALRUS), keep(lore, ALIKE)
    swept_by(lore)
    [suggestion] = lore.suggestions(10).best
    lore.forget([one])
    assert [item.why for item in lore.review(["nobody", suggestion.id], accepted=True)] == [
        "unknown suggestion",
        "one of the two memories was forgotten",
    ]
    assert lore.suggestions(10).best == ()


def test_a_suggestion_without_a_review_expires(lore: Lore, clock: Clock) -> None:
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
    assert lore.for_namespace("bob").suggestions(10).best == ()


def test_a_sweep_skips_memories_without_a_vector(lore: Lore) -> None:
    keep(lore, WALRUS)
    lore.remember(Draft(content=ALIKE))
    assert (swept_by(lore).scanned, lore.suggestions(1).total) == (1, 0)
    lore.embed_pending()
    assert swept_by(lore).suggested == 1


# --- sweeping in the background
def sweep_of(lore: Lore) -> Sweep:
    return Sweep(Jobs(lore.store, lore.namespace), lore.embeddings, lore.tuning)


def test_of_all_processes_one_sweeps_when_a_sweep_is_due(lore: Lore, clock: Clock) -> None:
    keep(lore, WALRUS), keep(lore, ALIKE)
    sweep_of(lore).step(lore.clock())
    assert lore.suggestions(1).total == 1
    keep(lore, f"{WALRUS} later")
    sweep_of(lore).step(lore.clock())
    assert lore.suggestions(1).total == 1
    clock.sleep(hours=12)
    sweep_of(lore).step(lore.clock())
    assert lore.suggestions(1).total == 3


def test_a_large_sweep_runs_in_small_steps(lore: Lore) -> None:
    for number in range(25):
        keep(lore, f"{WALRUS} number{number}")
    work = sweep_of(lore)
    work.step(lore.clock())
    first = lore.suggestions(1).total
    work.step(lore.clock())
    assert 0 < first < lore.suggestions(1).total


def test_an_interrupted_sweep_starts_again_soon(lore: Lore, clock: Clock) -> None:
    for number in range(25):
        keep(lore, f"{WALRUS} number{number}")
    sweep_of(lore).step(lore.clock())
    some = lore.suggestions(1).total
    clock.sleep(minutes=11)
    work = sweep_of(lore)
    work.step(lore.clock())
    work.step(lore.clock())
    assert lore.suggestions(1).total > some


def test_sweeps_can_be_turned_off(lore: Lore) -> None:
    keep(lore, WALRUS), keep(lore, ALIKE)
    sweep_of(replace(lore, tuning=replace(lore.tuning, suggest_interval_hours=0.0))).step(lore.clock())
    assert lore.suggestions(1).total == 0


def test_each_namespace_in_use_is_swept(lore: Lore) -> None:
    other = lore.for_namespace("other")
    for reader in (lore, other):
        keep(reader, WALRUS), keep(reader, ALIKE)
    lore.background.sweep_on()
    assert (lore.suggestions(1).total, other.suggestions(1).total) == (1, 1)
    lore.background.sweep_also("other", lore.tuning)
    lore.background.sweep_on()
    assert other.suggestions(1).total > 1


def test_adding_a_namespace_again_continues_its_sweep(lore: Lore) -> None:
    for number in range(25):
        keep(lore, f"{WALRUS} number{number}")
    lore.background.sweep_on()
    first = lore.suggestions(1).total
    lore.background.sweep_also(lore.namespace, lore.tuning)
    lore.background.sweep_on()
    assert 0 < first < lore.suggestions(1).total
