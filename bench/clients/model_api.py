"""model_api: a language model on the loopback interface, in the four protocols of clients.

It answers every request with one word, after calling one tool of Lore if it was given one to call. It keeps
all requests, so that a bench can look at what the model was sent.
"""

import json
import re
import threading
import time
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

WORD = "Done."
LOADER = "ToolSearch"
"""Claude Code's tool that loads the schema of another tool, of which it lists the name alone."""
RESULT_TYPES = ("tool_result", "function_call_output", "mcp_tool_call_output")
Event = tuple[str, Any]
Sent = tuple[float, dict[str, Any]]


class Call(NamedTuple):
    """A call of a tool. namespace: of the group that offers it, in OpenAI's newer protocol."""

    name: str
    arguments: dict[str, Any]
    namespace: str = ""


class ModelApi:
    """Serves while it is entered. requests: when each came (monotonic seconds), and its body.

    call: the last part of the name of a tool of Lore, and its arguments; called once per conversation.
    """

    def __init__(self, call: Call | None = None) -> None:
        self.requests: list[Sent] = []
        self.call = call

    def __enter__(self) -> "ModelApi":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(api: ModelApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

        def do_GET(self) -> None:
            self._answer({"data": [{"id": "mock-1", "object": "model"}], "object": "list"})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(raw) if raw.startswith(b"{") else {}
            if "count" in self.path.lower():
                self._answer({"input_tokens": 10, "totalTokens": 10})
                return
            api.requests.append((time.monotonic(), body))
            streams = body.get("stream") or "streamGenerateContent" in self.path
            whole, events = _replies(self.path, body, _next_call(body, api.call))
            if streams:
                self._stream(events)
            else:
                self._answer(whole)

        def _answer(self, body: dict[str, Any]) -> None:
            data = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, events: Iterable[Event]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            for name, data in events:
                text = data if isinstance(data, str) else json.dumps(data)
                self.wfile.write(f"{f'event: {name}' + chr(10) if name else ''}data: {text}\n\n".encode())

    return Handler


def _next_call(body: dict[str, Any], wanted: Call | None) -> Call | None:
    """The call that the model makes now: `wanted` once, or first the one that loads its schema."""
    if wanted is None:
        return None
    offered = {call.name: call for call in _offered(body)}
    found = [call for call in offered.values() if _is_tool(call, wanted.name)]
    results = _results(body)
    if found and results <= (LOADER in offered):
        return found[0]._replace(arguments=wanted.arguments)
    text = json.dumps(body.get("messages", [])).replace("\\n", " ")
    listed = re.findall(rf"\bmcp__\w*lore\w*__{wanted.name}\b", text)
    if not found and listed and LOADER in offered and not results:
        return Call(LOADER, {"query": f"select:{listed[0]}", "max_results": 1})
    return None


def _is_tool(call: Call, name: str) -> bool:
    """Whether this is Lore's tool of this name, as clients compose the names of servers and tools."""
    return "lore" in call.namespace + call.name and re.search(rf"(^|_){name}$", call.name) is not None


def _offered(body: dict[str, Any]) -> Iterator[Call]:
    """The tools that a request offers."""
    for tool in body.get("tools", []):
        if "functionDeclarations" in tool:
            yield from (Call(str(function["name"]), {}) for function in tool["functionDeclarations"])
        elif "tools" in tool:
            yield from (Call(str(inner["name"]), {}, str(tool["name"])) for inner in tool["tools"])
        else:
            yield Call(str(tool.get("function", tool).get("name")), {})


def _results(body: dict[str, Any]) -> int:
    """The number of results of tools in the conversation."""
    parts = [
        part
        for message in [*body.get("messages", []), *body.get("contents", [])]
        for part in (message.get("content") or message.get("parts") or [])
        if isinstance(part, dict)
    ]
    roles = len([message for message in body.get("messages", []) if message.get("role") == "tool"])
    items = [item for item in body.get("input", []) if isinstance(item, dict)]
    kinds = sum(part.get("type") in RESULT_TYPES for part in [*parts, *items])
    return roles + kinds + sum("functionResponse" in part for part in parts)


def _replies(path: str, body: dict[str, Any], call: Call | None) -> tuple[dict[str, Any], list[Event]]:
    """The answer to a request, whole and as a stream."""
    if "/messages" in path:
        return _messages(body, call)
    if "/responses" in path:
        return _responses(call)
    if "/chat/completions" in path:
        return _completions(body, call)
    return _gemini(call)


def _messages(body: dict[str, Any], call: Call | None) -> tuple[dict[str, Any], list[Event]]:
    """Anthropic."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    stop = "tool_use" if call else "end_turn"
    block: dict[str, Any] = {"type": "text", "text": ""}
    delta = {"type": "text_delta", "text": WORD}
    reply: dict[str, Any] = {"type": "text", "text": WORD}
    if call:
        block = {"type": "tool_use", "id": f"toolu_{time.monotonic_ns()}", "name": call.name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call.arguments)}
        reply = block | {"input": call.arguments}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model")}
    message |= {"content": [reply], "stop_reason": stop, "stop_sequence": None, "usage": usage}
    began = message | {"content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": began},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return message, [(event["type"], event) for event in events]


def _responses(call: Call | None) -> tuple[dict[str, Any], list[Event]]:
    """OpenAI, the newer protocol."""
    reply = [{"type": "output_text", "text": WORD}]
    item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": reply}
    if call:
        item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call.name}
        item |= {"arguments": json.dumps(call.arguments)}
        item |= {"namespace": call.namespace} if call.namespace else {}
    usage = {"input_tokens": 10, "output_tokens": 1, "total_tokens": 11}
    usage |= {"input_tokens_details": None, "output_tokens_details": None}  # type: ignore[dict-item]
    whole = {"id": "resp_1", "output": [item], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(event["type"], event) for event in events]


def _completions(body: dict[str, Any], call: Call | None) -> tuple[dict[str, Any], list[Event]]:
    """OpenAI, the older protocol."""
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    base = {"id": "chat_1", "model": body.get("model"), "created": 1}
    reply: dict[str, Any] = {"role": "assistant", "content": WORD}
    if call:
        function = {"name": call.name, "arguments": json.dumps(call.arguments)}
        reply["tool_calls"] = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
    choice = {"index": 0, "finish_reason": "tool_calls" if call else "stop"}
    whole = {**base, "object": "chat.completion", "choices": [{**choice, "message": reply}], "usage": usage}
    chunk = {**base, "object": "chat.completion.chunk"}
    return whole, [
        ("", {**chunk, "choices": [{"index": 0, "delta": reply, "finish_reason": None}]}),
        ("", {**chunk, "choices": [{**choice, "delta": {}}], "usage": usage}),
        ("", "[DONE]"),
    ]


def _gemini(call: Call | None) -> tuple[dict[str, Any], list[Event]]:
    """Google."""
    part = {"functionCall": {"name": call.name, "args": call.arguments}} if call else {"text": WORD}
    reply = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}
    candidate = {"content": reply, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock-1"}
    return whole, [("", whole)]
