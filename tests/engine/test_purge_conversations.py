"""purge of conversations: what was read from a transcript leaves every file of both databases, and reading
goes on."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from lore import Filter, Lore, Unavailable
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.ingest import Ingested
from lore.model import Memory
from lore.store import open_store
from lore.transcripts.sources import SOURCES
from tests.postgres import ROLE

SESSION = "0d6f2f0b-8c11-4c55-9a5e-7b0c6b1e5d0f"
OTHER = "quetzal"
TURNS = Filter(kinds=frozenset({"turn", "session"}))
Files = Callable[[], Iterator[Path]]
Line = Mapping[str, Any]


def of_server(url: str) -> Iterator[Path]:
    """Every file of a PostgreSQL server as its next start would find it, but for the write-ahead log."""
    folder = Path(url.partition("host=")[2])
    with psycopg.connect(url.replace(f"{ROLE}@", "postgres@"), autocommit=True) as admin:
        admin.execute("CHECKPOINT")
    kept_by_server = folder / "data" / "pg_wal"
    return (path for path in (folder / "data").rglob("*") if kept_by_server not in path.parents)


@pytest.fixture(params=["sqlite", "postgresql"])
def kept(request: pytest.FixtureRequest, config: Config, clock: Clock) -> Iterator[tuple[Lore, Files]]:
    """An empty Lore, and what lists every file in which its database keeps anything."""
    url = request.getfixturevalue("postgres") if request.param == "postgresql" else ""
    lore = wire(replace(config, database_url=url), embedder=HashEmbedder(), clock=clock)
    yield lore, (lambda: of_server(url)) if url else (lambda: config.data_dir.rglob("*"))
    lore.close()


def holding(word: str, files: Files) -> list[str]:
    """The files that hold a word, in whatever case."""
    needle, found = word.lower().encode(), []
    for path in files():
        if path.is_file():
            try:
                content = path.read_bytes()
            except FileNotFoundError:
                continue
            found += [str(path)] if needle in content.lower() else []
    return found


def line(number: int, role: str, *blocks: Line) -> Line:
    message = {"role": role, "content": list(blocks), "id": f"m{number}"}
    stamp = f"2026-01-01T00:00:{number:02}.000Z"
    own = {"type": role, "uuid": f"u{number}", "sessionId": SESSION, "cwd": "/gone"}
    return {**own, "timestamp": stamp, "message": message}


def said(number: int, role: str, text: str) -> Line:
    return line(number, role, {"type": "text", "text": text})


def call(id: str, command: str) -> Line:
    return {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}


def conversation(word: str) -> list[Line]:
    """A conversation about a word: said, thought, called with, answered, and called with again."""
    return [
        said(1, "user", f"The {OTHER} is ours. Remember that."),
        line(2, "assistant", {"type": "thinking", "thinking": f"So {word} it is."},
             {"type": "text", "text": f"I look for {word}."}),
        line(3, "assistant", call("t1", f"find {word}")),
        line(4, "user", {"type": "tool_result", "tool_use_id": "t1", "content": f"{word} was found"}),
        line(5, "assistant", call("t2", f"open {word}")),
        said(6, "user", f"Is {word} there?"),
    ]  # fmt: skip


def read(lore: Lore, file: Path, *lines: Line) -> None:
    with file.open("a") as transcript:
        transcript.writelines(json.dumps(one) + "\n" for one in lines)
    sum(lore.ingest(file, SOURCES["claude-code"]), Ingested())


def turns(lore: Lore) -> list[Memory]:
    return lore.select(TURNS, 100)


def test_no_file_holds_an_erased_conversation(
    kept: tuple[Lore, Files], tmp_path_factory: pytest.TempPathFactory
) -> None:
    lore, files = kept
    word = f"zan{uuid4().hex}"
    transcript = tmp_path_factory.mktemp("elsewhere") / f"{SESSION}.jsonl"
    read(lore, transcript, *conversation(word))
    lore.embed_pending()
    lore.search(OTHER)
    assert holding(word, files)
    [session] = [one for one in turns(lore) if one.kind == "session"]
    lore.forget([session.id])
    lore.purge([session.id])
    assert holding(word, files) == []
    read(lore, transcript, said(7, "user", f"What became of the {OTHER}?"))
    assert f"What became of the {OTHER}?" in [one.content for one in turns(lore)]


def test_no_file_holds_an_erased_turn_although_the_conversation_goes_on(
    kept: tuple[Lore, Files], tmp_path_factory: pytest.TempPathFactory
) -> None:
    lore, files = kept
    word = f"zan{uuid4().hex}"
    transcript = tmp_path_factory.mktemp("elsewhere") / f"{SESSION}.jsonl"
    read(lore, transcript, *conversation(word), said(7, "user", f"Feed the {OTHER}."))
    lore.embed_pending()
    doomed = [one.id for one in turns(lore) if word in one.content]
    lore.forget(doomed)
    lore.purge(doomed)
    assert holding(word, files) == []
    lore.embed_pending()
    read(lore, transcript, said(8, "user", f"The {OTHER} is fed."))
    texts = [one.content for one in turns(lore) if one.kind == "turn"]
    assert texts[0] == f"The {OTHER} is fed."
    assert len(texts) == 3
    assert [finding for finding in lore.check() if not finding.passed] == []


def test_a_role_that_may_not_rewrite_tables_is_told_before_anything_is_erased(
    postgres: str, config: Config, clock: Clock
) -> None:
    server_url = postgres.replace(f"{ROLE}@", "lore_served@")
    open_store(postgres).close()
    with psycopg.connect(postgres.replace(f"{ROLE}@", "postgres@"), autocommit=True) as admin:
        admin.execute("DROP ROLE IF EXISTS lore_served")
        admin.execute("CREATE ROLE lore_served LOGIN NOSUPERUSER NOBYPASSRLS")
        admin.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO lore_served")
        admin.execute("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO lore_served")
        lore = wire(replace(config, database_url=server_url), embedder=HashEmbedder(), clock=clock)
        try:
            word = f"zan{uuid4().hex}"
            id = lore.remember(f"Deploy to {word}").id
            lore.forget([id])
            with pytest.raises(Unavailable, match=r"GRANT MAINTAIN ON ALL TABLES .* TO lore_served"):
                lore.purge([id])
            assert lore.restore([id]) == [id]
            lore.forget([id])
            admin.execute("GRANT MAINTAIN ON ALL TABLES IN SCHEMA public TO lore_served")
            admin.execute("GRANT MAINTAIN ON pg_catalog.pg_statistic TO lore_served")
            assert lore.purge([id]).ids == (id,)
            assert holding(word, lambda: of_server(postgres)) == []
        finally:
            lore.close()
            admin.execute("DROP OWNED BY lore_served")
            admin.execute("DROP ROLE lore_served")
