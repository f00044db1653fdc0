"""switched_off: an MCP server that offers nothing, for a client that Lore itself started."""

import json
import sys
from typing import Any

from lore.version import VERSION

LATEST = "2025-06-18"
METHOD_NOT_FOUND = -32601
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def serve() -> None:
    """Answer the client on stdin until it goes."""
    for line in sys.stdin.buffer:
        if (answer := _answer(line)) is not None:
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def _answer(line: bytes) -> dict[str, Any] | None:
    """None for what asks nothing."""
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(request, dict) or request.get("id") is None or "method" not in request:
        return None
    answer = {"jsonrpc": "2.0", "id": request["id"]}
    method, given = request["method"], request.get("params")
    if method == "initialize":
        version = given.get("protocolVersion", LATEST) if isinstance(given, dict) else LATEST
        server = {"name": "lore", "version": VERSION}
        return answer | {"result": {"protocolVersion": version, "capabilities": {}, "serverInfo": server}}
    if method == "ping":
        return answer | {"result": {}}
    if method in LISTS:
        return answer | {"result": {LISTS[method]: []}}
    return answer | {
        "error": {"code": METHOD_NOT_FOUND, "message": "Lore is switched off here (LORE_DISABLE)"}
    }
