"""The pages about the surfaces say what the surfaces are."""

import pytest

from lore.surfaces import SURFACES
from scripts.describe_surfaces import page_of, page_text


@pytest.mark.parametrize("name", SURFACES)
def test_the_page_of_a_surface_is_up_to_date(name: str) -> None:
    surface = SURFACES[name]
    assert page_of(surface).read_text(encoding="utf-8") == page_text(surface)
