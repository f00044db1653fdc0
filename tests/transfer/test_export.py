"""`export` and `import_memories`: a store that went through a file is the same store."""

import gzip
import io
import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lore import Lore, Tie
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.export import ExportScope
from lore.engine.import_memories import Imported
from lore.engine.undo_import import UndoneImport
from lore.errors import Invalid, NotFound
from lore.model import FULL_LENGTH, SHARED, Cause, Filter, Link, Memory, Query, new_id
from lore.store import Writer
from lore.store.records import DigestProgress
from lore.store.values import EVERY, Suggestion, SuggestionFilter
from lore.transfer.export_lines import Summary
from lore.transfer.lore_export import verify
from tests.transfer.foreign import SECRET
from tests.transfer.importing import import_into

AT = 1_790_000_000.0
WORDS = ["ferry", "harbour", "tea", "Tuesday", "deploy", "zürich", "日本語のメモ", "timetable"]


def a_lore(folder: Path) -> Lore:
    return wire(Config(data_dir=folder), embedder=HashEmbedder(), clock=lambda: AT)


def exported(lore: Lore, path: Path, **scope: frozenset[str] | bool) -> Summary:
    with path.open("wb") as file:
        return lore.export(file, ExportScope(**scope), lambda part, done, total: None)  # type: ignore[arg-type]


def write(lore: Lore, put: Callable[[Writer], object], namespace: str = "web") -> None:
    with lore.store.transaction(namespace, Cause(verb="test"), AT, teams=["crew"]) as writer:
        put(writer)


def contents(lore: Lore) -> tuple[list[Memory], list[Link], dict[str, str], list[Suggestion]]:
    """All that a member of a team sees, without the numbers that only mean something in one store."""
    reader = lore.store.reader("web", teams=["crew"])
    every = Filter(superseded=True, forgotten=True)
    kinds = frozenset({"lore-call"})
    memories = [*reader.select(every, EVERY), *reader.select(replace(every, kinds=kinds), EVERY)]
    plain = sorted((replace(one, alias=0) for one in memories), key=lambda one: one.id)
    links = [replace(one, alias=0) for one in reader.links(ended=True)]
    return (
        plain,
        sorted(links, key=lambda one: one.id),
        reader.full_texts([one.id for one in memories]),
        reader.suggestions(SuggestionFilter()),
    )


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
times = st.floats(1.0, AT, allow_nan=False)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Memory], list[Link], dict[str, str]]:
    """Memories of three namespaces, trees and other links among them, and some whole texts."""
    memories = [
        Memory(
            id=f"m{place}",
            content=draw(texts),
            title=draw(st.sampled_from(["", "Ferry", "Über uns"])),
            kind=draw(st.sampled_from(["note", "turn", "fragment", "lore-call"])),
            namespace=draw(st.sampled_from([SHARED, "web", "crew"])),
            created_at=draw(times),
            updated_at=draw(times),
            importance=draw(st.floats(0, 1)),
            score=draw(st.floats(0, 10)),
            confidence=draw(st.none() | st.floats(1, 10)),
            flags=draw(st.frozensets(st.sampled_from(["similar", "implied"]))),
            metadata=draw(st.dictionaries(st.sampled_from(["file", "tags"]), st.lists(texts, max_size=2))),
            author=draw(st.sampled_from(["", "ada"])),
            forgotten_at=draw(st.none() | times),
            access_count=draw(st.integers(0, 9)),
            activation=draw(st.floats(0, 1)),
        )
        for place in range(draw(st.integers(0, 6)))
    ]
    links = [
        Link(
            id=f"l{child}", source=f"m{draw(st.integers(0, child - 1))}", target=f"m{child}",
            kind=draw(st.sampled_from(["hierarchical", "relation", "associative"])), type=draw(texts),
            created_at=1.0, updated_at=2.0, active=(active := draw(st.booleans())),
            ended_at=None if active else 3.0, reason=draw(texts),
        )
        for child in range(1, len(memories))
    ]  # fmt: skip
    wholes = {one.id: f"{one.content} and more" for one in memories if one.forgotten_at is None}
    return memories, links, wholes


