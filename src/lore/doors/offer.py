"""offer: a server of the Model Context Protocol that offers surfaces, whatever carries its messages."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ToolAnnotations,
)
from mcp_types import Tool as OfferedTool

from lore.doors.principal import Principal, PrincipalOf, client_of, refusal
from lore.doors.prompts import Prompts
from lore.doors.subscriptions import Audience, Subscriptions
from lore.lineage import NAME_WIDTH
from lore.surfaces.surface import Surface, Tool, instructions_of, unknown_tool
from lore.text import listed, plain_name, preview
from lore.version import VERSION

SESSION_KEYS = ("threadId", "ai.opencode/sessionID")
"""Keys in a call's `_meta` under which Codex and OpenCode name its session."""

UNNAMED = "unnamed"
"""The client of an agent that does not say its name."""


class Offer:
    """Surfaces offered over MCP, in both protocol eras of the SDK, to one client or to many."""

    def __init__(self, surfaces: Sequence[Surface], principal_of: PrincipalOf, audience: Audience) -> None:
        """principal_of: who makes a request."""
        self._surfaces = surfaces
        self._principal_of = principal_of
        self._audience = audience
        self._tools = {
            name: (surface, tool) for surface in surfaces for name, tool in surface.names().items()
        }
        self._withheld = {name: why for surface in surfaces for name, why in surface.withheld.items()}
        self._subscriptions = Subscriptions(surfaces, principal_of)
        self._prompts = Prompts(surfaces, principal_of)
        self.server = self._server()

    @property
    def repeatable(self) -> list[str]:
        """The tools that may be called again when the answer was lost."""
        return [name for name, (_, tool) in self._tools.items() if tool.read_only or tool.idempotent]

    def __enter__(self) -> "Offer":
        self._audience.join(self._subscriptions)
        return self

    def __exit__(self, *_: object) -> None:
        self._audience.leave(self._subscriptions)

    def end_streams(self) -> None:
        """End the streams of clients that listen for changes; they may listen again."""
        self._subscriptions.end_streams()

    def _server(self) -> Server:
        subscriptions, prompts = self._subscriptions, self._prompts
        return Server(
            "lore",
            version=VERSION,
            title="Lore",
            instructions=instructions_of(self._surfaces),
            get_tool_input_schema=self._input_schema,
            on_list_tools=partial(list_tools, self._surfaces),
            on_call_tool=self.call_tool,
            on_list_resources=subscriptions.list,
            on_list_resource_templates=subscriptions.list_templates,
            on_read_resource=self.read_resource,
            on_subscribe_resource=subscriptions.subscribe,
            on_unsubscribe_resource=subscriptions.unsubscribe,
            on_subscriptions_listen=subscriptions.listen,
            on_list_prompts=prompts.list if prompts else None,
            on_get_prompt=self.get_prompt if prompts else None,
            on_completion=prompts.complete if prompts else None,
        )

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        """The schema of a tool's arguments; without this function the SDK lists all tools in every call."""
        return self._tools[name][1].input_schema if name in self._tools else None

    async def read_resource(
        self, context: ServerRequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        """Answer with the text of a resource."""
        return await self._subscriptions.read(context, params)

    async def get_prompt(
        self, context: ServerRequestContext, params: GetPromptRequestParams
    ) -> GetPromptResult:
        """Answer with the text of a prompt."""
        return await self._prompts.get(context, params)

    async def call_tool(self, context: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        """Answer one call of a client."""
        if params.name in self._withheld:
            return refusal(self._withheld[params.name])
        if params.name not in self._tools and any(surface.drop_in for surface in self._surfaces):
            return refusal(unknown_tool(params.name))
        if params.name not in self._tools:
            message = f"unknown tool {preview(params.name, 80)!r}; known: {listed(self._tools)}"
            raise MCPError(INVALID_PARAMS, message)
        surface, tool = self._tools[params.name]
        principal = self._principal_of(context)
        lore = principal.lore
        lore = lore.for_namespace(lore.namespace, surface.name, client_of(context))
        lore = replace(lore, agent=plain_name(lore.actor, NAME_WIDTH) or UNNAMED)
        if session := _session(params):
            lore = replace(lore, conversation=session)
        acting = replace(principal, lore=lore)
        result, changed = await acting.call(tool, params.arguments or {}, bool(self._audience))
        if changed:
            await self._audience.notify(lore.tenant)
        return result


def to_one_client(principal: Principal) -> PrincipalOf:
    """Every request is made by the same client, as on a connection of its own."""
    return lambda context: principal


async def list_tools(
    surfaces: Sequence[Surface], context: ServerRequestContext, params: PaginatedRequestParams | None
) -> ListToolsResult:
    """Answer with all tools of the surfaces."""
    return ListToolsResult(tools=[offered(tool) for surface in surfaces for tool in surface.tools.values()])


@functools.cache
def offered(tool: Tool) -> OfferedTool:
    """The tool as MCP lists it."""
    return OfferedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema),
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _session(params: CallToolRequestParams) -> str:
    """The session in which a tool is called; empty if the client does not name it."""
    values = map((params.meta or {}).get, SESSION_KEYS)
    return next((str(value) for value in values if value), "")
