"""Things to test language models with: a real server that misbehaves, and time that only we move."""

from collections.abc import Iterator

import pytest

from lore.clock import Clock
from lore.llm import Waiting
from tests.llm.serving import Server, misbehaving

COLOUR = {
    "type": "object",
    "additionalProperties": False,
    "required": ["colour"],
    "properties": {"colour": {"type": "string"}},
}


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with misbehaving() as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """How long was waited, each time."""
    return []


@pytest.fixture
def waiting(clock: Clock, waits: list[float]) -> Waiting:
    """Time passes at once, and chance always says 0."""

    def sleep(seconds: float) -> None:
        waits.append(seconds)
        clock.sleep(seconds=seconds)

    return Waiting(clock=clock, sleep=sleep, chance=lambda: 0.0)
