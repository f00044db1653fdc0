"""search: found by words and meaning, within the filter, explained, and honest about itself."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from lore import Answer, Draft, Filter, Invalid, Lore, NotFound, Query, Tie
from lore.clock import Clock
from lore.model import Cause, Format
from lore.ranking.policy import POLICIES, REFERENCE

ANY = Filter()


def keep(lore: Lore, content: str, parent: str | None = None, importance: float = 0.5) -> str:
    return lore.remember(Draft(content=content, parent=parent, importance=importance)).id


def ids_of(answer: Answer) -> list[str]:
    return [hit.memory.id for hit in answer.hits]


def found(lore: Lore, text: str, where: Filter = ANY) -> list[str]:
    return ids_of(lore.search(Query(text=text, where=where)))


def uses_of(lore: Lore, id: str) -> int:
    return lore.read(id, use=False).memory.access_count


def supersede(lore: Lore, old: str, new: str) -> None:
    with lore.store.transaction("shared", Cause(verb="test"), lore.clock()) as writer:
        writer.put([replace(writer.get([old])[old], superseded_by=new)])


# --- finding


def test_the_memory_that_fits_best_comes_first(lore: Lore) -> None:
    keep(lore, "the penguin swims in the cold sea")
    best = keep(lore, "the walrus sleeps on the ice")
    lore.embed_pending()
    answer = lore.search(Query(text="where does the walrus sleep?"))
    assert ids_of(answer)[0] == best
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)


def test_meaning_finds_what_shares_no_word(lore: Lore) -> None:
    id = keep(lore, "electrocardiography")
    keep(lore, "quarterly tax return")
    assert found(lore, "cardiographic") == []
    lore.embed_pending()
    assert found(lore, "cardiographic")[0] == id


def test_a_limit_is_kept_and_what_it_left_out_is_told(lore: Lore) -> None:
    for number in range(5):
        keep(lore, f"walrus number {number}")
    answer = lore.search(Query(text="walrus", limit=2))
    assert (len(answer.hits), answer.cut) == (2, 3)


FILTERS: dict[str, Filter] = {
    "kind": Filter(kinds=frozenset({"turn"})),
    "type": Filter(types=frozenset({"fact"})),
    "session": Filter(sessions=frozenset({"s1"})),
    "source": Filter(sources=frozenset({"chat"})),
    "source type": Filter(source_types=frozenset({"told"})),
    "namespace": Filter(namespaces=frozenset({"mine"})),
}


@pytest.mark.parametrize("where", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize("settled", [True, False], ids=["by meaning too", "by words"])
def test_a_search_finds_only_what_passes_the_filter(where: Filter, settled: bool, lore: Lore) -> None:
    mine = lore.for_namespace("mine")
    keep(lore, "walrus")
    wanted = mine.remember(
        Draft(content="walrus", kind="turn", type="fact", session="s1", source="chat", source_type="told")
    )
    if settled:
        lore.embed_pending()
    assert found(mine, "walrus", where) == [wanted.id]
    assert len(found(mine, "walrus")) == 2


def test_a_search_may_be_bounded_in_time_and_place(lore: Lore, clock: Clock) -> None:
    root = keep(lore, "walrus one")
    clock.sleep(days=1)
    child = keep(lore, "walrus two", root)
    leaf = keep(lore, "walrus three", child)
    assert set(found(lore, "walrus", Filter(under=root))) == {child, leaf}
    assert set(found(lore, "walrus", Filter(created_after=clock()))) == {child, leaf}
    assert found(lore, "walrus", Filter(created_before=clock())) == [root]
    assert found(lore, "walrus", Filter(roots=True)) == [root]


def test_a_reader_finds_its_own_and_the_shared_never_anothers(lore: Lore) -> None:
    shared = keep(lore, "walrus")
    mine, theirs = (keep(lore.for_namespace(name), "walrus") for name in ("mine", "theirs"))
    lore.embed_pending()
    assert set(found(lore.for_namespace("mine"), "walrus")) == {shared, mine}
    assert set(found(lore.for_namespace("theirs"), "walrus")) == {shared, theirs}
    assert found(lore, "walrus") == [shared]
    assert found(lore.for_namespace("mine"), "", Filter(ids=(theirs,))) == []


def test_a_superseded_memory_is_hidden_unless_asked_for(lore: Lore) -> None:
    old, new = keep(lore, "walrus in the north"), keep(lore, "walrus in the south")
    lore.embed_pending()
    supersede(lore, old, new)
    assert found(lore, "walrus") == [new]
    assert set(found(lore, "walrus", Filter(superseded=True))) == {old, new}
    assert found(lore, "walrus", Filter(ids=(old, new))) == [new]
    assert found(lore, "", Filter(ids=(old, new))) == [new]


def test_a_conversation_is_no_hit_beside_its_turns(lore: Lore) -> None:
    talk = lore.remember(Draft(content="walrus and ice", kind="session", session="s1")).id
    said = lore.remember(Draft(content="the walrus sleeps", kind="turn", session="s1")).id
    lore.embed_pending()
    assert found(lore, "walrus") == [said]
    assert found(lore, "walrus", Filter(kinds=frozenset({"session"}))) == [talk]
    by_formula = replace(lore, policies=REFERENCE)
    for policy in ("tree", "scored", "typed"):
        assert ids_of(lore.search(Query(text="walrus", policy=policy))) == [said], policy
        assert set(ids_of(by_formula.search(Query(text="walrus", policy=policy)))) == {talk, said}, policy


def test_a_conversation_is_a_hit_where_none_of_its_turns_is_found(lore: Lore) -> None:
    talk = lore.remember(Draft(content="walrus and ice", kind="session", session="s1")).id
    lore.remember(Draft(content="quarterly tax return", kind="turn", session="s1"))
    gone = lore.remember(Draft(content="walrus", kind="turn", session="s1")).id
    elsewhere = lore.remember(Draft(content="walrus", kind="turn", session="s2")).id
    loose = lore.remember(Draft(content="walrus", kind="turn")).id
    lore.forget([gone])
    assert set(found(lore, "walrus")) == {talk, elsewhere, loose}


def test_a_conversation_of_which_only_noise_was_found_is_a_hit(lore: Lore) -> None:
    keep(lore, "penguin")
    walrus = lore.remember(Draft(content="walrus and ice", kind="session", session="s1")).id
    lore.remember(Draft(content="quarterly tax return", kind="turn", session="s1"))
    lore.embed_pending()
    assert found(lore, "walrus") == [walrus]


def test_a_turn_of_no_conversation_hides_none(lore: Lore) -> None:
    kinds = ("session", "turn")
    kept = {lore.remember(Draft(content=f"walrus {kind}", kind=kind)).id for kind in kinds}
    assert set(found(lore, "walrus")) == kept


# --- refining and looking up


def test_a_refinement_considers_exactly_the_memories_it_names(lore: Lore) -> None:
    first, second, _ = (keep(lore, f"walrus of the {region}") for region in ("north", "south", "east"))
    lore.embed_pending()
    assert found(lore, "walrus south", Filter(ids=(first, second, "nowhere"))) == [second, first]


def test_a_refinement_honours_the_rest_of_the_filter(lore: Lore) -> None:
    note = keep(lore, "walrus")
    turn = lore.remember(Draft(content="walrus", kind="turn")).id
    lore.embed_pending()
    assert found(lore, "walrus", Filter(ids=(note, turn), kinds=frozenset({"turn"}))) == [turn]


def test_a_look_up_gives_the_memories_in_the_order_asked_for(lore: Lore) -> None:
    a, b, c = keep(lore, "a"), keep(lore, "b"), keep(lore, "c")
    answer = lore.search(Query(text="", where=Filter(ids=(c, "nowhere", a, c, b)), limit=2))
    assert ids_of(answer) == [c, a]
    assert answer.cut == 1
    assert {hit.score for hit in answer.hits} == {0.0}


# --- order


def test_the_newest_value_comes_first_and_says_why(lore: Lore, clock: Clock) -> None:
    names = ("Heron", "Osprey", "Kite")
    kept = []
    for name in names:
        kept.append(keep(lore, f"The build server is called {name}"))
        clock.sleep(days=1)
    lore.embed_pending()
    answer = lore.search(Query(text="what is the build server called?"))
    assert ids_of(answer)[:3] == kept[::-1]
    for hit in answer.hits:
        assert hit.score == pytest.approx(hit.fade * sum(signal.points for signal in hit.signals.values()))
    by_formula = replace(lore, policies=REFERENCE)
    scored = by_formula.search(Query(text="what is the build server called?", policy="scored"))
    assert not any("fresh" in hit.signals for hit in scored.hits)


def test_a_memory_stands_for_the_turn_that_says_the_same_in_every_policy(lore: Lore) -> None:
    fact = keep(lore, "The release branch is cut every second Thursday")
    told = "Ines says the release branch is cut every second Thursday, as before. Fine with me."
    turn = lore.remember(Draft(content=told, kind="turn")).id
    other = keep(lore, "The release is announced by mail")
    lore.embed_pending()
    for policy in POLICIES:
        answer = lore.search(Query(text="when is the release branch cut?", policy=policy))
        assert ids_of(answer)[0] == fact, policy
        assert turn not in ids_of(answer)
        assert (answer.hits[0].sources, answer.repeated) == ((turn,), 1)
        assert answer.notes() == ("Not listed: 1 repeat of these.",)
    assert other in ids_of(lore.search(Query(text="when is the release branch cut?")))


def test_a_turn_that_asks_the_same_moves_down_and_says_why(lore: Lore) -> None:
    again = lore.remember(Draft(content="When is the release branch cut?", kind="turn", type="user")).id
    told = lore.remember(Draft(content="The branch of the release is made on Thursdays.", kind="turn")).id
    lore.embed_pending()
    answer = lore.search(Query(text="when is the release branch cut?"))
    assert ids_of(answer) == [told, again]
    last = answer.hits[-1]
    assert last.signals["repeats"].points < 0
    assert last.score == pytest.approx(last.fade * sum(signal.points for signal in last.signals.values()))


def test_a_conversation_that_its_turns_speak_for_is_not_counted_as_hidden(lore: Lore) -> None:
    lore.remember(Draft(content="walrus and ice", kind="session", session="s1"))
    turn = lore.remember(Draft(content="walrus", kind="turn", session="s1")).id
    answer = lore.search(Query(text="walrus"))
    assert (ids_of(answer), answer.hidden) == ([turn], 0)


# --- deep


def test_a_deep_search_finds_what_is_linked_although_it_shares_no_words(lore: Lore) -> None:
    texts = ("walrus", "xylophone", "quartz", "zeppelin")
    walrus, friend, further, stranger = (keep(lore, text) for text in texts)
    lore.link([Tie(source=friend, target=walrus), Tie(source=friend, target=further, kind="relation")])
    lore.embed_pending()
    assert found(lore, "walrus") == [walrus]
    answer = lore.search(Query(text="walrus", deep=True))
    assert ids_of(answer) == [walrus, friend, further]
    assert stranger not in ids_of(answer)
    assert [set(hit.evidence) for hit in answer.hits[1:]] == [{"walk"}, {"walk"}]


def test_a_deep_search_without_links_equals_a_plain_one(lore: Lore) -> None:
    for text in ("walrus", "walrus and penguin", "penguin"):
        keep(lore, text)
    lore.embed_pending()
    plain = lore.search(Query(text="walrus", counted=False))
    assert ids_of(lore.search(Query(text="walrus", deep=True))) == ids_of(plain)


def test_a_deep_search_keeps_to_the_filter_the_limit_and_the_threshold(lore: Lore) -> None:
    walrus, friend = keep(lore, "walrus"), lore.remember(Draft(content="xylophone", kind="turn")).id
    lore.link([Tie(source=walrus, target=friend, weight=0.1)])
    lore.embed_pending()
    deep = Query(text="walrus", deep=True)
    assert ids_of(lore.search(deep)) == [walrus, friend]
    assert ids_of(lore.search(replace(deep, where=Filter(kinds=frozenset({"note"}))))) == [walrus]
    assert ids_of(lore.search(replace(deep, where=Filter(ids=(walrus,))))) == [walrus]
    assert ids_of(lore.search(replace(deep, limit=1))) == [walrus]
    best, walked = lore.search(deep).hits
    between = (best.score + walked.score) / 2
    assert ids_of(lore.search(replace(deep, min_score=between))) == [walrus]


def test_a_deep_search_does_not_walk_to_the_forgotten_or_outdated(lore: Lore) -> None:
    walrus, gone, old = keep(lore, "walrus"), keep(lore, "xylophone"), keep(lore, "quartz")
    lore.link([Tie(source=walrus, target=gone), Tie(source=walrus, target=old)])
    lore.forget([gone])
    supersede(lore, old, walrus)
    lore.embed_pending()
    assert ids_of(lore.search(Query(text="walrus", deep=True))) == [walrus]


# --- formats and budget


def test_a_token_budget_cuts_the_answer_and_says_so(lore: Lore) -> None:
    for number in range(5):
        keep(lore, f"walrus {number} " + "word " * 200)
    query = Query(text="walrus", budget_tokens=650)
    shown: dict[Format, int] = {
        format: len(lore.search(replace(query, format=format)).hits) for format in ("ids", "title", "full")
    }
    assert shown == {"ids": 5, "title": 5, "full": 2}
    assert lore.search(query).cut == 3


def test_a_hit_too_long_for_the_budget_is_passed_over(lore: Lore) -> None:
    best = lore.remember(Draft(content="walrus", title="walrus", score=10)).id
    long = keep(lore, "walrus " * 300)
    short = keep(lore, "many other animals of the sea, among them a walrus")
    by_formula, query = replace(lore, policies=REFERENCE), Query(text="walrus", policy="scored")
    assert ids_of(by_formula.search(query)) == [best, long, short]
    assert ids_of(by_formula.search(replace(query, budget_tokens=200))) == [best, short]


def test_even_the_smallest_budget_shows_the_best_hit(lore: Lore) -> None:
    keep(lore, "walrus " * 1_000)
    assert len(lore.search(Query(text="walrus", budget_tokens=1)).hits) == 1


def test_a_hit_tells_where_it_hangs(lore: Lore) -> None:
    root = lore.remember(Draft(content="long story", title="Sea")).id
    child = keep(lore, "mammals", root)
    keep(lore, "walrus", child)
    [hit] = lore.search(Query(text="walrus")).hits
    assert hit.breadcrumb == ("Sea", "mammals")


# --- scores


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("deep", [False, True])
def test_every_score_explains_itself(policy: str, deep: bool, lore: Lore, clock: Clock) -> None:
    walrus, friend = keep(lore, "walrus"), keep(lore, "xylophone")
    keep(lore, "walrus and penguin")
    lore.link([Tie(source=walrus, target=friend)])
    lore.embed_pending()
    clock.sleep(days=3)
    answer = lore.search(Query(text="walrus", policy=policy, deep=deep))
    assert len(answer.hits) >= 2
    for hit in answer.hits:
        points = sum(signal.points for signal in hit.signals.values())
        assert hit.score == pytest.approx(hit.fade * points)
        assert hit.score > 0
        assert hit.signals.keys() == POLICIES[policy].weights.keys()
        assert hit.evidence.keys() - {"walk"} in (POLICIES[policy].evidence.keys(), set())


@pytest.mark.parametrize("policy", sorted(REFERENCE.keys() - {"lore"}))
def test_every_score_of_a_formula_explains_itself(policy: str, lore: Lore, clock: Clock) -> None:
    keep(lore, "walrus")
    keep(lore, "walrus and penguin")
    lore.embed_pending()
    clock.sleep(days=3)
    answer = replace(lore, policies=REFERENCE).search(Query(text="walrus", policy=policy))
    assert len(answer.hits) == 2
    for hit in answer.hits:
        points = sum(signal.points for signal in hit.signals.values())
        assert hit.score == pytest.approx(hit.fade * points)


READ_LATELY = 12


@pytest.mark.parametrize("policy", POLICIES)
def test_what_was_read_lately_does_not_outrank_a_clear_match(policy: str, lore: Lore) -> None:
    incidents = [keep(lore, f"Incident INC-{4700 + number}: the login page failed") for number in range(20)]
    lore.embed_pending()
    for id in incidents[:READ_LATELY]:
        for _ in range(5):
            lore.read(id)
    answer = lore.search(Query(text="why did INC-4719 fail on the login page?", policy=policy))
    assert ids_of(answer)[0] == incidents[19]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("INC-4711", "Incident INC-4711: the queue was full"),
        ("src/queue/retry.py", "We moved the retries to src/queue/retry.py"),
        ("what does parse_config do?", "parse_config() reads the file once"),
        ("error E0425", "E0425 means that the name is unknown"),
    ],
)
def test_an_exact_identifier_comes_first(policy: str, question: str, text: str, lore: Lore) -> None:
    for number in range(30):
        keep(lore, f"Incident INC-{4712 + number}: error E{4000 + number} in src/queue/retry{number}.py")
        keep(lore, f"what does parse_config{number} do? error INC, src, queue, retry, py, parse, config")
    wanted = keep(lore, text)
    lore.embed_pending()
    assert found(lore, question)[0] == wanted


def test_a_store_that_knows_nothing_says_so(lore: Lore) -> None:
    for text in ("the walrus sleeps on the ice", "the penguin swims in the cold sea"):
        keep(lore, text)
    lore.embed_pending()
    answer = lore.search(Query(text="What is the capital of Mongolia?"))
    assert answer.hits == ()
    assert answer.hidden == 2
    assert answer.notes() == (
        f"Nothing relevant; there are 2 weak hits, not shown (best score {answer.best_hidden:.3f}).",
    )
    assert answer.best_hidden < lore.search(Query(text="where does the walrus sleep?")).hits[0].score / 2


def test_other_projects_come_last_and_only_where_they_clearly_match(lore: Lore) -> None:
    def belonging(project: str, content: str) -> str:
        return lore.remember(Draft(content=content, project=project)).id

    here = belonging("ours", "the walrus sleeps on the ice near the station")
    there = belonging("theirs", "the walrus sleeps on the ice")
    belonging("theirs", "the penguin and the walrus met")
    lore.embed_pending()
    query = Query(text="where does the walrus sleep on the ice?", counted=False)
    answer = replace(lore, project="ours").search(query)
    assert ids_of(answer) == [here, there]
    assert answer.elsewhere == 1
    assert "There is 1 weaker hit in other projects, not shown." in answer.notes()
    assert len(lore.search(query).hits) == 3


def test_the_scored_dialect_fades_with_disuse(lore: Lore, clock: Clock) -> None:
    id = keep(lore, "walrus")
    lore.embed_pending()
    query = Query(text="walrus", policy="scored", counted=False)
    by_formula = replace(lore, policies=REFERENCE)
    [fresh] = by_formula.search(query).hits
    clock.sleep(days=30)
    [faded] = by_formula.search(query).hits
    [bounded] = lore.search(query).hits
    assert fresh.fade == 1.0
    assert faded.fade == pytest.approx(0.7937, abs=5e-5)
    assert faded.score == pytest.approx(fresh.score * 0.7937, abs=1e-4)
    assert bounded.fade == pytest.approx(0.85 + 0.15 * 0.7937, abs=5e-5)
    lore.read(id)
    assert by_formula.search(query).hits[0].fade == 1.0


def test_the_tree_formula_shows_the_best_of_each_tree(lore: Lore) -> None:
    root = keep(lore, "sea mammals")
    best, _ = keep(lore, "walrus", root), keep(lore, "walrus and many other animals of the sea", root)
    other = keep(lore, "walrus tusk carving")
    lore.embed_pending()
    query, by_formula = Query(text="walrus", policy="tree"), replace(lore, policies=REFERENCE)
    assert set(ids_of(by_formula.search(query))) == {best, other}
    assert len(by_formula.search(replace(query, where=Filter(under=root))).hits) == 2
    assert {best, other} < set(ids_of(lore.search(query)))


def test_the_tree_formula_hides_trifles_after_a_week_and_says_so(lore: Lore, clock: Clock) -> None:
    lore = replace(lore, policies=REFERENCE)
    trifle = keep(lore, "walrus", importance=0.1)
    lore.embed_pending()
    query = Query(text="walrus", policy="tree", counted=False)
    clock.sleep(days=6)
    assert ids_of(lore.search(query)) == [trifle]
    clock.sleep(days=1)
    answer = lore.search(query)
    assert (answer.hits, answer.hidden) == ((), 1)
    assert answer.best_hidden == pytest.approx(0.7 + 0.3 * 0.0492, abs=5e-5)
    assert answer.notes() == ("Nothing relevant; there is 1 weak hit, not shown (best score 0.715).",)
    assert ids_of(lore.search(replace(query, where=Filter(ids=(trifle,))))) == [trifle]


def test_hits_below_the_threshold_are_hidden_and_counted(lore: Lore) -> None:
    keep(lore, "walrus")
    answer = lore.search(Query(text="walrus", min_score=0.99))
    assert (answer.hits, answer.hidden) == ((), 1)
    assert 0 < answer.best_hidden < 0.99


# --- use


def test_a_memory_that_was_shown_is_counted_as_used(lore: Lore) -> None:
    shown, other = keep(lore, "walrus"), keep(lore, "penguin")
    lore.search(Query(text="walrus", where=Filter(ids=(shown,))))
    lore.search(Query(text="", where=Filter(ids=(shown,))))
    assert (uses_of(lore, shown), uses_of(lore, other)) == (2, 0)


def test_what_the_limit_left_out_is_not_counted(lore: Lore) -> None:
    a, b = keep(lore, "walrus"), keep(lore, "walrus walrus")
    lore.search(Query(text="walrus", limit=1))
    assert uses_of(lore, a) + uses_of(lore, b) == 1


@pytest.mark.parametrize("query", [Query(text="walrus", format="ids"), Query(text="walrus", counted=False)])
def test_a_search_for_ids_only_is_no_use(query: Query, lore: Lore) -> None:
    id = keep(lore, "walrus")
    assert ids_of(lore.search(query)) == [id]
    lore.search(replace(query, text="", where=Filter(ids=(id,))))
    assert uses_of(lore, id) == 0


def test_a_search_never_changes_what_is_known(lore: Lore, clock: Clock) -> None:
    id = keep(lore, "walrus")
    lore.embed_pending()
    before = lore.read(id, use=False).memory
    clock.sleep(days=1)
    lore.search(Query(text="walrus"))
    assert lore.read(id, use=False).memory.updated_at == before.updated_at
    assert len(lore.history(id)) == 1


# --- honesty


def test_an_empty_store_says_so(lore: Lore) -> None:
    assert lore.search(Query(text="walrus")).notes() == ("Nothing is stored yet.",)


def test_a_search_without_a_match_says_so(lore: Lore) -> None:
    keep(lore, "penguin")
    lore.embed_pending()
    answer = lore.search(Query(text="zzz", policy="scored", where=Filter(kinds=frozenset({"turn"}))))
    assert answer.notes() == ("Nothing matched; there is 1 memory to search.",)


def test_memories_that_wait_for_their_vectors_are_told(lore: Lore) -> None:
    keep(lore, "walrus of the north")
    keep(lore, "walrus of the south")
    waiting = "There are 2 memories not embedded yet; by words they are found already."
    assert lore.search(Query(text="walrus")).notes() == (waiting,)
    lore.embed_pending()
    assert lore.search(Query(text="walrus")).notes() == ()


# --- bad input

ALL = Query(text="walrus")
BAD_QUERIES: dict[str, Query] = {
    "no text": Query(text=""),
    "blank": Query(text=" \n"),
    "NUL": Query(text="a\0b"),
    "a lone surrogate": Query(text="\ud800"),
    "a byte too much": Query(text="x" * 50_001),
    "NUL in a look-up": Query(text="\0", where=Filter(ids=())),
    "limit 0": replace(ALL, limit=0),
    "a negative limit": replace(ALL, limit=-1),
    "a huge limit": replace(ALL, limit=1_001),
    "no budget": replace(ALL, budget_tokens=0),
    "a negative budget": replace(ALL, budget_tokens=-1),
    "an unknown policy": replace(ALL, policy="best"),
    "an unknown format": replace(ALL, format="xml"),  # type: ignore[arg-type]
    "too many ids": replace(ALL, where=Filter(ids=("x",) * 1_001)),
}


@pytest.mark.parametrize("bad", BAD_QUERIES.values(), ids=BAD_QUERIES)
def test_a_question_that_makes_no_sense_is_refused(bad: Query, lore: Lore) -> None:
    id = keep(lore, "walrus")
    with pytest.raises(Invalid):
        lore.search(bad)
    assert uses_of(lore, id) == 0


@pytest.mark.parametrize("under", ["", "nowhere", "x" * 100_000, "a\0b", "ü", "\ud800"])
def test_a_search_below_an_unknown_memory_is_refused(under: str, lore: Lore) -> None:
    with pytest.raises(NotFound, match="unknown memory"):
        lore.search(replace(ALL, where=Filter(under=under)))


@pytest.mark.parametrize("id", ["", "nowhere", "x" * 100_000, "a\0b", "ü", "\ud800"])
def test_impossible_ids_are_simply_not_found(id: str, lore: Lore) -> None:
    keep(lore, "walrus")
    assert found(lore, "walrus", Filter(ids=(id,))) == []
    assert found(lore, "", Filter(ids=(id,))) == []


@pytest.mark.parametrize("strange", ["\ud800", "a\0b", "' OR 1=1 --", "x" * 10_000])
def test_strange_values_in_a_filter_match_nothing(strange: str, lore: Lore) -> None:
    keep(lore, "walrus")
    fields: list[Callable[[frozenset[str]], Filter]] = [
        lambda values: Filter(kinds=values),
        lambda values: Filter(types=values),
        lambda values: Filter(sessions=values),
        lambda values: Filter(namespaces=values),
    ]
    for field in fields:
        assert found(lore, "walrus", field(frozenset({strange}))) == []


@pytest.mark.parametrize(
    "text",
    [
        '"', '"unbalanced walrus', "walrus*", "NEAR(walrus)", "walrus -sea", "title: walrus", "C++ walrus",
        "walrus AND OR NOT", "(walrus", "walrus 👋🏽", "walrus; DROP TABLE x", "walrus " * 5_000, "^walrus",
    ],
)  # fmt: skip
def test_syntax_in_a_question_is_plain_text(text: str, lore: Lore) -> None:
    id = keep(lore, "the walrus sleeps")
    assert found(lore, text) == ([id] if "walrus" in text else [])
