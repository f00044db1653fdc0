"""codex: how `codex exec` is asked, and what it leaves: lines of events, and a file with the answer."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lore.llm.base import Prompt, Reply

PROGRAM = "codex"
NAME = "codex"
"""Stands for the model that the user's own Codex is set to."""
NEEDED = "--ephemeral"
"""The flag of a version that leaves no transcript; older ones are not asked."""
QUIET = (
    *("--json", NEEDED, "--skip-git-repo-check", "--disable", "hooks", "--disable", "shell_tool"),
    *("-c", "mcp_servers={}", "-s", "read-only"),
)
INSTRUCTIONS, SCHEMA, ANSWER = "instructions.md", "schema.json", "answer"
FAILURES = ("error", "turn.failed")


@dataclass(frozen=True, slots=True)
class Call:
    """One question to `codex exec`, with its files in a folder of its own."""

    folder: Path

    def arguments(self, prompt: Prompt, system: str, model: str) -> list[str]:
        """What follows the command; writes the files that it names."""
        instructions, schema = self.folder / INSTRUCTIONS, self.folder / SCHEMA
        instructions.write_text(system, encoding="utf-8", errors="replace")
        arguments = [*QUIET, "-c", f"model_instructions_file={json.dumps(str(instructions))}"]
        if prompt.schema is not None:
            schema.write_text(json.dumps(prompt.schema), encoding="utf-8")
            arguments += ["--output-schema", str(schema)]
        arguments += ["--model", model] if model else []
        return [*arguments, "-o", str(self.folder / ANSWER)]

    def reply(self, out: str, model: str) -> Reply:
        """The answer in its file, with the tokens that the events count."""
        try:
            text = (self.folder / ANSWER).read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            text = ""
        counts = [event["usage"] for event in _events(out) if isinstance(event.get("usage"), dict)]
        read, written = (_sum(counts, name) for name in ("input_tokens", "output_tokens"))
        return Reply(text=text, model=model, tokens_in=read, tokens_out=written)


def error_in(out: str) -> str:
    """The last failure that the events name; empty if none does."""
    words = ""
    for event in _events(out):
        if event.get("type") in FAILURES:
            error = event.get("error")
            words = str(event.get("message") or (error.get("message") if isinstance(error, dict) else error))
    return words


def _events(out: str) -> Iterator[dict[str, Any]]:
    for line in out.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict):
            yield event


def _sum(counts: list[dict[str, Any]], name: str) -> int:
    return sum(count[name] for count in counts if isinstance(count.get(name), int))
