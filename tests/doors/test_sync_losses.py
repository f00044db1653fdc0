"""Sync loses nothing and brings nothing back: other versions, restored stores, clocks, erased memories."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import httpx2
import pytest
from backports import zstd
from click.testing import CliRunner

from bench.cutting_proxy import CuttingProxy, cutting_proxy
from lore import Draft, Filter, Lore, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.doors.cli import cli
from lore.doors.http.tokens import Grant, create
from lore.doors.remote_http import RemoteServer, connect
from lore.doors.sync import Exchanged, exchange, push
from lore.doors.sync_format import change_document
from lore.doors.sync_requests import Connection
from lore.embed.hashing import HashEmbedder
from lore.engine.push import Sent
from lore.model import STORED_TRUST, Revision
from lore.store import FileStore
from lore.store.sqlite import backups
from lore.transcripts.turns import Turn
from tests.doors.http.loopback import serving
from tests.doors.http.tokens import token_of

TURNS = Filter(kinds=frozenset({"turn"}))
EVERYTHING = Filter(forgotten=True, superseded=True, namespaces=frozenset({"team"}))


@dataclass
class Machine:
    """A store with the namespace `team`. port: of the server that it exchanges with."""

    lore: Lore
    name: str
    token: str = ""

    @property
    def team(self) -> Lore:
        return self.lore.for_namespace("team")

    def connection(self, port: int, client: httpx2.Client) -> Connection:
        return Connection(self.remote(port), client)

    def remote(self, port: int) -> RemoteServer:
        return RemoteServer(url=f"http://127.0.0.1:{port}", client_id=self.name, token=self.token)

    def exchange(self, port: int) -> Exchanged:
        with connect(self.remote(port)) as client:
            return exchange(self.lore, self.connection(port, client), "team")

    def push(self, port: int) -> int:
        with connect(self.remote(port)) as client:
            return push(self.lore, self.connection(port, client), lambda folder: False, keep_turns=True).turns

    def texts(self) -> list[str]:
        return sorted(one.content for one in self.team.select(EVERYTHING, 1_000))


def let_in(server: Machine, *clients: Machine) -> None:
    """Give each of these a token of the server's store."""
    for client in clients:
        client.token = token_of(server.lore, client.name)


@contextmanager
def machine(folder: Path, name: str, clock: Clock, database: str = "") -> Iterator[Machine]:
    config = Config(data_dir=folder / name, database_url=database)
    lore = wire(config, embedder=HashEmbedder(), clock=clock)
    try:
        yield Machine(lore, name)
    finally:
        lore.close()


@dataclass
class Office:
    """A server, two machines, and the port."""

    server: Machine
    one: Machine
    two: Machine
    port: int

    def settle(self) -> None:
        """Exchange until everybody has heard of everything."""
        for client in (self.one, self.two) * 2:
            client.exchange(self.port)


@pytest.fixture(params=["sqlite", "postgresql"])
def office(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Office]:
    database = request.getfixturevalue("postgres") if request.param == "postgresql" else ""
    with (
        machine(tmp_path, "server", clock, database) as server,
        machine(tmp_path, "one", clock) as one,
        machine(tmp_path, "two", clock) as two,
        serving(server.lore, Config(data_dir=tmp_path / "serving")) as port,
    ):
        let_in(server, one, two)
        yield Office(server, one, two, port)


def erase(lore: Lore, id: str) -> None:
    lore.forget([id])
    lore.purge([id])


# --- erased for good
def test_what_one_store_erases_is_erased_everywhere_and_no_edit_brings_it_back(
    office: Office, clock: Clock
) -> None:
    secret = office.one.team.remember("The safe opens with walrus").id
    kept = office.one.team.remember("The safe is green").id
    office.settle()
    clock.sleep(seconds=5)
    erase(office.one.team, secret)
    clock.sleep(seconds=5)
    office.two.team.revise(Revision(id=secret, content="The safe opens with walrus9"))
    office.two.exchange(office.port)
    office.settle()
    for each in (office.server, office.one, office.two):
        assert each.texts() == ["The safe is green"]
        assert list(each.team.store.reader("team").purged([secret, kept])) == [secret]
    again = office.two.exchange(office.port)
    assert (again.sent, again.received, again.refused) == (0, 0, {})


