"""pitfalls: look up the files and words of an action → keep memories that warn of it → closest first."""

from dataclasses import replace

from lore.actions import Action, closeness, search_terms
from lore.citations import cited_by
from lore.engine.context import Context
from lore.engine.handout import harmless
from lore.model import AGENT_TRUST, OF_CONVERSATIONS, Filter, Memory

MOST = 3
CANDIDATES = 50
"""Memories that are looked at, best by words first."""


def pitfalls(action: Action, context: Context) -> list[Memory]:
    """At most MOST trusted memories of the project or of none that warn of the action; no use is counted."""
    tree = context.tree
    if tree is not None:
        paths = tuple(tree.path_of(path) or tree.relative(path) or path for path in action.paths)
        action = replace(action, paths=paths)
    where = Filter(projects=frozenset({context.project}), other_kinds=OF_CONVERSATIONS)
    terms = search_terms(action)
    found = context.reader.matching(terms, CANDIDATES, where).strengths if terms else {}
    ranked: list[tuple[int, float, str, Memory]] = []
    for memory in context.reader.get(found).values():
        cited = cited_by(memory.metadata)
        files = cited.files if tree is not None and cited.repository == tree.key else ()
        trusted = memory.trust >= AGENT_TRUST and harmless(memory, context.reader)
        if trusted and (rank := closeness(memory, files, action)):
            ranked.append((rank, memory.created_at, memory.id, memory))
    return [memory for *_, memory in sorted(ranked, reverse=True)[:MOST]]