@settings(max_examples=20)
@given(graphs())
def test_a_store_that_went_through_a_file_is_the_same(
    graph: tuple[list[Memory], list[Link], dict[str, str]],
) -> None:
    memories, links, wholes = graph
    with TemporaryDirectory() as folder:
        path = Path(folder, "export.jsonl")
        with a_lore(Path(folder, "one")) as one, a_lore(Path(folder, "two")) as two:
            write(one, lambda writer: (writer.put(memories, wholes), writer.put_links(links)))
            exported(one, path)
            counts = import_into(two, path)
            assert (counts.new, counts.links) == (len(memories), len(links))
            assert contents(two) == contents(one)
            for lore in (one, two):
                lore.embed_pending()
            for word in WORDS[:3]:
                query = Query(text=word, counted=False, limit=20)
                found = [
                    [(hit.memory.id, hit.score) for hit in lore.search(query).hits] for lore in (one, two)
                ]
                assert sorted(found[0]) == sorted(found[1])
            again = import_into(two, path)
            assert (again.new, again.different, again.links, again.same) == (0, 0, 0, len(memories))


@pytest.fixture
def other(tmp_path: Path) -> Lore:
    return a_lore(tmp_path / "other")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "export.jsonl"


def test_judgements_and_the_progress_of_digestion_travel_along(lore: Lore, path: Path) -> None:
    session = Memory(id="s", content="s", kind="session", created_at=1, updated_at=1)
    turns = [
        Memory(id=f"t{n}", content=f"t{n}", kind="turn", created_at=n, updated_at=n) for n in range(1, 4)
    ]
    tree = [
        Link(id=f"l{n}", source="s", target=f"t{n}", kind="hierarchical", created_at=1, updated_at=1)
        for n in range(1, 4)
    ]
    judged = Suggestion(
        id="j", source="t1", target="t2", score=0.5, signals={}, created_at=1, updated_at=1, status="rejected"
    )

    def put(writer: Writer) -> None:
        stored = writer.put([*turns, session])
        writer.put_links(tree)
        writer.put_suggestions([judged, replace(judged, id="k", target="t3", status="pending")])
        writer.put_records([DigestProgress(session="s", turns=2, until=stored[1].alias, digested_at=9.0)])

    write(lore, put, SHARED)
    exported(lore, path)
    with a_lore(path.parent / "other") as other:
        other.remember("so that the numbers of memories differ")
        import_into(other, path)
        [progress] = other.store.reader(SHARED).records(DigestProgress)
        assert (progress.turns, progress.until) == (2, other.store.reader(SHARED).get(["t2"])["t2"].alias)
        assert [one.turns for one in other.staged()] == [1]
        [suggestion] = other.store.reader(SHARED).suggestions(SuggestionFilter())
        assert suggestion.status == "rejected"


def test_filters_leave_memories_out_and_links_that_lost_an_end(lore: Lore, path: Path) -> None:
    note = Memory(id="a", content="a", created_at=1, updated_at=1, project="github.com/x/y")
    others = [Memory(id=id, content=id, created_at=1, updated_at=1, kind="turn") for id in "bc"]
    private = Memory(id="d", content="d", created_at=1, updated_at=1, namespace="web")
    ends = (("a", "b"), ("b", "c"), ("a", "d"))
    links = [
        Link(id="".join(pair), source=pair[0], target=pair[1], kind="relation", created_at=1, updated_at=1)
        for pair in ends
    ]
    write(lore, lambda writer: (writer.put([note, *others, private]), writer.put_links(links)))
    assert exported(lore, path).counts == {"memory": 4, "link": 3}
    assert exported(lore, path, kinds=frozenset({"turn"})).counts == {"memory": 2, "link": 1}
    assert exported(lore, path, projects=frozenset({"github.com/x/y"})).counts == {"memory": 1}
    assert exported(lore, path, namespaces=frozenset({"web"})).counts == {"memory": 1}
    with pytest.raises(Invalid, match="there is no namespace wbe; there are: shared, web"):
        exported(lore, path, namespaces=frozenset({"wbe"}))


def test_secrets_that_an_older_version_stored_are_not_exported(lore: Lore, path: Path) -> None:
    memory = lore.remember("tea")
    with lore.store._connections.writing() as connection:  # type: ignore[attr-defined]
        connection.execute("UPDATE memory SET content = ?", (f"token {SECRET}",))
    exported(lore, path, history=True)
    assert memory.id in path.read_text()
    assert SECRET not in path.read_text()