def test_a_tombstone_arrives_before_the_memory_that_it_is_about(office: Office) -> None:
    secret = office.one.team.remember("walrus").id
    office.settle()
    erase(office.server.team, secret)
    office.one.exchange(office.port)
    with connect(office.two.remote(office.port)) as client:  # a third machine kept a copy in an older format
        change = old_document(office.two.team, secret)
        answer = client.post("/changes?namespace=team", json={"client_id": "old", "changes": [change]}).json()
    assert answer["newer"] == [], "an older Lore does not know tombstones"
    office.settle()
    assert office.server.texts() == office.one.texts() == office.two.texts() == []


def test_a_turn_or_conversation_that_was_erased_does_not_come_back_by_a_push(office: Office) -> None:
    turns = [
        Turn(
            uuid=f"{session}{number}",
            session=session,
            role="user",
            text=f"{session} {number}",
            at=9.0 + number,
        )
        for session in ("a", "b")
        for number in range(3)
    ]
    office.one.lore.keep_pushed([Sent("codex", one) for one in turns])
    office.one.push(office.port)
    server = office.server.lore
    (turn,) = [one for one in server.select(TURNS, 99) if one.content == "a 1"]
    erase(server, turn.id)
    (session,) = [
        one for one in server.select(Filter(kinds=frozenset({"session"})), 9) if one.session == "one:b"
    ]
    server.forget_sessions([session.id]) if hasattr(server, "forget_sessions") else server.forget(
        [session.id]
    )
    server.purge([session.id])
    mark = office.one.lore.sync_mark(office.one.remote(office.port).url, "push")
    office.one.lore.move_sync_mark(replace(mark, cursor=""))
    assert office.one.push(office.port) == 6
    assert sorted(one.content for one in server.select(TURNS, 99) if one.session == "one:a") == ["a 0", "a 2"]
    assert server.count(Filter(kinds=frozenset({"session"}))) == 1


def test_who_may_only_write_erases_what_it_wrote_and_forgets_the_rest(tmp_path: Path, clock: Clock) -> None:
    with machine(tmp_path, "server", clock) as server, machine(tmp_path, "one", clock) as one:
        one.token, _ = create(server.lore.store, Grant(name="ada", namespaces=("team",)), clock())
        theirs = server.team.remember("Written by others").id
        mine = one.team.remember("Written by Ada").id
        with serving(server.lore, Config(data_dir=tmp_path / "serving")) as port:
            one.exchange(port)
            erase(one.team, theirs)
            erase(one.team, mine)
            refused = one.exchange(port).refused
        assert list(refused) == [theirs]
        assert "only its author or an administrator" in refused[theirs]
        assert server.texts() == ["Written by others"]
        assert server.team.count(Filter()) == 0, "it is forgotten, and can be restored"
        assert one.texts() == []


def test_the_history_of_an_erased_memory_says_when_it_was_erased(lore: Lore, config: Config) -> None:
    id = lore.remember("walrus").id
    erase(lore, id)
    lore.close()
    run = [f"--data-dir={config.data_dir}", "read", "--history", id]
    shown = CliRunner().invoke(cli, run, catch_exceptions=False)
    assert shown.exit_code == 0
    assert f"Memory {id} was erased for good" in shown.output
    assert "purge" in shown.output
    assert "walrus" not in shown.output


