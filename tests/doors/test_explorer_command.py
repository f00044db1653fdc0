"""`lore explorer` prints a link that signs a browser in, with or without a daemon; `make run` has one too."""

import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from lore.doors.endpoint import HTTP_PORT, Endpoint
from lore.doors.starting import start
from tests.doors.command import Command
from tests.doors.resident import SECONDS, an_endpoint, short_folder, until

SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def home() -> Iterator[Command]:
    with short_folder() as folder, an_endpoint(folder):
        yield Command(folder)


def session(link: str) -> httpx2.Response:
    """The session of a browser that has opened this link."""
    with httpx2.Client(timeout=SECONDS, headers=SAME_ORIGIN) as browser:
        browser.get(link)
        return browser.get(httpx2.URL(link).join("/api/v1/session"))


def test_the_link_signs_in_once_also_with_a_daemon_that_served_no_http(home: Command) -> None:
    start(Endpoint({}, str(home.data_dir)))
    assert home.document("daemon", "status")["http"] is None
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = home("explorer", "--no-open", "--port", str(port), code=1).stderr
        assert f"127.0.0.1 port {port} cannot be used" in refused
    links = [home("explorer", "--no-open").stdout.strip() for _ in range(2)]
    address = home.document("daemon", "status")["http"]
    assert all(link.startswith(f"{address}/explorer/enter?code=") for link in links)
    assert [session(link).status_code for link in (*links, links[0])] == [200, 200, 401]
    other = home("explorer", "--no-open", "--port", "1")
    assert other.stdout.startswith(f"{address}/")
    assert "lore daemon restart --http PORT" in other.stderr
    assert httpx2.get(f"{address}/api/v1/session", headers=SAME_ORIGIN).status_code == 401
    assert httpx2.get(f"{address}/status").status_code == 401


def test_it_starts_a_daemon_and_takes_a_free_port_where_the_usual_one_is_taken(home: Command) -> None:
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", HTTP_PORT))
            taken.listen()
        except OSError:
            pass  # another program has it, which is as good
        document = home.document("explorer", "--no-open")
        assert document["opened"] is False
        assert httpx2.URL(document["link"]).port != HTTP_PORT
        assert session(document["link"]).json()["rights"] == ["admin", "read", "write"]


def test_the_guide_of_the_sample_has_a_link_while_an_agent_is_served(home: Command, tmp_path: Path) -> None:
    guide = tmp_path / "guide"
    with guide.open("wb") as stderr:
        process = home.start("mcp", "--sample", "--guide", stdin=subprocess.PIPE, stderr=stderr)
        with process:
            [link] = until(lambda: re.findall(r"http://\S+/explorer/enter\?code=\S+", guide.read_text()))
            assert session(link).json()["name"] == ""
            assert process.stdin is not None
            process.stdin.close()
            assert process.wait(SECONDS) == 0
    assert "Look at it in a browser" in guide.read_text()
