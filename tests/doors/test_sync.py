"""Sync: every turn reaches the server once, whatever breaks; only what may leave the machine does."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner

from bench.cutting_proxy import STAGES, CuttingProxy, cutting_proxy
from lore import Draft, Filter, Invalid, Lore, Unavailable
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.doors.cli import cli
from lore.doors.http.tokens import Grant, create
from lore.doors.remote_http import TOKEN_FILE, RemoteServer, connect, remote_server
from lore.doors.sync import Exchanged, Pushed, exchange, push
from lore.doors.sync_requests import Connection
from lore.embed.hashing import HashEmbedder
from lore.engine.push import Sent
from lore.model import PRIVATE, Revision
from lore.transcripts.turns import Heading, Turn, TurnOrHeading
from tests.doors.http.loopback import serving
from tests.doors.http.tokens import token_of

TURNS = Filter(kinds=frozenset({"turn"}))


def add_turns(lore: Lore, count: int, session: str = "s", folder: str = "") -> None:
    turn = Turn(uuid="", session=session, role="user", text="yes", folder=folder)
    turns = [replace(turn, uuid=f"{session}{number}", at=9.0 + number) for number in range(count)]
    keep(lore, Heading(session=session, title="Harbour"), *turns)


def keep(lore: Lore, *entries: TurnOrHeading) -> None:
    lore.keep_pushed([Sent("codex", one) for one in entries])


@dataclass
class Ends:
    """A machine, and a server behind a proxy."""

    here: Lore
    there: Lore
    proxy: CuttingProxy
    token: str
    ignored: frozenset[str] = frozenset()

    def remote(self) -> RemoteServer:
        return RemoteServer(url=self.proxy.url, client_id="laptop", token=self.token)

    def push(self, keep_turns: bool = True) -> Pushed:
        remote = self.remote()
        with connect(remote) as client:
            connection = Connection(remote, client)
            return push(self.here, connection, self.ignored.__contains__, keep_turns=keep_turns)

    def exchange(self, namespace: str = "team") -> Exchanged:
        remote = self.remote()
        with connect(remote) as client:
            return exchange(self.here, Connection(remote, client), namespace)

    def begin_again(self) -> None:
        self.here.move_sync_mark(replace(self.here.sync_mark(self.proxy.url, "push"), cursor=""))

    def agree(self) -> bool:
        """Whether the server has each turn of this machine once."""
        sent = sorted(f"laptop:{one.id}" for one in self.here.select(TURNS, 10_000))
        return sent == sorted(str(one.metadata["uuid"]) for one in self.there.select(TURNS, 10_000))


@pytest.fixture
def ends(lore: Lore, config: Config, tmp_path: Path, clock: Clock) -> Iterator[Ends]:
    there = wire(Config(data_dir=tmp_path / "server"), embedder=HashEmbedder(), clock=clock)
    with serving(there, config) as port, cutting_proxy(port) as proxy:
        yield Ends(lore, there, proxy, token_of(there))
    there.close()


def test_every_turn_reaches_the_server_once_although_the_connection_is_cut_at_every_stage(ends: Ends) -> None:
    add_turns(ends.here, 450)
    for stage in STAGES:
        ends.proxy.cut = stage
        with pytest.raises(Unavailable):
            ends.push()
    assert ends.push().turns
    assert ends.agree()
    for _ in range(2):
        ends.begin_again()
        assert ends.push().turns == 450
    assert ends.agree()
    assert ends.push() == Pushed()
    (session,) = ends.there.select(Filter(kinds=frozenset({"session"})), 9)
    assert (session.title, session.session, session.source) == ("Harbour", "laptop:s", "codex")


def test_a_turn_that_changes_and_a_session_that_gets_a_title_follow(ends: Ends) -> None:
    add_turns(ends.here, 2)
    ends.push()
    changed = Turn(uuid="s1", session="s", role="user", text="no", at=10.0)
    keep(ends.here, Heading(session="s", title="Vault"), changed)
    assert ends.push().turns == 1
    assert sorted(one.content for one in ends.there.select(TURNS, 9)) == ["no", "yes"]
    assert [one.title for one in ends.there.select(Filter(kinds=frozenset({"session"})), 9)] == ["Vault"]


def test_a_server_with_a_smaller_limit_gets_smaller_requests(ends: Ends, lore: Lore, tmp_path: Path) -> None:
    add_turns(lore, 40)
    long = Turn(uuid="long", session="s", role="user", text="excerpt", full="many words " * 5_000, at=99.0)
    keep(lore, long)
    with serving(ends.there, Config(data_dir=tmp_path, body_bytes=3_000)) as port:
        ends.proxy.target = port
        assert ends.push().refused == {}
    assert ends.agree()


def test_only_what_may_leave_the_machine_does(ends: Ends) -> None:
    add_turns(ends.here, 1, "kept", folder="/work/open")
    add_turns(ends.here, 1, "ignored", folder="/work/secret")
    add_turns(ends.here.for_namespace("other"), 1, "elsewhere")
    add_turns(ends.here, 1, "forgotten")
    ends.here.forget([one.id for one in ends.here.select(TURNS, 9) if one.session == "forgotten"])
    ends.ignored = frozenset({"/work/secret"})
    ends.push()
    assert [one.session for one in ends.there.select(TURNS, 9)] == ["laptop:kept"]


def test_turns_that_are_not_kept_are_forgotten_when_the_server_has_them(ends: Ends) -> None:
    add_turns(ends.here, 3)
    ends.proxy.cut = "in answer"
    with pytest.raises(Unavailable):
        ends.push(keep_turns=False)
    assert ends.here.count(TURNS) == 3
    ends.push(keep_turns=False)
    assert (ends.here.count(TURNS), ends.there.count(TURNS)) == (0, 3)
    gone = [one.id for one in ends.here.select(replace(TURNS, forgotten=True), 9)]
    assert len(ends.here.restore(gone)) == 3
    ends.push(keep_turns=False)
    assert ends.there.count(TURNS) == 3


def test_a_turn_that_grows_after_it_left_or_on_its_way_reaches_the_server_whole(ends: Ends) -> None:
    turn = Turn(uuid="s0", session="s", role="assistant", text="The harbour", at=10.0)
    keep(ends.here, turn)
    page = ends.here.outgoing("", lambda folder: False)
    keep(ends.here, replace(turn, text="The harbour is"))
    mark = replace(ends.here.sync_mark(ends.proxy.url, "push"), cursor=page.cursor)
    ends.here.move_sync_mark(mark, [one.memory for one in page.turns])
    for text, full in (("The harbour is", ""), ("The harbour is closed", "The harbour is closed on Monday")):
        keep(ends.here, replace(turn, text=text, full=full))
        assert ends.push(keep_turns=False).turns == 1
        (there,) = ends.there.select(TURNS, 9)
        whole = ends.there.store.reader(ends.there.namespace, ends.there.tenant).full_texts([there.id])
        assert (there.content, whole.get(there.id, "")) == (text, full)
        assert ends.here.count(TURNS) == 0
    keep(ends.here, replace(turn, text=text, full=full))
    assert ends.push(keep_turns=False) == Pushed()


def test_a_mirrored_namespace_is_found_offline_and_changes_of_both_sides_meet(
    ends: Ends, clock: Clock
) -> None:
    here, there = ends.here.for_namespace("team"), ends.there.for_namespace("team")
    theirs = there.remember("The vault is below the harbour").id
    mine = here.remember(Draft(content="The key is on the ship", title="key")).id
    secret = here.remember(Draft(content="my own", flags=frozenset({PRIVATE}))).id
    ends.here.remember("in another namespace")
    ends.exchange()
    ends.here.embed_pending()
    assert theirs in [hit.memory.id for hit in here.search("vault harbour").hits]
    assert secret not in [one.id for one in there.select(Filter(), 9)]
    clock.sleep(seconds=9)
    here.revise(Revision(id=mine, title="key of mine"))
    there.revise(Revision(id=mine, importance=0.9))
    there.forget([theirs], "gone")
    ends.proxy.cut = "before answer"
    with pytest.raises(Unavailable):
        ends.exchange()
    ends.exchange()
    for side in (here, there):
        memory = side.read(mine).memory
        assert (memory.title, memory.importance) == ("key of mine", 0.9)
        assert theirs not in [one.id for one in side.select(Filter(), 9)]
    assert ends.there.count(Filter(namespaces=frozenset({"shared"}))) == 0
    again = ends.exchange()
    assert (again.sent, again.received) == (0, 0)


def test_pages_that_are_too_long_for_one_answer_come_in_smaller_ones(
    ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lore.doors.sync_requests.LARGEST_ANSWER", 10_000)
    there = ends.there.for_namespace("team")
    made = [there.remember(f"{number} " + "harbour " * 500).id for number in range(9)]
    assert ends.exchange().received == 9
    assert sorted(one.id for one in ends.here.for_namespace("team").select(Filter(), 99)) == sorted(made)


def test_a_server_with_a_smaller_limit_gets_fewer_changes_at_a_time(ends: Ends, tmp_path: Path) -> None:
    here = ends.here.for_namespace("team")
    small = [here.remember(f"{number} harbours").id for number in range(9)]
    large = here.remember("harbour " * 2_000).id
    with serving(ends.there, Config(data_dir=tmp_path, body_bytes=8_000)) as port:
        ends.proxy.target = port
        exchanged = ends.exchange()
    assert exchanged.sent == 9
    assert list(exchanged.refused) == [large]
    assert sorted(one.id for one in ends.there.for_namespace("team").select(Filter(), 99)) == sorted(small)


class Canned(BaseHTTPRequestHandler):
    """A server that gives the same page of changes to every question."""

    ahead_seconds = 0.0
    changes: tuple[object, ...] = ()

    def do_GET(self) -> None:
        body = json.dumps({"changes": self.changes, "cursor": "WzFd", "more": False}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def date_time_string(self, timestamp: float | None = None) -> str:
        return formatdate(time.time() + self.ahead_seconds, usegmt=True)


@contextmanager
def answering(server: type[Canned]) -> Iterator[Connection]:
    """A connection to this server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), server) as listening:
        thread = Thread(target=listening.serve_forever)
        thread.start()
        try:
            remote = RemoteServer(url=f"http://127.0.0.1:{listening.server_port}", client_id="laptop")
            with connect(remote) as client:
                yield Connection(remote, client)
        finally:
            listening.shutdown()
            thread.join()


