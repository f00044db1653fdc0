"""verify: read the citations of memories → compare them with the working tree → a state for each."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from lore.citations import Citation, State, cited_by
from lore.engine.context import Context
from lore.errors import Invalid
from lore.model import OF_CONVERSATIONS, Filter, Hit, Memory
from lore.ranking.policy import STALE
from lore.store.values import COUNT, Page
from lore.text import preview
from lore.transcripts.working_tree import WorkingTree

CHECKED = 30
"""The first hits of a search whose citations count for their order."""
PAGE = 500
"""Memories that `verify` reads at a time."""

States = Mapping[str, Mapping[str, State]]
"""Id of a memory -> label of a citation -> its state."""


def states_of(memories: Iterable[Memory], tree: WorkingTree | None) -> States:
    """The states of the citations of these memories; outside of the repository that they cite, none."""
    cited = _cited(memories, tree)
    states = tree.states(one for files in cited.values() for one in files) if tree and cited else {}
    found = {id: {one.label: states[one] for one in files if one in states} for id, files in cited.items()}
    return {id: labels for id, labels in found.items() if labels}


def stale_scores(hits: Sequence[Hit], tree: WorkingTree | None) -> dict[str, float]:
    """Lower scores of hits that cite files which have changed or are gone since; the worst state counts."""
    states = states_of((hit.memory for hit in hits[:CHECKED]), tree)
    factors = {id: min(STALE[state] for state in labels.values()) for id, labels in states.items()}
    return {
        hit.memory.id: hit.score * factor for hit in hits if (factor := factors.get(hit.memory.id, 1.0)) < 1.0
    }


def verify(paths: Sequence[str], context: Context, *, report: Callable[[str, int, int], None]) -> States:
    """The citations of all current memories of the repository. paths: only of these files and folders.

    report: called with the name of the work, the number of memories read, and the number of all.
    """
    tree = context.tree
    if tree is None:
        raise Invalid("this folder is in no repository; there are no files to compare memories with")
    folders = [_folder(path, tree) for path in paths]
    where = Filter(projects=frozenset({tree.key}), other_kinds=OF_CONVERSATIONS)
    total = context.reader.traces(where, COUNT).total
    found: dict[str, Mapping[str, State]] = {}
    done, page, more = 0, Page(limit=PAGE), True
    while more:
        report("verify", done, max(done, total))
        memories = context.reader.select(where, page)
        for id, files in _cited(memories, tree).items():
            wanted = [one for one in files if not folders or any(_below(one.path, up) for up in folders)]
            states = tree.states(wanted, limited=False)
            found |= {id: {one.label: state for one, state in states.items()}} if states else {}
        done, more, page = done + len(memories), memories.more, Page(limit=PAGE, cursor=memories.cursor)
    return found


def _folder(path: str, tree: WorkingTree) -> str:
    """The path of a file or folder in the tree, which need not exist; `.` for all of it."""
    relative = tree.relative(path)
    if not relative:
        raise Invalid(f"{preview(path, 80)} is not inside the repository {tree.root}")
    return relative


def _below(path: str, folder: str) -> bool:
    return folder in (".", path) or path.startswith(f"{folder}/")


def _cited(memories: Iterable[Memory], tree: WorkingTree | None) -> dict[str, tuple[Citation, ...]]:
    """The citations of files in this tree, by memory."""
    cited = {memory.id: cited_by(memory.metadata) for memory in memories if memory.metadata}
    key = tree.key if tree else ""
    return {id: one.files for id, one in cited.items() if one.files and one.repository == key}