def test_the_history_is_exported_once_and_not_imported(lore: Lore, path: Path) -> None:
    write(lore, lambda writer: writer.put([Memory(id="a", content="a", created_at=1, updated_at=1)]))
    own = Memory(id="b", content="b", created_at=1, updated_at=1, namespace="web")
    write(lore, lambda writer: writer.put([own]))
    assert exported(lore, path, history=True).counts == {"memory": 2, "journal": 2}
    with a_lore(path.parent / "other") as other:
        assert import_into(other, path).passed == {"history entry": 2}


def test_an_export_is_of_one_moment_while_others_write(lore: Lore) -> None:
    lore.remember("before")
    wrote = threading.Event()

    def write_meanwhile(part: str, done: int, total: int) -> None:
        if not wrote.is_set():
            thread = threading.Thread(target=lambda: lore.remember("meanwhile"))
            thread.start()
            thread.join()
            wrote.set()

    file = io.BytesIO()
    lore.export(file, ExportScope(history=True), write_meanwhile)
    assert wrote.is_set()
    assert b"before" in file.getvalue()
    assert b"meanwhile" not in file.getvalue()


# --- damaged files
def small_export(lore: Lore, path: Path, count: int = 3) -> list[bytes]:
    for place in range(count):
        lore.remember(f"fact {place} about the ferry")
    exported(lore, path)
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("kept", [1, 2, -1])
def test_a_cut_file_is_refused_and_nothing_is_imported(lore: Lore, path: Path, kept: int) -> None:
    lines = small_export(lore, path)
    path.write_bytes(b"".join(lines[:kept]))
    with a_lore(path.parent / "other") as other:
        with pytest.raises(Invalid, match=r"is cut: it ends in line \d+ without the last line"):
            import_into(other, path)
        assert other.count(Filter()) == 0


