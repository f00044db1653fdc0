"""What a language model is asked, what it answers, what it promises, and how it fails."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lore.errors import Invalid, Unavailable
from lore.patterns import regex
from lore.settings import LlmSettings
from lore.settings import Price as Price

Role = Literal["extraction", "compression"]
"""Who is asked: the careful model that reads conversations, or the quick one that shortens."""
Schema = Mapping[str, Any]
"""A JSON schema."""

DEFAULT_KEY_NAME = LlmSettings().api_key_env
Settings = LlmSettings
LONGEST_REFUSAL = 400
"""Characters up to which an answer without data may be a service's words about a limit."""
_LIMIT = regex(
    r"usage[ _]limit|rate[ _-]?limit|\bhit your\b.{0,30}\blimit|\blimit (?:was )?reached|too many requests"
    r"|out of extra usage|exceeded retry limit|quota exceeded",
    re.IGNORECASE,
)
_UNKNOWN_MODEL = regex(
    r"issue with the selected model|model_not_found"
    r"|\bmodel:? [`'\"]?[\w.:/@-]+[`'\"]? (?:does not exist|(?:is |was )?not (?:found|supported|available))"
    r"|[`'\"][\w.:/@-]+[`'\"] model (?:does not exist|is not (?:supported|available))"
    r"|(?:unknown|invalid|no such|not a valid) model\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question. With a schema, the answer shall be one JSON object of that shape.

    timeout: how many seconds the answer may take in all; None leaves it to the model.
    """

    system: str
    text: str
    role: Role = "extraction"
    schema: Schema | None = None
    max_tokens: int = 4096
    timeout: float | None = None

    def __post_init__(self) -> None:
        if self.max_tokens < 1:
            raise Invalid(f"max_tokens must be 1 or more, not {self.max_tokens}")
        if self.schema is not None and self.schema.get("type") != "object":
            raise Invalid(f"a schema must be of type object, not {self.schema.get('type')!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer and what it took.

    data: the answer as the service parsed it, if it did; nobody has checked it yet (see `structured`).
    model: the name that was asked for. cost: dollars, None if nobody knows. cut: it ended at max_tokens.
    """

    text: str
    model: str
    data: Any = None
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    cut: bool = False


class LanguageModel(Protocol):
    """Answers prompts. Safe to share by threads; every call may be slow, may cost money, and may fail."""

    @property
    def address(self) -> str:
        """The URL that prompts are sent to, or the command that reads them."""

    def model(self, role: Role) -> str:
        """The name of the model that answers prompts of this role."""

    def complete(self, prompt: Prompt) -> Reply:
        """The answer, or NoAnswer. Tries once: patience and budgets are `calling`'s."""


class NoAnswer(Unavailable):
    """The language model gave no answer that can be used; what needs none goes on without it.

    retry: the same question may be answered later. after: not before so many seconds. lost: the question
    was sent and may have to be paid for, but its answer never came. general: any other question would have
    fared the same, because of the settings, the service or the budget.
    """

    retry = False

    def __init__(
        self,
        message: str,
        *,
        retry: bool | None = None,
        after: float | None = None,
        lost: bool = False,
        general: bool = False,
    ) -> None:
        super().__init__(message)
        self.retry = type(self).retry if retry is None else retry
        self.after = after
        self.lost = lost
        self.general = general


class Unreachable(NoAnswer):
    """No connection, no answer in time, or a server that is busy or broken."""

    retry = True


class Refused(NoAnswer):
    """The service, or the model, will not answer this: a wrong key, an unknown model, a text too long."""


class Limited(Unreachable):
    """A rate limit, or the limit of a plan: who goes on asking only makes it worse."""


class Nonsense(NoAnswer):
    """Something was answered, but not what was asked for."""


class OverBudget(NoAnswer):
    """The day's budget does not allow the question. resumes: when it will, in seconds since 1970."""

    def __init__(self, message: str, *, resumes: float | None) -> None:
        super().__init__(message, general=True)
        self.resumes = resumes


class UnusableModel:
    """Stands for invalid settings: every question is refused with the reason. See `LanguageModel`."""

    def __init__(self, trouble: str) -> None:
        self.trouble = trouble

    @property
    def address(self) -> str:
        return "nowhere"

    def model(self, role: Role) -> str:
        return "none"

    def complete(self, prompt: Prompt) -> Reply:
        raise Refused(f"no language model can be asked: {self.trouble}", general=True)


def names_limit(words: str) -> bool:
    """Whether a service's words say that a rate limit, or the limit of a plan, was reached."""
    return _LIMIT.search(words) is not None


def is_refusal(answer: str) -> bool:
    """Whether an answer is such words in place of data: a command may print them and report success."""
    return len(answer.strip()) <= LONGEST_REFUSAL and "{" not in answer and names_limit(answer)


def names_unknown_model(words: str) -> bool:
    """Whether a service's words say that it does not know the model that it was asked for."""
    return _UNKNOWN_MODEL.search(words) is not None


def unknown_model(who: str, model: str, role: Role, words: str) -> Refused:
    """A fault of the settings: no question to this model would be answered."""
    setting = f"{role}_model"
    named = f"does not know the model {model!r}" if model else "has no model for it"
    remedy = f"set {setting} under [llm] in config.toml to one that it offers"
    return Refused(f"{who} {named} ({words}); {remedy}", general=True)