# --- restored stores
def test_a_server_restored_from_an_older_backup_gets_back_what_it_lost(
    tmp_path: Path, clock: Clock, address: CuttingProxy
) -> None:
    file, port = Config(data_dir=tmp_path / "server").database, port_of(address)
    with machine(tmp_path, "one", clock) as one, machine(tmp_path, "two", clock) as two:
        with serving_at(address, tmp_path, clock) as server:
            let_in(server, one, two)
            one.team.remember("before")
            one.exchange(port)
            two.exchange(port)
            assert isinstance(server.lore.store, FileStore)
            server.lore.store.backup(tmp_path / "copy.db")
            for number in range(20):
                one.team.remember(f"lost {number}")
            add_turns(one.lore, 5)
            one.exchange(port)
            one.push(port)
            two.exchange(port)
        backups.restore(tmp_path / "copy.db", file)
        with serving_at(address, tmp_path, clock) as server:
            for number in range(40):
                server.team.remember(f"later {number}")
            for client in (two, one, two):
                client.exchange(port)
            one.push(port)
            assert len(server.texts()) == 61
            assert server.texts() == one.texts() == two.texts()
            assert server.lore.count(TURNS) == 5


@pytest.fixture
def address() -> Iterator[CuttingProxy]:
    """The one address of a server that is restored or upgraded: clients know it by that."""
    with cutting_proxy(0) as proxy:
        yield proxy


def port_of(address: CuttingProxy) -> int:
    return int(address.url.rpartition(":")[2])


@contextmanager
def serving_at(address: CuttingProxy, folder: Path, clock: Clock) -> Iterator[Machine]:
    with (
        machine(folder, "server", clock) as server,
        serving(server.lore, Config(data_dir=folder / "serving")) as address.target,
    ):
        yield server


def add_turns(lore: Lore, count: int) -> None:
    turns = [Turn(uuid=f"t{n}", session="s", role="user", text=f"turn {n}", at=9.0 + n) for n in range(count)]
    lore.keep_pushed([Sent("codex", one) for one in turns])


# --- an older and a newer version of the format
def old_document(lore: Lore, id: str, *left_out: str, **more: Any) -> dict[str, Any]:
    """A memory as a Lore sends it that does not know some fields, or knows more of them."""
    page = documents_of(lore)
    (found,) = [one for one in page if one["id"] == id]
    fields = {name: value for name, value in found["fields"].items() if name not in left_out}
    stamps = {name: value for name, value in found["stamps"].items() if name not in left_out}
    return found | {"fields": fields | more, "stamps": stamps | dict.fromkeys(more, 5.0)}


def documents_of(lore: Lore) -> list[dict[str, Any]]:
    return [change_document(one) for one in lore.changes("", 1_000).changes]


def test_a_machine_without_a_field_and_one_with_a_further_field_are_both_heard(
    office: Office, clock: Clock
) -> None:
    id = office.one.team.remember(Draft(content="The harbour", importance=0.9, title="old")).id
    office.one.exchange(office.port)
    clock.sleep(seconds=5)
    office.one.team.revise(Revision(id=id, title="new"))
    older = old_document(office.one.team, id, "importance", "channel", "trust")
    unknown = {**old_document(office.one.team, id, "importance", "status", mood="glad"), "id": "1" * 32}
    with connect(office.one.remote(office.port)) as client:
        body = {"client_id": "old", "changes": [older, unknown]}
        answer = client.post("/changes?namespace=team", json=body).json()
    assert (answer["refused"], answer["format"]) == ([], 2)
    known = office.server.team.read(id).memory
    assert (known.title, known.importance) == ("new", 0.9)
    assert office.server.team.read("1" * 32).memory.importance == Draft(content="").importance
    office.settle()
    assert office.one.texts() == office.two.texts() == ["The harbour", "The harbour"]
    clock.sleep(seconds=5)
    office.two.team.revise(Revision(id="1" * 32, importance=0.1))
    office.settle()
    assert office.server.team.read("1" * 32).memory.importance == 0.1


