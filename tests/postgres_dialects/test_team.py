"""`tests.engine.test_team` on PostgreSQL."""

from tests.engine.test_team import *  # noqa: F403
