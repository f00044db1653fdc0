"""`tests.surfaces.test_official` on PostgreSQL."""

from tests.surfaces.test_official import *  # noqa: F403
