"""Verbs over a connection: values arrive as they were, wrong calls are refused, lost answers are reported."""

import inspect
import json
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NoReturn, Union, get_args, get_origin

import anyio
import pytest
from anyio.abc import SocketStream
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lore import Draft, Duplicate, Filter, Invalid, Lore, NotFound, Query, Tie, Unavailable
from lore.config import Config
from lore.connecting import tailored, wire
from lore.doors import codec, protocol
from lore.doors.clients import Clients
from lore.doors.codec import NOUNS, TAG, hints_of
from lore.doors.protocol import Cut
from lore.doors.rpc import BEGUN, Remote, answer
from lore.embed.hashing import HashEmbedder
from lore.health import embed_progress
from lore.model import Branch, Revision
from lore.vectors import Vector
from lore.verbs import REMOTE, VERBS
from lore.version import VERSION

ANY_TEXT = st.text(st.characters(codec=None), max_size=8)  # lone surrogates too
PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT
ANYTHING = st.recursive(
    PLAIN | st.builds(Path, ANY_TEXT),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.frozensets(PLAIN, max_size=3)
        | st.dictionaries(ANY_TEXT | st.integers(), inner, max_size=3)
    ),
    max_leaves=6,
)
JUNK = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([TAG, "of", "verb", "arguments", "named", "text", "content", "id"]),
            inner | st.sampled_from(["tuple", "set", "map", "path", "number", *NOUNS, *REMOTE]),
        )
    ),
    max_leaves=12,
)


