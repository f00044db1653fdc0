"""A language model behind a command: `claude -p`, `codex exec`, or any program that reads a prompt and prints
an answer."""

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
from pathlib import Path
from threading import Lock
from typing import Any

from lore.environment import SCRATCH, guest_environment
from lore.errors import Invalid
from lore.llm import codex
from lore.llm.base import (
    Limited,
    NoAnswer,
    Prompt,
    Refused,
    Reply,
    Role,
    Settings,
    Unreachable,
    names_limit,
    names_unknown_model,
    unknown_model,
)
from lore.llm.structured import in_words
from lore.patterns import regex
from lore.text import preview

HELP_SECONDS = 30.0
QUOTED = 300
QUIET = ("--no-session-persistence", "--safe-mode", "--strict-mcp-config")
"""No trace of the conversation on disk, which we would read and digest again; no hooks, plugins or servers,
of which we are one."""
INSIDE = "CLAUDECODE"
"""The variable by which Claude Code knows that it runs within itself, and declines to."""
ALIASES: Mapping[Role, str] = {"extraction": "sonnet", "compression": "haiku"}
"""Claude Code's own names, which always mean models of today."""
LOCKED_OUT = regex(
    r"invalid api key|/login|not logged in|log in again|credit balance|401 unauthorized", re.IGNORECASE
)
"""What no question can be asked with, as it stands."""
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
        return self._settings.model(role) or (codex.NAME if self._is_codex else ALIASES[role])

    @property
    def _is_codex(self) -> bool:
        return Path(self._command[0]).stem == codex.PROGRAM

    def complete(self, prompt: Prompt) -> Reply:
        name = self.model(prompt.role)
        timeout = self._settings.timeout_secs if prompt.timeout is None else prompt.timeout
        with _scratch() as folder:
            if self._is_codex:
                return self._by_codex(prompt, name, folder, timeout)
            return self._printed(prompt, name, folder, timeout)

    def _printed(self, prompt: Prompt, name: str, folder: Path, timeout: float) -> Reply:
        """What Claude Code prints, or any other program."""
        system = prompt.system if prompt.schema is None else f"{prompt.system}\n\n{in_words(prompt.schema)}"
        offered = self._flags()
        separate = "--system-prompt" in offered
        text = prompt.text if separate else f"{system}\n\n{prompt.text}"
        arguments = [*self._command, *_arguments(offered - set(self._command), name, system)]
        finished = _run(arguments, text, folder, timeout)
        if finished.code != 0:
            words = _error_in(finished.out) or finished.err or finished.out
            raise self._failure(prompt.role, words, finished.code)
        result = _result(finished.out)
        if result is not None and (result.get("is_error") or not isinstance(result.get("result"), str)):
            raise self._failure(prompt.role, _error_in(finished.out))
        return _reply(finished.out, name, self._command[0])

    def _by_codex(self, prompt: Prompt, name: str, folder: Path, timeout: float) -> Reply:
        if codex.NEEDED not in self._flags():
            message = f"{self._command[0]} has no flag {codex.NEEDED}, so it would keep what it is asked"
            raise Refused(f"{message}; install a newer Codex", general=True)
        call = codex.Call(folder)
        more = call.arguments(prompt, prompt.system, self._settings.model(prompt.role))
        finished = _run([*self._command, *more], prompt.text, folder, timeout)
        if finished.code != 0:
            raise self._failure(prompt.role, codex.error_in(finished.out) or finished.err, finished.code)
        reply = call.reply(finished.out, name)
        if not reply.text.strip():
            raise self._failure(prompt.role, codex.error_in(finished.out))
        return reply

    def _failure(self, role: Role, words: str, code: int = 0) -> NoAnswer:
        """What a program's own words mean for the next question."""
        command, quoted = self._command[0], preview(words, QUOTED)
        if names_unknown_model(words):
            return unknown_model(command, self.model(role), role, quoted)
        reason = f"code {code}: {quoted}" if code and quoted else quoted or (str(code) if code else "")
        message = f"{command} failed: {reason or 'nothing was said'}"
        if names_limit(words):
            return Limited(message, retry=False)
        return Refused(message, general=LOCKED_OUT.search(words) is not None)

    def _flags(self) -> frozenset[str]:
        """The long flags that the command's help names; asked for once."""
        with self._lock:
            if self._offered is None:
                program = list(takewhile(lambda word: not word.startswith("-"), self._command))
                with _scratch() as folder:
                    finished = _run([*program, "--help"], "", folder, HELP_SECONDS)
                self._offered = frozenset(FLAG.findall(finished.out + finished.err))
            return self._offered


def shown(command: str, model: str) -> str:
    """The whole command line for a person, as it runs where its --help offers these flags."""
    if Path(shlex.split(command)[0]).stem == codex.PROGRAM:
        return " ".join((command, shlex.join(codex.QUIET), "…"))
    return " ".join((command, *QUIET, "--model", model, "--system-prompt … --tools ''"))


def _arguments(offered: frozenset[str], model: str, system: str) -> list[str]:
    arguments = [flag for flag in QUIET if flag in offered]
    valued = {"--model": model, "--system-prompt": system, "--tools": ""}
    for flag, value in valued.items():
        if flag in offered:
            arguments += [flag, value]
    return arguments


@contextmanager
def _scratch() -> Iterator[Path]:
    """An empty folder, so that no project's notes to an agent become part of the prompt."""
    with tempfile.TemporaryDirectory(prefix=SCRATCH, ignore_cleanup_errors=True) as folder:
        yield Path(folder)


def _run(arguments: Sequence[str], text: str, folder: Path, timeout: float) -> _Finished:
    try:
        process = subprocess.Popen(
            arguments,
            cwd=folder,
            env=guest_environment(INSIDE),
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


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and value >= 0 else 0.0
