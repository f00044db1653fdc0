"""A real small language model behind a real server: whatever it says ends in data or in a clear failure."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from lore.llm import Calling, language_model, prompts
from lore.llm.base import Nonsense, Prompt, Refused, Settings
from lore.llm.structured import ask, problem_with
from tests.llm.conftest import COLOUR
from tests.llm.serving import small_model

pytestmark = [pytest.mark.model, pytest.mark.timeout(1800)]

TURNS = ["user: My cat is called Minka and she is seven.", "agent: A good age for a cat!"]


@pytest.fixture(scope="module")
def model() -> Iterator[Calling]:
    with small_model() as url:
        settings = Settings(backend="openai", base_url=url, timeout_secs=800, extraction_model="small")
        opened = language_model(settings)
        assert opened is not None
        yield opened


def test_it_speaks_and_its_tokens_are_counted(model: Calling) -> None:
    reply = model.complete(Prompt(system="You are kind.", text="Say hello.", max_tokens=16))
    assert reply.text.strip()
    assert reply.model == "small"
    assert 0 < reply.tokens_out <= 16 < reply.tokens_in + 16


def test_it_is_held_to_a_schema(model: Calling) -> None:
    green = {**COLOUR, "properties": {"colour": {"type": "string", "enum": ["green", "blue"]}}}
    reply = ask(model, Prompt(system="You are terse.", text="What is grass?", schema=green, max_tokens=64))
    assert reply.data["colour"] in ("green", "blue")


def test_whatever_it_answers_ends_in_valid_data_or_in_nonsense(model: Calling) -> None:
    """tests/engine/consolidate_llm/test_end_to_end.py has the longer extraction."""
    prompt, check = prompts.compression(TURNS), prompts.check_compression()
    try:
        data = ask(model, replace(prompt, max_tokens=48), check).data
    except Nonsense:
        return
    assert not problem_with(data, prompts.schema("compression"))
    assert check(data) is None


def test_a_text_longer_than_it_can_read_is_refused_in_its_servers_words(model: Calling) -> None:
    with pytest.raises(Refused, match="exceed"):
        model.complete(Prompt(system="", text="word " * 20_000))
