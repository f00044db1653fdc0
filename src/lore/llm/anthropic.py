"""Claude over Anthropic's Messages API; data comes back as the input of a tool that the model must call."""

import json
from typing import Any

from lore.llm.base import Nonsense, Prompt, Refused, Reply, Role, Settings
from lore.llm.http import Service, asked, checked_url

DEFAULT_URL = "https://api.anthropic.com"
VERSION = "2023-06-01"
TOOL = "answer"
COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


class AnthropicModel:
    """See `LanguageModel`."""

    def __init__(self, settings: Settings, key: str = "") -> None:
        root = checked_url(settings.base_url or DEFAULT_URL).removesuffix("/v1")
        headers = {"x-api-key": key, "anthropic-version": VERSION}
        self._settings = settings
        self._service = Service(
            url=f"{root}/v1/messages", key=key, key_name=settings.api_key_env, headers=headers
        )

    @property
    def address(self) -> str:
        return self._service.url

    def model(self, role: Role) -> str:
        return self._settings.model(role)

    def complete(self, prompt: Prompt) -> Reply:
        if not self._service.key:
            raise Refused(
                f"there is no API key: set the variable {self._service.key_name} (api_key_env), "
                'or backend = "none" to do without a language model',
                general=True,
            )
        name = self.model(prompt.role)
        timeout = self._settings.timeout_secs if prompt.timeout is None else prompt.timeout
        return _reply(asked(self._service, _body(prompt, name), timeout, name), name)


def _body(prompt: Prompt, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.text}],
    }
    if prompt.schema is None:
        return body
    tool = {"name": TOOL, "description": "Give your answer.", "input_schema": prompt.schema}
    return body | {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}


def _reply(answer: dict[str, Any], model: str) -> Reply:
    try:
        blocks = [block for block in answer["content"] if isinstance(block, dict)]
        text = "".join(block["text"] for block in blocks if block.get("type") == "text")
        data = next((block["input"] for block in blocks if block.get("type") == "tool_use"), None)
        usage = answer.get("usage") or {}
        tokens_in = sum(int(usage.get(name) or 0) for name in COUNTED)
        tokens_out = int(usage.get("output_tokens") or 0)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Nonsense(f"the answer is not a message of the Messages API: {error!r}", lost=True) from error
    if answer.get("stop_reason") == "refusal":
        raise Refused(f"{model} declined to answer this", lost=True)
    return Reply(
        text=text or ("" if data is None else json.dumps(data, ensure_ascii=False)),
        data=data,
        model=model,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cut=answer.get("stop_reason") == "max_tokens",
    )
