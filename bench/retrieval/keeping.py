"""Keeping: store a group's items in a Lore as a user's would be, and trace hits back to them."""

import argparse
import json
import shutil
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.retrieval.data import Group, Item, Question
from bench.retrieval.surfaces import ask
from lore import Filter, Lore, Memory, Query
from lore.config import Config
from lore.connecting import wire
from lore.model import Hit
from lore.ranking.policy import Policy
from lore.settings import LlmSettings
from lore.store.sqlite.file_state import manifest_of

COMPLETE = "complete"
"""A file that marks a store with all of its group, embedded; one without it was left in the middle."""
MANY = 100
"""How many hits are asked for: several of them may be of one item."""


class Calendar:
    """A clock that shows when a question was asked, where that is known, else what time it is."""

    def __init__(self) -> None:
        self.asked_at: float | None = None

    def __call__(self) -> float:
        return time.time() if self.asked_at is None else self.asked_at


@dataclass(frozen=True, slots=True)
class Kept:
    """A Lore that holds a group. by_place: (session, line) -> item; a line of 0 stands for all of them.

    sessions: where each of them begins. A question sees whole sessions: all that began before it was asked.
    """

    lore: Lore
    settings: Config
    clock: Calendar
    by_place: dict[tuple[str, int], str]
    sessions: dict[str, int]
    seconds: float

    def ranked(self, question: Question, policy: str, deep: bool) -> tuple[list[str], float]:
        """The items that a search finds, best first, and how many ms it took.

        A memory that was distilled from turns stands for those.
        """
        hits, taken = self.hits(question, policy, deep)
        sources = self.items_of([id for hit in hits for id in hit.sources])
        items = ([self._item(hit.memory), *map(sources.get, hit.sources)] for hit in hits)
        return list(dict.fromkeys(item for found in items for item in found if item)), taken

    def hits(self, question: Question, policy: str, deep: bool) -> tuple[Sequence[Hit], float]:
        """The hits of a search among the sessions that existed when it was asked, and how many ms it took."""
        where = Filter()
        if question.max_seq is not None:
            known = frozenset(name for name, seq in self.sessions.items() if seq < question.max_seq)
            if not known:
                return (), 0.0
            where = Filter(sessions=known)
        self.clock.asked_at = question.time
        began = time.perf_counter()
        query = Query(text=question.query, where=where, limit=MANY, policy=policy, deep=deep, counted=False)
        hits = self.lore.search(query).hits
        return hits, (time.perf_counter() - began) * 1000

    def ranked_by(self, surface: str, question: Question) -> tuple[list[str], float]:
        """The same through a surface's own search tool, which has no filter by session.

        What began after the question is forgotten first, so ask the latest questions first.
        """
        if question.max_seq is not None:
            self._forget_from(question.max_seq)
        self.clock.asked_at = question.time
        began = time.perf_counter()
        memories = ask(surface, question.query, self.lore)
        taken = (time.perf_counter() - began) * 1000
        return self._items(memories), taken

    def items_of(self, ids: Sequence[str]) -> dict[str, str]:
        """memory -> its item, of those that have one."""
        memories = self.lore.select(Filter(ids=tuple(ids), superseded=True), len(ids)) if ids else []
        return {memory.id: item for memory in memories if (item := self._item(memory))}

    def copied(self, folder: Path) -> "Kept":
        """The same on a copy of the store: tools count uses, and later sessions are forgotten."""
        folder.mkdir(parents=True)
        self.lore.backup(folder / "memory.db")
        manifest_of(folder / "memory.db").unlink()  # a backup is only read, and this one is used
        self.lore.close()
        settings = replace(self.settings, data_dir=folder)
        lore = wire(settings, clock=self.clock)
        return replace(self, lore=replace(lore, policies=self.lore.policies), sessions=dict(self.sessions))

    def _forget_from(self, seq: int) -> None:
        later = frozenset(name for name, began in self.sessions.items() if began >= seq)
        if later:
            doomed = self.lore.select(Filter(sessions=later, superseded=True), 1_000_000)
            self.lore.forget([memory.id for memory in doomed])
        for name in later:
            del self.sessions[name]

    def _items(self, memories: Iterable[Memory]) -> list[str]:
        return list(dict.fromkeys(filter(None, map(self._item, memories))))

    def _item(self, memory: Memory) -> str | None:
        session, line = memory.session, int(memory.metadata.get("line", 0))
        return self.by_place.get((session, line)) or self.by_place.get((session, 0))


def add_options(parser: argparse.ArgumentParser) -> None:
    """The flags of every bench that keeps groups."""
    parser.add_argument("--limit", type=int, help="at most this many questions of each group")
    parser.add_argument("--model", default="gte-small")
    parser.add_argument("--store", type=Path, help="keep the stores there, and use those that are there")
    parser.add_argument("--seed", type=int, default=0)


def folder_of(number: int, dataset: Path, options: argparse.Namespace, scratch: str) -> Path:
    """The folder for the store of a group: below --store, or else in a scratch folder."""
    folder: Path = (options.store or Path(scratch)) / dataset.name / options.model / f"{number:03}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep(
    group: Group, folder: Path, model: str, policies: Mapping[str, Policy], reference: bool = False
) -> Kept:
    """Import it, unless this folder has it already, and embed it. The files stay beside the store.

    policies: that it can be asked by, besides Lore's own. reference: rank by the published formulas.
    """
    complete = folder / COMPLETE
    fresh = not complete.exists()
    if fresh:
        shutil.rmtree(folder)
        folder.mkdir()
    clock = Calendar()
    ranking = "reference" if reference else "lore"
    settings = Config(
        data_dir=folder, embedding_model=model, llm=LlmSettings(backend="none"), ranking=ranking
    )
    lore = wire(settings, clock=clock)
    lore = replace(lore, policies={**lore.policies, **policies})
    by_session: dict[str, list[Item]] = defaultdict(list)
    for item in group.items:
        by_session[item.session].append(item)
    by_place: dict[tuple[str, int], str] = {}
    began = time.perf_counter()
    for number, (session, items) in enumerate(by_session.items()):
        path = folder / "files" / f"{number:06}"
        by_place |= _places(session, items)
        if fresh:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_written(items), encoding="utf-8")
            for _ in lore.import_file(path, session=session):
                pass
    if fresh:
        lore.embed_pending()
        complete.touch()
    sessions = {session: min(item.seq for item in items) for session, items in by_session.items()}
    return Kept(lore, settings, clock, by_place, sessions, time.perf_counter() - began if fresh else 0.0)


def _spoken(items: Sequence[Item]) -> bool:
    return len(items) > 1 or items[0].speaker is not None


def _places(session: str, items: Sequence[Item]) -> dict[tuple[str, int], str]:
    if not _spoken(items):
        return {(session, 0): items[0].id}
    return {(session, line): item.id for line, item in enumerate(items, 1)}


def _written(items: Sequence[Item]) -> str:
    """As a conversation in JSON lines where somebody speaks, else as a text, with its date if it has one."""
    if not _spoken(items):
        [item] = items
        return f"---\ndate: {item.time}\n---\n{item.text}" if item.time else item.text
    told = ({"speaker": item.speaker or "somebody", "text": item.text, "time": item.time} for item in items)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told)