class Older(BaseHTTPRequestHandler):
    """A server of a Lore that refuses every memory, because it lacks a field."""

    def do_GET(self) -> None:
        self._answer({"changes": [], "cursor": "", "more": False})

    def do_POST(self) -> None:
        body = json.loads(zstd.decompress(self.rfile.read(int(self.headers["content-length"]))))
        refused = [{"id": one["id"], "why": "the fields of a memory lack mood"} for one in body["changes"]]
        self._answer({"status": "ok", "acknowledged": [], "newer": [], "refused": refused})

    def _answer(self, document: dict[str, Any]) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_what_an_older_server_refused_arrives_when_it_is_upgraded(
    tmp_path: Path, clock: Clock, address: CuttingProxy
) -> None:
    port = port_of(address)
    with machine(tmp_path, "one", clock) as one:
        ids = [one.team.remember(f"memory {number}").id for number in range(48)]
        with ThreadingHTTPServer(("127.0.0.1", 0), Older) as older:
            thread = Thread(target=older.serve_forever)
            thread.start()
            try:
                address.target = older.server_port
                assert sorted(one.exchange(port).refused) == sorted(ids)
                assert sorted(one.exchange(port).refused) == sorted(ids), "they are tried again"
            finally:
                older.shutdown()
                thread.join()
        with serving_at(address, tmp_path, clock) as server:
            let_in(server, one)
            assert one.exchange(port).refused == {}
            assert len(server.texts()) == 48
        assert one.team.sync_mark(address.url, "send").held == ()


# --- clocks
def test_a_change_of_the_future_waits_and_is_taken_when_its_day_has_come(
    office: Office, clock: Clock
) -> None:
    office.one.team.remember("now")
    parent = office.one.team.remember("then").id
    clock.sleep(days=3)
    office.one.team.revise(Revision(id=parent, content="in three days"))
    clock.sleep(days=-3)
    tied = office.one.team.remember("tied").id
    office.one.team.link([Tie(source=tied, target=parent)])
    for _ in range(2):
        assert parent in office.one.exchange(office.port).refused
    assert office.server.texts() == ["now", "tied"]
    clock.sleep(days=3)
    assert office.one.exchange(office.port).refused == {}
    office.two.exchange(office.port)
    assert office.server.texts() == office.two.texts() == ["in three days", "now", "tied"]
    assert [link.target for link in office.two.team.links([tied])] == [parent]


def test_a_change_that_this_machine_could_not_take_is_asked_for_again(office: Office, clock: Clock) -> None:
    clock.sleep(days=3)
    id = office.server.team.remember("of tomorrow").id
    clock.sleep(days=-3)
    office.server.team.remember("of today")
    assert list(office.one.exchange(office.port).refused) == [id]
    assert office.one.texts() == ["of today"]
    clock.sleep(days=3)
    assert office.one.exchange(office.port).refused == {}
    assert office.one.texts() == ["of today", "of tomorrow"]


# --- several members
def test_members_cannot_push_into_the_turns_of_each_other(tmp_path: Path, clock: Clock) -> None:
    turn = {"id": "1", "session": "s", "role": "user", "at": 9.0, "source": "codex"}
    with machine(tmp_path, "server", clock) as server:
        grants = [Grant(name=name, namespaces=("team",)) for name in ("mallory", "ada")]
        tokens = [create(server.lore.store, grant, clock())[0] for grant in grants]
        with serving(server.lore, Config(data_dir=tmp_path / "serving")) as port:
            for token, text in zip(tokens * 2, ("planted", "said", "planted again", "said"), strict=True):
                remote = RemoteServer(url=f"http://127.0.0.1:{port}", client_id="laptop", token=token)
                with connect(remote) as client:
                    body = {"client_id": "laptop", "turns": [{**turn, "text": text}]}
                    assert client.post("/push", json=body).json()["staged"] == 1
        said = {one.author: one.content for one in server.team.select(TURNS, 9)}
        assert said == {"mallory": "planted again", "ada": "said"}


def test_what_a_peer_sends_has_at_most_the_trust_of_what_a_user_stores(office: Office) -> None:
    id = office.one.team.remember("walrus").id
    sent = [
        old_document(office.one.team, id, trust=trust) | {"id": f"{at}" * 32}
        for at, trust in ((1, 99.0), (2, 0.3))
    ]
    with connect(office.one.remote(office.port)) as client:
        client.post("/changes?namespace=team", json={"client_id": "odd", "changes": sent})
    assert [office.server.team.read(f"{at}" * 32).memory.trust for at in (1, 2)] == [STORED_TRUST, 0.3]
