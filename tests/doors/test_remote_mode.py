"""The daemon's remote mode: it pushes at intervals and before it ends, and is quiet while it is offline."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.cutting_proxy import CuttingProxy, cutting_proxy
from lore import Filter, Lore
from lore.config import Config
from lore.connecting import wire
from lore.doors.endpoint import Endpoint
from lore.doors.http.tokens import Grant, create
from lore.doors.remote_http import TOKEN_FILE
from lore.doors.starting import start, stop
from lore.durable import write_durably
from lore.embed.hashing import HashEmbedder
from lore.engine.push import Sent
from lore.store.values import EVERY
from lore.transcripts.turns import Turn
from tests.doors.http.loopback import serving
from tests.doors.http.tokens import token_of
from tests.doors.resident import status, until

TURNS = Filter(kinds=frozenset({"turn"}))


@pytest.fixture
def proxy(lore: Lore, config: Config) -> Iterator[CuttingProxy]:
    """Before the server of `lore`."""
    with serving(lore, config) as port, cutting_proxy(port) as proxy:
        yield proxy


def write_settings(endpoint: Endpoint, url: str, seconds: float, token: str) -> None:
    text = f'[remote]\nurl = "{url}"\nclient_id = "laptop"\nsync_interval_secs = {seconds}\n'
    Path(endpoint.home, "config.toml").write_text(text)
    write_durably(Path(endpoint.home, TOKEN_FILE), token)


def say(endpoint: Endpoint, *texts: str) -> None:
    """Turns in the store of the daemon."""
    here = wire(Config(data_dir=Path(endpoint.home)), embedder=HashEmbedder())
    turns = [Turn(uuid=text, session="s", role="user", text=text, at=9.0) for text in texts]
    here.keep_pushed([Sent("codex", turn) for turn in turns])
    here.close()


def heard(lore: Lore) -> list[str]:
    return sorted(turn.content for turn in lore.select(TURNS, EVERY.limit))


def test_a_daemon_pushes_at_intervals_and_goes_on_after_it_was_offline(
    fresh: Endpoint, proxy: CuttingProxy, lore: Lore
) -> None:
    server, proxy.target = proxy.target, 1
    write_settings(fresh, proxy.url, 1, token_of(lore))
    say(fresh, "one")
    start(fresh)
    trouble = until(lambda: status(fresh)["troubles"].get(f"syncing with {proxy.url}", ""))
    assert "cannot be reached" in trouble
    proxy.target = server
    until(lambda: heard(lore) == ["one"])
    until(lambda: not status(fresh)["troubles"])
    assert status(fresh)["mode"] == "remote"
    say(fresh, "two")
    until(lambda: heard(lore) == ["one", "two"])
    log = Path(fresh.log).read_text()
    assert log.count("cannot be reached") == 1
    assert "consolidated" not in log
    assert "HTTP Request" not in log, "one line for each would leave no room for others"


def test_a_daemon_that_ends_pushes_what_is_left(fresh: Endpoint, proxy: CuttingProxy, lore: Lore) -> None:
    write_settings(fresh, proxy.url, 9_999, token_of(lore))
    say(fresh, "one")
    start(fresh)
    until(lambda: heard(lore) == ["one"])
    say(fresh, "two")
    stop(fresh)
    assert heard(lore) == ["one", "two"]


def test_a_namespace_that_the_server_refuses_does_not_keep_the_others_from_being_exchanged(
    fresh: Endpoint, proxy: CuttingProxy, lore: Lore
) -> None:
    team = lore.for_namespace("team")
    id = team.remember("The vault is below the harbour").id
    token, _ = create(lore.store, Grant(name="me", namespaces=("team",)), lore.clock())
    write_settings(fresh, proxy.url, 1, token)
    with Path(fresh.home, "config.toml").open("a") as settings:
        settings.write('namespaces = "foreign,team"\n')
    start(fresh)
    trouble = until(lambda: status(fresh)["troubles"].get(f"syncing with {proxy.url}", ""))
    assert "namespace 'foreign' is not yours" in trouble
    here = wire(Config(data_dir=Path(fresh.home)), embedder=HashEmbedder())
    assert here.for_namespace("team").read(id).memory.content == "The vault is below the harbour"
    here.close()
