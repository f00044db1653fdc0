"""analyse, split, duplicates, audit: what the graph says about itself, and a split that is all or nothing."""

import pytest

from lore import Invalid, Lore, NotFound
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.onnx import OnnxEmbedder
from lore.engine.duplicates import Thresholds
from lore.engine.entity_view import GraphVocabulary, Subject
from lore.engine.graph_report import split_score
from lore.engine.read import last_change
from lore.engine.split import Part, parts_of

DEPLOYS = tuple(f"deploy server number {n} vercel" for n in range(9))
CATS = tuple(f"cats love fish item {n}" for n in range(9))

SUBJECTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "a web project": (
        (
            "Production is deployed to Vercel with a custom domain.",
            "GitHub Actions builds every push to main.",
            "Each pull request gets a preview deployment.",
            "A rollback takes about two minutes from the dashboard.",
            "Deploys go to the Frankfurt region first.",
            "A production deploy needs two approvals.",
            "Environment secrets for the deploy live in Vercel, not in the repository.",
        ),
        (
            "Unit tests run with pytest and take four minutes.",
            "Tests run in parallel with xdist on four workers.",
            "Integration tests cover the query builder.",
            "The test fixtures create a fresh database for every test.",
            "Embeddings are faked in tests by a hash.",
            "A pull request is merged only when the tests pass.",
            "One test is flaky on Windows because of file locks.",
        ),
        (
            "Marta leads the frontend team from Lisbon.",
            "The team meets every Tuesday at ten.",
            "Jonas joined as a backend engineer in March.",
            "Vacation requests go to Marta two weeks ahead.",
            "Ingrid works part time, mornings only.",
            "The team moved from Slack to Zulip for chat.",
            "New colleagues get a mentor for three months.",
        ),
    ),
    "a household": (
        (
            "Tomatoes are planted in the raised bed behind the shed.",
            "The compost heap is turned every second week.",
            "Slugs ate half of the lettuce seedlings in May.",
            "The apple tree is pruned in late winter.",
            "Basil and parsley grow on the kitchen windowsill.",
            "The lawn is watered only before sunrise.",
            "Garlic is harvested when the leaves turn yellow.",
        ),
        (
            "The car needs new brake pads before the inspection.",
            "The oil was changed at 84,000 kilometres.",
            "Winter tyres are stored at the garage in town.",
            "The insurance of the car renews every January.",
            "The left headlight was replaced by a mechanic.",
            "Tyre pressure should be 2.4 bar in front.",
            "The car's battery died twice during the cold spell.",
        ),
        (
            "Emma has piano lessons on Wednesday afternoon.",
            "Her recital piece is a sonatina by Clementi.",
            "She practises scales for fifteen minutes a day.",
            "The piano was tuned in September.",
            "Her teacher recommends the green method book.",
            "Emma wants to learn jazz chords next year.",
            "The music school closes during the summer holidays.",
        ),
    ),
    "a patient": (
        (
            "The patient takes metformin twice a day with meals.",
            "Fasting glucose was 132 mg/dl in June.",
            "HbA1c fell from 7.9 to 6.8 percent within half a year.",
            "Blood sugar is measured before breakfast and at bedtime.",
            "The diabetologist suggests a low carbohydrate diet.",
            "Insulin has not been necessary so far.",
            "The eyes are checked once a year for diabetic retinopathy.",
        ),
        (
            "She sprained her right ankle while hiking in the Alps.",
            "Physiotherapy for the ankle takes place twice a week.",
            "An X-ray showed no fracture of the foot.",
            "The joint was swollen for ten days.",
            "She wears a brace when she runs.",
            "Balance exercises on a wobble board strengthen the ligaments.",
            "Running more than five kilometres still hurts.",
        ),
        (
            "The health insurance covers ninety percent of the bill.",
            "Invoices are sent to the insurer through the app.",
            "The deductible is 300 francs per year.",
            "A refund usually arrives within three weeks.",
            "Dental treatment needs an additional policy.",
            "The contract can be cancelled at the end of November.",
            "The monthly premium rose by eight percent this year.",
        ),
    ),
}
"""Entities with seven observations on each of three subjects; the rules were made with the first one only."""

VOCABULARY = GraphVocabulary(split_thresholds={"Session": 15, "Project": 25})


@pytest.fixture
def large(lore: Lore) -> Lore:
    lore.introduce([Subject(name="Big", type="Session", observations=DEPLOYS + CATS)])
    return lore


def texts_of(lore: Lore, name: str) -> list[str]:
    [view] = lore.open_nodes([name]).views
    return [memory.content for memory in view.observations]


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
    [analysis] = large.analyse("Big", VOCABULARY)
    assert (analysis.count, analysis.threshold, analysis.needed) == (18, 15, True)
    assert [{m.content for m in group} for group in analysis.topics.values()] == [set(DEPLOYS), set(CATS)]
    assert [part.name for part in parts_of(analysis)] == [f"Big - {topic}" for topic in analysis.topics]
    assert large.analyse(vocabulary=VOCABULARY) == [analysis]


