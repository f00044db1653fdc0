"""Arguments and results of verbs as plain JSON: every verb has them, and wrong ones are refused by name."""

import inspect
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore import Draft, Filter, Invalid, Lore, Query, Tie
from lore.doors.codec import hints_of
from lore.doors.http import plain
from lore.doors.http.examples import EXAMPLES
from lore.model import Answer, Hit, Memory, Signal
from lore.verbs import OVER_HTTP, VERBS


def decoded(verb: str, **arguments: Any) -> dict[str, Any]:
    return plain.decode(verb, json.dumps(arguments).encode())


def refused(verb: str, body: bytes) -> str:
    with pytest.raises(Invalid) as refusal:
        plain.decode(verb, body)
    return str(refusal.value)


def test_verbs_with_functions_or_paths_are_not_offered() -> None:
    unfit = {
        name
        for name in VERBS
        for parameter, hint in hints_of(getattr(Lore, name)).items()
        if parameter != "return"
        and any(word in str(hint) for word in ("pathlib.Path", "Callable", "BinaryIO", "Iterable"))
    }
    assert not unfit & OVER_HTTP.keys()
    others = {
        "citations",
        "cite",
        "changes",
        "keep_pushed",
        "merge",
        "changes_of",
        "move_sync_mark",
        "sync_mark",
        "undo_import",
    }
    assert VERBS.keys() - OVER_HTTP.keys() - unfit == others


def test_arguments_become_the_values_that_the_verb_takes() -> None:
    assert decoded("search", query="tea") == {"query": "tea"}
    assert decoded("search", query={"text": "tea", "where": {"kinds": ["note"], "ids": ["a"]}}) == {
        "query": Query(text="tea", where=Filter(kinds=frozenset({"note"}), ids=("a",)))
    }
    draft = {"content": "x", "ties": [{"source": "", "target": "b", "weight": 1}], "metadata": {"a": [None]}}
    assert decoded("remember_all", drafts=[draft]) == {
        "drafts": [Draft(content="x", ties=(Tie(source="", target="b"),), metadata={"a": [None]})]
    }
    assert plain.decode("status", b"") == plain.decode("status", b" {} ") == {}


@pytest.mark.parametrize(
    ("verb", "body", "message"),
    [
        ("search", b"", "search: query is missing"),
        ("search", b'{"query": 7}', "query: Input should be an object, not 7; query: Input should"),
        ("search", b'{"query": {"text": "x", "limit": "3"}}', "query.limit: Input should be a valid integer"),
        ("search", b'{"query": {"text": "x", "limit": 1.5}}', "query.limit: Input should be a valid integer"),
        ("search", b'{"query": {"text": "x", "top": 3}}', "unknown field query.top; /api/v1/openapi"),
        ("search", b'{"query": {"limit": 3}}', "search: query.text is missing"),
        ("search", b'{"query": "x", "limit": 3}', "search: unknown argument limit; known: query"),
        ("status", b'{"all": true}', "status: unknown argument all; known: none"),
        ("forget", b'{"ids": "abc"}', "forget: ids: Input should be a valid array, not 'abc'"),
        ("forget", b'{"ids": ["a", null]}', "forget: ids.1: Input should be a valid string, not None"),
        ("link", b'{"ties": [{"source": "a"}]}', "link: ties.0.target is missing"),
        ("brief", b'{"budget_tokens": true}', "budget_tokens: Input should be a valid integer, not True"),
        ("brief", b'{"budget_tokens": 9223372036854775808}', "budget_tokens must be an integer of at most"),
        ("search", b"[]", "search: the arguments must be an object"),
        ("search", b'{"query": "x"', "the body is not JSON: EOF while parsing an object"),
        ("search", b"\xff\xfe", "the body is not JSON"),
        ("search", b'{"query": "\\ud800"}', "the body is not JSON"),
        ("graph_report", b'{"stale_days": NaN}', "the body is not JSON"),
        ("graph_report", b'{"stale_days": 1e999}', "stale_days: Input should be a finite number"),
        ("nodes", b'{"text": ' + b"[" * 33 + b"]" * 33 + b"}", "text.0.0 is nested too deeply; at most 32"),
        ("read_many", b'{"ids": [' + b"1," * 99_999 + b"1]}", "the arguments have more than 100,000 values"),
        ("remember", b"[" * 1_000_000, "the body is not JSON: recursion limit exceeded"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused_by_name(verb: str, body: bytes, message: str) -> None:
    assert message in refused(verb, body)


def test_an_error_in_a_union_speaks_of_the_type_that_was_meant() -> None:
    body = b'{"draft": {"title": 1, "ties": [{"source": 1}]}}'
    assert refused("remember", body) == (
        "remember: draft.content is missing; draft.title: Input should be a valid string, not 1;"
        " draft.ties.0.source: Input should be a valid string, not 1; draft.ties.0.target is missing"
    )


def test_results_are_objects_of_their_fields() -> None:
    memory = Memory(
        id="a", content="茶", created_at=1, updated_at=2.5, flags=frozenset({"x"}), metadata={"a": (1,)}
    )
    hit = Hit(memory=memory, score=1.0, signals={"match": Signal(0.5, 2.0)}, relevance=0.5, breadcrumb=("b",))
    shown = json.loads(plain.encode("search", Answer(hits=(hit,))))["hits"][0]
    assert shown["signals"] == {"match": {"strength": 0.5, "weight": 2.0}}
    assert shown["breadcrumb"] == ["b"]
    own = {
        name: shown["memory"][name] for name in ("content", "created_at", "flags", "metadata", "confidence")
    }
    assert own == {
        "content": "茶",
        "created_at": 1,
        "flags": ["x"],
        "metadata": {"a": [1]},
        "confidence": None,
    }


def test_every_verb_with_arguments_has_an_example_that_it_takes() -> None:
    taking = {name for name in OVER_HTTP if len(inspect.signature(getattr(Lore, name)).parameters) > 1}
    assert taking == EXAMPLES.keys()
    for verb, arguments in EXAMPLES.items():
        decoded(verb, **arguments)


@given(st.sampled_from(sorted(OVER_HTTP)), st.binary(max_size=40) | st.text(max_size=40).map(str.encode))
def test_any_body_is_decoded_or_refused(verb: str, body: bytes) -> None:
    try:
        plain.decode(verb, body)
    except Invalid:
        return