def values_of(hint: Any, deep: int = 2) -> st.SearchStrategy[Any]:
    """Whatever an annotation allows."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, UnionType):
        return st.one_of([values_of(one, deep) for one in inner])
    if kind is Literal:
        return st.sampled_from(inner)
    if kind in (Mapping, dict):
        return st.dictionaries(values_of(inner[0], deep), values_of(inner[1], deep), max_size=3)
    if kind in (tuple, frozenset, list, Sequence):
        size = 0 if inner[0] is Branch and not deep else 3
        make = {frozenset: frozenset, tuple: tuple}.get(kind, list)
        return st.lists(values_of(inner[0], deep - 1) if size else st.nothing(), max_size=size).map(make)
    if kind in NOUNS.values():
        return nouns(kind, deep)
    return {
        Any: ANYTHING,
        str: ANY_TEXT,
        int: st.integers(-(1 << 63), (1 << 63) - 1),
        float: st.floats(allow_nan=False),
        bool: st.booleans(),
        NoneType: st.none(),
    }[kind]


def nouns(noun: type, deep: int = 2) -> st.SearchStrategy[Any]:
    return st.builds(noun, **{name: values_of(hint, deep) for name, hint in hints_of(noun).items()})


def call(lore: Lore, verb: str, *arguments: object, **named: object) -> Any:
    """The decoded answer of `answer`."""
    line = answer(lore, codec.encode({"verb": verb, "arguments": list(arguments), "named": named}))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    return codec.decode(line)


def refused(lore: Lore, line: bytes) -> str:
    reply = codec.decode(answer(lore, line))
    assert reply["error"]["kind"] == "Invalid"
    return str(reply["error"]["message"])


# --- the codec
@given(st.one_of([nouns(noun) for noun in NOUNS.values()]))
def test_every_noun_survives_encoding_and_decoding(value: object) -> None:
    assert codec.decode(codec.encode(value)) == value


@given(st.one_of([values_of(hints_of(getattr(Lore, verb))["return"]) for verb in sorted(REMOTE)]))
def test_every_answer_of_a_verb_survives_encoding_and_decoding(value: object) -> None:
    assert codec.decode(codec.encode(value)) == value


@given(ANYTHING)
def test_any_metadata_survives_encoding_and_decoding(value: object) -> None:
    assert codec.decode(codec.encode(value)) == value


def test_numbers_keep_their_type_through_the_codec() -> None:
    arrived = codec.decode(
        codec.encode([1, 1.0, True, -0.0, float("inf"), float("-inf"), float("nan"), 10**30])
    )
    assert [repr(number) for number in arrived] == [
        "1",
        "1.0",
        "True",
        "-0.0",
        "inf",
        "-inf",
        "nan",
        str(10**30),
    ]


def test_an_encoded_line_is_ascii_json() -> None:
    line = codec.encode(Draft(content="line\nbreak é\u2028 and 茶", metadata={"": 1, "n": float("nan")}))
    assert line.isascii()
    assert line.count(b"\n") == 1

    def fail(constant: str) -> NoReturn:
        raise AssertionError(constant)

    json.loads(line, parse_constant=fail)


def test_values_of_other_types_cannot_be_encoded() -> None:
    for value in (object(), {1, 2}, b"bytes", Config()):
        with pytest.raises(TypeError, match="cannot be encoded"):
            codec.encode(value)


# --- the table
def test_every_verb_of_the_menu_is_in_the_table() -> None:
    """All public methods but those that give another Lore, or manage the process."""
    wiring = {"for_namespace", "in_folder", "release", "close"}
    own = {name for name, value in inspect.getmembers(Lore) if inspect.isfunction(value)}
    public = {name for name in own if not name.startswith("_")}
    assert public - wiring == VERBS.keys()


def test_only_verbs_whose_values_can_be_encoded_are_remote() -> None:
    for verb in REMOTE:
        for hint in hints_of(getattr(Lore, verb)).values():
            values_of(hint)  # a KeyError names a type that the codec does not have


def test_every_verb_that_only_reads_may_be_repeated() -> None:
    assert [verb for verb, one in VERBS.items() if one.right == "read" and not one.repeatable] == []


# --- the daemon's end
def test_a_verb_answers_through_the_codec_as_it_does_directly(lore: Lore) -> None:
    tea = call(lore, "remember", Draft(content="All about tea.", flags=frozenset({"x"})))["value"]
    drafts = [Draft(content="Green", parent=tea.id), Draft(content="W")]
    [green, water] = [one.memory for one in call(lore, "remember_all", drafts)["value"]]
    [link] = call(lore, "link", [Tie(source=green.id, target=water.id)], reason="both wet")["value"]
    assert call(lore, "revise", Revision(id=water.id, title="water"))["value"].title == "water"
    for verb, arguments in (
        ("search", [Query(text="tea", counted=False)]),
        ("search", [Query(text="", where=Filter(ids=(water.id, tea.id)), counted=False)]),
        ("links", [[green.id]]),
        ("count", [Filter(roots=True)]),
        ("select", [Filter(), 10]),
        ("read", [green.id, False]),
        ("read_many", [[]]),
        ("roots", []),
        ("explore", [tea.id, 3]),
        ("ids_like", [tea.id[:4]]),
        ("history", [link.id]),
        ("sessions", []),
        ("status", []),
        ("check", []),
        ("rebuild", []),
    ):
        assert call(lore, verb, *arguments) == {"value": getattr(lore, verb)(*arguments)}
    assert [call(lore, "embed_batch")["value"] for _ in range(2)] == [3, 0]
    assert call(lore, "read", tea.id)["value"].memory == tea
    assert len(call(lore, "recall", Filter(), limit=2, choose="importance")["value"].hits) == 2
    assert call(lore, "unlink", [link.id])["value"] == [link.id]
    assert call(lore, "forget", [tea.id], "cold")["value"] == [tea.id]
    assert call(lore, "restore", [tea.id])["value"] == [tea.id]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"", "not a line of JSON"),
        (b"{", "not a line of JSON"),
        (b"\xff\xfe\x00", "not a line of JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"9" * 10_000, "not a line of JSON"),
        (b"null", "a call is a line like"),
        (b'{"verb": 3}', "a call is a line like"),
        (b'{"verb": "close"}', "unknown verb 'close'; known: activity, brief, browse, by_alias, "),
        (b'{"verb": "__class__"}', "unknown verb"),
        (b'{"verb": "backup", "arguments": [{"": "path", "of": "/tmp/x"}]}', "unknown verb"),
        (b'{"verb": "status", "arguments": [1]}', "status cannot be called like this: too many"),
        (b'{"verb": "status", "arguments": 1}', "status cannot be called like this: "),
        (b'{"verb": "status", "named": {"": "tuple", "of": []}}', "status cannot be called like this: "),
        (b'{"verb": "read"}', "read cannot be called like this: missing"),
        (b'{"verb": "read", "arguments": [7]}', "read: id cannot be 7"),
        (b'{"verb": "search", "arguments": [7]}', "search: query cannot be 7"),
        (b'{"verb": "forget", "arguments": ["abc"]}', "forget: ids cannot be 'abc'"),
        (b'{"verb": "roots", "arguments": [true]}', "roots: limit cannot be True"),
        (b'{"verb": "roots", "arguments": [9223372036854775808]}', "roots: limit cannot be 922"),
        (b'{"verb": "roots", "arguments": [{"": "Lore"}]}', "unknown tag 'Lore'; known: tuple, "),
        (b'{"verb": "roots", "arguments": [{"": []}]}', "this is no []"),
        (b'{"verb": "roots", "arguments": [{"": "tuple"}]}', "needs a list under 'of'"),
        (b'{"verb": "roots", "arguments": [{"": "tuple", "of": "abc"}]}', "needs a list under 'of'"),
        (b'{"verb": "roots", "arguments": [{"": "set", "of": [[]]}]}', "this is no set: unhashable"),
        (b'{"verb": "roots", "arguments": [{"": "number", "of": "many"}]}', "this is no number"),
        (b'{"verb": "search", "arguments": [{"": "Query"}]}', "this is no Query: "),
        (b'{"verb": "search", "arguments": [{"": "Query", "text": 1}]}', "text cannot be 1"),
        (b'{"verb": "search", "arguments": [{"": "Query", "text": "", "sql": ""}]}', "'sql'"),
        (
            b'{"verb": "search", "arguments": [{"": "Query", "text": "", "format": "pdf"}]}',
            "format cannot be 'pdf'",
        ),
        (
            b'{"verb": "count", "arguments": [{"": "Filter", "ids": ["x"]}]}',
            "ids cannot be ['x']",
        ),
        (b'{"verb": "read", "arguments": [' + b"[" * 700 + b"]" * 700 + b"]}", "read: id cannot be [[["),
    ],
)
def test_an_invalid_request_is_refused_and_changes_nothing(lore: Lore, line: bytes, reason: str) -> None:
    assert reason in refused(lore, line)
    assert lore.status().counts.memories == 0


def test_a_line_that_is_too_long_is_refused(lore: Lore) -> None:
    error = codec.decode(answer(lore, Cut(b'{"verb": "status"')))["error"]
    assert error == {"kind": "Invalid", "message": "a line has at most 16,777,216 bytes"}


def test_a_value_that_is_nested_too_deeply_is_refused_and_nothing_is_stored(lore: Lore) -> None:
    nested = b'{"a":' * 600 + b"1" + b"}" * 600
    draft = b'{"": "Draft", "content": "x", "metadata": ' + nested + b"}"
    error = codec.decode(answer(lore, b'{"verb": "remember", "arguments": [' + draft + b"]}"))["error"]
    assert error == {"kind": "Invalid", "message": "this is nested too deeply"}
    assert lore.status().counts.memories == 0


together = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)


@together
@given(st.binary() | JUNK.map(lambda document: json.dumps(document).encode()))
def test_every_line_gets_an_answer(lore: Lore, line: bytes) -> None:
    assert codec.decode(answer(lore, line)).keys() <= {"value", "error"}


def calls_of(verb: str) -> st.SearchStrategy[tuple[str, dict[str, Any]]]:
    """The verb, with anything that its annotations allow."""
    hints = {name: hint for name, hint in hints_of(getattr(Lore, verb)).items() if name != "return"}
    named = st.fixed_dictionaries({name: values_of(hint) for name, hint in hints.items()})
    return st.tuples(st.just(verb), named)


@together
@given(st.one_of([calls_of(verb) for verb in sorted(REMOTE)]))
def test_every_argument_gets_an_answer(lore: Lore, arguments: tuple[str, dict[str, Any]]) -> None:
    verb, named = arguments
    assert call(lore, verb, **named).keys() <= {"value", "error"}


class Late(HashEmbedder):
    """Loaded by whoever waits for it, never on its own."""

    ready = False

    def embed_query(self, text: str) -> Vector:
        self.ready = True
        return super().embed_query(text)


def test_a_command_waits_for_the_model_where_a_server_does_not(config: Config) -> None:
    lore = wire(config, embedder=Late(), patient=False)
    lore.remember(Draft(content="tea"))
    patient = tailored(lore, config, patient=True)
    assert tailored(lore, config).status().embedding_state == "warming"
    assert call(patient, "search", Query(text="tea"))["value"].embedding_state == "ready"
    lore.close()


# --- the client's end
def next_line(line: socket.socket) -> bytes:
    received = b""
    while not received.endswith(b"\n"):
        part = line.recv(1 << 16)
        if not part:
            return b""
        received += part
    return received


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Ours, and that of the daemon."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def serve(lore: Lore, line: socket.socket) -> threading.Thread:
    def work() -> None:
        while call := next_line(line):
            line.sendall(BEGUN)
            line.sendall(answer(lore, call))

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def nothing_instead() -> AbstractContextManager[Lore]:
    raise AssertionError("the store was opened")


def test_a_remote_answers_like_a_lore(lore: Lore, ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    thread = serve(lore, theirs)
    with closing(Remote(ours, nothing_instead)) as remote:
        memory = remote.remember(Draft(content="x" * 40_000, unique_title=True, title="long"))
        assert remote.search(Query(text="x", counted=False)) == lore.search(Query(text="x", counted=False))
        assert remote.forget([memory.id], reason="too long") == [memory.id]
        assert remote.restore(ids=[memory.id]) == [memory.id]
        lore.remember_all([Draft(content=f"thing {number}") for number in range(50)])
        assert [work.left for work in embed_progress(remote)] == [51, 19, 0]
        assert lore.status().pending == 0
    thread.join()


def test_errors_keep_their_type_and_text(lore: Lore, ends: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = ends
    thread = serve(lore, theirs)
    twice = Draft(content="x", title="once", unique_title=True)
    with closing(Remote(ours, nothing_instead)) as remote:
        kept = remote.remember(twice)
        for kind, verb, argument in (
            (Duplicate, "remember", twice),
            (NotFound, "read", "\ud800 unknown"),
            (Invalid, "search", Query(text="")),
        ):
            with pytest.raises(kind) as here:
                getattr(lore, verb)(argument)
            with pytest.raises(kind) as there:
                getattr(remote, verb)(argument)
            assert (type(there.value), str(there.value)) == (type(here.value), str(here.value))
        with pytest.raises(Duplicate) as refusal:
            remote.remember(twice)
        assert refusal.value.existing == kept.id
    thread.join()


def test_a_remote_has_the_verbs_and_nothing_else(ends: tuple[socket.socket, socket.socket]) -> None:
    remote = Remote(ends[0], nothing_instead)
    for name in ("store", "embeddings", "for_namespace", "backup", "_reader"):
        with pytest.raises(AttributeError):
            getattr(remote, name)


def dies_when_asked(line: socket.socket, last_words: bytes) -> threading.Thread:
    def work() -> None:
        next_line(line)
        line.sendall(last_words)
        line.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@pytest.mark.parametrize("verb", [verb for verb, one in REMOTE.items() if not one.repeatable])
@pytest.mark.parametrize("last_words", [BEGUN, BEGUN + b'{"value": []}'], ids=["begun", "half answered"])
def test_a_change_that_was_begun_is_not_repeated(
    verb: str, last_words: bytes, ends: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = ends
    thread = dies_when_asked(theirs, last_words)
    with (
        closing(Remote(ours, nothing_instead)) as remote,
        pytest.raises(Unavailable, match=f"{verb} may or may not have been done"),
    ):
        getattr(remote, verb)(["x"])
    thread.join()


def test_a_question_whose_answer_is_lost_is_asked_of_the_store(
    lore: Lore, ends: tuple[socket.socket, socket.socket]
) -> None:
    lore.remember(Draft(content="tea"))
    ours, theirs = ends
    thread = dies_when_asked(theirs, BEGUN)
    with closing(Remote(ours, lambda: nullcontext(lore))) as remote:
        assert len(remote.search(Query(text="tea")).hits) == 1
        assert remote.remember(Draft(content="coffee")).content == "coffee"
    thread.join()


def test_a_change_that_was_not_begun_is_done_by_the_store(
    lore: Lore, ends: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = ends
    thread = dies_when_asked(theirs, b"")
    with closing(Remote(ours, lambda: nullcontext(lore))) as remote:
        assert remote.remember(Draft(content="tea")).content == "tea"
    assert lore.status().counts.memories == 1
    thread.join()


def test_a_request_that_could_not_be_sent_is_done_by_the_store(
    lore: Lore, ends: tuple[socket.socket, socket.socket]
) -> None:
    ours, theirs = ends
    theirs.close()
    with closing(Remote(ours, lambda: nullcontext(lore))) as remote:
        assert remote.remember(Draft(content="tea")).content == "tea"


# --- both ends
def test_the_daemon_says_when_it_begins_and_answers_patiently(
    config: Config, ends: tuple[socket.socket, socket.socket]
) -> None:
    lore = wire(config, embedder=Late(), patient=False)
    lore.remember(Draft(content="tea"))
    ours, theirs = ends
    theirs.setblocking(False)

    async def serve_one() -> None:
        clients = Clients(lore, config, anyio.Event(), dict)
        await clients.serve(await SocketStream.from_socket(theirs))

    daemon = threading.Thread(target=anyio.run, args=[serve_one])
    daemon.start()
    with ours.makefile("rb") as replies:
        ours.sendall(protocol.encode("verbs", {"version": VERSION}))
        assert replies.readline().startswith(b"lore/1 welcome")
        ours.sendall(codec.encode({"verb": "status"}))
        assert replies.readline() == BEGUN
        assert codec.decode(replies.readline())["value"] == lore.status()
    with closing(Remote(ours, nothing_instead)) as remote:
        assert remote.search(Query(text="tea")).embedding_state == "ready"
        memory = remote.remember(Draft(content="coffee"))
        assert [entry.cause.surface for entry in remote.history(memory.id)] == ["cli"]
    daemon.join()
    lore.close()
