"""A program that answers like `claude -p`, or does not; run by tests, never imported by them.

The first argument says how it behaves. What it was given is left in the file named in the second; a child
that outlives its welcome keeps that file open.
"""

import json
import os
import signal
import subprocess
import sys

HELP = """Usage: program [options]
  -p, --print                Print response and exit
  --output-format <format>   "text" or "json"
  --model <model>            Model for the session
"""
MORE = """  --no-session-persistence   Keep nothing
  --system-prompt <prompt>   System prompt
  --tools <tools...>         Which tools
"""


def result(text: str, **more: object) -> str:
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 4, "output_tokens": 5}
    told = {"type": "result", "is_error": False, "result": text, "usage": usage, "total_cost_usd": 0.25}
    return json.dumps(told | more)


def main(behaviour: str, record: str, *arguments: str) -> int:
    if arguments == ("--help",):
        sys.stdout.write(HELP if behaviour == "old" else HELP + MORE)
        return 0
    if behaviour in ("hang", "left"):
        with open(record, "w", encoding="utf-8") as pipe:
            pipe.write("started")
            pipe.flush()
            subprocess.Popen(
                [sys.executable, "-c", "import signal; signal.pause()"], pass_fds=[pipe.fileno()]
            )
        if behaviour == "hang":
            signal.pause()
        return 0
    given = sys.stdin.buffer.read().decode()
    with open(record, "w", encoding="utf-8") as file:
        inside = {"CLAUDECODE": os.environ.get("CLAUDECODE"), "HOME": os.environ.get("HOME")}
        json.dump({"arguments": arguments, "text": given, "inside": inside, "folder": os.getcwd()}, file)
    if behaviour == "fail":
        sys.stderr.write("Invalid API key. Please run /login")
        return 1
    if behaviour in ("limit", "error"):
        sys.stdout.write(result("Usage limit reached", is_error=True))
        return int(behaviour == "limit")
    if behaviour == "text":
        sys.stdout.write('It is {"colour": "green"}.')
    elif behaviour != "silent":
        sys.stdout.write(result('{"colour": "green"}'))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
