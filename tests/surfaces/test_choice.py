"""Choosing surfaces: by name, or all that can stand side by side."""

import pytest

from lore import Invalid
from lore.surfaces import SURFACES, surfaces_named


def test_surfaces_are_chosen_by_name_in_order_and_once() -> None:
    assert [surface.name for surface in surfaces_named(" tree , tree")] == ["tree"]


def test_all_means_every_surface_that_stands_beside_the_others() -> None:
    chosen = surfaces_named("all")
    assert [surface.name for surface in chosen] == [name for name, s in SURFACES.items() if not s.alone]
    tools = [tool for surface in chosen for tool in surface.tools]
    assert len(tools) == len(set(tools))


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("", "no surface is named"),
        ("tree,bush", "unknown surfaces: bush; known: .*tree"),
        (",", "no surface"),
    ],
)
def test_a_wrong_choice_is_named_with_the_right_ones(names: str, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        surfaces_named(names)
