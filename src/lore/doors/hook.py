"""hook: `lore-hook EVENT`, which a client runs at an event of a conversation: its JSON on stdin, ours on
stdout.

It runs for every prompt, so it imports next to nothing, not even JSON: the daemon reads the input and writes
the output. Whatever happens, it ends with exit code 0 within DEADLINE_SECONDS.
"""

import _thread
import os
import sys
import time
from importlib import import_module

from lore import lazy
from lore.doors.endpoint import Endpoint, Hung
from lore.doors.protocol import LONGEST_MESSAGE
from lore.environment import disabled, folder, variables
from lore.version import VERSION

USAGE = """\
Usage: lore-hook EVENT

  Read the JSON of a client's hook on stdin and print the answer: a brief of
  what Lore knows, memories that fit a prompt, or nothing. EVENT is the client's
  name for it: SessionStart, UserPromptSubmit, PreToolUse, PreCompact, Stop,
  SessionEnd; BeforeAgent, BeforeTool, PreCompress, AfterAgent in Gemini CLI.
"""
DEADLINE_SECONDS = 0.8
"""Seconds after which the program gives up: the user waits for it, and Claude Code gives all hooks of a
session's end 1.5 s."""
CHUNK = 1 << 16
LONGEST_INPUT = LONGEST_MESSAGE // 2
"""Inputs up to this size are passed on unchanged; of a longer one, only the beginning of each text."""
LARGEST_INPUT = 1 << 25
"""Bytes above which the input is ignored."""
LONGEST_TEXT = 20_000
"""Characters of one text of a longer input."""


def main() -> None:
    """`lore-hook`."""
    _thread.start_new_thread(_end_in_time, ())
    try:
        _run(sys.argv[1] if len(sys.argv) > 1 else "")
    finally:
        os._exit(0)  # also after an error: a client must not report a failure of its memory to the user


def _run(event: str) -> None:
    if event in ("-h", "--help", "--version"):
        os.write(1, (f"lore-hook {VERSION}\n" if event == "--version" else USAGE).encode())
        return
    if disabled():
        while os.read(0, CHUNK):  # the client must not fail while it writes
            pass
        return
    fields = {"version": VERSION, "folder": folder(), "event": event, "input": _input()} | variables()
    if output := _output(Endpoint(variables()), fields):
        os.write(1, output.encode("utf-8", "surrogateescape") + b"\n")


def _input() -> str:
    """The text on stdin without its NUL bytes, which end a field of the handshake; valid JSON has none."""
    data = bytearray()
    while chunk := os.read(0, CHUNK):
        data += chunk
        if len(data) > LARGEST_INPUT:
            raise ValueError(f"the input is longer than {LARGEST_INPUT} bytes")
    if len(data) > LONGEST_INPUT:
        json = import_module("json")
        sent = json.loads(data)
        return str(json.dumps(_shortened(sent) | {"tool_input": _shortened(sent.get("tool_input") or {})}))
    return data.decode("utf-8", "surrogateescape").replace("\0", "")


def _shortened(sent: dict[str, object]) -> dict[str, object]:
    return {name: text[:LONGEST_TEXT] for name, text in sent.items() if isinstance(text, str)}


def _output(endpoint: Endpoint, fields: dict[str, str]) -> str:
    """The daemon's output. Without a daemon one is started, and not waited for: that takes a second."""
    try:
        return endpoint.dial("hook", fields)[2].get("output", "")
    except Hung:
        return ""
    except OSError:
        lazy.starting.start_soon(endpoint)
        return ""


def _end_in_time() -> None:
    time.sleep(DEADLINE_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    main()
