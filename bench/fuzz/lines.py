"""lines: damaged transcript lines of every client, and damaged exports, through the whole ingestion."""

import json
import re
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import apsw

from bench.fuzz.chaos import Chaos
from lore.config import Config
from lore.connecting import wire
from lore.engine import Lore
from lore.errors import LoreError
from lore.transcripts.sources import SOURCES
from lore.transcripts.turns import Source

LINES_PER_FILE = 2_000
HANG_SECONDS = 60.0
"""Processor time for one file."""
FIXTURES = Path(__file__).parents[2] / "tests" / "transcripts" / "fixtures"
BEGINNINGS = {"claude-code": "claude-", "codex": "codex-", "gemini": "gemini-", "cursor-cli": "cursor-cli-"}
NAMES = re.compile(rb"\b[0-9a-f]{8}-")
BUBBLE = {
    "type": 1,
    "bubbleId": "b",
    "text": "the ferry leaves",
    "createdAt": "2026-01-01T00:00:00Z",
    "toolFormerData": {},
}
COMPOSER = {
    "composerId": "c",
    "name": "ferry",
    "createdAt": 1_794_777_480_000,
    "lastUpdatedAt": 1_794_777_480_000,
    "fullConversationHeadersOnly": [{"bubbleId": f"b{at}", "type": 1 + at % 2} for at in range(5)],
}
MESSAGE = {"role": "user", "time": {"created": 1}, "path": {"cwd": "/gone"}, "modelID": "m"}
PARTS = [
    {"type": "text", "text": "the ferry leaves"},
    {
        "type": "tool",
        "tool": "bash",
        "state": {"status": "completed", "input": {"command": "ls"}, "output": "a"},
    },
]
EXPORTED: dict[str, Any] = {
    "claude-ai": {"uuid": "u", "name": "n", "created_at": "2026-01-01T00:00:00Z", "chat_messages": [
        {"uuid": "m", "sender": "human", "text": "hello", "created_at": "2026-01-01T00:00:00Z",
         "content": [{"type": "text", "text": "hello"}]}]},
    "chatgpt": {"id": "c", "title": "t", "create_time": 1.0, "current_node": "b", "mapping": {
        "a": {"id": "a", "parent": None, "children": ["b"], "message": None},
        "b": {"id": "b", "parent": "a", "children": [], "message": {
            "id": "b", "author": {"role": "user"}, "create_time": 2.0,
            "content": {"content_type": "text", "parts": ["hello"]}}}}},
    "jsonl": {"role": "user", "content": "hello", "timestamp": "2026-01-01T00:00:00Z"},
}  # fmt: skip


@dataclass(slots=True)
class Figures:
    """What came of the files of one client."""

    lines: int = 0
    turns: int = 0
    refused: list[str] = field(default_factory=list)
    crashes: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)


def fuzz_lines(lines: int, seed: int) -> dict[str, Figures]:
    """About `lines` lines, spread over all clients and formats."""
    kinds = [*SOURCES, *EXPORTED]
    found = {kind: Figures() for kind in kinds}
    signal.signal(signal.SIGVTALRM, _hung)
    for number, kind in enumerate(kinds):
        wanted = lines // len(kinds)
        for file in range(-(-wanted // LINES_PER_FILE)):
            chaos = Chaos(seed * 1_000_000 + number * 10_000 + file)
            count = min(LINES_PER_FILE, wanted - file * LINES_PER_FILE)
            with tempfile.TemporaryDirectory(prefix="lore-") as folder:
                _read(kind, Path(folder), chaos, count, found[kind], f"{kind}, file {file}")
    return found


def _read(kind: str, folder: Path, chaos: Chaos, count: int, figures: Figures, name: str) -> None:
    """Write one file and read it into a store of its own."""
    config = Config(db_path=folder / "memory.db", data_dir=folder, embedding_model="hash")
    with closing(wire(config)) as lore:
        reading = _written(kind, folder, chaos, count, lore)
        figures.lines += count
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG_SECONDS)
        try:
            figures.turns += sum(done.turns for done in reading())
        except TimeoutError:
            figures.hangs.append(name)
        except LoreError as error:
            figures.refused.append(f"{name}: {str(error).rpartition(': ')[2]}"[:300])
        except Exception as error:  # that is what is looked for
            figures.crashes.append(f"{name}: {error!r}"[:300])
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)


