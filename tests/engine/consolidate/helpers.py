"""Helpers of the consolidation tests: conversations, runs, and dumps of everything that is stored."""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from lore import Draft, Filter, Lore
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate import phases
from lore.engine.consolidate.phases import Report, Run, consolidate
from lore.engine.consolidate.plan import VERB, View
from lore.engine.context import Context
from lore.engine.embeddings import Embeddings
from lore.engine.ingest import keep_all
from lore.llm.scripted import Answer, ScriptedModel
from lore.model import ACCOUNT, Cause, Memory
from lore.store.records import KEYS, ConsolidationRun
from lore.store.values import EVERY
from lore.transcripts.turns import Role, Turn
from lore.vectors import Vector, Vectors

EVERYTHING = Filter(superseded=True, forgotten=True)
FRAGMENTS = Filter(kinds=frozenset({"fragment"}))
ALL = 100_000


class FitEmbedder:
    """See `Embedder`. A text that says `fit 0.6` has this cosine to one that says `fit 1`; others have 0."""

    ready = True
    floor = 0.0
    dimension = 3
    model = "fit"

    def warm(self) -> None:
        """Nothing to load."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(-1, self.dimension)

    def embed_query(self, text: str) -> Vector:
        match = re.search(r"fit (\d(?:\.\d+)?)", text)
        if match is None:
            return np.array([0.0, 0.0, 1.0], np.float32)
        fit = float(match.group(1))
        return np.array([fit, math.sqrt(1 - fit**2), 0.0], np.float32)

    def release(self) -> None:
        """Nothing to give back."""


RECORDS = [kind for kind in KEYS if kind is not ConsolidationRun]


def converse(lore: Lore, session: str, *texts: str, folder: str = "/gone/ferry", tool: str = "") -> None:
    """A conversation that took place just now; user and assistant take turns, or a tool is called."""
    now = lore.clock()
    roles: tuple[Role, ...] = ("user", "assistant")
    turns = [
        Turn(
            uuid=f"{session}-{now}-{number}",
            session=session,
            role="tool" if tool else roles[number % 2],
            tool=tool,
            text=text,
            at=now + number,
            folder=folder,
        )
        for number, text in enumerate(texts)
    ]
    context = Context(store=lore.store, namespace=lore.namespace, cause=Cause(verb="ingest"), now=now)
    for _ in keep_all(turns, "test", context):
        pass


def fragment(lore: Lore, content: str, parent: str | None = None, **more: Any) -> str:
    return lore.remember(Draft(content=content, kind="fragment", parent=parent, **more)).id


def run_phases(lore: Lore, *names: str, dry: bool = False) -> Report:
    """Consolidate with these phases, or all."""
    return consolidate(lore, Run(phases=names, dry=dry))


def with_answers(lore: Lore, *answers: Answer) -> tuple[Lore, ScriptedModel]:
    """The same Lore with a language model that gives these answers."""
    model = ScriptedModel(answers)
    return replace(lore, model=model), model


def with_embedder(lore: Lore, embedder: FitEmbedder | HashEmbedder) -> Lore:
    return replace(lore, embeddings=Embeddings(embedder))


def view_of(lore: Lore) -> View:
    """What the phases of a run that begins now see."""
    lore.embed_pending()
    context = Context(store=lore.store, namespace=lore.namespace, cause=Cause(verb=VERB), now=lore.clock())
    return phases.view_of(lore, context)


PARTS = ("why", "rejected", "cause", "fix", "when")
"""What an item has besides its text."""


def item(text: str, topic: str = "The harbour", **more: Any) -> dict[str, Any]:
    """Something worth keeping, as a language model answers it."""
    fields = {"type": "fact", "turns": [1], "files": [], "topic": topic, "holds": True}
    return {"text": text, **dict.fromkeys(PARTS), **fields, **more}


def extraction(*items: dict[str, Any], **report: Any) -> dict[str, Any]:
    """A report of a conversation and its items."""
    blank = {"title": "About the harbour", "request": "Tell me.", "done": [], "left": [], "files": []}
    return {"session": blank | report, "items": list(items)}


def verdicts(*answers: tuple[int, str, int | None]) -> dict[str, Any]:
    """What each item, by its number, is to another."""
    names = ("item", "verdict", "of")
    return {"verdicts": [dict(zip(names, answer, strict=True)) for answer in answers]}


def accounts(lore: Lore) -> list[Memory]:
    return lore.select(Filter(kinds=frozenset({ACCOUNT})), ALL)


def memory(lore: Lore, id: str) -> Memory:
    return lore.store.reader(lore.namespace).get([id], forgotten=True)[id]


def fragments(lore: Lore, where: Filter = FRAGMENTS) -> list[Memory]:
    return lore.select(where, ALL)


def contents(lore: Lore) -> set[str]:
    """The texts of the visible fragments."""
    return {one.content for one in fragments(lore)}


def roots(lore: Lore) -> set[str]:
    return {branch.memory.id for branch in lore.roots(ALL, FRAGMENTS)}


def dump(lore: Lore) -> dict[str, Any]:
    """Everything stored: memories, links, vectors, journals, and notes other than run statistics."""
    reader = lore.store.reader(lore.namespace)
    memories = reader.select(EVERYTHING, EVERY)
    links = {link.id: link for one in memories for link in reader.links([one.id], ended=True)}
    ids = [*(one.id for one in memories), *links]
    vectors = reader.vectors(lore.embeddings.model, [one.id for one in memories])
    return {
        "memories": {one.id: asdict(one) for one in memories},
        "links": {id: asdict(link) for id, link in links.items()},
        "vectors": {id: vector.tobytes() for id, vector in vectors.items()},
        "records": [record for kind in RECORDS for record in reader.records(kind)],
        "journal": {id: [asdict(entry) for entry in lore.history(id)] for id in ids},
    }


def shape(lore: Lore) -> dict[str, Any]:
    """Everything stored apart from ids and times: texts with their places, superseded texts, and links."""
    reader = lore.store.reader(lore.namespace)
    memories = {one.id: one for one in reader.select(EVERYTHING, EVERY)}
    ways = reader.ancestors(memories)
    links = {link.id: link for id in memories for link in reader.links([id], ended=True)}
    return {
        "texts": sorted(
            (one.kind, one.type, one.title, one.content, one.summary, one.forgotten_at is None)
            for one in memories.values()
        ),
        "trees": sorted(
            [*(memories[up].content for up in ways[id]), memories[id].content] for id in memories
        ),
        "superseded": sorted(
            (one.content, memories[one.superseded_by].content)
            for one in memories.values()
            if one.superseded_by
        ),
        "links": sorted(
            (memories[link.source].content, memories[link.target].content, link.kind, link.type, link.active)
            for link in links.values()
        ),
        "records": [kind.__name__ for kind in KEYS if reader.records(kind)],
    }


def descriptions(report: Report) -> list[str]:
    """The steps that a run has done, or would do."""
    return [step for result in report.phases for step in result.steps]


def counts_of(report: Report) -> dict[str, int]:
    """The counts of a run, without the number of all memories and those of each type."""
    counts = {name: count for name, count in report.counts.items() if name != "relevance_updated"}
    return {name: count for name, count in counts.items() if not name.startswith("learnt_")}
