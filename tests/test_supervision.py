"""supervision: whatever goes wrong is logged once and tried again, after longer and longer pauses."""

import logging

import anyio
import pytest

from lore.errors import Unavailable
from lore.supervision import (
    FIRST_PAUSE_SECONDS,
    LONGEST_PAUSE_SECONDS,
    Service,
    async_failure_of,
    failure_of,
)


def deep() -> None:
    deep()


def test_any_mistake_is_caught_and_no_interruption() -> None:
    assert failure_of(lambda: None) is None
    assert isinstance(failure_of(deep), RecursionError)

    async def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        anyio.run(async_failure_of, interrupted)


def test_a_failing_service_rests_for_longer_each_time_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    service = Service("reading")
    pauses = [service.failed(Unavailable("the disk is full")) for _ in range(20)]
    assert pauses[:3] == [FIRST_PAUSE_SECONDS, 2 * FIRST_PAUSE_SECONDS, 4 * FIRST_PAUSE_SECONDS]
    assert pauses[-1] == LONGEST_PAUSE_SECONDS
    assert service.trouble == "the disk is full"
    assert caplog.text.count("the disk is full") == 1
    service.works()
    assert (service.trouble, service.failures) == ("", 0)
    assert "reading works again" in caplog.text