def _written(kind: str, folder: Path, chaos: Chaos, count: int, lore: Lore) -> Callable[[], Iterator[Any]]:
    if kind in EXPORTED:
        path = folder / f"{kind}.json"
        path.write_bytes(_export(kind, chaos, count))
        return lambda: lore.import_file(path)
    source = SOURCES[kind]
    path = folder / "home" / source.folder / source.below / "p" / "chats" / _name(source)
    path.parent.mkdir(parents=True)
    if source.log_suffix:
        _database(kind, path, chaos, count)
    else:
        sample = _sample(kind)
        path.write_bytes(b"\n".join(_line(chaos, sample) for _ in range(count)) + b"\n")
    return lambda: lore.ingest(path, source)


def _name(source: Source) -> str:
    return source.file_names[0].replace("*", "session-1")


def _sample(kind: str) -> Sequence[bytes]:
    files = sorted(FIXTURES.glob(f"{BEGINNINGS[kind]}*.jsonl"))
    return [line for file in files for line in file.read_bytes().splitlines()]


def _export(kind: str, chaos: Chaos, count: int) -> bytes:
    sample = json.dumps(EXPORTED[kind]).encode()
    parts = [
        _renamed(sample if number % 3 == 0 else chaos.altered(sample), number) for number in range(count)
    ]
    return b"\n".join(parts) + b"\n" if kind == "jsonl" else b"[" + b",\n".join(parts) + b"]"


def _renamed(line: bytes, number: int) -> bytes:
    return re.sub(rb'"([abcmu])"', rb'"\g<1>%d"' % number, line)


def _line(chaos: Chaos, sample: Sequence[bytes]) -> bytes:
    """A line of a real transcript, often under other names, so that it is not one that was read before."""
    line = chaos.chance.choice(sample)
    if chaos.chance.random() < 0.5:
        line = NAMES.sub(lambda _: b"%08x-" % chaos.chance.randrange(1 << 32), line)
    return chaos.damaged(line)


def _database(kind: str, path: Path, chaos: Chaos, count: int) -> None:
    """A client's database whose values are damaged, a row for a line."""
    with closing(apsw.Connection(str(path))) as db, db:
        if kind == "cursor-ide":
            db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
            for number in range(count):
                composer, bubble = divmod(number, 6)
                name = f"c{composer}:c{composer}b{bubble - 1}"
                key = f"bubbleId:{name}" if bubble else f"composerData:c{composer}"
                sample = json.dumps(BUBBLE if bubble else COMPOSER).replace('"b', f'"c{composer}b').encode()
                value = chaos.damaged(sample.replace(b"c%dbubble" % composer, b"bubble"))
                db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, value))
            return
        for _ in db.execute((FIXTURES / "opencode-1.18.33.sql").read_text()):
            pass
        db.execute("PRAGMA foreign_keys = OFF")
        [(session,)] = db.execute("SELECT id FROM session LIMIT 1")
        for number in range(count // 2):
            message, part = (
                chaos.damaged(json.dumps(MESSAGE).encode()),
                json.dumps(chaos.chance.choice(PARTS)).encode(),
            )
            db.execute(
                "INSERT INTO message VALUES (?, ?, ?, ?, CAST(? AS TEXT))",
                (f"m{number}", session, number, number, message),
            )
            row = (f"p{number}", f"m{number}", session, number, number, chaos.damaged(part))
            db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, CAST(? AS TEXT))", row)


def _hung(signum: int, frame: FrameType | None) -> None:
    raise TimeoutError