def test_no_changes_are_exchanged_while_the_clock_of_one_end_is_wrong_by_days(lore: Lore) -> None:
    """Each change would be refused as one of the future, and never sent again."""

    class Ahead(Canned):
        ahead_seconds = 3 * 86_400

    with answering(Ahead) as connection:
        with pytest.raises(Unavailable, match=r"3\.0 days behind"):
            exchange(lore, connection, "team")
        assert lore.for_namespace("team").sync_mark(connection.server.url, "pull").cursor == ""


def test_a_change_that_this_store_cannot_hold_is_named_by_its_id(lore: Lore) -> None:
    class Odd(Canned):
        changes = ({"noun": "memory", "id": "m1", "fields": {}},)

    with answering(Odd) as connection:
        [(id, why)] = exchange(lore, connection, "team").refused.items()
    assert id == "m1"
    assert "none that this Lore knows" in why


# --- the address and the token
@pytest.mark.parametrize(
    ("url", "wrong"),
    [
        ("ftp://lore.example.org", "must be an address"),
        ("http://lore.example.org", "over https only"),
        ("https://me:secret@lore.example.org", "user or password"),
        ("https://lore.example.org?token=1", "a query"),
        ("http://169.254.169.254", "link-local"),
        ("", "there is no server"),
    ],
)
def test_an_address_to_which_nothing_may_be_sent_is_refused(
    url: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LORE_TOKEN", "abc")
    with pytest.raises(Invalid, match=wrong) as refused:
        remote_server(Config(data_dir=tmp_path, remote_url=url))
    assert "abc" not in str(refused.value)


def test_the_token_comes_from_the_variable_or_from_a_file_that_only_its_owner_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config(data_dir=tmp_path, remote_url="https://lore.example.org", remote_token_env="MY_TOKEN")
    file = tmp_path / TOKEN_FILE
    file.write_text("from-file\n")
    file.chmod(0o644)
    with pytest.raises(Invalid, match="chmod 600"):
        remote_server(config)
    file.chmod(0o600)
    assert remote_server(config).token == "from-file"
    monkeypatch.setenv("MY_TOKEN", "from-variable")
    assert remote_server(config).token == "from-variable"
    assert "from-variable" not in repr(remote_server(config))


def test_the_command_pushes_saves_the_server_and_says_what_it_did(
    ends: Ends, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_turns(ends.here, 3)
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "hash")
    token, _ = create(ends.there.store, Grant(name="me", namespaces=("mine",)), ends.there.clock())
    monkeypatch.setenv("LORE_TOKEN", token)
    run = [f"--data-dir={config.data_dir}", "sync"]
    call = [*run, ends.proxy.url, "--client-id=laptop"]
    dry = CliRunner().invoke(cli, [*call, "--dry-run"], catch_exceptions=False)
    assert dry.output.startswith("Would push 3 turns of 1 conversation to ")
    assert ends.there.count(TURNS) == 0
    done = CliRunner().invoke(cli, [*call, "--save", "--json"], catch_exceptions=False)
    assert json.loads(done.stdout)["pushed"]["turns"] == 3
    ends.there = ends.there.for_namespace("mine")
    assert ends.agree()
    assert os.stat(config.data_dir / TOKEN_FILE).st_mode & 0o777 == 0o600
    monkeypatch.delenv("LORE_TOKEN")
    again = CliRunner().invoke(cli, [*run, "--again"], catch_exceptions=False)
    assert again.output.startswith("Pushed 3 turns")
    assert ends.agree()
    token_file = config.data_dir / TOKEN_FILE
    token_file.write_text("wrong")
    refused = CliRunner().invoke(cli, run, catch_exceptions=False)
    assert (refused.exit_code, refused.stdout) == (1, "")
