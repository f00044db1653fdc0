"""`tests.surfaces.test_scored` on PostgreSQL."""

from tests.surfaces.test_scored import *  # noqa: F403
