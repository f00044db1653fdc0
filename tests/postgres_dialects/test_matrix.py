"""`tests.surfaces.test_matrix` on PostgreSQL."""

from tests.surfaces.test_matrix import *  # noqa: F403
