"""model_api: a loopback language model that answers one word, in the four protocols of the clients.

It keeps the requests, so that a run can show what the model has received.
"""

import json
import threading
import time
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

WORD = "Done."
Event = tuple[str, Any]
Sent = tuple[float, dict[str, Any]]


class ModelApi:
    """Serves while it is entered. requests: when each came (monotonic seconds), and its body."""

    def __init__(self) -> None:
        self.requests: list[Sent] = []

    def __enter__(self) -> "ModelApi":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.requests))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


def _handler(requests: list[Sent]) -> type[BaseHTTPRequestHandler]:
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
            requests.append((time.monotonic(), body))
            streams = body.get("stream") or "streamGenerateContent" in self.path
            whole, events = _replies(self.path, body)
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


def _replies(path: str, body: dict[str, Any]) -> tuple[dict[str, Any], list[Event]]:
    """The answer to a request, whole and as a stream."""
    if "/messages" in path:
        return _messages(body)
    if "/responses" in path:
        return _responses()
    if "/chat/completions" in path:
        return _completions(body)
    return _gemini()


def _messages(body: dict[str, Any]) -> tuple[dict[str, Any], list[Event]]:
    """Anthropic."""
    usage = {"input_tokens": 10, "output_tokens": 1}
    reply = {"type": "text", "text": WORD}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model")}
    message |= {"content": [reply], "stop_reason": "end_turn", "stop_sequence": None, "usage": usage}
    began = message | {"content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": began},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": WORD}},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": usage,
        },
        {"type": "message_stop"},
    ]
    return message, [(event["type"], event) for event in events]


def _responses() -> tuple[dict[str, Any], list[Event]]:
    """OpenAI, the newer protocol."""
    reply = [{"type": "output_text", "text": WORD}]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "content": reply}
    usage = {"input_tokens": 10, "output_tokens": 1, "total_tokens": 11}
    usage |= {"input_tokens_details": None, "output_tokens_details": None}  # type: ignore[dict-item]
    whole = {"id": "resp_1", "output": [item], "usage": usage}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, [(event["type"], event) for event in events]


def _completions(body: dict[str, Any]) -> tuple[dict[str, Any], list[Event]]:
    """OpenAI, the older protocol."""
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    base = {"id": "chat_1", "model": body.get("model"), "created": 1}
    reply = {"role": "assistant", "content": WORD}
    choice = {"index": 0, "finish_reason": "stop"}
    whole = {**base, "object": "chat.completion", "choices": [{**choice, "message": reply}], "usage": usage}
    chunk = {**base, "object": "chat.completion.chunk"}
    return whole, [
        ("", {**chunk, "choices": [{"index": 0, "delta": reply, "finish_reason": None}]}),
        ("", {**chunk, "choices": [{**choice, "delta": {}}], "usage": usage}),
        ("", "[DONE]"),
    ]


def _gemini() -> tuple[dict[str, Any], list[Event]]:
    """Google."""
    reply = {"role": "model", "parts": [{"text": WORD}]}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 1, "totalTokenCount": 11}
    candidate = {"content": reply, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "mock-1"}
    return whole, [("", whole)]
