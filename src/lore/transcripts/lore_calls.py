"""Lore calls: tell a call of Lore's own tools, or of the `lore` command, from other tool calls."""

import re

TOOLS = frozenset(
    """search read list_roots store update delete
    query_memory explore_memory traverse_memory store_memory list_topics
    lore_search lore_remember lore_insert lore_update lore_forget lore_reflect lore_processed_sessions
    lore_recommend_links lore_get_suggestions lore_review_suggestion
    memory_save memory_recall memory_delete
    create_entities create_relations add_observations delete_entities delete_observations delete_relations
    end_relation open_nodes read_graph search_nodes search_semantic add_reflection search_reflections
    consolidation_report find_duplicate_observations find_split_candidates analyze_entity_split
    propose_entity_split propose_entity_split_tool execute_entity_split execute_entity_split_tool
    migrate""".split()
)
"""The tools of all surfaces; a test compares this list with the surfaces."""
COMMON = frozenset("search read store update delete list_topics migrate".split())
"""Tools that other servers offer under the same name: these count only if the server's name is Lore's."""
SERVERS = frozenset({"lore", "memory"})
"""Words in the name of a server that is Lore, or that Lore replaces."""
LONGEST_NAME = 200
"""Characters of a tool's name."""

_NAME = re.compile(r"(?:(?P<server>.*?)[_\-:/.]+)?(?P<tool>" + "|".join(sorted(TOOLS)) + ")")
_SHELL = re.compile(r"bash|shell|exec|terminal|command|zsh", re.IGNORECASE)
_QUOTED = re.compile(r"'[^']*(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)")
"""A quoted argument; one that has no end on its line goes on to the end."""
_LORE = re.compile(
    r"""\s*+(?:cd\s++[^;&|\n]++(?:&&|;)\s*+)?  # cd folder &&
    (?:\w++=\S*+\s++)*+                        # NAME=value
    (?:uv\s+run\s+)?
    (?:[\w.~-]*+/)*lore(?:\.exe)?(?:\s[^;&\n]*)?(?:>&\d[^;&\n]*)*""",
    re.VERBOSE,
)


def is_lore_call(tool: str, text: str) -> bool:
    """Whether a tool call went to Lore. text: the call, then its result, as a turn keeps them.

    Clients name a tool after its server in different ways: `mcp__lore__search`, `mcp_lore_search`,
    `lore_search`. A shell command counts if it runs `lore` and nothing else.
    """
    name = _NAME.fullmatch(tool.lower()) if len(tool) <= LONGEST_NAME else None
    if name:
        server = set(re.split(r"[^a-z0-9]+|_", name["server"] or ""))
        return name["tool"] not in COMMON or bool(server & SERVERS)
    if not _SHELL.search(tool):
        return False
    command = text.partition("\n")[0].removeprefix(f"{tool}: ")
    return bool(_LORE.fullmatch(_QUOTED.sub("''", command)))
