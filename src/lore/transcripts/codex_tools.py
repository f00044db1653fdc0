"""What a tool of Codex was asked and what it answered, in each of the forms that a rollout has for it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lore.transcripts import fields
from lore.transcripts.lines import named, objects_of, texts_of

UNDONE = {"failed", "declined"}
EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
OUTPUT = "\nOutput:\n"
LONGEST_PREAMBLE = 500
SERVER = "mcp__"
"""Begins the name of a tool that an MCP server offers; the server's name follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """A call that has come to its end."""

    name: str
    call: fields.Call
    result: str = ""
    failed: bool = False


def name_of(call: Mapping[str, Any]) -> str:
    """The tool of a function call, behind the name of its MCP server if there is one."""
    name, namespace = named(call.get("name")), named(call.get("namespace"))
    server = namespace.strip("_") if namespace.startswith(SERVER) else ""
    return f"{server}__{name}" if server and name else name


def asked(arguments: object) -> fields.Call:
    """What a call asks for; its arguments are often JSON in a string."""
    given = fields.mapping(fields.loaded(arguments)) or arguments
    named = fields.mapping(given)
    command = _words(named.get("cmd") or named.get("command"))
    if not command:
        return fields.call(given)
    others = {name: value for name, value in named.items() if name not in ("cmd", "command")}
    return fields.call({"command": command, **others})


def answered(output: object) -> tuple[str, bool]:
    """What the model was told of a call, and whether it failed; most of it stands behind a preamble."""
    told = fields.loaded(output) if isinstance(output, str) and output.startswith("{") else output
    inner = fields.mapping(told)
    if "output" in inner:  # {"output": …, "metadata": {"exit_code": …}}
        code = fields.mapping(inner.get("metadata")).get("exit_code")
        return fields.written(inner["output"]), _nonzero(code) or inner.get("success") is False
    text = texts_of(output) or texts_of(inner.get("content")) or fields.written(inner or None)
    preamble, found, rest = text.partition(OUTPUT)
    if not found or len(preamble) > LONGEST_PREAMBLE:
        return text, inner.get("success") is False
    code = EXIT.search(preamble)
    return (rest if code else text), bool(code and code[1] != "0")


def done(item: Mapping[str, Any]) -> Done | None:
    """What an item or an event tells of a finished call; None if it is about something else."""
    shape = FORMS.get(fields.text(item.get("type")))
    return shape(item) if shape else None


def _command(item: Mapping[str, Any]) -> Done:
    streams = (item.get("stdout"), item.get("stderr"))
    return Done(
        name="shell",
        call=fields.call(_words(item.get("command"))),
        result=fields.first((item.get("aggregated_output"), *streams, item.get("formatted_output"))),
        failed=_nonzero(item.get("exit_code")) or _undone(item),
    )


def _mcp(item: Mapping[str, Any]) -> Done:
    invoked = fields.mapping(item.get("invocation")) or item
    told = fields.mapping(item.get("result"))
    result = fields.mapping(told.get("Ok")) or told
    error = told.get("Err") or fields.mapping(item.get("error")).get("message")
    return Done(
        name=f"{SERVER}{fields.text(invoked.get('server'))}__{fields.text(invoked.get('tool'))}",
        call=fields.call(invoked.get("arguments")),
        result=texts_of(result.get("content")) or fields.text(error),
        failed=bool(error or result.get("isError") or result.get("is_error")) or _undone(item),
    )


def _patch(item: Mapping[str, Any]) -> Done:
    changes = fields.mapping(item.get("changes"))
    files = "\n".join(sorted(map(fields.text, changes)))
    return Done(
        name="apply_patch",
        call=fields.calling(files, f"{files}\n{fields.written(changes)}" if changes else files),
        result=fields.first((item.get("stdout"), item.get("stderr"))),
        failed=item.get("success") is False or _undone(item),
    )


def _search(item: Mapping[str, Any]) -> Done:
    action = fields.mapping(item.get("action"))
    return Done(
        name="web_search",
        call=fields.call(fields.first((item.get("query"), action.get("query"), action.get("url")))),
        failed=_undone(item),
    )


def _own(item: Mapping[str, Any]) -> Done:
    """A tool that came with the client, or a message to another agent."""
    contents = (fields.text(part.get("text")) for part in objects_of(item.get("content_items")))
    return Done(
        name=fields.text(item.get("tool")),
        call=fields.call(item.get("arguments") or item.get("prompt")),
        result="\n".join(filter(None, contents)) or fields.text(item.get("error")),
        failed=item.get("success") is False or _undone(item),
    )


FORMS: dict[str, Callable[[Mapping[str, Any]], Done]] = {
    "CommandExecution": _command, "exec_command_end": _command,
    "McpToolCall": _mcp, "mcp_tool_call_end": _mcp,
    "FileChange": _patch, "patch_apply_end": _patch,
    "WebSearch": _search, "web_search_end": _search, "web_search_call": _search,
    "DynamicToolCall": _own, "CollabAgentToolCall": _own,
}  # fmt: skip


def _words(command: object) -> str:
    """A command without the shell that runs it: `bash -lc "make test"` is `make test`."""
    words = [word for word in fields.several(command) if isinstance(word, str)]
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return fields.text(words[2])
    return fields.text(" ".join(words)) or fields.text(command)


def _nonzero(code: object) -> bool:
    return isinstance(code, int) and code != 0


def _undone(item: Mapping[str, Any]) -> bool:
    return fields.text(item.get("status")) in UNDONE
