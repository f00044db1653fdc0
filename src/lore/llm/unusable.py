"""Settings that mean no language model: what is wrong with them is said to whoever asks, and not before."""

from lore.llm.base import Prompt, Refused, Reply, Role


class UnusableModel:
    """See `LanguageModel`. Whatever needs no language model goes on; a question is told what to mend."""

    def __init__(self, trouble: str) -> None:
        self.trouble = trouble

    @property
    def address(self) -> str:
        return "nowhere"

    def model(self, role: Role) -> str:
        return "none"

    def complete(self, prompt: Prompt) -> Reply:
        raise Refused(f"no language model can be asked: {self.trouble}", general=True)
