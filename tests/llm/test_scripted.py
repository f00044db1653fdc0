"""The double that other tests rely on."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from lore.llm.base import LanguageModel, Prompt, Refused, Reply
from lore.llm.scripted import ScriptedModel


def prompt(text: str) -> Prompt:
    return Prompt(system="", text=text)


def test_answers_come_in_order_and_prompts_are_kept() -> None:
    whole = Reply(text="three", model="m", tokens_in=5)
    model = ScriptedModel(["one", {"two": "zwei"}, whole])
    replies = [model.complete(prompt(text)) for text in "abc"]
    assert [reply.text for reply in replies] == ["one", '{"two": "zwei"}', "three"]
    assert replies[2] is whole
    assert replies[0].tokens_in > 0
    assert [asked.text for asked in model.prompts] == ["a", "b", "c"]


def test_a_failure_in_the_script_is_raised() -> None:
    model: LanguageModel = ScriptedModel([Refused("no"), "yes"])
    with pytest.raises(Refused):
        model.complete(prompt("a"))
    assert model.complete(prompt("a")).text == "yes"


def test_a_question_too_many_is_a_mistake_of_the_script() -> None:
    model = ScriptedModel([])
    with pytest.raises(AssertionError, match="no answer number 1"):
        model.complete(prompt("a"))


def test_a_function_may_answer() -> None:
    model = ScriptedModel(lambda asked: asked.text.upper())
    assert model.complete(prompt("a")).text == "A"
    assert model.model("compression") == "scripted-compression"


def test_threads_share_a_script() -> None:
    model = ScriptedModel([str(number) for number in range(200)])
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(model.complete, [prompt("a")] * 200))
    assert sorted(int(reply.text) for reply in replies) == list(range(200))
    assert len(model.prompts) == 200
