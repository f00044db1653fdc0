"""A process that speaks two APIs over HTTP and misbehaves on demand; run by tests, never imported by them.

The first part of a path is the name of a situation, with anything after a dot to tell two of them apart:
/busy.1/v1/messages. GET /busy.1/log tells what was asked there so far.
"""

import json
import sys
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock
from typing import Any

ANSWER = {"colour": "green"}
BLANK = dict.fromkeys(("why", "rejected", "cause", "fix", "when"))
ITEM = {"type": "fact", **BLANK, "turns": [1], "files": [], "topic": "The harbour", "holds": True}
REPORT = {"title": "The harbour", "request": "Tell me.", "done": [], "left": [], "files": []}
USEFUL = {
    "session": {
        "session": REPORT,
        "items": [
            ITEM | {"text": "The harbour has four piers."},
            ITEM | {"text": "The ferry leaves the harbour at noon.", "turns": [2]},
        ],
    },
    "verdicts": {"verdicts": []},
    "overview": {"title": "The harbour", "overview": "Four piers, and a ferry at noon."},
    "insight": {"insight": None, "sources": []},
    "contradictions": {"contradictions": []},
}
"""What each of Lore's questions may be answered, by a field that only its answer has."""
NEVER = Event()
LOCK = Lock()
LOG: dict[str, list[dict[str, Any]]] = defaultdict(list)


def answer(path: str, body: dict[str, Any], data: Any) -> dict[str, Any]:
    """A well-formed answer of the API whose path it is."""
    if path.endswith("/messages"):
        block = {"type": "tool_use", "id": "t1", "name": "answer", "input": data}
        plain = {"type": "text", "text": "Hello."}
        content = [{"type": "text", "text": ""}, block] if "tools" in body else [plain]
        usage = {"input_tokens": 11, "cache_read_input_tokens": 2, "output_tokens": 7}
        return {"type": "message", "content": content, "stop_reason": "end_turn", "usage": usage}
    asked_for_data = any("JSON" in message["content"] for message in body["messages"])
    text = f"Here it is:\n```json\n{json.dumps(data)}\n```" if asked_for_data else "Hello."
    usage = {"prompt_tokens": 13, "completion_tokens": 7}
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        with LOCK:
            self.send(200, LOG[self.path.split("/")[1]])

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"]))
        body, situation = json.loads(raw), self.path.split("/")[1]
        with LOCK:
            entries = LOG[situation]
            headers = {name.lower(): value for name, value in self.headers.items()}
            entries.append({"path": self.path, "headers": headers, "body": body})
            number = len(entries)
        getattr(self, situation.partition(".")[0])(body, number)

    def send(self, status: int, value: Any, **headers: str) -> None:
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, told in headers.items():
            self.send_header(name.replace("_", "-"), told)
        if "content_length" not in headers:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def fail(self, status: int, words: str, code: str = "", **headers: str) -> None:
        self.send(status, {"error": {"message": words, "code": code}}, **headers)

    def ok(self, body: Any, _: int) -> None:
        self.send(200, answer(self.path, body, ANSWER))

    def useful(self, body: Any, _: int) -> None:
        asked = json.dumps(body)
        name = next(name for name in USEFUL if f'\\"{name}\\"' in asked or f'"{name}"' in asked)
        self.send(200, answer(self.path, body, USEFUL[name]))

    def v1(self, _: Any, __: int) -> None:
        """An address without a situation."""
        self.fail(404, "nothing is here")

    def cut(self, body: Any, _: int) -> None:
        reply = answer(self.path, body, ANSWER)
        for choice in reply.get("choices", []):
            choice["finish_reason"] = "length"
        self.send(200, reply | {"stop_reason": "max_tokens"})

    def busy(self, body: Any, number: int) -> None:
        if number == 1:
            self.fail(429, "too many requests", retry_after="7")
        else:
            self.ok(body, number)

    def dated(self, _: Any, __: int) -> None:
        headers = {"retry_after": "Thu, 01 Jan 2026 00:00:20 GMT"}
        self.send_response_only(503)
        self.send_header("date", "Thu, 01 Jan 2026 00:00:05 GMT")
        self.send_header("retry-after", headers["retry_after"])
        self.send_header("content-length", "0")
        self.end_headers()

    def broken(self, _: Any, __: int) -> None:
        self.send(500, b"<html>oh dear</html>")

    def overloaded(self, _: Any, __: int) -> None:
        self.fail(529, "overloaded")

    def unpaid(self, _: Any, __: int) -> None:
        self.fail(429, "you have no credit left", "insufficient_quota")

    def locked(self, _: Any, __: int) -> None:
        self.fail(401, f"wrong key {self.headers.get('x-api-key') or self.headers.get('authorization')}")

    def unknown(self, _: Any, __: int) -> None:
        self.fail(404, "no such model")

    def elsewhere(self, _: Any, __: int) -> None:
        self.send(302, b"", location="http://elsewhere.example/v1")

    def long(self, _: Any, __: int) -> None:
        self.fail(400, "the text is too long")

    def hang(self, _: Any, __: int) -> None:
        NEVER.wait()

    def drip(self, _: Any, __: int) -> None:
        self.send(200, b"{", content_length="100000")
        while not NEVER.wait(0.05):
            self.wfile.write(b" ")
            self.wfile.flush()

    def truncated(self, _: Any, __: int) -> None:
        self.send(200, b'{"choices": [', content_length="500")
        self.close_connection = True

    def prose(self, _: Any, __: int) -> None:
        self.send(200, b"<html>Welcome to the hotel's network</html>")

    def strange(self, _: Any, __: int) -> None:
        self.send(200, {"content": 5, "choices": "none"})

    def wrong(self, body: Any, _: int) -> None:
        self.send(200, answer(self.path, body, {"colour": 5}))

    def declined(self, _: Any, __: int) -> None:
        refused = {"content": None, "refusal": "I will not."}
        self.send(200, {"content": [], "stop_reason": "refusal", "choices": [{"message": refused}]})

    def schemaless(self, body: Any, number: int) -> None:
        if body.get("response_format", {}).get("type") == "json_schema":
            self.fail(400, "unknown response_format json_schema")
        else:
            self.ok(body, number)

    def plain(self, body: Any, number: int) -> None:
        if "response_format" in body:
            self.fail(400, "unknown field response_format")
        else:
            self.ok(body, number)

    def modern(self, body: Any, number: int) -> None:
        if "max_tokens" in body:
            self.fail(400, "max_tokens is not supported, use max_completion_tokens")
        else:
            self.ok(body, number)


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
