"""A language model behind a command: `claude -p`, or any program that reads a prompt and prints an answer."""

import json
import os
import re
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import takewhile
from threading import Lock
from typing import Any

from lore.environment import child_environment
from lore.errors import Invalid
from lore.llm.base import NoAnswer, Prompt, Refused, Reply, Role, Settings, Unreachable
from lore.llm.structured import in_words
from lore.text import preview

HELP_SECONDS = 30.0
QUOTED = 300
QUIET = ("--no-session-persistence", "--safe-mode", "--strict-mcp-config")
"""No trace of the conversation on disk, which we would read and digest again; no hooks, plugins or servers,
of which we are one."""
INSIDE = "CLAUDECODE"
"""The variable by which Claude Code knows that it runs within itself, and declines to."""
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


@dataclass(frozen=True, slots=True)
class _Finished:
    """What a process left behind."""

    code: int
    out: str
    err: str


class CommandModel:
    """See `LanguageModel`. The flags that a command offers in its --help are used, the others are not.

    A command without a flag for the system prompt reads it before the text, on its standard input.
    """

    def __init__(self, settings: Settings, key: str = "") -> None:
        try:
            self._command = shlex.split(settings.command)
        except ValueError as error:
            raise Invalid(f"command must be a command line, not {settings.command!r}: {error}") from error
        if not self._command:
            raise Invalid("command is empty; give one such as: claude -p --output-format json")
        self._settings = settings
        self._lock = Lock()
        self._offered: frozenset[str] | None = None

    @property
    def address(self) -> str:
        return shlex.join(self._command)

    def model(self, role: Role) -> str:
        return self._settings.model(role)

    def complete(self, prompt: Prompt) -> Reply:
        name = self.model(prompt.role)
        system = prompt.system if prompt.schema is None else f"{prompt.system}\n\n{in_words(prompt.schema)}"
        offered = self._flags()
        separate = "--system-prompt" in offered
        text = prompt.text if separate else f"{system}\n\n{prompt.text}"
        arguments = [*self._command, *_arguments(offered - set(self._command), name, system)]
        timeout = self._settings.timeout_secs if prompt.timeout is None else prompt.timeout
        finished = _run(arguments, text, timeout)
        if finished.code != 0:
            words = preview(_error_in(finished.out) or finished.err or finished.out, QUOTED)
            raise _failure(
                self._command[0], f"code {finished.code}: {words}" if words else str(finished.code)
            )
        return _reply(finished.out, name, self._command[0])

    def _flags(self) -> frozenset[str]:
        """The long flags that the command's help names; asked for once."""
        with self._lock:
            if self._offered is None:
                program = list(takewhile(lambda word: not word.startswith("-"), self._command))
                finished = _run([*program, "--help"], "", HELP_SECONDS)
                self._offered = frozenset(FLAG.findall(finished.out + finished.err))
            return self._offered


def _arguments(offered: frozenset[str], model: str, system: str) -> list[str]:
    arguments = [flag for flag in QUIET if flag in offered]
    valued = {"--model": model, "--system-prompt": system, "--tools": ""}
    for flag, value in valued.items():
        if flag in offered:
            arguments += [flag, value]
    return arguments


def _run(arguments: Sequence[str], text: str, timeout: float) -> _Finished:
    """In an empty folder of its own, so that no project's notes to an agent become part of the prompt."""
    with tempfile.TemporaryDirectory(prefix="lore-", ignore_cleanup_errors=True) as folder:
        try:
            process = subprocess.Popen(
                arguments,
                cwd=folder,
                env=_without(INSIDE, child_environment(settings=False)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            hint = "install it, or set command or backend to what is there"
            message = f"the command {arguments[0]!r} cannot be run ({error}); {hint}"
            raise Refused(message, general=True) from error
        with process, _ending(process):
            try:
                out, err = process.communicate(text.encode(errors="replace"), timeout)
            except subprocess.TimeoutExpired as error:
                patience = f"{round(timeout, 1):g} s (timeout_secs)"
                message = f"{arguments[0]} did not answer within {patience} and was ended"
                raise Unreachable(message, lost=True) from error
        return _Finished(process.returncode, out.decode(errors="replace"), err.decode(errors="replace"))


@contextmanager
def _ending(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    """When the block fails, the process ends with all its children: nobody waits for it any more."""
    finished = False
    try:
        yield
        finished = True
    finally:
        if not finished:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _without(name: str, variables: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in variables.items() if key != name}


def _result(out: str) -> dict[str, Any] | None:
    """What Claude Code prints with --output-format json; None for a command that prints plain text."""
    try:
        result = json.loads(out)
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) and result.get("type") == "result" else None


def _error_in(out: str) -> str:
    result = _result(out)
    return "" if result is None else str(result.get("result") or result.get("subtype") or "")


def _reply(out: str, model: str, command: str) -> Reply:
    result = _result(out)
    if result is None:
        if not out.strip():
            raise Refused(f"{command} printed nothing")
        return Reply(text=out, model=model)
    if result.get("is_error") or not isinstance(result.get("result"), str):
        raise _failure(command, preview(_error_in(out), QUOTED))
    usage = result.get("usage") if isinstance(result.get("usage"), dict) else {}
    counts = {name: _number(usage.get(name)) for name in (*COUNTED, "output_tokens")} if usage else {}
    cost = result.get("total_cost_usd")
    return Reply(
        text=result["result"],
        model=model,
        tokens_in=int(sum(counts.get(name, 0) for name in COUNTED)),
        tokens_out=int(counts.get("output_tokens", 0)),
        cost=_number(cost) if cost is not None else None,
    )


def _failure(command: str, words: str) -> NoAnswer:
    return Refused(f"{command} failed: {words or 'nothing was said'}")


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value >= 0 else 0.0
