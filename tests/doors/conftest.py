"""Daemons for tests: a folder of its own for one test, or one daemon that many tests share."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lore.doors.endpoint import Endpoint
from lore.doors.starting import start
from tests.doors.resident import SETTINGS, an_endpoint, short_folder


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Daemons and commands of this test embed by hashed words, so that no model has to be loaded."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def fresh(hashed: None) -> Iterator[Endpoint]:
    """The endpoint of an empty folder, without a daemon."""
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        yield endpoint


@pytest.fixture
def endpoint(fresh: Endpoint) -> Endpoint:
    """A module whose tests can share a daemon has a fixture of this name that returns `shared`."""
    return fresh


@pytest.fixture(scope="session")
def shared_endpoint() -> Iterator[Endpoint]:
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        yield endpoint


@pytest.fixture
def shared(
    hashed: None, shared_endpoint: Endpoint, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Endpoint:
    """The endpoint of a daemon that runs: many tests share it, each in a namespace of its own.

    A test may stop or kill the daemon; the next test starts another.
    """
    Path(shared_endpoint.home, "config.toml").unlink(missing_ok=True)
    monkeypatch.setenv("LORE_NAMESPACE", re.sub(r"\W", "-", request.node.name)[:100])
    start(shared_endpoint)
    return shared_endpoint
