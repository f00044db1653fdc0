"""Prompts name only tools that are offered."""

import pytest

from lore import Lore
from lore.surfaces import SURFACES
from lore.surfaces.prompts import PROMPTS, TOOL, prompts_of

GIVEN = {"recall": {"topic": "tides"}, "remember": {}, "distil": {}, "brief": {}, "forget": {"what": "tides"}}
OWN = [name for name, surface in SURFACES.items() if not surface.drop_in]


@pytest.mark.parametrize("name", OWN)
def test_the_prompts_of_a_surface_name_its_tools(name: str, lore: Lore) -> None:
    surface = SURFACES[name]
    ways = prompts_of([surface])
    assert set(surface.prompts) | {"brief", "distil"} == set(ways)
    for prompt, how in ways.items():
        text = PROMPTS[prompt].fill(lore, how, GIVEN[prompt])
        assert set(TOOL.findall(text)) <= set(surface.tools)
        assert len(text) < 800


def test_a_prompt_whose_tools_are_not_offered_is_left_out_or_done_by_another_surface() -> None:
    reading = SURFACES["tree"].without({"store": "no", "update": "no", "delete": "no"})
    assert list(prompts_of([reading])) == ["recall", "brief"]
    both = prompts_of([reading, SURFACES["typed"]])
    assert list(both) == list(PROMPTS)
    assert "`search`" in both["recall"]
    assert "`memory_save`" in both["remember"]


def test_a_drop_in_alone_offers_no_prompts() -> None:
    assert prompts_of([SURFACES["official"]]) == {}
    assert "recall" in prompts_of([SURFACES["official"], SURFACES["tree"]])
