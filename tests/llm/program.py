"""A program that answers like `claude -p`, or does not; run by tests, never imported by them.

The first argument says how it behaves. What it was given is left in the file named in the second; a child
that outlives its welcome keeps that file open.
"""

import json
import os
import signal
import subprocess
import sys
from itertools import pairwise

CODEX_HELP = "Usage: codex exec [OPTIONS] [PROMPT]\n  --json  --ephemeral  --output-schema <FILE>\n"
ANSWER = '{"colour": "green"}'
HELP = """Usage: program [options]
  -p, --print                Print response and exit
  --output-format <format>   "text" or "json"
  --model <model>            Model for the session
"""
MORE = """  --no-session-persistence   Keep nothing
  --system-prompt <prompt>   System prompt
  --tools <tools...>         Which tools
"""


CODEX_FAILURES = {
    "limit": "You’ve hit your usage limit. Upgrade to Pro, or try again later.",
    "model": "The model `nope` does not exist or you do not have access to it.",
    "account": """{"detail": "The 'nope' model is not supported when using Codex with a ChatGPT account."}""",
}
UNKNOWN = (
    "There's an issue with the selected model (careful). It may not exist or you may not have access to it."
)


FAILURES = {
    "model": (UNKNOWN, 1, True),
    "limit": ("Usage limit reached", 1, True),
    "error": ("Usage limit reached", 0, True),
    "spent": ("You've hit your limit · resets 3pm (UTC)", 0, False),
}


def result(text: str, **more: object) -> str:
    usage = {"input_tokens": 3, "cache_creation_input_tokens": 4, "output_tokens": 5}
    told = {"type": "result", "is_error": False, "result": text, "usage": usage, "total_cost_usd": 0.25}
    return json.dumps(told | more)


def codex(behaviour: str, record: str, *arguments: str) -> int:
    """`codex exec`: the prompt on stdin, events on stdout, the answer in a file."""
    if arguments == ("exec", "--help"):
        sys.stdout.write(CODEX_HELP.replace("--ephemeral", "") if behaviour == "old" else CODEX_HELP)
        return 0
    given = sys.stdin.buffer.read().decode()
    values = dict(pairwise(arguments))
    settings = dict(word.split("=", 1) for word in arguments if "=" in word)
    with open(json.loads(settings["model_instructions_file"]), encoding="utf-8") as file:
        instructions = file.read()
    with open(values["--output-schema"], encoding="utf-8") as file:
        schema = json.load(file)
    with open(record, "w", encoding="utf-8") as file:
        fields = {"arguments": arguments, "text": given, "instructions": instructions, "schema": schema}
        json.dump(fields, file)
    print(json.dumps({"type": "item.completed", "item": {"type": "error", "message": "rate limit soon"}}))
    if behaviour in CODEX_FAILURES:
        failure = {"message": CODEX_FAILURES[behaviour]}
        print(
            json.dumps({"type": "error", **failure}),
            json.dumps({"type": "turn.failed", "error": failure}),
            sep="\n",
        )
        return 1
    with open(values["-o"], "w", encoding="utf-8") as file:
        file.write(ANSWER)
    print(json.dumps({"type": "turn.completed", "usage": {"input_tokens": 10, "output_tokens": 5}}))
    return 0


def main(behaviour: str, record: str, *arguments: str) -> int:
    if arguments[:1] == ("exec",):
        return codex(behaviour, record, *arguments)
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
        inside = {
            name: os.environ.get(name) for name in ("CLAUDECODE", "HOME", "LORE_DISABLE", "LORE_DATA_DIR")
        }
        json.dump({"arguments": arguments, "text": given, "inside": inside, "folder": os.getcwd()}, file)
    if behaviour == "fail":
        sys.stderr.write("Invalid API key. Please run /login")
        return 1
    if behaviour in FAILURES:
        words, code, is_error = FAILURES[behaviour]
        sys.stdout.write(result(words, is_error=is_error))
        return code
    if behaviour == "text":
        sys.stdout.write('It is {"colour": "green"}.')
    elif behaviour != "silent":
        sys.stdout.write(result('{"colour": "green"}'))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
