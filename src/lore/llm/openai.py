"""Any server that speaks OpenAI's chat completions: OpenAI, Ollama, LM Studio, vLLM, llama.cpp and more."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from lore.llm.base import DEFAULT_KEY_NAME, Nonsense, Prompt, Refused, Reply, Role, Schema, Settings
from lore.llm.http import Rejected, Service, asked, checked_url
from lore.llm.structured import in_words

DEFAULT_URL = "https://api.openai.com/v1"
FORMATS = ("json_schema", "json_object", "text")
LIMITS = ("max_tokens", "max_completion_tokens")
"""Servers differ in which of these they know; the first is the older and better known."""
Form = tuple[str, str]
"""One way to put the request: the name of the limit, and the format of the answer."""


class OpenAIModel:
    """See `LanguageModel`. Learns which forms of a request its server accepts, and keeps to what worked."""

    def __init__(self, settings: Settings, key: str = "") -> None:
        url = checked_url(settings.base_url or DEFAULT_URL)
        if not urlsplit(url).path:
            url += "/v1"
        name = settings.api_key_env
        if name == DEFAULT_KEY_NAME:  # a key for one company is not shown to whoever else is asked
            key = name = ""
        self._settings = settings
        self._service = Service(
            url=f"{url}/chat/completions",
            key=key,
            key_name=name,
            headers={"authorization": f"Bearer {key}"} if key else {},
        )
        self._form = (LIMITS[0], FORMATS[0])

    @property
    def address(self) -> str:
        return self._service.url

    def model(self, role: Role) -> str:
        return self._settings.model(role)

    def complete(self, prompt: Prompt) -> Reply:
        name = self.model(prompt.role)
        timeout = self._settings.timeout_secs if prompt.timeout is None else prompt.timeout
        limit, format = self._form
        form: Form | None = (limit, format if prompt.schema is not None else "text")
        while form is not None:
            try:
                answer = asked(self._service, _body(prompt, name, *form), timeout, name)
            except Rejected as error:
                refusal, form = error, _easier(form, str(error))
                continue
            if prompt.schema is not None:
                self._form = form  # a single assignment, so that threads need no lock
            return _reply(answer, name)
        raise refusal


def _easier(form: Form, complaint: str) -> Form | None:
    """What to try when a server rejects this form of a request: the limit's other name, or less ado."""
    limit, format = form
    if limit != LIMITS[-1] and LIMITS[-1] in complaint:
        return LIMITS[-1], format
    if format == FORMATS[-1]:
        return None
    return limit, FORMATS[FORMATS.index(format) + 1]


def _body(prompt: Prompt, model: str, limit: str, format: str) -> dict[str, Any]:
    schema = prompt.schema
    system = prompt.system if schema is None else f"{prompt.system}\n\n{in_words(schema)}"
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": prompt.text}],
        limit: prompt.max_tokens,
    }
    if schema is None or format == "text":
        return body
    return body | {"response_format": _response_format(schema, format)}


def _response_format(schema: Schema, format: str) -> dict[str, Any]:
    if format == "json_object":
        return {"type": format}
    return {"type": format, "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def _reply(answer: Mapping[str, Any], model: str) -> Reply:
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content") or "", message.get("refusal")
        usage = answer.get("usage") or {}
        tokens_in, tokens_out = (int(usage.get(f"{name}_tokens") or 0) for name in ("prompt", "completion"))
        if not isinstance(text, str):
            raise TypeError(f"content is {type(text).__name__}")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise Nonsense(f"the answer is not a chat completion: {error!r}", lost=True) from error
    if refusal:
        raise Refused(f"{model} declined to answer this", lost=True)
    return Reply(
        text=text,
        model=model,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cut=choice.get("finish_reason") == "length",
    )
