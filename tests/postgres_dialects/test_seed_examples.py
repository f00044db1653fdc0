"""`tests.surfaces.test_seed_examples` on PostgreSQL."""

from tests.surfaces.test_seed_examples import *  # noqa: F403
