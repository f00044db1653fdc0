"""Fields: what JSON that somebody else wrote really holds; what is of the wrong kind counts as missing."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from lore.transcripts import words

TELLING = (
    "command", "filePath", "file_path", "target_file", "path", "pattern", "query", "url", "prompt", "code",
)  # fmt: skip
"""The one field of a call that tells what it does, most telling first."""
EMPTY: tuple[object, ...] = (None, "", [], {})
OUTPUT = ("output", "contents", "content", "text", "result", "error")


def loaded(data: object) -> Any:
    """What JSON in text or bytes says; None if it is none."""
    if isinstance(data, bytes):
        data = data.decode("utf-8", "replace")
    if not isinstance(data, str):
        return None
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def several(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def text(value: object) -> str:
    """Text that can be stored: without NUL and halves of characters."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if not isinstance(value, str):
        return ""
    try:
        value.encode()
    except UnicodeEncodeError:
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value.replace("\0", "")


def columns(row: Sequence[object], count: int) -> list[object]:
    """The first columns of a row; those that it has not are None."""
    return [*row[:count], *[None] * (count - len(row))]


def first(values: Iterable[object]) -> str:
    """The first that is text and not empty."""
    return next((found for found in map(text, values) if found.strip()), "")


def written(value: object) -> str:
    """A value as text: text as it is, anything else as JSON."""
    if isinstance(value, str | bytes) or value is None:
        return text(value)
    try:
        return text(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError, RecursionError):
        return ""


class Call(NamedTuple):
    """The arguments of a tool call. brief: for searching. full: all of them; empty if `brief` is all."""

    brief: str = ""
    full: str = ""


def call(given: object, name: str = "", telling: Sequence[str] = TELLING) -> Call:
    """A call: brief by its most telling argument, full with the others below it, a line or more each.

    name: of the tool, if it stands before the arguments.
    """
    arguments = mapping(given)
    key = next((key for key in telling if text(arguments.get(key)).strip()), None)
    told = written(given) if key is None and given else text(arguments.get(key or ""))
    others = {} if key is None else {other: one for other, one in arguments.items() if other != key}
    more = [f"{text(other)}: {written(one)}" for other, one in others.items() if one not in EMPTY]
    brief = words.without_data(words.without_injected(told))
    return calling(_named(name, brief), "\n".join([_named(name, told), *more]))


def _named(name: str, told: str) -> str:
    return f"{name}: {told}" if name and told else name or told


def calling(brief: str, full: str) -> Call:
    """A call that is searched by `brief`, if need be cut, and is `full` in all."""
    brief, full = words.cut(brief, words.LONGEST_CALL), full.strip()
    return Call(brief, "" if full == brief else full)


def tool_name(name: str, given: object) -> str:
    """The name of a tool; of a tool that calls an MCP server for the model, the server and its tool."""
    arguments = mapping(given)
    inner = mapping(next(iter(several(arguments.get("tools"))), None))
    server = first((arguments.get("server"), inner.get("serverName")))
    tool = first((arguments.get("toolName"), inner.get("name")))
    return f"mcp__{server}__{tool}" if server and tool else name


def outcome(given: object) -> str:
    """What a tool answered: the output alone where it stands in a field of its own."""
    return first(mapping(given).get(name) for name in OUTPUT) or written(given)


class Exchange(NamedTuple):
    """A call and its result as one turn has them: `text` to search, `full` empty if `text` is all of it."""

    text: str
    full: str


def exchange(asked: Call, answered: str) -> Exchange:
    """A call and its result as the text of one turn."""
    result = words.cut(words.without_data(answered), words.LONGEST_TOOL)
    text = "\n".join(part for part in (asked.brief, result) if part)
    full = "\n".join(part for part in (asked.full or asked.brief, answered.strip()) if part)
    return Exchange(text, "" if full == text else full)


def thought(parts: Iterable[str]) -> str:
    return words.cut("\n\n".join(part for part in parts if part.strip()), words.LONGEST_REASONING)
