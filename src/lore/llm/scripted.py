"""A language model that says what it was told to say; for tests, and to see what a model would be asked."""

import json
from collections.abc import Callable, Iterable
from threading import Lock
from typing import Any

from lore.llm.base import NoAnswer, Prompt, Reply, Role
from lore.text import tokens_in

Answer = str | dict[str, Any] | Reply | NoAnswer
"""Words, data, a whole reply, or a failure."""


class ScriptedModel:
    """See `LanguageModel`. Answers from a list, in order, or by a function; keeps every prompt it was asked.

    To be asked more often than there are answers is a mistake of whoever wrote the script: an AssertionError,
    which nobody takes for a model that happens to be away.
    """

    def __init__(self, answers: Iterable[Answer] | Callable[[Prompt], Answer]) -> None:
        self.prompts: list[Prompt] = []
        self._lock = Lock()
        self._answer = answers if callable(answers) else None
        self._left = [] if callable(answers) else list(answers)

    @property
    def address(self) -> str:
        return "a script"

    def model(self, role: Role) -> str:
        return f"scripted-{role}"

    def complete(self, prompt: Prompt) -> Reply:
        with self._lock:
            self.prompts.append(prompt)
            if self._answer is None:
                if not self._left:
                    raise AssertionError(
                        f"the script has no answer number {len(self.prompts)}: {prompt.text}"
                    )
                answer = self._left.pop(0)
        if self._answer is not None:
            answer = self._answer(prompt)
        if isinstance(answer, NoAnswer):
            raise answer
        return answer if isinstance(answer, Reply) else self._reply(prompt, answer)

    def _reply(self, prompt: Prompt, answer: str | dict[str, Any]) -> Reply:
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        return Reply(
            text=text,
            model=self.model(prompt.role),
            tokens_in=tokens_in(prompt.system) + tokens_in(prompt.text),
            tokens_out=tokens_in(text),
        )
