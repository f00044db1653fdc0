"""`tests.surfaces.test_tree` on PostgreSQL."""

from tests.surfaces.test_tree import *  # noqa: F403
