"""`tests.surfaces.test_graph` on PostgreSQL."""

from tests.surfaces.test_graph import *  # noqa: F403
