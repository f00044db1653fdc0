"""`tests.surfaces.test_typed` on PostgreSQL."""

from tests.surfaces.test_typed import *  # noqa: F403
