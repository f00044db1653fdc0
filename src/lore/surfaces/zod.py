"""zod: refusals in the words of servers that are built with the TypeScript SDK and its checker, zod."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

RECEIVED = {str: "string", int: "number", float: "number", bool: "boolean", list: "array", dict: "object"}


def unknown_tool(name: str) -> str:
    return f"MCP error -32602: Tool {name} not found"


def unknown_resource(uri: str) -> str:
    return f"MCP error -32602: Resource {uri} not found"


def invalid_arguments(tool: str, error: ValidationError, schema: Mapping[str, Any]) -> str:
    """One line for each mistake."""
    mistakes = "\n".join(_mistakes(error, schema))
    return f"MCP error -32602: Input validation error: Invalid arguments for tool {tool}: {mistakes}"


def _mistakes(error: ValidationError, schema: Mapping[str, Any]) -> Iterator[str]:
    for mistake in error.errors(include_url=False, include_context=False):
        path, value = mistake["loc"], mistake["input"]
        received = "null" if value is None else RECEIVED[type(value)]
        if mistake["type"] == "missing":
            received = "undefined"
        yield f"Invalid input: expected {_expected(path, schema)}, received {received} at {_written(path)}"


def _expected(path: Sequence[str | int], schema: Mapping[str, Any]) -> str:
    """The JSON type that the schema wants at `path`."""
    here: Mapping[str, Any] = schema
    for step in path:
        here = here["items"] if isinstance(step, int) else here["properties"][step]
        if "$ref" in here:
            here = schema["$defs"][here["$ref"].rpartition("/")[2]]
    return str(here["type"])


def _written(path: Sequence[str | int]) -> str:
    first, *rest = path
    return str(first) + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in rest)
