"""Search of entities and of reflections by meaning, words, use, age and company."""

import pytest

from lore import Draft, Lore, Unavailable
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.onnx import OnnxEmbedder
from lore.engine.duplicates import Thresholds
from lore.engine.entity_view import GraphVocabulary, Subject
from lore.engine.reflections import ReflectionQuery
from lore.engine.relate import Relation


def names(lore: Lore, question: str, limit: int = 10) -> list[str]:
    return [found.view.name for found in lore.search_entities(question, limit)]


def keep(lore: Lore, **texts: str) -> None:
    lore.introduce([Subject(name=name, observations=(text,)) for name, text in texts.items()])


def test_the_nearest_comes_first_with_its_reasons(lore: Lore) -> None:
    keep(lore, Site="documentation built with astro", Cat="sleeps on the sofa")
    best = lore.search_entities("astro documentation")[0]
    assert best.view.name == "Site"
    assert best.distance is not None
    assert 0 < best.distance < 1
    assert best.fused == pytest.approx(2 / 61)
    assert (best.scoring.importance, best.scoring.temporal, best.scoring.cooccurrence) == (1.0, 1.0, 0.0)


def test_a_fact_in_the_middle_of_a_large_entity_is_found(lore: Lore) -> None:
    filler = [f"filler sentence {n} " + "padding " * 30 for n in range(60)]
    texts = (*filler[:30], "the zanzibar ferry", *filler[30:])
    lore.introduce([Subject(name="Large", observations=texts)])
    keep(lore, **{f"E{n}": f"small thing {n}" for n in range(40)})
    assert "zanzibar" not in lore.entities(["Large"])["Large"].context
    assert names(lore, "zanzibar ferry")[0] == "Large"


def test_being_shown_counts_as_use_after_the_answer(lore: Lore, clock: Clock) -> None:
    keep(lore, A="alpha fact", B="alpha story")
    first = lore.search_entities("alpha")
    assert {found.view.entity.access_count for found in first} == {0}
    assert {found.scoring.cooccurrence for found in first} == {0.0}
    second = lore.search_entities("alpha")
    assert {found.view.entity.access_count for found in second} == {1}
    assert {found.scoring.cooccurrence for found in second} == {1.0}
    entity = second[0].view.entity
    assert entity.updated_at == entity.created_at


def test_use_lifts_what_is_equally_alike(lore: Lore) -> None:
    keep(lore, A="alpha fact", B="alpha fact")
    last = names(lore, "alpha fact thing")[-1]
    for _ in range(5):
        lore.open_nodes([last])
    assert names(lore, "alpha fact thing")[0] == last


def test_relations_lift_what_is_equally_alike(lore: Lore) -> None:
    keep(lore, A="alpha fact", B="alpha fact", C="zebra")
    last = [name for name in names(lore, "alpha fact thing") if name != "C"][-1]
    lore.relate([Relation(source=last, target="C", type=f"t{n}") for n in range(15)])
    assert names(lore, "alpha fact thing")[0] == last


def test_what_is_set_aside_is_sorted_down_not_only_marked_down(lore: Lore) -> None:
    keep(lore, A="alpha fact", B="alpha fact")
    first = names(lore, "alpha fact thing")[0]
    lore.introduce([Subject(name=first, status="archived")])
    vocabulary = GraphVocabulary(status_factors={"archived": 0.5})
    found = lore.search_entities("alpha fact thing", vocabulary=vocabulary)
    assert found[-1].view.name == first
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_metadata_is_sorted_down(lore: Lore) -> None:
    keep(lore, A="alpha fact", B="alpha fact")
    first, second = names(lore, "alpha fact thing")
    extra = ("alpha one", "alpha two")
    lore.observe([Subject(name=first, observations=extra, kind="metadata")])
    lore.observe([Subject(name=second, observations=extra)])
    lore.embed_pending()
    assert names(lore, "alpha fact thing")[0] == second


def test_memories_of_other_kinds_are_found_and_reflections_on_the_graph_are_not(lore: Lore) -> None:
    lore.remember(Draft(content="alpha as a note", embed_now=True))
    about = {"target_type": "global", "target_id": None, "author": "ada", "mood": None}
    lore.remember(Draft(content="alpha reflected", kind="reflection", metadata=about, embed_now=True))
    lore.remember(Draft(content="alpha in a session", kind="reflection", embed_now=True))
    lore.relate([Relation(source="alpha ghost", target="alpha house", type="t")], imply=True)
    lore.embed_pending()
    assert set(names(lore, "alpha")) == {"alpha as a note", "alpha in a session"}


def test_reflections_are_found_within_author_mood_and_target(lore: Lore, clock: Clock) -> None:
    for author, mood, target in (
        ("nolan", "insight", "session"),
        ("sofia", "duda", "session"),
        ("sofia", None, "global"),
    ):
        about = {"target_type": target, "target_id": None, "author": author, "mood": mood}
        lore.remember(Draft(content=f"on {author}", kind="reflection", metadata=about, embed_now=True))
    assert {t.author for t in lore.reflections(ReflectionQuery(text="on", limit=10))} == {"nolan", "sofia"}
    assert [
        t.mood
        for t in lore.reflections(ReflectionQuery(text="on sofia", author="sofia", mood="duda", limit=10))
    ] == ["duda"]
    assert [
        t.target_type for t in lore.reflections(ReflectionQuery(text="on", target_type="global", limit=10))
    ] == ["global"]
    assert lore.reflections(ReflectionQuery(text="on", author="nobody", limit=10)) == []
    fresh = lore.reflections(ReflectionQuery(text="on nolan", author="nolan", limit=1))[0].score
    assert fresh > 0.5
    clock.sleep(days=365)
    assert lore.reflections(ReflectionQuery(text="on nolan", author="nolan", limit=1))[
        0
    ].score == pytest.approx(fresh * 0.4164, rel=1e-3)


def test_without_a_model_there_is_no_guessing(config: Config) -> None:
    lore = wire(config, embedder=OnnxEmbedder(config.data_dir / "nowhere"))
    keep(lore, Site="documentation built with astro")
    lore.observe([Subject(name="Site", observations=("deployed", "documentation built with astro!"))])
    assert [p.name for p in lore.nodes("astro").views] == ["Site"]
    for ask in (
        lambda: lore.search_entities("astro"),
        lambda: lore.reflections(ReflectionQuery(text="astro", limit=5)),
        lambda: lore.find_repetitions("Site", Thresholds()),
    ):
        with pytest.raises(Unavailable, match="nowhere"):
            ask()
    lore.close()
