"""Calls of a tool whose answer is held against the schema that clients see."""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from lore import Lore
from lore.surfaces import Reply, Tool


def checked_call(tool: Tool, lore: Lore, arguments: Mapping[str, Any]) -> Reply:
    """The reply of a tool, which has the declared keys and types and no other keys."""
    reply = tool(lore, arguments)
    Draft202012Validator({**tool.output_schema, "additionalProperties": False}).validate(dict(reply.data))
    return reply
