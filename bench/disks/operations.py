"""operations: the stores to start from, and every operation of Lore on a store."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from lore import Lore
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate.phases import consolidate
from lore.engine.entity_view import Subject
from lore.engine.rate import Rating
from lore.engine.reflect import Lesson, Reflection
from lore.engine.relate import Relation
from lore.engine.split import Part
from lore.model import Cause, Draft, Filter, Query, Revision, Tie
from lore.settings import LlmSettings
from lore.store.records import DigestProgress
from lore.store.sqlite.text_index import PUT_FULL_TEXT, packed
from lore.transcripts.sources import SOURCES

START = 1_790_000_000.0
TURNS = 210
"""Of a transcript: more than are kept in one transaction."""
LOG_BYTES = 4_300_000
"""Of the log of a killed process: more than SQLite leaves there if it can help it."""
STAND_IN = "stand_in_for_the_key"
SECRET = "ghp_" + "a1B2c3D4e5F6" * 3
"""Of the form of a GitHub token."""
SECRET_TEXTS = {
    "memory": ("title", "summary", "content", "metadata"),
    "link": ("reason",),
    "journal": ("reason", "before", "after"),
    "digest_progress": ("error",),
}
TEXTS = (
    "The deploy key lives in the vault of the harbour office.",
    "The ferry to the island leaves at noon from pier 7.",
    "The port of Billing is 8041.",
    "Billing is hosted on host-12.",
    "We prefer tabs over spaces in the Makefile.",
    "The staging database is restored every Monday.",
    "Anna owns the release checklist.",
    "The old cache is no longer used.",
)


class Ticking:
    """A clock that moves by two milliseconds whenever it is read: the same work gets the same times."""

    def __init__(self, now: float = START) -> None:
        self._now = now

    def __call__(self) -> float:
        self._now += 0.002
        return self._now


@contextmanager
def opened(folder: Path, start: float = START + 86_400.0) -> Iterator[Lore]:
    """The store in a folder, with hashed words for meaning and a clock that ticks."""
    config = Config(data_dir=folder, db_path=folder / "memory.db", llm=LlmSettings(backend="none"))
    with closing(wire(config, embedder=HashEmbedder(), clock=Ticking(start))) as lore:
        yield lore


def the(lore: Lore, text: str, forgotten: bool = False) -> str:
    """The id of the first memory that contains a text."""
    where = Filter(forgotten=True) if forgotten else Filter()
    return lore.store.reader(lore.namespace).containing(text, where)[0]


# --- what there is to begin with


def prepare(folder: Path) -> None:
    """One folder for each kind of beginning, and one for files that operations read."""
    _write_files(folder / "files")
    (folder / "empty").mkdir()
    _fill(folder / "plain", folder / "files")
    _leave_dirty(folder / "plain", folder / "dirty")
    _leave_secrets(folder / "plain", folder / "secrets")


def _write_files(files: Path) -> None:
    files.mkdir(parents=True)
    lines = [_turn("one", number) for number in range(TURNS)]
    (files / "one.jsonl").write_text("".join(lines[:5]))
    (files / "grown.jsonl").write_text("".join(lines))
    (files / "two.jsonl").write_text("".join(_turn("two", number) for number in range(TURNS)))
    (files / "notes.md").write_text(
        "# Harbour\n\nThe crane is out of order.\n\n# Island\n\nThe inn is open.\n"
    )
    graph = [
        {"type": "entity", "name": "Crane", "entityType": "machine", "observations": ["yellow", "broken"]},
        {"type": "entity", "name": "Inn", "entityType": "place", "observations": ["open"]},
        {"type": "relation", "from": "Crane", "to": "Inn", "relationType": "stands beside"},
    ]
    (files / "memory.jsonl").write_text("".join(json.dumps(line) + "\n" for line in graph))


def _turn(session: str, number: int) -> str:
    text = f"turn {number} of {session}: we decided to use pier {number % 9} for the ferry number {number}"
    line = {
        "type": "user" if number % 2 == 0 else "assistant",
        "message": {"role": "user" if number % 2 == 0 else "assistant", "content": text},
        "uuid": f"{session}-{number}",
        "timestamp": f"2026-09-01T10:{number % 60:02}:00.000Z",
        "sessionId": session,
        "cwd": "/gone/ferry",
    }
    return json.dumps(line) + "\n"


def _fill(folder: Path, files: Path) -> None:
    with opened(folder, START) as lore:
        for text in TEXTS:
            lore.remember(Draft(content=text, embed_now=True))
        lore.link([Tie(source=the(lore, "deploy key"), target=the(lore, "ferry to"), type="near")])
        lore.introduce([Subject(name="Pier", type="place", observations=("long", "wooden", "wet", "old"))])
        lore.introduce([Subject(name="Boat", type="thing", observations=("red",))])
        lore.remember(Draft(content="A thing that is forgotten."))
        lore.forget([the(lore, "that is forgotten")])
        list(lore.ingest(files / "one.jsonl", SOURCES["claude-code"]))
        lore.embed_pending()


def _leave_dirty(plain: Path, dirty: Path) -> None:
    """As a kill leaves it: with more in the log than a commit leaves there."""
    working = plain.with_name("working")
    shutil.copytree(plain, working)
    with opened(working, START + 3600.0) as lore:
        id = the(lore, "deploy key")
        reader = apsw.Connection(str(working / "memory.db"))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory").fetchall()
        number = 0
        while (working / "memory.db-wal").stat().st_size < LOG_BYTES:
            number += 1
            lore.revise(Revision(id=id, content=f"It has been in {number} places."))
        shutil.copytree(working, dirty, ignore=shutil.ignore_patterns("*-shm"))
        reader.close()
    shutil.rmtree(working)


def _leave_secrets(plain: Path, folder: Path) -> None:
    """As a Lore without a rule for them left it: a secret in every table that a scrub cleans."""
    shutil.copytree(plain, folder)
    with opened(folder, START + 3600.0) as lore:
        memory = lore.remember(Draft(content=f"Deploy with {STAND_IN}.", metadata={"note": STAND_IN}))
        lore.revise(Revision(id=memory.id, content=f"Deploy tomorrow with {STAND_IN}."), reason=STAND_IN)
        lore.link([Tie(source=memory.id, target=the(lore, "ferry to"), reason=STAND_IN)])
        with lore.store.transaction(lore.namespace, Cause(verb="test"), START) as writer:
            writer.put_records([DigestProgress(session="s1", error=STAND_IN)])
            writer.put([], {memory.id: f"{'long ' * 1_000}{STAND_IN}"})
        lore.embed_pending()
    with closing(apsw.Connection(str(folder / "memory.db"))) as connection:
        for table, columns in SECRET_TEXTS.items():
            texts = ", ".join(f"{name} = replace({name}, '{STAND_IN}', '{SECRET}')" for name in columns)
            connection.execute(f"UPDATE {table} SET {texts}")
        connection.execute("UPDATE bookmark SET state = ?", (json.dumps({"call": f"export TOKEN={SECRET}"}),))
        ((alias,),) = connection.execute("SELECT memory FROM full_text").fetchall()
        connection.execute(PUT_FULL_TEXT, packed(int(str(alias)), f"{'long ' * 1_000}{SECRET}"))
    with opened(folder, START + 7200.0) as lore:
        lore.rebuild()
        lore.embed_pending()


# --- what is done


@dataclass(frozen=True, slots=True)
class Operation:
    """Something that is done to a store between opening and closing it. base: the store to begin with.

    repeatable: where one of its reads or writes fails, it ends, so that the same states come in the same
    order. Consolidation notes the trouble and goes on.
    """

    name: str
    base: str
    run: Callable[[Lore, Path], object]
    repeatable: bool = True


def _split(lore: Lore, files: Path) -> object:
    return lore.split("Pier", [Part(name="Wood", type="thing", observations=("wooden", "old"))])


def _restore_session(lore: Lore, files: Path) -> object:
    session = lore.select(Filter(kinds=frozenset({"session"})), 1)[0].id
    lore.forget([session])
    return lore.restore([session])


def _forget_session(lore: Lore, files: Path) -> object:
    return lore.forget([lore.select(Filter(kinds=frozenset({"session"})), 1)[0].id])


def _reflect(lore: Lore, files: Path) -> object:
    lessons = (Lesson(text="Cranes break in winter.", relation="supports", score=6.0),)
    return lore.reflect(Reflection(session="s9", title="A day", account="It was cold.", lessons=lessons))


def _unlink(lore: Lore, files: Path) -> object:
    return lore.unlink([link.id for link in lore.links([the(lore, "deploy key")], ("associative",))])


def _relate(lore: Lore, files: Path) -> object:
    return lore.relate([Relation(source="Pier", target="Boat", type="holds")])


def _ingest_grown(lore: Lore, files: Path) -> object:
    grown = files.parent / "grown" / "one.jsonl"
    grown.parent.mkdir(exist_ok=True)
    shutil.copyfile(files / "grown.jsonl", grown)
    return list(lore.ingest(grown, SOURCES["claude-code"]))


def _embed(lore: Lore, files: Path) -> object:
    lore.remember_all([Draft(content=f"Waits to be embedded, {number}.") for number in range(5)])
    lore.embed_pending()
    return None


def _write_often(lore: Lore, files: Path) -> object:
    return [lore.remember(Draft(content=f"One of many, number {number}.")) for number in range(12)]


def _quiet(table: str, done: int, total: int) -> None:
    """Show no progress."""


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("create", "empty", lambda lore, files: None),
        Operation("create and remember", "empty", lambda lore, files: lore.remember(Draft(content="First."))),
        Operation("recover", "dirty", lambda lore, files: None),
        Operation("recover and remember", "dirty", lambda lore, files: lore.remember(Draft(content="Next."))),
        Operation("remember", "plain", lambda lore, files: lore.remember(Draft(content="The gate is shut."))),
        Operation("remember often", "plain", _write_often),
        Operation(
            "remember at once", "plain",
            lambda lore, files: lore.remember(Draft(content="The gate is open.", embed_now=True)),
        ),
        Operation(
            "remember all", "plain",
            lambda lore, files: lore.remember_all([Draft(content=f"Gate {n} is shut.") for n in range(20)]),
        ),
        Operation(
            "revise", "plain",
            lambda lore, files: lore.revise(Revision(id=the(lore, "deploy key"), content="It is lost.")),
        ),
        Operation(
            "supersede", "plain",
            lambda lore, files: lore.supersede(the(lore, "port of Billing"), the(lore, "hosted on host-12")),
        ),
        Operation(
            "link", "plain",
            lambda lore, files: lore.link([Tie(source=the(lore, "Anna"), target=the(lore, "Monday"))]),
        ),
        Operation("unlink", "plain", _unlink),
        Operation("forget", "plain", lambda lore, files: lore.forget([the(lore, "old cache")])),
        Operation(
            "restore", "plain", lambda lore, files: lore.restore([the(lore, "that is forgotten", True)])
        ),
        Operation("forget a session", "plain", _forget_session),
        Operation("forget and restore a session", "plain", _restore_session),
        Operation(
            "rate", "plain",
            lambda lore, files: lore.rate([Rating(id=the(lore, "tabs"), useful=True, confidence=9)]),
        ),
        Operation("reflect", "plain", _reflect),
        Operation(
            "observe", "plain",
            lambda lore, files: lore.observe([Subject(name="Boat", observations=("fast", "small"))]),
        ),
        Operation("relate", "plain", _relate),
        Operation(
            "retract", "plain",
            lambda lore, files: lore.retract([Subject(name="Boat", observations=("red",))]),
        ),
        Operation("split", "plain", _split),
        Operation("adopt", "plain", lambda lore, files: lore.import_graph(files / "memory.jsonl")),
        Operation(
            "ingest", "plain",
            lambda lore, files: list(lore.ingest(files / "two.jsonl", SOURCES["claude-code"])),
        ),
        Operation("ingest what has grown", "plain", _ingest_grown),
        Operation("import", "plain", lambda lore, files: list(lore.import_file(files / "notes.md"))),
        Operation("consolidate", "plain", lambda lore, files: consolidate(lore), repeatable=False),
        Operation("search", "plain", lambda lore, files: lore.search(Query(text="ferry"))),
        Operation("read", "plain", lambda lore, files: lore.read(the(lore, "deploy key"))),
        Operation("embed", "plain", _embed),
        Operation("rebuild", "plain", lambda lore, files: lore.rebuild()),
        Operation("scrub", "secrets", lambda lore, files: lore.store.scrub(False, _quiet)),
        Operation("back up", "plain", lambda lore, files: lore.backup(files.parent / "copy.db")),
    )
}  # fmt: skip
