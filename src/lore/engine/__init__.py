"""The menu: what Lore can do. Each verb is a function of its value and a `Context`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lore.engine.accounts import due_accounts, keep_accounts
from lore.engine.agent_files import NotesRead, read_agent_files
from lore.engine.brief import brief
from lore.engine.consolidate.backlog import retry, staged
from lore.engine.edit_file import Edit, Edited, edit_file, move_files
from lore.engine.embeddings import embed_pending, release, try_embed_batch
from lore.engine.file_verbs import FileVerbs
from lore.engine.find_duplicate import DuplicateCheck, Match, TextOrVector, find_duplicate, similar
from lore.engine.forget import forget, restore
from lore.engine.graph_verbs import GraphVerbs
from lore.engine.import_memories import Importing
from lore.engine.in_progress import without_own_turns
from lore.engine.ingest import Ingested, import_file, ingest
from lore.engine.inspection_verbs import InspectionVerbs
from lore.engine.link import link, unlink
from lore.engine.rate import Rated, Rating, rate
from lore.engine.read import explore, ids_like, read, read_many, recall, root_of, roots, successors
from lore.engine.reflect import Reflected, Reflection, reflect, sessions
from lore.engine.remember import remember
from lore.engine.remind import remind
from lore.engine.revise import revise, supersede
from lore.engine.search import search
from lore.engine.status import status
from lore.engine.suggest import Candidate, Reviewed, Suggestions, recommend, review, suggestions
from lore.engine.sync_verbs import SyncVerbs
from lore.engine.transfer_verbs import TransferVerbs
from lore.errors import Invalid
from lore.health import BackupReport, Finding, Staged, Status
from lore.injection import Brief, Reminder
from lore.model import (
    Answer,
    Branch,
    Draft,
    Entry,
    Filter,
    Link,
    Memory,
    Order,
    Query,
    Reading,
    Remembered,
    Revision,
    Successor,
    Tie,
)
from lore.store import IndexedStore, back_up
from lore.store.values import COUNT, EVERY, JournalFilter, Page
from lore.supervision import failure_of
from lore.text import NAMESPACE_LIMIT_BYTES, require_text
from lore.transcripts.agent_files import AgentFile
from lore.transcripts.import_formats import Format
from lore.transcripts.turns import Source
from lore.transcripts.working_tree import working_tree

EVERYTHING = Filter()
FEW_PENDING = 20
"""Memories that are embedded while their caller waits: about 10 ms each."""


class Lore(GraphVerbs, FileVerbs, InspectionVerbs, SyncVerbs, TransferVerbs):
    """Everything that Lore can do, for one caller."""

    # --- finding memories
    def search(self, query: Query | str) -> Answer:
        """Find memories by meaning and words; a text stands for a query with the defaults."""
        query = Query(text=query) if isinstance(query, str) else query
        query, own = without_own_turns(query, context := self._context("search"))
        answer = search(query, context, embeddings=self.embeddings, policies=self.policies)
        self.searched(answer)
        return replace(answer, in_progress=own)

    def brief(self, budget_tokens: int = 1500, project: str | None = None) -> Brief:
        """What an agent should know at the start of a conversation in a project; counts as no use."""
        here = self if project is None else replace(self, project=project)
        return brief(budget_tokens, here._context("brief"))

    def remind(self, prompt: str, shown: Sequence[str] = ()) -> Reminder:
        """A few memories that clearly help with a prompt, or none. shown: ids of those the agent has seen."""
        return remind(prompt, shown, self._context("remind"), embeddings=self.embeddings)

    def recall(self, where: Filter, limit: int = 10, choose: Order = "newest",
               show: Order | None = None) -> Answer:  # fmt: skip
        """Memories that pass a filter: chosen by one order, shown in another; counts as use."""
        return recall(where, self._context("recall"), choose=choose, show=show or choose, limit=limit)

    def select(self, where: Filter, limit: int, order: Order = "newest") -> list[Memory]:
        """Memories that pass a filter, newest first or in another order; counts as no use."""
        return self._reader.select(where, Page(limit=limit, order=order))

    def count(self, where: Filter) -> int:
        """The number of memories that pass a filter."""
        return self._reader.traces(where, COUNT).total

    def count_below(self, ids: Sequence[str], where: Filter = EVERYTHING) -> Mapping[str, int]:
        """The number of memories that pass a filter anywhere below each of these."""
        return self._reader.count_below(ids, where)

    def projects(self) -> Mapping[str, int]:
        """The number of memories of each project."""
        return self._reader.counts().projects

    def read(self, id: str, use: bool = True) -> Reading:
        """One memory with its parent, children and links. use: strengthen it, and its neighbours a little."""
        return read(id, self._context("read"), use=use)

    def read_many(self, ids: Sequence[str]) -> list[Reading]:
        """Read several memories, in the order given; unknown and forgotten ones are left out."""
        return read_many(ids, self._context("read"))

    def full_texts(self, ids: Sequence[str]) -> Mapping[str, str]:
        """The whole texts of those memories whose content is an excerpt; counts as no use."""
        return self._reader.full_texts(ids)

    def links(self, ids: Sequence[str], kinds: Sequence[str] = ()) -> list[Link]:
        """The active links that touch any of these memories, oldest first; no kinds: all kinds."""
        return self._reader.links(ids, kinds)

    def successors(self, ids: Sequence[str]) -> Mapping[str, Successor]:
        """The newer memory of each of these that something replaces or updates."""
        return successors(ids, self._reader)

    def roots(self, limit: int = 20, where: Filter = EVERYTHING) -> list[Branch]:
        """The tops of the trees, most relevant first."""
        return roots(self._context("roots"), where=where, limit=limit)

    def explore(self, id: str = "", depth: int = 3, topic: str = "") -> Branch:
        """A memory and the tree below it; for a topic, the tree that matches it best, from its root."""
        id = root_of(self.search(Query(text=topic, limit=1, format="ids")), self._reader) if topic else id
        return explore(id, self._context("explore"), depth=depth)

    def ids_like(self, part: str, limit: int = 20) -> list[str]:
        """Ids that begin with this, or end with it if it is long enough; forgotten memories included."""
        return ids_like(part, reader=self._reader, limit=limit)

    def history(self, id: str) -> list[Entry]:
        """The journal of a memory or a link, oldest first."""
        return self._reader.journal(JournalFilter(id=id, newest_first=False), EVERY)

    def similar(self, text: TextOrVector, where: Filter = EVERYTHING, limit: int = 5) -> list[Match]:
        """The memories most similar to a text or to a vector of the embedding model; counts as no use."""
        return similar(text, self._reader, self.embeddings, where=where, limit=limit)

    def find_duplicate(self, draft: Draft) -> DuplicateCheck:
        """The memory that a draft would repeat, the one it corrects, and its neighbours."""
        return find_duplicate(draft, self._reader, self.embeddings, tuning=self.tuning)

    # --- changing memories
    def remember(self, draft: Draft | str) -> Memory:
        """Keep one memory; a text stands for a draft with the defaults."""
        return self.remember_all([Draft(content=draft) if isinstance(draft, str) else draft])[0].memory

    def remember_all(self, drafts: Sequence[Draft]) -> list[Remembered]:
        """Keep all of them or none; each result says where its memory was placed.

        A caller that waits for the embedding model finds a few new memories by meaning at once.
        """
        results = remember(drafts, self._context("remember"), embeddings=self.embeddings)
        self._saved(results, embed_now=any(draft.embed_now for draft in drafts))
        if self.background.running and self.embeddings.patient and self.pending() <= FEW_PENDING:
            failure_of(self.embed_pending)  # they are kept; the background tries again and reports
        return results

    def revise(self, revision: Revision, reason: str = "") -> Memory:
        """Change a memory; the earlier text stays in its history."""
        return self._saved(revise(revision, self._context("revise", reason)), embed_now=False)

    def edit_file(self, path: str, edit: Edit) -> Edited:
        """Keep the text that `edit` makes of a memory file's text, or of None for a new file."""
        edited = edit_file(path, edit, self._context("edit_file"))
        self.background.wake()
        return edited

    def move_files(self, path: str, new_path: str) -> list[Memory]:
        """Give a memory file, or all files in a folder, a new path."""
        moved = move_files(path, new_path, self._context("move_files"))
        self.background.wake()
        return moved

    def supersede(self, old: str, new: str, reason: str = "") -> Memory:
        """Replace an older memory by a newer one; from then on only a search of the history finds it."""
        return supersede(old, new, self._context("supersede", reason))

    def forget(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """Hide memories; returns the ids that existed, then those that went along with a session."""
        return forget(ids, self._context("forget", reason))

    def restore(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """Bring memories back; returns the ids that were forgotten, then those of their sessions."""
        return restore(ids, self._context("restore", reason))

    def rate(self, memories: Sequence[Rating], links: Sequence[Rating] = ()) -> Rated:
        """Rate memories and links as useful or not; a memory rated useless with certainty is forgotten."""
        return rate(memories, links, self._context("rate"), tuning=self.tuning)

    def reflect(self, reflection: Reflection) -> Reflected:
        """Keep the summary of a session, once, and its lessons as notes of their own."""
        context = self._context("reflect")
        return self._saved(reflect(reflection, context, embeddings=self.embeddings, tuning=self.tuning))

    def link(self, ties: Sequence[Tie], reason: str = "") -> list[Link]:
        """Link memories."""
        return link(ties, self._context("link", reason))

    def unlink(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """End links; returns the ids that were active."""
        return unlink(ids, self._context("unlink", reason))

    def recommend(self, id: str, limit: int) -> list[Candidate]:
        """Memories that might be linked to this one, and why; changes nothing."""
        return recommend(id, self._reader, self.embeddings, tuning=self.tuning, limit=limit)

    def suggestions(self, limit: int, min_score: float = 0.0) -> Suggestions:
        """Suggested links that nobody has reviewed yet, best first."""
        return suggestions(limit, min_score, self._reader)

    def review(self, ids: Sequence[str], accepted: bool) -> list[Reviewed]:
        """Accept or reject suggested links."""
        return review(ids, accepted, self._context("review"))

    # --- conversations
    def ingest(self, path: Path, source: Source, ignored: Callable[[str], bool] = lambda folder: False,
               again: bool = False) -> Iterator[Ingested]:  # fmt: skip
        """Read on in a client's transcript, or all of it again; yields the result of each part kept."""
        growing = self.background.running
        parts = ingest(path, source, self._context("ingest"), ignored=ignored, again=again, growing=growing)
        return (self._saved(part, embed_now=False) for part in parts)

    def import_file(self, path: Path, format: Format | None = None, session: str = "",
                    how: Importing | None = None) -> Iterator[Ingested]:  # fmt: skip
        """Import a file of conversations; yields the result of each part. A second import adds nothing."""
        context = self._context("import", how.reason if how else "")
        preview = how is not None and how.preview
        parts = import_file(path, context, format=format, session=session, preview=preview)
        return (self._saved(part, embed_now=False) for part in parts)

    def keep_accounts(self) -> list[str]:
        """Write the accounts of conversations that are missing or out of date; returns their ids."""
        return keep_accounts(due_accounts(self._reader), self._context("account"))

    def read_agent_files(self, files: Sequence[AgentFile], clients: Sequence[str],
                         ignored: Callable[[str], bool] = lambda folder: False,
                         again: bool = False) -> NotesRead:  # fmt: skip
        """Keep what agents have noted in files, all that these clients have; forget what is gone."""
        context = self._context("read_agent_files")
        read = read_agent_files(files, clients, context, ignored=ignored, again=again)
        return self._saved(read, embed_now=False) if read.files else read

    def staged(self) -> list[Staged]:
        """Conversations with turns that are not digested yet, oldest first."""
        return staged(self._reader)

    def sessions(self) -> list[str]:
        """Sessions with a reflection, latest first."""
        return sessions(self._reader)

    def retry(self, sessions: Sequence[str]) -> list[str]:
        """Clear the failures of these sessions, so that they are digested again; returns those with any."""
        return retry(sessions, self._context("retry"))

    # --- maintenance
    def status(self) -> Status:
        """Counts, location and state of the store."""
        found = status(self._context("status"), embeddings=self.embeddings)
        return found if self.whole_store else found.of_namespace()

    def check(self) -> list[Finding]:
        """Look for faults in the store."""
        return self.store.check()

    def rebuild(self) -> None:
        """Rebuild derived state: indexes, depths, counters; damaged vectors are embedded again."""
        self._saved(self.store.check(repair=True), embed_now=False)
        failure_of(self.build_index)  # the next search builds it otherwise

    def build_index(self, progress: Callable[[int, int], None] = lambda done, total: None) -> int:
        """Build the vector index again from the stored vectors; returns their number."""
        if not isinstance(self.store, IndexedStore):
            raise Invalid("this store has no vector index of its own: its database searches the vectors")
        return self.store.build_index(self.embeddings.model, self.embeddings.dimension, progress)

    def backup(self, target: Path) -> BackupReport:
        """Write a complete, verified copy of the store while others go on writing."""
        return back_up(self.store, target)

    def embed_pending(self) -> None:
        """Embed all pending memories if there is a model, or wait for the process that embeds them."""
        embed_pending(store=self.store, embeddings=self.embeddings)

    def embed_batch(self) -> int | None:
        """Embed one batch; returns its size. 0: nothing pending or no model. None: another process embeds."""
        return try_embed_batch(store=self.store, embeddings=self.embeddings)

    def pending(self) -> int:
        """The number of memories without an embedding."""
        return self.store.unembedded(self.embeddings.model, 0).total

    def for_namespace(self, namespace: str, surface: str = "", actor: str = "") -> "Lore":
        """The same Lore for another namespace."""
        require_text(namespace, "namespace", NAMESPACE_LIMIT_BYTES)
        return replace(self, namespace=namespace, surface=surface, actor=actor)

    def in_folder(self, folder: str) -> "Lore":
        """The same Lore for a caller in this folder: new memories belong to its repository, if any."""
        tree = working_tree(folder)
        return replace(self, project=tree.key if tree else "", tree=tree)

    def release(self) -> None:
        """Free memory that can be loaded again: model, indexes, caches."""
        release(store=self.store, embeddings=self.embeddings)

    def __enter__(self) -> "Lore":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the store; acknowledged writes are on disk."""
        self.background.close()
        self.store.close()
