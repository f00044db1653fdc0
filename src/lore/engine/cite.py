"""cite: find the files that a memory names → keep their paths, lines and hashes in its metadata."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lore.citations import CITATIONS, cited_by, without_citations
from lore.engine.context import Context
from lore.errors import Invalid, NotFound
from lore.model import Memory
from lore.store import Writer
from lore.text import preview
from lore.transcripts.working_tree import WorkingTree


def with_citations(
    memory: Memory, tree: WorkingTree | None, *, more: Iterable[str] = (), until: float | None = None
) -> Memory:
    """The memory with the files that its text names, if it belongs to the project of the tree or to none.

    more: texts that name files too. until: the time when the memory was said, if that was earlier than now.
    """
    if tree is None or memory.project not in ("", tree.key):
        return memory
    cited = tree.cite([memory.title, memory.summary, memory.content, *more], until)
    return replace(memory, metadata={**memory.metadata, **cited.metadata()}) if cited.files else memory


def cite_again(repeated: Mapping[str, Memory], writer: Writer) -> None:
    """Take the citations of drafts that only repeat a stored memory. repeated: by the id of that memory."""
    cited = {id: memory for id, memory in repeated.items() if CITATIONS in memory.metadata}
    for id, stored in writer.get(cited).items() if cited else ():
        metadata = {**stored.metadata, CITATIONS: cited[id].metadata[CITATIONS]}
        if metadata != stored.metadata:
            writer.put([replace(stored, metadata=metadata, updated_at=writer.now)])


def cite(ids: Sequence[str], context: Context) -> list[str]:
    """Record the present content of the files that these memories cite; returns the ids.

    The memories count as true of the files as they are now. Files that are gone are cited no longer.
    """
    tree = context.tree
    if tree is None:
        raise Invalid("this folder is in no repository; citations are recorded inside one")
    memories = context.reader.get(ids)
    if missing := [id for id in ids if id not in memories]:
        raise NotFound(f"unknown memory {preview(missing[0], 80)}")
    for one in memories.values():
        if home := {one.project, cited_by(one.metadata).repository} - {"", tree.key}:
            raise Invalid(f"{one.id} belongs to {min(home)}; this repository is {tree.key}")
    cited = {id: _cited_now(memory, tree) for id, memory in memories.items()}
    with context.transaction() as writer:
        current = writer.get(cited)
        writer.put(
            [
                replace(memory, metadata=cited[id].metadata, updated_at=context.now)
                for id, memory in current.items()
            ]
        )
    return list(current)


def _cited_now(memory: Memory, tree: WorkingTree) -> Memory:
    labels = [one.label for one in cited_by(memory.metadata).files]
    return with_citations(replace(memory, metadata=without_citations(memory.metadata)), tree, more=labels)
