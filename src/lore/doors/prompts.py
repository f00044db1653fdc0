"""prompts: offers the prompts that the surfaces allow, and completes arguments of prompts and resources."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp_types import (
    INVALID_PARAMS,
    CompleteRequestParams,
    CompleteResult,
    Completion,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    PaginatedRequestParams,
    PromptArgument,
    PromptMessage,
    PromptReference,
    TextContent,
)
from mcp_types import Prompt as OfferedPrompt

from lore.doors.principal import PrincipalOf, client_of
from lore.engine import Lore
from lore.surfaces.memory_document import PARAMETER, TEMPLATE, ids
from lore.surfaces.prompts import PROMPTS, Prompt, completed, prompts_of
from lore.surfaces.surface import Surface
from lore.text import listed, preview

Values = Callable[[Lore, str], Iterable[str]]


class Prompts:
    """The prompts of one server; false if there are none."""

    def __init__(self, surfaces: Sequence[Surface], principal_of: PrincipalOf) -> None:
        self._ways = prompts_of(surfaces)
        self._principal_of = principal_of

    def __bool__(self) -> bool:
        return bool(self._ways)

    async def list(
        self, context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListPromptsResult:
        return ListPromptsResult(prompts=[_offered(PROMPTS[name]) for name in self._ways])

    async def get(self, context: ServerRequestContext, params: GetPromptRequestParams) -> GetPromptResult:
        prompt = self._prompt(params.name)
        client, how, given = client_of(context), self._ways[prompt.name], params.arguments or {}

        def fill(lore: Lore) -> str:
            return prompt.fill(replace(lore, actor=client), how=how, given=given)

        text = await self._principal_of(context).read(prompt.name, fill)
        message = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(description=prompt.description, messages=[message])

    async def complete(self, context: ServerRequestContext, params: CompleteRequestParams) -> CompleteResult:
        values, part = self._values(params), params.argument.value

        def complete(lore: Lore) -> list[str]:
            return completed(values(lore, part), part)

        found = await self._principal_of(context).read("completion", complete)
        return CompleteResult(completion=Completion(values=found))

    def _values(self, params: CompleteRequestParams) -> Values:
        """What may complete the argument; an MCPError if there is no such argument."""
        if isinstance(params.ref, PromptReference):
            prompt = self._prompt(params.ref.name)
            arguments: dict[str, Values] = {one.name: one.values for one in prompt.arguments}
        elif params.ref.uri == TEMPLATE:
            arguments = {PARAMETER: ids}
        else:
            message = f"unknown template {preview(params.ref.uri, 200)!r}; known: {TEMPLATE}"
            raise MCPError(INVALID_PARAMS, message)
        if params.argument.name not in arguments:
            message = f"unknown argument {preview(params.argument.name, 80)!r}; known: {listed(arguments)}"
            raise MCPError(INVALID_PARAMS, message)
        return arguments[params.argument.name]

    def _prompt(self, name: str) -> Prompt:
        if name not in self._ways:
            message = f"unknown prompt {preview(name, 80)!r}; known: {listed(self._ways)}"
            raise MCPError(INVALID_PARAMS, message)
        return PROMPTS[name]


def _offered(prompt: Prompt) -> OfferedPrompt:
    arguments = [
        PromptArgument(name=one.name, description=one.description, required=one.required)
        for one in prompt.arguments
    ]
    return OfferedPrompt(
        name=prompt.name, title=prompt.title, description=prompt.description, arguments=arguments
    )
