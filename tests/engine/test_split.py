"""analyse, split, duplicates, audit: what the graph says about itself, and a split that is all or nothing."""

import pytest

from lore import Invalid, Lore, NotFound
from lore.clock import Clock
from lore.engine.observe import Subject
from lore.engine.split import Part, parts_of, split_score

DEPLOYS = tuple(f"deploy server number {n} vercel" for n in range(9))
CATS = tuple(f"cats love fish item {n}" for n in range(9))


@pytest.fixture
def large(lore: Lore) -> Lore:
    lore.graph.introduce([Subject(name="Big", type="Sesion", observations=DEPLOYS + CATS)])
    return lore


def texts_of(lore: Lore, name: str) -> list[str]:
    [portrait] = lore.graph.opened([name]).portraits
    return [memory.content for memory in portrait.observations]


@pytest.mark.parametrize(
    ("count", "threshold", "topics", "score"),
    [
        (16, 15, 2, 1.1917),
        (28, 25, 3, 1.2271),
        (18, 15, 4, 1.4222),
        (21, 20, 15, 1.55),
        (10, 15, 0, 0.6667),
        (0, 20, 0, 0.0),
    ],
)
def test_the_score_is_size_and_variety(count: int, threshold: int, topics: int, score: float) -> None:
    assert split_score(count, threshold, topics) == pytest.approx(score, abs=5e-5)


def test_the_topics_of_a_large_entity_are_found_by_meaning(large: Lore) -> None:
    analysis = large.graph.analyse("Big")
    assert (analysis.count, analysis.threshold, analysis.needed) == (18, 15, True)
    assert [{m.content for m in group} for group in analysis.topics.values()] == [set(DEPLOYS), set(CATS)]
    assert [part.name for part in parts_of(analysis)] == [f"Big - {topic}" for topic in analysis.topics]
    assert large.graph.candidates() == [analysis]


@pytest.mark.parametrize(("type", "enough"), [("Sesion", 15), ("Proyecto", 25), ("Persona", 20)])
def test_how_much_is_too_much_depends_on_the_type(lore: Lore, type: str, enough: int) -> None:
    texts = tuple(f"fact {n}" for n in range(enough + 1))
    lore.graph.introduce([Subject(name="E", type=type, observations=texts[:-1])])
    assert not lore.graph.analyse("E").needed
    assert lore.graph.analyse("E").topics == {}
    lore.graph.observe([Subject(name="E", observations=texts)])
    assert lore.graph.analyse("E").needed


def test_a_split_moves_the_observations_as_they_are(large: Lore) -> None:
    before = {memory.content: memory for memory in large.graph.opened(["Big"]).portraits[0].observations}
    done = large.graph.split("Big", [Part(name="Big - Cats", type="Sesion", observations=CATS)])
    assert (done.moved, done.relations, done.remaining) == (9, 2, 9)
    assert texts_of(large, "Big") == list(DEPLOYS)
    [cats] = large.graph.opened(["Big - Cats"]).portraits
    assert {m.id for m in cats.observations} == {before[text].id for text in CATS}
    bonds = large.graph.everything().bonds
    assert [(b.source, b.link.type, b.target) for b in bonds] == [
        ("Big", "contiene", "Big - Cats"),
        ("Big - Cats", "parte_de", "Big"),
    ]
    assert large.graph.associate("cats fish")[0].portrait.name == "Big - Cats"
    assert "cats" not in large.graph.named(["Big"])["Big"].context


def test_another_entity_can_be_the_parent(large: Lore) -> None:
    large.graph.introduce([Subject(name="Above")])
    large.graph.split("Big", [Part(name="Cats", type="", observations=CATS)], parent="Above")
    assert {(b.source, b.target) for b in large.graph.everything().bonds} == {
        ("Above", "Cats"),
        ("Cats", "Above"),
    }


@pytest.mark.parametrize(
    ("parts", "parent", "message"),
    [
        ([], None, "at least one"),
        ([("New", CATS), ("Other", ("not there",))], None, "no observation 'not there'"),
        ([("New", CATS), ("New", DEPLOYS)], None, "Two splits have the name"),
        ([("New", CATS), ("Other", CATS[:1])], None, "Two splits claim"),
        ([("New", CATS), ("Big", DEPLOYS)], None, "Entity already exists: Big"),
        ([("New", CATS)], "Nowhere", "Nowhere"),
        ([("New", CATS), ("", DEPLOYS)], None, "name is empty"),
    ],
)
def test_a_split_that_cannot_be_done_whole_is_not_done_at_all(
    large: Lore, parts: list[tuple[str, tuple[str, ...]]], parent: str | None, message: str
) -> None:
    wanted = [Part(name=name, type="Sesion", observations=texts) for name, texts in parts]
    with pytest.raises((Invalid, NotFound), match=message):
        large.graph.split("Big", wanted, parent)
    assert texts_of(large, "Big") == [*DEPLOYS, *CATS]
    assert [p.name for p in large.graph.everything().portraits] == ["Big"]


def test_repetitions_are_found_by_meaning_and_by_containment(lore: Lore) -> None:
    texts = (
        "deployed on Vercel with a custom domain",
        "deployed on Vercel with custom domain",
        "custom domain",
        "cats sleep all day",
    )
    lore.graph.introduce([Subject(name="Site", observations=texts)])
    found = lore.graph.duplicates("Site", 0.85, 0.7)
    pairs = {(pair.one.content, pair.other.content): pair.measure for pair in found.pairs}
    assert pairs == {
        (texts[0], texts[1]): "cosine",
        (texts[0], texts[2]): "containment",
        (texts[1], texts[2]): "containment",
    }
    assert [[memory.content for memory in cluster] for cluster in found.clusters] == [list(texts[:3])]


def test_the_audit_changes_nothing_and_names_what_wants_attention(large: Lore, clock: Clock) -> None:
    large.graph.introduce([Subject(name="Old", observations=("dusty",)), Subject(name="Empty")])
    large.graph.introduce([Subject(name="Shelved", status="archivado", observations=("dusty",))])
    large.graph.observe([Subject(name="Old", observations=("dusty indeed",))])
    clock.sleep(days=100)
    large.graph.opened(["Big"])
    changed = large.changed_at
    audit = large.graph.audit(90)
    assert (audit.entities, audit.observations) == (4, 21)
    assert [split.portrait.name for split in audit.splits] == ["Big"]
    assert [portrait.name for portrait in audit.large] == ["Big"]
    assert [(stale.portrait.name, int(stale.days)) for stale in audit.stale] == [("Old", 100)]
    assert [memory.content for _, memory in audit.flagged] == ["dusty indeed"]
    assert large.changed_at == changed
    assert large.graph.audit(101).stale == ()