def test_a_cut_compressed_file_is_refused(lore: Lore, path: Path) -> None:
    small_export(lore, path)
    data = gzip.compress(path.read_bytes())
    path.write_bytes(data[: len(data) // 2])
    with a_lore(path.parent / "other") as other, pytest.raises(Exception, match="cut or damaged"):
        import_into(other, path)


def test_an_altered_file_is_refused_and_with_damaged_its_good_lines_are_imported(
    lore: Lore, path: Path
) -> None:
    lines = small_export(lore, path)
    lines[2] = lines[2][: len(lines[2]) // 2] + b"\n"
    path.write_bytes(b"".join(lines))
    with a_lore(path.parent / "other") as other:
        with pytest.raises(Invalid, match="was altered"):
            import_into(other, path)
        counts = import_into(other, path, damaged=True)
        assert (counts.new, counts.unreadable) == (2, 1)
        assert counts.problems[0].startswith("line 3: not a line of JSON")


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("content", 5, "content: Input should be a valid string"),
        ("content", "", "content is empty"),
        ("importance", "high", "importance"),
        ("id", "ü", "the id has to be ASCII"),
        ("created_at", -1e300, "created_at is -1e+300; it must be seconds since 1970"),
    ],
)
def test_a_line_that_no_store_takes_is_reported(
    lore: Lore, path: Path, field: str, value: object, problem: str
) -> None:
    lines = small_export(lore, path)
    document = json.loads(lines[1])
    document["memory"][field] = value
    path.write_bytes(b"".join([lines[0], json.dumps(document).encode() + b"\n", *lines[2:]]))
    with a_lore(path.parent / "other") as other:
        counts = import_into(other, path, damaged=True)
    assert (counts.new, counts.unreadable) == (2, 1)
    assert problem in counts.problems[0]


def test_a_newer_version_of_the_format_is_refused(lore: Lore, path: Path) -> None:
    lines = small_export(lore, path)
    header = json.loads(lines[0]) | {"version": 2, "lore": "9.0"}
    path.write_bytes(b"".join([json.dumps(header).encode() + b"\n", *lines[1:]]))
    with pytest.raises(Invalid, match=r"version 2 of the export format, written by Lore 9.0; .* upgrade it"):
        verify(path)


# --- importing where something is already
def test_what_differs_here_stays_unless_it_is_replaced(lore: Lore, path: Path) -> None:
    small_export(lore, path, 1)
    [memory] = lore.select(Filter(), 5)
    write(lore, lambda writer: writer.put([replace(memory, content="changed here")]), SHARED)
    assert import_into(lore, path, preview=True).different == 1
    counts = import_into(lore, path)
    assert (counts.different, counts.replaced) == (1, 0)
    assert lore.read(memory.id).memory.content == "changed here"
    assert import_into(lore, path, replace=True).replaced == 1
    assert lore.read(memory.id).memory.content == "fact 0 about the ferry"


def test_a_preview_counts_repeated_texts_and_changes_nothing(lore: Lore, path: Path) -> None:
    small_export(lore, path, 2)
    with a_lore(path.parent / "other") as other:
        other.remember("Fact 0 about  the ferry")
        before = contents(other), other.store.report().size_bytes
        counts = import_into(other, path, preview=True)
        assert (counts.new, counts.duplicates) == (2, 1)
        assert counts.examples["duplicates"] == ("fact 0 about the ferry",)
        assert (contents(other), other.store.report().size_bytes) == before


def undone(lore: Lore, id: str) -> UndoneImport:
    return sum(lore.undo_import(id), UndoneImport())


def test_an_import_can_be_taken_back_and_done_again(lore: Lore, path: Path) -> None:
    ids = [lore.remember(text).id for text in ("ferry", "harbour")]
    write(lore, lambda w: w.put_links([
        Link(id="l", source=ids[0], target=ids[1], kind="hierarchical", created_at=1, updated_at=1)
    ]), SHARED)  # fmt: skip
    exported(lore, path)
    with a_lore(path.parent / "other") as other:
        own = other.remember("stays")
        id = new_id(AT)
        first = import_into(other, path, id=id)
        assert undone(other, id) == UndoneImport(forgotten=2, links=1)
        assert [memory.id for memory in other.select(Filter(), 9)] == [own.id]
        assert import_into(other, path) == first
        assert other.read(ids[1]).parent == ids[0]


def test_taking_an_import_back_gives_replaced_memories_their_values_but_keeps_later_changes(
    lore: Lore, path: Path
) -> None:
    small_export(lore, path, 1)
    [memory] = lore.select(Filter(), 5)
    write(lore, lambda writer: writer.put([replace(memory, content="changed here")]), SHARED)
    id = new_id(lore.clock())
    import_into(lore, path, replace=True, id=id)
    now = lore.read(memory.id).memory
    write(lore, lambda writer: writer.put([replace(now, title="a later title")]), SHARED)
    assert undone(lore, id) == UndoneImport(reverted=1)
    after = lore.read(memory.id).memory
    assert (after.content, after.title) == ("changed here", "a later title")


def test_taking_an_import_back_gives_replaced_links_their_values(lore: Lore, path: Path) -> None:
    ferry, harbour, quay = (lore.remember(text).id for text in ("ferry", "harbour", "quay"))
    tie = Tie(source=ferry, target=harbour, kind="associative", weight=0.9)
    lore.link([Tie(source=ferry, target=quay, kind="hierarchical", weight=0.9), tie])
    exported(lore, path)
    lore.link([Tie(source=ferry, target=quay, kind="hierarchical", weight=0.5), replace(tie, weight=0.5)])
    before, id = lore.links([ferry]), new_id(lore.clock())
    assert import_into(lore, path, replace=True, id=id).links == 2
    assert {link.weight for link in lore.links([ferry])} == {0.9}
    assert undone(lore, id) == UndoneImport(reverted=2)
    assert lore.links([ferry]) == before


def test_an_unknown_import_cannot_be_taken_back(lore: Lore) -> None:
    with pytest.raises(Invalid, match="is not the id of an import"):
        undone(lore, "yesterday")
    with pytest.raises(NotFound, match="there is no import"):
        undone(lore, new_id(AT))


def test_a_whole_text_of_another_system_is_kept_beside_an_excerpt(lore: Lore, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    long = "tea " * 20_000
    path.write_text(json.dumps([{"id": "1", "memory": long}]))
    assert import_into(lore, path) == Imported(new=1, items=1)
    [memory] = lore.select(Filter(), 5)
    assert memory.metadata[FULL_LENGTH] == len(long.strip())
    assert lore.full_texts([memory.id])[memory.id] == long.strip()
