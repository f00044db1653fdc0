"""Codex tools: calls and results in each of the forms that a rollout has for them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lore.patterns import regex
from lore.transcripts import fields, tool_calls, user_words
from lore.transcripts.tool_calls import Call

FAILED = {"failed", "declined"}
EXIT = regex(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
OUTPUT = "\nOutput:\n"
PREAMBLE_LIMIT = 500
"""Characters before OUTPUT; a longer text is output as a whole."""
ASKING = "request_user_input"
NOTE = "user_note: "
"""Before what the user adds to a choice."""
SERVER = "mcp__"
"""Prefix of the name of an MCP server's tool; the server's name follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A call that has ended."""

    name: str
    call: Call
    result: str = ""
    failed: bool = False


def tool_name(call: Mapping[str, Any]) -> str:
    """The tool of a function call, after the name of its MCP server if there is one."""
    name, namespace = fields.label(call.get("name")), fields.label(call.get("namespace"))
    server = namespace.strip("_") if namespace.startswith(SERVER) else ""
    return f"{server}__{name}" if server and name else name


def requested(arguments: object) -> Call:
    """The call with these arguments, which are often JSON in a string."""
    arguments = fields.parse_object(arguments) or arguments
    named = fields.mapping(arguments)
    command = _command_line(named.get("cmd") or named.get("command"))
    if not command:
        return tool_calls.call(arguments)
    others = {name: value for name, value in named.items() if name not in ("cmd", "command")}
    return tool_calls.call({"command": command, **others})


def answered(call: Call, item: Mapping[str, Any]) -> Finished:
    """A call with the result that was sent to the model, without its preamble."""
    result, failed = _result_and_failure(item.get("output"))
    return Finished(name="", call=call, result=result, failed=failed)


def answers(name: str, finished: Finished) -> str:
    """A line for each question that the user answered; empty for other tools."""
    given = fields.mapping(fields.parse_object(finished.result).get("answers")) if name == ASKING else {}
    arguments = fields.parse_object(finished.call.full or finished.call.text)
    questions = {
        fields.text(one.get("id")): fields.text(one.get("question"))
        for one in fields.objects(arguments.get("questions"))
    }
    found = []
    for id, answer in given.items():
        parts = [fields.text(part) for part in fields.array(fields.get(answer, "answers"))]
        notes = ", ".join(part.removeprefix(NOTE) for part in parts if part.startswith(NOTE))
        chosen = ", ".join(part for part in parts if not part.startswith(NOTE))
        if chosen or notes:
            found.append(user_words.answer_line(questions.get(id) or id, chosen, notes))
    return "\n".join(found)


def finished(item: Mapping[str, Any]) -> Finished | None:
    """The finished call of an item or an event; None if it is about something else."""
    form = FORMS.get(fields.text(item.get("type")))
    return form(item) if form else None


def _result_and_failure(output: object) -> tuple[str, bool]:
    is_json = isinstance(output, str) and output.startswith("{")
    inner = fields.parse_object(output) if is_json else fields.mapping(output)
    failed = inner.get("success") is False
    if "output" in inner:  # {"output": …, "metadata": {"exit_code": …}}
        return fields.as_text(inner["output"]), failed or _nonzero(fields.get(inner, "metadata", "exit_code"))
    text = fields.joined(output) or fields.joined(inner.get("content")) or fields.as_text(inner or None)
    preamble, found, rest = text.partition(OUTPUT)
    if not found or len(preamble) > PREAMBLE_LIMIT:
        return text, failed
    code = EXIT.search(preamble)
    return (rest if code else text), bool(code and code[1] != "0")


def _command(item: Mapping[str, Any]) -> Finished:
    outputs = ("aggregated_output", "stdout", "stderr", "formatted_output")
    return Finished(
        name="shell",
        call=tool_calls.call(_command_line(item.get("command"))),
        result=fields.first(*map(item.get, outputs)),
        failed=_nonzero(item.get("exit_code")) or _failed(item),
    )


def _mcp(item: Mapping[str, Any]) -> Finished:
    invoked = fields.mapping(item.get("invocation")) or item
    outcome = fields.mapping(item.get("result"))
    result = fields.mapping(outcome.get("Ok")) or outcome
    error = outcome.get("Err") or fields.get(item, "error", "message")
    return Finished(
        name=f"{SERVER}{fields.text(invoked.get('server'))}__{fields.text(invoked.get('tool'))}",
        call=tool_calls.call(invoked.get("arguments")),
        result=fields.joined(result.get("content")) or fields.text(error),
        failed=bool(error or result.get("isError") or result.get("is_error")) or _failed(item),
    )


def _patch(item: Mapping[str, Any]) -> Finished:
    changes = fields.mapping(item.get("changes"))
    files = "\n".join(sorted(map(fields.text, changes)))
    return Finished(
        name="apply_patch",
        call=tool_calls.shortened(files, f"{files}\n{fields.as_text(changes)}" if changes else files),
        result=fields.first(item.get("stdout"), item.get("stderr")),
        failed=_failed(item),
    )


def _search(item: Mapping[str, Any]) -> Finished:
    query = fields.first(
        item.get("query"), fields.get(item, "action", "query"), fields.get(item, "action", "url")
    )
    return Finished(name="web_search", call=tool_calls.call(query), failed=_failed(item))


def _built_in(item: Mapping[str, Any]) -> Finished:
    """A tool of the client itself, or a message to another agent."""
    return Finished(
        name=fields.text(item.get("tool")),
        call=tool_calls.call(item.get("arguments") or item.get("prompt")),
        result=fields.joined(fields.array(item.get("content_items"))) or fields.text(item.get("error")),
        failed=_failed(item),
    )


FORMS: dict[str, Callable[[Mapping[str, Any]], Finished]] = {
    "CommandExecution": _command, "exec_command_end": _command,
    "McpToolCall": _mcp, "mcp_tool_call_end": _mcp,
    "FileChange": _patch, "patch_apply_end": _patch,
    "WebSearch": _search, "web_search_end": _search, "web_search_call": _search,
    "DynamicToolCall": _built_in, "CollabAgentToolCall": _built_in,
}  # fmt: skip


def _command_line(command: object) -> str:
    """A command without the shell that runs it: `bash -lc "make test"` is `make test`."""
    words = [word for word in fields.array(command) if isinstance(word, str)]
    if len(words) == 3 and words[1] in ("-c", "-lc"):
        return fields.text(words[2])
    return fields.text(" ".join(words)) or fields.text(command)


def _nonzero(code: object) -> bool:
    return isinstance(code, int) and code != 0


def _failed(item: Mapping[str, Any]) -> bool:
    return item.get("success") is False or fields.text(item.get("status")) in FAILED
