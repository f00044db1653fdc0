"""Tool calls: the searchable and the full text of a call and its result; which calls went to Lore itself.

A list of tasks has a line for each: `[x]` done, `[~]` in progress, `[ ]` open.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lore.patterns import regex
from lore.transcripts import fields

ARGUMENTS = (
    "command", "filePath", "file_path", "target_file", "path", "pattern", "query", "url", "prompt", "code",
)  # fmt: skip
"""Arguments that best describe a call, most descriptive first."""
OUTPUT = ("output", "contents", "content", "text", "result", "error")
"""Fields that hold the output of a tool."""
TASK_NAMES = ("content", "step", "subject", "description", "title", "text")
TASK_MARKS = {"completed": "x", "done": "x", "in_progress": "~", "inprogress": "~", "doing": "~"}
DROPPED = frozenset({"cancelled", "canceled", "deleted"})
EMPTY: tuple[object, ...] = (None, "", [], {})

LORE_TOOLS = frozenset(
    """search read list_roots store update delete
    query_memory explore_memory traverse_memory store_memory list_topics
    lore_search lore_remember lore_insert lore_update lore_forget lore_reflect lore_processed_sessions
    lore_recommend_links lore_get_suggestions lore_review_suggestion
    memory_save memory_recall memory_delete
    create_entities create_relations add_observations delete_entities delete_observations delete_relations
    end_relation open_nodes read_graph search_nodes search_semantic add_reflection search_reflections
    consolidation_report find_duplicate_observations find_split_candidates analyze_entity_split
    propose_entity_split propose_entity_split_tool execute_entity_split execute_entity_split_tool
    migrate memory""".split()
)
"""The tools of all surfaces; a test compares this list with the surfaces."""
COMMON = frozenset("search read store update delete list_topics migrate memory".split())
"""Tool names that other servers use too: they count only if the server's name is Lore's."""
LORE_SERVERS = frozenset({"lore", "memory"})
"""Words in the name of a server that is Lore, or that Lore replaces."""
NAME_LIMIT = 200
"""Characters of a tool's name."""

_NAME = regex(r"(?:(?P<server>.*?)[_\-:/.]+)?(?P<tool>" + "|".join(sorted(LORE_TOOLS)) + ")")
_SHELL = regex(r"bash|shell|exec|terminal|command|zsh", re.IGNORECASE)
_QUOTED = regex(r"'[^']*(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)")
"""A quoted argument; a missing closing quote is at the end of the text."""
_LORE = regex(
    r"""\s*+(?:cd\s++[^;&|\n]++(?:&&|;)\s*+)?  # cd folder &&
    (?:\w++=\S*+\s++)*+                        # NAME=value
    (?:uv\s+run\s+)?
    (?:[\w.~-]*+/)*lore(?:\.exe)?(?:\s[^;&\n]*)?(?:>&\d[^;&\n]*)*""",
    re.VERBOSE,
)


class Call(NamedTuple):
    """A tool call, with its result or without. text: for searching. full: the whole, if `text` is not."""

    text: str = ""
    full: str = ""


def call(arguments: object, name: str = "", descriptive: Sequence[str] = ARGUMENTS) -> Call:
    """A call: its text is the most descriptive argument; `full` adds the other ones below it.

    A call that writes a list of tasks is that list. name: the tool's name, if the text shall begin with it.
    """
    if items := tasks_of(arguments):
        return Call(fields.shorten(f"{name}:\n{listed(items)}".removeprefix(":\n"), fields.RESULT_LIMIT))
    named = fields.mapping(arguments)
    key = next((key for key in descriptive if fields.text(named.get(key)).strip()), None)
    main = fields.as_text(arguments) if key is None and arguments else fields.text(named.get(key or ""))
    others = {} if key is None else {other: value for other, value in named.items() if other != key}
    more = [
        f"{fields.text(other)}: {fields.as_text(value)}"
        for other, value in others.items()
        if value not in EMPTY
    ]
    short = fields.without_base64(fields.without_injected(main))
    with_name = [": ".join(filter(None, (name, part))) for part in (short, main)]
    return shortened(with_name[0], "\n".join([with_name[1], *more]))


def tasks_of(arguments: object) -> list[tuple[str, str]]:
    """Text and status of each task that a call writes down; empty for other calls."""
    found = fields.objects(fields.get(arguments, "todos")) or fields.objects(fields.get(arguments, "plan"))
    tasks = ((fields.first(*map(one.get, TASK_NAMES)), fields.text(one.get("status"))) for one in found)
    return [(text, status) for text, status in tasks if text]


def listed(tasks: Iterable[tuple[str, str]]) -> str:
    """The lines of a list of tasks, without those that were dropped."""
    return "\n".join(
        f"[{TASK_MARKS.get(status.lower(), ' ')}] {' '.join(text.split())}"
        for text, status in tasks
        if status.lower() not in DROPPED
    )


def shortened(text: str, full: str) -> Call:
    """A call with this text, cut to what is searched, and this full text."""
    text, full = fields.shorten(text, fields.CALL_LIMIT), full.strip()
    return Call(text, "" if full == text else full)


def with_result(call: Call, result: str) -> Call:
    """A call and its result in one text."""
    short = fields.shorten(fields.without_base64(result), fields.RESULT_LIMIT)
    text = "\n".join(filter(None, (call.text, short)))
    full = "\n".join(filter(None, (call.full or call.text, result.strip())))
    return Call(text, "" if full == text else full)


def output(value: object) -> str:
    """The output of a tool: from the field that holds it, otherwise the whole value."""
    return fields.first(*(fields.get(value, name) for name in OUTPUT)) or fields.as_text(value)


def tool_name(name: str, arguments: object) -> str:
    """The tool's name. A tool that calls an MCP server is named after the server and the server's tool."""
    inner = next(iter(fields.array(fields.get(arguments, "tools"))), None)
    server = fields.first(fields.get(arguments, "server"), fields.get(inner, "serverName"))
    tool = fields.first(fields.get(arguments, "toolName"), fields.get(inner, "name"))
    return f"mcp__{server}__{tool}" if server and tool else name


def is_lore_call(tool: str, text: str) -> bool:
    """Whether a tool call went to Lore. text: the call and its result, as a turn keeps them.

    Clients combine server and tool in different ways: `mcp__lore__search`, `mcp_lore_search`, `lore_search`.
    A shell command counts if it runs `lore` and nothing else.
    """
    name = _NAME.fullmatch(tool.lower()) if len(tool) <= NAME_LIMIT else None
    if name:
        server = set(re.split(r"[^a-z0-9]+|_", name["server"] or ""))
        return name["tool"] not in COMMON or bool(server & LORE_SERVERS)
    if not _SHELL.search(tool):
        return False
    command = text.partition("\n")[0].removeprefix(f"{tool}: ")
    return bool(_LORE.fullmatch(_QUOTED.sub("''", command)))
