"""`tests.engine.test_jobs` on PostgreSQL."""

from tests.engine.test_jobs import *  # noqa: F403
