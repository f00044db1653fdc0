"""The scored dialect: the ten tools of seed 000 and its successor, called as a door calls them."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from lore import Draft, Filter, Lore, LoreError, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.ranking.policy import REFERENCE
from lore.settings import ConsolidationSettings
from lore.surfaces import SURFACES, Reply
from tests.engine.test_suggest import swept_by
from tests.surfaces.checked import checked_call

TOOLS = SURFACES["scored"].tools
UNKNOWN = "01a1e199-c073-71dd-958f-3013d1acd782"
MEMORY_KEYS = {
    "id", "title", "description", "content", "type", "score", "confidence", "confidence_count", "usage_count",
    "last_used", "created_at", "updated_at", "source_type", "namespace", "soft_deleted",
}  # fmt: skip


def call(lore: Lore, tool: str, **arguments: Any) -> Any:
    return checked_call(TOOLS[tool], lore, arguments).data


def inserted(lore: Lore, title: str, content: str = "", **fields: Any) -> str:
    memories = [{"title": title, "content": content or f"all about {title}", **fields}]
    answer = call(lore, "lore_insert", memories=memories, force=True)
    assert answer["errors"] == []
    return str(answer["inserted_memories"][0]["id"])


def found(lore: Lore, query: str, **arguments: Any) -> list[str]:
    results = call(lore, "lore_search", query=query, format="title", **arguments)["results"]
    return [result["id"] for result in results]


def fetched(lore: Lore, id: str, **arguments: Any) -> Any:
    [result] = call(lore, "lore_search", ids=[id], **arguments)["results"]
    return result


def shown(lore: Lore, id: str) -> Any:
    return fetched(lore, id)["memory"]


def tuned(lore: Lore, **numbers: Any) -> Lore:
    return replace(lore, tuning=replace(ConsolidationSettings(), **numbers))


def test_the_ten_tools_are_there_in_order() -> None:
    assert list(TOOLS) == [
        "lore_search",
        "lore_remember",
        "lore_insert",
        "lore_update",
        "lore_forget",
        "lore_reflect",
        "lore_processed_sessions",
        "lore_recommend_links",
        "lore_get_suggestions",
        "lore_review_suggestion",
    ]


def test_parameters_and_defaults_are_those_of_the_dialect() -> None:
    search = TOOLS["lore_search"].input_schema
    assert "required" not in search
    defaults = {name: value.get("default") for name, value in search["properties"].items()}
    assert defaults["min_score"] == 0.1
    assert (defaults["include_links"], defaults["include_deleted"], defaults["format"]) == (
        True,
        False,
        "full",
    )
    assert TOOLS["lore_reflect"].input_schema["required"] == ["session_id", "summary"]
    assert TOOLS["lore_reflect"].input_schema["properties"]["auto_insert"]["default"] is True
    assert TOOLS["lore_recommend_links"].input_schema["required"] == ["lore_id"]
    assert TOOLS["lore_insert"].input_schema["properties"]["force"]["default"] is False


def test_hints_tell_which_tools_only_read_and_which_destroy() -> None:
    assert {name for name, tool in TOOLS.items() if tool.read_only} == {
        "lore_processed_sessions",
        "lore_recommend_links",
        "lore_get_suggestions",
    }
    assert {name for name, tool in TOOLS.items() if tool.destructive} == {"lore_update", "lore_forget"}


def test_what_all_tools_cost_the_model_is_small() -> None:
    words = sum(len(tool.description) + len(str(tool.input_schema)) for tool in TOOLS.values())
    assert words / 4 < 1_880


# --- lore_search
def test_a_full_result_has_memory_relevance_and_links(lore: Lore, clock: Clock) -> None:
    id = inserted(
        lore, "Checkout flow", "Payment is taken before shipping.", description="How we sell", score=6
    )
    answer = call(lore, "lore_search", query="payment shipping")
    [result] = answer["results"]
    assert (answer["total_matched"], answer["query"]) == (1, "payment shipping")
    assert set(result) == {"memory", "relevance", "links"}
    assert set(result["memory"]) == MEMORY_KEYS
    assert result["memory"]["id"] == id
    assert result["memory"]["description"] == "How we sell"
    assert result["memory"]["created_at"] == "2026-01-01T00:00:00.000+00:00"
    assert set(result["relevance"]) == {"combined_score", "semantic_score", "keyword_score", "decay_factor"}
    assert set(call(lore, "lore_search", query="payment", include_links=False)["results"][0]) == {
        "memory",
        "relevance",
    }


def test_the_score_can_be_the_published_formula(lore: Lore, clock: Clock) -> None:
    lore = replace(lore, policies=REFERENCE)
    id = inserted(lore, "alpha beta", "alpha beta gamma", score=8)
    for _ in range(10):
        fetched(lore, id)
    clock.sleep(days=30)
    [result] = call(lore, "lore_search", query="alpha beta gamma")["results"]
    relevance = result["relevance"]
    combined = 0.45 * relevance["semantic_score"] + 0.30 * 1.0 + 0.15 * 0.8 + 0.10 * 0.5196
    assert relevance["keyword_score"] == 1.0
    assert relevance["decay_factor"] == pytest.approx(0.7937, abs=5e-5)
    assert relevance["combined_score"] == pytest.approx(combined * 0.7937, abs=2e-4)


def test_weights_that_a_user_sets_are_obeyed(config: Config) -> None:
    semantic = wire(replace(config, w_semantic=1.0, w_keyword=0.0, w_score=0.0, w_usage=0.0))
    settings = {"similarity": 1.0, "words": 0.0, "quality": 0.0, "use": 0.0}
    assert semantic.policies["scored"].weights == settings
    reference = wire(replace(config, ranking="reference"))
    assert reference.policies == dict(REFERENCE)
    for lore in (semantic, reference):
        lore.close()


@pytest.mark.parametrize(
    ("days", "factor"), [(1, 0.9923), (7, 0.9475), (90, 0.5001), (180, 0.2501), (365, 0.0602)]
)
def test_disuse_fades_the_score_and_a_search_refreshes_it(
    lore: Lore, clock: Clock, days: int, factor: float
) -> None:
    lore = replace(lore, policies=REFERENCE)
    inserted(lore, "alpha", "alpha beta")
    clock.sleep(days=days)
    seen = [call(lore, "lore_search", query="alpha beta")["results"][0]["relevance"] for _ in range(2)]
    assert [round(relevance["decay_factor"], 4) for relevance in seen] == [
        pytest.approx(factor, abs=1e-4),
        1.0,
    ]


def test_min_score_is_compared_before_the_score_fades(lore: Lore, clock: Clock) -> None:
    lore = replace(lore, policies=REFERENCE)
    id = inserted(lore, "alpha", "alpha beta")
    clock.sleep(days=365)
    [result] = call(lore, "lore_search", query="alpha beta", min_score=0.5)["results"]
    assert result["memory"]["id"] == id
    assert result["relevance"]["combined_score"] < 0.1
    assert found(lore, "alpha beta", min_score=0.9) == []


def test_a_search_counts_one_use_and_changes_nothing_else(lore: Lore, clock: Clock) -> None:
    id = inserted(lore, "alpha", "alpha beta")
    before = shown(lore, id)
    assert (before["usage_count"], before["last_used"]) == (0, None)
    clock.sleep(days=1)
    found(lore, "alpha")
    call(lore, "lore_search", ids=[id, id])
    after = shown(lore, id)
    assert after["usage_count"] == 3, "one fetch before, one search, one fetch of the same id twice"
    assert after["last_used"] == "2026-01-02T00:00:00.000+00:00"
    assert after["updated_at"] == before["updated_at"]


def test_results_are_limited_by_the_setting_or_the_call(lore: Lore) -> None:
    for number in range(12):
        inserted(lore, f"walrus {number}")
    assert len(found(lore, "walrus")) == 10
    assert len(found(lore, "walrus", limit=3)) == 3
    assert len(found(tuned(lore, search_limit=4), "walrus")) == 4


def test_a_refinement_ranks_exactly_what_it_names(lore: Lore) -> None:
    walrus, zebra, other = (inserted(lore, name) for name in ("walrus", "zebra", "walrus two"))
    assert found(lore, "walrus", refine_from=[zebra, UNKNOWN, walrus], min_score=0) == [walrus, zebra]
    assert found(lore, "walrus", refine_from=[]) == []
    assert other in found(lore, "walrus", refine_from=None)


def test_ids_are_fetched_in_their_order_without_a_search(lore: Lore) -> None:
    one, two, three = (inserted(lore, name) for name in ("alpha", "beta", "gamma"))
    answer = call(lore, "lore_search", query="ignored", ids=[three, UNKNOWN, one, three], format="title")
    assert answer["results"] == [
        {"id": three, "title": "gamma", "score": 0.0},
        {"id": one, "title": "alpha", "score": 0.0},
    ]
    assert call(lore, "lore_search", ids=[])["results"] == []
    assert fetched(lore, two)["relevance"] == {
        "combined_score": 0.0,
        "semantic_score": 0.0,
        "keyword_score": 0.0,
        "decay_factor": 1.0,
    }


def test_fifty_ids_are_fetched_although_ten_is_the_limit_of_a_search(lore: Lore) -> None:
    ids = [inserted(lore, f"note {number}") for number in range(12)]
    assert call(lore, "lore_search", ids=ids)["total_matched"] == 12


def test_deleted_notes_are_shown_only_on_request(lore: Lore) -> None:
    id = inserted(lore, "walrus")
    call(lore, "lore_forget", memory_ids=[id])
    assert found(lore, "walrus") == []
    assert call(lore, "lore_search", ids=[id])["results"] == []
    assert found(lore, "walrus", include_deleted=True) == [id]
    assert fetched(lore, id, include_deleted=True)["memory"]["soft_deleted"] is True


def test_at_most_five_links_are_shown_the_best_ones(lore: Lore) -> None:
    hub = inserted(lore, "hub")
    ends = [inserted(lore, f"end {number}") for number in range(7)]
    links = [
        {"source_memory_id": hub, "target_memory_id": end, "relation_type": "causes", "reason": "so"}
        for end in ends
    ]
    ids = [link["id"] for link in call(lore, "lore_insert", links=links)["inserted_links"]]
    call(lore, "lore_update", link_feedback=[{"id": ids[0], "useful": True, "confidence": 10}])
    shown_links = fetched(lore, hub)["links"]
    assert len(shown_links) == 5
    assert shown_links[0]["id"] == ids[0]
    assert shown_links[0] | {"id": "", "created_at": "", "updated_at": ""} == {
        "id": "",
        "source_memory_id": hub,
        "target_memory_id": ends[0],
        "relation_type": "causes",
        "reason": "so",
        "score": 1.5,
        "confidence": 10.0,
        "confidence_count": 1,
        "created_at": "",
        "updated_at": "",
    }
    assert (
        len(call(tuned(lore, max_links_per_memory=2), "lore_search", ids=[hub])["results"][0]["links"]) == 2
    )


def test_results_can_be_filtered_by_time_and_source_and_sorted(lore: Lore, clock: Clock) -> None:
    old = inserted(lore, "walrus old", source_type="inferred")
    clock.sleep(days=10)
    new = inserted(lore, "walrus new")
    since = shown(lore, new)["created_at"]
    assert found(lore, "walrus", created_after=since) == [new]
    assert found(lore, "walrus", created_after="2026-01-11") == [new]
    assert found(lore, "walrus", created_after="2026-01-11T01:00:00+01:00") == [new]
    assert found(lore, "walrus", source_type="inferred") == [old]
    clock.sleep(days=1)
    call(lore, "lore_update", memory_feedback=[{"id": old, "useful": True}])
    assert found(lore, "walrus", updated_after="2026-01-12T00:00:00Z") == [old]
    assert found(lore, "walrus", sort_by="recent") == [old, new]
    fetched(lore, new)
    fetched(lore, new)
    assert found(lore, "walrus", sort_by="frequent") == [new, old]


def test_what_other_dialects_save_is_found_and_shown(lore: Lore) -> None:
    fragment = lore.remember(Draft(content="walruses sleep on ice", kind="fragment", embed_now=True)).id
    assert found(lore, "walruses ice") == [fragment]
    memory = shown(lore, fragment)
    assert (memory["title"], memory["type"]) == ("walruses sleep on ice", "fragment")
    other = inserted(lore, "sea")
    lore.link([Tie(source=fragment, target=other, kind="temporal")])
    assert fetched(lore, fragment)["links"][0]["relation_type"] == "temporal"


# --- lore_remember
def test_a_thought_is_titled_scored_and_kept_word_for_word(lore: Lore) -> None:
    thought = (
        "  The first sentence of this thought is long enough to end here. And it goes on and on, twice.\n"
    )
    answer = call(lore, "lore_remember", thought=thought)
    assert set(answer) == {"id", "title", "linked_to", "status"}
    assert (answer["status"], answer["linked_to"]) == ("inserted", None)
    assert answer["title"] == "The first sentence of this thought is long enough to end here."
    memory = shown(lore, answer["id"])
    assert (memory["content"], memory["score"], memory["title"]) == (thought, 7.0, answer["title"])


def test_a_thought_is_linked_to_its_nearest_neighbour(lore: Lore) -> None:
    near = call(lore, "lore_remember", thought="the walrus sleeps on the cold ice all day long")["id"]
    call(lore, "lore_remember", thought="zebras graze quietly")
    answer = call(lore, "lore_remember", thought="the walrus sleeps on the cold ice all night")
    assert answer["linked_to"]["id"] == near
    assert 0.75 <= answer["linked_to"]["score"] < 1
    [link] = fetched(lore, answer["id"])["links"]
    assert (link["source_memory_id"], link["target_memory_id"]) == (answer["id"], near)
    assert link["relation_type"] == "references"


def test_no_note_collects_more_links_by_likeness_than_the_setting_allows(lore: Lore) -> None:
    loose = tuned(lore, auto_link_threshold=0.3, auto_link_k=3)
    places = "Oslo Lima Cairo Quito Delhi Paris Tokyo Hanoi Dakar Sofia Turin Perth".split()
    for place in places:
        inserted(loose, f"Office {place}", f"The office in {place} opens at nine and has a garden")
    notes = lore.select(Filter(), 100)
    links = lore.links([note.id for note in notes])
    assert {link.type for link in links} == {"references"}
    targets = Counter(link.target for link in links)
    assert max(targets.values()) == 3
    assert len(links) > 6


def test_below_the_threshold_nothing_is_linked(lore: Lore) -> None:
    call(lore, "lore_remember", thought="the walrus sleeps on the cold ice all day long")
    strict = tuned(lore, auto_link_threshold=0.99)
    answer = call(strict, "lore_remember", thought="the walrus sleeps on the cold ice all night")
    assert (answer["status"], answer["linked_to"]) == ("inserted", None)


def test_a_known_thought_is_not_saved_again(lore: Lore) -> None:
    first = call(lore, "lore_remember", thought="the walrus sleeps on ice")
    reply: Reply = TOOLS["lore_remember"](lore, {"thought": "the walrus sleeps on ice"})
    assert reply.data == first | {"status": "duplicate"}
    assert reply.text[1].startswith("Nothing was saved")
    assert lore.status().counts.memories == 1


# --- lore_insert
def test_notes_and_links_are_inserted_together(lore: Lore) -> None:
    old, other = inserted(lore, "old"), inserted(lore, "other")
    answer = call(
        lore,
        "lore_insert",
        memories=[
            {"title": "Mutable default args in Python", "description": "use None", "content": "def f(x=[])"},
            {
                "title": "Token refresh interval",
                "content": "Access tokens expire after 1h.",
                "links": [{"target_memory_id": old, "relation_type": "related_to", "reason": "OAuth"}],
            },
        ],
        links=[{"source_memory_id": old, "target_memory_id": other, "relation_type": "related_to"}],
    )
    assert [item["title"] for item in answer["inserted_memories"]] == [
        "Mutable default args in Python",
        "Token refresh interval",
    ]
    token = answer["inserted_memories"][1]["id"]
    assert [(link["source_memory_id"], link["target_memory_id"]) for link in answer["inserted_links"]] == [
        (token, old),
        (old, other),
    ]
    assert (answer["duplicates"], answer["errors"]) == ([], [])
    assert shown(lore, token)["score"] == 5.0


def test_a_note_without_content_is_found_and_shown_as_it_was_given(lore: Lore) -> None:
    id = inserted(lore, "Only a title", content=" ")
    assert found(lore, "only title") == [id]
    assert shown(lore, id)["content"] == ""
    assert shown(lore, inserted(lore, "With summary", content=" ", description="walrus"))["content"] == ""
    assert len(found(lore, "walrus")) == 1


def test_the_same_title_is_a_certain_duplicate(lore: Lore) -> None:
    id = inserted(lore, "walrus", "sleeps on ice")
    answer = call(lore, "lore_insert", memories=[{"title": "walrus", "content": "something else entirely"}])
    [duplicate] = answer["duplicates"]
    assert (duplicate["input_title"], duplicate["similarity"]) == ("walrus", 1.0)
    assert duplicate["existing_memory"]["id"] == id
    assert set(duplicate["existing_memory"]) == MEMORY_KEYS
    assert answer["inserted_memories"] == []


def test_the_same_meaning_and_words_are_a_duplicate_unless_forced(lore: Lore) -> None:
    id = inserted(lore, "Ice", "the walrus sleeps on the cold ice all day long with friends")
    again = {"title": "Ice again", "content": "the walrus sleeps on the cold ice all day long with friends"}
    [duplicate] = call(lore, "lore_insert", memories=[again])["duplicates"]
    assert duplicate["existing_memory"]["id"] == id
    assert 0.85 <= duplicate["similarity"] <= 1
    loose = tuned(lore, duplicate_threshold=1.1)
    assert len(call(loose, "lore_insert", memories=[again])["inserted_memories"]) == 1
    forced = call(lore, "lore_insert", memories=[again | {"title": "Ice a third time"}], force=True)
    assert len(forced["inserted_memories"]) == 1


def test_two_notes_of_one_call_that_say_the_same_are_kept_once(lore: Lore) -> None:
    twins = [{"title": "walrus", "content": "on ice"}, {"title": "walrus", "content": "on ice"}]
    answer = call(lore, "lore_insert", memories=twins)
    assert (len(answer["inserted_memories"]), len(answer["duplicates"])) == (1, 1)


def test_force_does_not_save_a_second_note_with_the_same_title(lore: Lore) -> None:
    inserted(lore, "walrus")
    answer = call(lore, "lore_insert", memories=[{"title": "walrus", "content": "else"}], force=True)
    [error] = answer["errors"]
    assert error["input"] == "walrus"
    assert "titles are unique" in error["error"]


def test_a_deleted_note_frees_its_title_and_is_no_duplicate(lore: Lore) -> None:
    id = inserted(lore, "walrus", "on ice")
    call(lore, "lore_forget", memory_ids=[id])
    answer = call(lore, "lore_insert", memories=[{"title": "walrus", "content": "on ice"}])
    assert len(answer["inserted_memories"]) == 1


def test_titles_are_unique_for_each_namespace(lore: Lore) -> None:
    inserted(lore.for_namespace("ada"), "walrus")
    inserted(lore.for_namespace("bob"), "walrus")
    assert found(lore, "walrus") == []


def test_invalid_items_are_listed_as_errors_and_the_others_are_kept(lore: Lore) -> None:
    good = {"title": "good", "content": "kept"}
    answer = call(
        lore,
        "lore_insert",
        memories=[
            good,
            {"title": "too long", "content": "x" * 50_001},
            {"title": "score", "content": "x", "score": 11},
            {"title": "shape", "content": "x", "links": [{"relation_type": "causes"}]},
            {
                "title": "lost",
                "content": "x",
                "links": [{"target_memory_id": UNKNOWN, "relation_type": "causes"}],
            },
            {
                "title": "odd",
                "content": "yz",
                "links": [{"target_memory_id": UNKNOWN, "relation_type": "likes"}],
            },
        ],
        links=[{"source_memory_id": UNKNOWN, "target_memory_id": UNKNOWN, "relation_type": "causes"}],
        force=True,
    )
    assert [item["title"] for item in answer["inserted_memories"]] == ["good", "lost", "odd"]
    assert [error["input"] for error in answer["errors"][:3]] == ["too long", "score", "shape"]
    told = [error["error"] for error in answer["errors"]]
    assert "50,001 bytes" in told[0]
    assert "between 0 and 10" in told[1]
    assert "target_memory_id" in told[2]
    assert told[3] == f"unknown memory {UNKNOWN}"
    assert "unknown relation_type 'likes'; known: causes, contradicts" in told[4]
    assert "linked to itself" in told[5]
    assert good == {"title": "good", "content": "kept"}


def test_inserting_an_existing_link_lists_it_and_changes_nothing(lore: Lore) -> None:
    link = {
        "source_memory_id": inserted(lore, "one"),
        "target_memory_id": inserted(lore, "two"),
        "relation_type": "depends_on",
    }
    [first] = call(lore, "lore_insert", links=[link])["inserted_links"]
    call(lore, "lore_update", link_feedback=[{"id": first["id"], "useful": True, "confidence": 10}])
    assert call(lore, "lore_insert", links=[link])["inserted_links"] == [first]
    assert fetched(lore, link["source_memory_id"])["links"][0]["score"] == 1.5


# --- lore_update, lore_forget
def test_feedback_follows_the_published_numbers(lore: Lore) -> None:
    id = inserted(lore, "walrus")
    scores = []
    for useful, confidence in ((True, 8), (True, 6), (True, 10), (False, 3)):
        answer = call(
            lore, "lore_update", memory_feedback=[{"id": id, "useful": useful, "confidence": confidence}]
        )
        assert answer == {"updated_memories": 1, "updated_links": 0, "soft_deleted_memories": 0, "errors": []}
        scores.append((shown(lore, id)["score"], shown(lore, id)["confidence"]))
    assert scores == [(5.4, 8), (5.7, 7), (6.2, 8), (5.8, 6.75)]


def test_notes_rated_worthless_are_deleted_and_unknown_ids_are_errors(lore: Lore) -> None:
    id = inserted(lore, "walrus")
    feedback = [{"id": id, "useful": False, "confidence": 2}, {"id": UNKNOWN, "useful": True}]
    assert call(lore, "lore_update", memory_feedback=feedback) == {
        "updated_memories": 1,
        "updated_links": 0,
        "soft_deleted_memories": 1,
        "errors": [{"id": UNKNOWN, "error": "not found"}],
    }
    assert found(lore, "walrus") == []


def test_forgetting_hides_notes_and_logs_the_reason(lore: Lore) -> None:
    id = inserted(lore, "walrus")
    assert call(lore, "lore_forget", memory_ids=[id, UNKNOWN, id], reason="hallucinated") == {
        "forgotten": [id],
        "not_found": [UNKNOWN],
        "errors": [],
    }
    assert found(lore, "walrus") == []
    assert lore.history(id)[-1].cause.reason == "hallucinated"
    assert call(lore, "lore_forget", memory_ids=[id])["forgotten"] == [id]


# --- lore_reflect, lore_processed_sessions
def test_a_session_is_reflected_on_once(lore: Lore, clock: Clock) -> None:
    told = {
        "session_id": "s-1",
        "summary": "Implemented reflect integration; extracted 3 lessons.",
        "session_date": "2026-05-19",
        "topic": "reflect-integration",
        "task_type": "build",
        "what_was_done": "Built the reflect integration...",
        "decisions": "- Used single-session submit",
        "lessons_learnt": ["Don't skip dedup check before inserting"],
        "good_patterns": ["Parallelise independent API calls"],
        "factual_discoveries": ["BM25 rebuild costs ~10ms at 5k memories"],
        "memory_ids": ["uuid-a"],
    }
    first = call(lore, "lore_reflect", **told)
    assert [(item["title"], item["relation"], item["status"]) for item in first["memories_created"]] == [
        ("BM25 rebuild costs ~10ms at 5k memories", "discovered_in", "inserted"),
        ("Don't skip dedup check before inserting", "learned_in", "inserted"),
    ]
    scores = [shown(lore, item["id"])["score"] for item in first["memories_created"]]
    assert scores == [7.0, 8.0]
    [link] = fetched(lore, first["memories_created"][0]["id"])["links"]
    assert (link["relation_type"], link["target_memory_id"]) == ("discovered_in", first["reflection_id"])
    assert "Parallelise independent API calls" in shown(lore, first["reflection_id"])["content"]
    clock.sleep(days=1)
    again = call(lore, "lore_reflect", **told)
    assert again == first | {"already_processed": True, "memories_created": []}
    assert call(lore, "lore_processed_sessions") == {"session_ids": ["s-1"]}


def test_without_auto_insert_only_the_session_is_kept(lore: Lore) -> None:
    call(
        lore,
        "lore_reflect",
        session_id="s",
        summary="short",
        lessons_learnt=["learn this"],
        auto_insert=False,
    )
    assert lore.status().counts.kinds == {"reflection": 1}


# --- links to come
def test_recommending_links_creates_none(lore: Lore) -> None:
    one = inserted(lore, "Walrus Project ice", "ships in May with config.py")
    two = inserted(lore, "Walrus Project snow", "ships in June with config.py")
    inserted(lore, "zebras graze")
    for link in lore.links([one]):
        lore.unlink([link.id])
    answer = call(lore, "lore_recommend_links", lore_id=one)
    [candidate] = answer["candidates"]
    assert (answer["count"], answer["source_lore_id"]) == (1, one)
    assert (candidate["source_lore_id"], candidate["target_lore_id"]) == (one, two)
    assert set(candidate["scores"]) == {"cosine", "bm25", "entity", "temporal"}
    assert lore.links([one]) == []


def test_no_links_are_recommended_for_an_unknown_note_and_a_note_says_why(lore: Lore) -> None:
    reply = TOOLS["lore_recommend_links"](lore, {"lore_id": UNKNOWN})
    assert reply.data == {"candidates": [], "count": 0, "source_lore_id": UNKNOWN}
    assert UNKNOWN in reply.text[1]


def test_suggestions_are_listed_and_judged(lore: Lore) -> None:
    unlinked = tuned(lore, auto_link_k=0)
    for number in ("one", "two", "three"):
        inserted(unlinked, f"Walrus Project {number}", f"ships with config.py {number}")
    swept_by(lore)
    answer = call(lore, "lore_get_suggestions")
    assert (answer["count"], answer["total_pending"]) == (3, 3)
    assert len(call(lore, "lore_get_suggestions", limit=1)["suggestions"]) == 1
    assert call(lore, "lore_get_suggestions", min_score=1)["suggestions"] == []
    best, second, third = answer["suggestions"]
    assert best["weighted_score"] >= second["weighted_score"] >= third["weighted_score"]
    assert {best["source_title"], best["target_title"]} < {
        f"Walrus Project {n}" for n in ("one", "two", "three")
    }
    assert (best["status"], best["suggested_type"], best["confidence"]) == ("pending", None, "standard")
    accepted = call(lore, "lore_review_suggestion", suggestion_ids=[best["id"], UNKNOWN], action="accept")
    assert (accepted["accepted"], accepted["rejected"], accepted["skipped"]) == (1, 0, 1)
    assert accepted["results"][0]["link_id"] == lore.links([best["source_memory_id"]])[0].id
    rejected = call(lore, "lore_review_suggestion", suggestion_ids=[second["id"]], action="reject")
    assert (rejected["rejected"], rejected["errors"]) == (1, [])
    assert call(lore, "lore_get_suggestions")["total_pending"] == 1


# --- bad input
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("lore_search", {}, "query is required when ids is not provided"),
    ("lore_search", {"query": "  "}, "query is required"),
    ("lore_search", {"query": "a\0b"}, "NUL"),
    ("lore_search", {"query": "x" * 50_001}, "50,000"),
    ("lore_search", {"query": "x", "limit": 0}, "between 1 and 1,000"),
    ("lore_search", {"query": "x", "format": "ids"}, "'full' or 'title'"),
    ("lore_search", {"query": "x", "sort_by": "age"}, "sort_by"),
    ("lore_search", {"query": "x", "min_score": "nan"}, "min_score"),
    ("lore_search", {"query": "x", "created_after": "soon"}, "created_after must be a time"),
    ("lore_search", {"query": "x", "source_type": "rumour"}, "known: consolidated, inferred, injected"),
    ("lore_search", {"ids": [UNKNOWN] * 51}, "ids has 51 ids; at most 50"),
    ("lore_search", {"query": "x", "refine_from": [UNKNOWN] * 201}, "refine_from has 201 ids; at most 200"),
    ("lore_search", {"query": "x", "top_k": 3}, "unknown argument 'top_k'"),
    ("lore_remember", {}, "'thought' is missing"),
    ("lore_remember", {"thought": " "}, "thought is empty"),
    ("lore_remember", {"thought": "x" * 50_001}, "the limit is 50,000"),
    ("lore_remember", {"thought": "a\udfff"}, "lone surrogate"),
    ("lore_remember", {"thought": "x", "source_type": "unknown"}, "unknown source_type 'unknown'"),
    ("lore_insert", {}, "give memories, links, or both"),
    ("lore_insert", {"memories": [{"title": "a"}, {"content": "x"}]}, "'memories.1.title' is missing"),
    ("lore_insert", {"memories": [{"title": "a"}, {"title": " "}]}, "memories[1]: title is required"),
    ("lore_insert", {"memories": [{"title": "a", "source_type": "x"}]}, "memories[0]: unknown source_type"),
    ("lore_insert", {"memories": [{"title": "a", "tags": ["x"]}]}, "memories.0.tags"),
    ("lore_update", {}, "no feedback"),
    ("lore_update", {"memory_feedback": [{"useful": True}]}, "'memory_feedback.0.id' is missing"),
    ("lore_forget", {"memory_ids": []}, "memory_ids is empty"),
    ("lore_forget", {"memory_ids": [UNKNOWN], "reason": "boredom"}, "'hallucinated'"),
    ("lore_reflect", {"session_id": "s"}, "'summary' is missing"),
    ("lore_reflect", {"session_id": " ", "summary": "x"}, "session_id is required"),
    ("lore_reflect", {"session_id": "s", "summary": ""}, "summary is required"),
    ("lore_recommend_links", {"lore_id": " "}, "lore_id is required"),
    ("lore_recommend_links", {"lore_id": UNKNOWN, "top_k": 0}, "top_k is 0"),
    ("lore_get_suggestions", {"limit": 0}, "limit is 0"),
    ("lore_get_suggestions", {"min_score": 1.5}, "between 0 and 1"),
    ("lore_review_suggestion", {"suggestion_ids": [" "], "action": "accept"}, "suggestion_ids is empty"),
    ("lore_review_suggestion", {"suggestion_ids": ["x"], "action": "maybe"}, "'accept' or 'reject'"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED)
def test_bad_input_is_named_and_changes_nothing(
    lore: Lore, tool: str, arguments: dict[str, Any], message: str
) -> None:
    id = inserted(lore, "what was there before")
    before = (lore.status().counts, lore.history(id))
    with pytest.raises(LoreError) as refusal:
        call(lore, tool, **arguments)
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 400
    assert (lore.status().counts, lore.history(id)) == before


@pytest.mark.parametrize("query", ['"', "*", "NEAR(a b)", "-minus", "title:x", "C++", "日本語", "🙂"])
def test_search_syntax_in_a_question_is_just_text(lore: Lore, query: str) -> None:
    id = inserted(lore, f"about {query} and more")
    assert found(lore, query, min_score=0) == [id]


def test_the_largest_content_is_kept_whole(lore: Lore) -> None:
    content = "é" * 25_000
    assert shown(lore, inserted(lore, "large", content))["content"] == content
    thought = call(lore, "lore_remember", thought="ü" * 25_000)
    assert shown(lore, thought["id"])["content"] == "ü" * 25_000


def test_notes_of_other_namespaces_are_neither_found_nor_changed(lore: Lore) -> None:
    hers = inserted(lore.for_namespace("ada"), "a private walrus")
    ours = inserted(lore, "a shared walrus")
    bob = lore.for_namespace("bob")
    assert found(bob, "walrus") == [ours]
    assert call(bob, "lore_search", ids=[hers])["results"] == []
    assert call(bob, "lore_forget", memory_ids=[hers])["not_found"] == [hers]
    assert call(bob, "lore_update", memory_feedback=[{"id": hers, "useful": True}])["errors"]
    assert call(bob, "lore_recommend_links", lore_id=hers)["count"] == 0
    assert set(found(lore.for_namespace("ada"), "walrus")) == {hers, ours}