@pytest.mark.parametrize("name", SUBJECTS)
def test_the_bundled_model_finds_the_subjects_of_an_entity(name: str, config: Config) -> None:
    lore = wire(config)
    subjects = SUBJECTS[name]
    mixed = tuple(text for texts in zip(*subjects, strict=True) for text in texts)
    lore.introduce([Subject(name=name, observations=mixed)])
    topics = [{m.content for m in group} for group in lore.analyse(name)[0].topics.values()]
    assert len(topics) == 3
    assert sum(max(len(topic & set(texts)) for texts in subjects) for topic in topics) >= 20
    lore.close()


@pytest.mark.parametrize("name", SUBJECTS)
def test_without_a_model_an_entity_still_falls_into_few_topics(name: str, config: Config) -> None:
    lore = wire(config, embedder=OnnxEmbedder(config.data_dir / "nowhere"))
    texts = tuple(text for subject in SUBJECTS[name] for text in subject)
    lore.introduce([Subject(name=name, observations=texts)])
    topics = lore.analyse(name)[0].topics
    assert 2 <= len(topics) <= 6
    assert all(len(group) > 1 for group in topics.values())
    assert sorted(m.content for group in topics.values() for m in group) == sorted(texts)
    lore.close()


@pytest.mark.parametrize(("type", "enough"), [("Session", 15), ("Project", 25), ("Person", 20)])
def test_how_much_is_too_much_depends_on_the_type(lore: Lore, type: str, enough: int) -> None:
    texts = tuple(f"fact {n}" for n in range(enough + 1))
    lore.introduce([Subject(name="E", type=type, observations=texts[:-1])])
    assert not lore.analyse("E", VOCABULARY)[0].needed
    assert lore.analyse("E", VOCABULARY)[0].topics == {}
    lore.observe([Subject(name="E", observations=texts)])
    assert lore.analyse("E", VOCABULARY)[0].needed


def test_a_split_moves_the_observations_as_they_are(large: Lore) -> None:
    before = {memory.content: memory for memory in large.open_nodes(["Big"]).views[0].observations}
    done = large.split("Big", [Part(name="Big - Cats", type="Session", observations=CATS)])
    assert (done.moved, done.relations, done.remaining) == (9, 2, 9)
    assert texts_of(large, "Big") == list(DEPLOYS)
    [cats] = large.open_nodes(["Big - Cats"]).views
    assert {m.id for m in cats.observations} == {before[text].id for text in CATS}
    bonds = large.nodes().bonds
    assert [(b.source, b.link.type, b.target) for b in bonds] == [
        ("Big", "contains", "Big - Cats"),
        ("Big - Cats", "part_of", "Big"),
    ]
    assert large.search_entities("cats fish")[0].view.name == "Big - Cats"
    assert "cats" not in large.entities(["Big"])["Big"].context


def test_another_entity_can_be_the_parent(large: Lore) -> None:
    large.introduce([Subject(name="Above")])
    large.split("Big", [Part(name="Cats", type="", observations=CATS)], parent="Above")
    assert {(b.source, b.target) for b in large.nodes().bonds} == {
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
    wanted = [Part(name=name, type="Session", observations=texts) for name, texts in parts]
    with pytest.raises((Invalid, NotFound), match=message):
        large.split("Big", wanted, parent)
    assert texts_of(large, "Big") == [*DEPLOYS, *CATS]
    assert [p.name for p in large.nodes().views] == ["Big"]


def test_repetitions_are_found_by_meaning_and_by_containment(lore: Lore) -> None:
    texts = (
        "deployed on Vercel with a custom domain",
        "deployed on Vercel with custom domain",
        "custom domain",
        "cats sleep all day",
    )
    lore.introduce([Subject(name="Site", observations=texts)])
    found = lore.find_repetitions("Site", Thresholds())
    pairs = {(pair.one.content, pair.other.content): pair.measure for pair in found.pairs}
    assert pairs == {
        (texts[0], texts[1]): "cosine",
        (texts[0], texts[2]): "containment",
        (texts[1], texts[2]): "containment",
    }
    assert [[memory.content for memory in cluster] for cluster in found.clusters] == [list(texts[:3])]


def test_the_audit_changes_nothing_and_names_what_wants_attention(large: Lore, clock: Clock) -> None:
    large.introduce([Subject(name="Old", observations=("dusty",)), Subject(name="Empty")])
    large.introduce([Subject(name="Shelved", status="archived", observations=("dusty",))])
    large.observe([Subject(name="Old", observations=("dusty indeed",))])
    clock.sleep(days=100)
    large.open_nodes(["Big"])
    changed = last_change(large.store.reader(large.namespace))
    audit = large.graph_report(90, VOCABULARY)
    assert (audit.entities, audit.observations) == (4, 21)
    assert [split.view.name for split in audit.splits] == ["Big"]
    assert [view.name for view in audit.large] == ["Big"]
    assert [(stale.view.name, int(stale.days)) for stale in audit.stale] == [("Old", 100)]
    assert [memory.content for _, memory in audit.flagged] == ["dusty indeed"]
    assert last_change(large.store.reader(large.namespace)) == changed
    assert large.graph_report(101, VOCABULARY).stale == ()
