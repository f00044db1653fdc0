"""fallback: remember that a language model cannot be asked, so that the rules take its place."""

from lore.llm.base import LanguageModel, NoAnswer, OverBudget, Prompt, Reply, Role


class FallibleModel:
    """See `LanguageModel`. Keeps the first failure that any other prompt would meet too.

    Such a failure is a service that cannot be reached, a key or a setting that is wrong. A spent budget is
    none: its prompts wait for the next day.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.failure: NoAnswer | None = None

    @property
    def address(self) -> str:
        return self._model.address

    def model(self, role: Role) -> str:
        return self._model.model(role)

    def complete(self, prompt: Prompt) -> Reply:
        try:
            return self._model.complete(prompt)
        except NoAnswer as failure:
            if failure.general and not isinstance(failure, OverBudget):
                self.failure = self.failure or failure
            raise
