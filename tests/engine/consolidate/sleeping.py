"""What the tests of consolidation have in common: conversations, nights, and a look at all that is stored."""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from lore import Draft, Filter, Lore
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate import Report
from lore.engine.consolidate.plan import View
from lore.engine.consolidate.trees import PHASE
from lore.engine.consolidation import sleep
from lore.engine.consolidation_backlog import RUN
from lore.engine.embeddings import Embeddings
from lore.engine.ingest import keep_all
from lore.llm.scripted import Answer, ScriptedModel
from lore.model import Cause, Memory
from lore.transcripts.base import Role, Turn
from lore.vectors import Vector, Vectors

EVERYTHING = Filter(superseded=True, forgotten=True)
FRAGMENTS = Filter(kinds=frozenset({"fragment"}))
ALL = 100_000


class Fitting:
    """See `Embedder`. A text that says `fit 0.6` has this cosine to one that says `fit 1`; others have 0."""

    ready = True
    floor = 0.0
    dimension = 3
    model = "fitting"

    def warm(self) -> None:
        """Nothing to load."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([self.embed_query(text) for text in texts], np.float32).reshape(-1, self.dimension)

    def embed_query(self, text: str) -> Vector:
        told = re.search(r"fit (\d(?:\.\d+)?)", text)
        fit = float(told.group(1)) if told else 0.0
        rest = math.sqrt(1 - fit**2)
        return np.array([fit, rest if told else 0.0, 0.0 if told else 1.0], np.float32)

    def release(self) -> None:
        """Nothing to give back."""


def say(lore: Lore, session: str, *texts: str, folder: str = "/gone/ferry", tool: str = "") -> None:
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
    cause = Cause(verb="ingest")
    for _ in keep_all(turns, "test", store=lore.store, namespace=lore.namespace, cause=cause, now=now):
        pass


def fragment(lore: Lore, content: str, parent: str | None = None, **more: Any) -> str:
    return lore.remember(Draft(content=content, kind="fragment", parent=parent, **more)).id


def night(lore: Lore, *phases: str, dry: bool = False) -> Report:
    return sleep(lore, phases, dry=dry)


def asking(lore: Lore, *answers: Answer) -> tuple[Lore, ScriptedModel]:
    """The same Lore with a language model that says this."""
    model = ScriptedModel(answers)
    return replace(lore, model=model), model


def sensing(lore: Lore, embedder: Fitting | HashEmbedder) -> Lore:
    return replace(lore, sense=Embeddings(embedder))


def view_of(lore: Lore) -> View:
    """What a phase of a night that begins now would look at."""
    lore.embed_pending()
    reader = lore.store.reader(lore.namespace)
    return View(
        reader=reader,
        sense=lore.sense,
        namespace=lore.namespace,
        now=lore.clock(),
        settings=lore.tuning,
        model=lore.model,
        marks=reader.noted(PHASE),
    )


def item(text: str, **more: Any) -> dict[str, Any]:
    """Something worth keeping, as a language model answers it."""
    told = {"type": "fact", "importance": "medium", "turns": [1], "entities": [], "replaces": None}
    return {"text": text, **told, **more}


def topic(title: str, *items: dict[str, Any], overview: str = "") -> dict[str, Any]:
    return {"title": title, "overview": overview or title, "items": list(items)}


def extraction(*topics: dict[str, Any], relations: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    return {"topics": list(topics), "relations": list(relations)}


def memory(lore: Lore, id: str) -> Memory:
    return lore.store.reader(lore.namespace).get([id], forgotten=True)[id]


def fragments(lore: Lore, where: Filter = FRAGMENTS) -> list[Memory]:
    return lore.select(where, ALL)


def contents(lore: Lore) -> set[str]:
    """What the fragments say that are in sight."""
    return {one.content for one in fragments(lore)}


def roots(lore: Lore) -> set[str]:
    return {branch.memory.id for branch in lore.roots(ALL, FRAGMENTS)}


def dump(lore: Lore) -> dict[str, Any]:
    """All that is stored: memories, links, vectors, notes but the statistics, and the journal of each."""
    reader = lore.store.reader(lore.namespace)
    memories = reader.select(EVERYTHING, ALL)
    links = {link.id: link for one in memories for link in reader.all_links(one.id)}
    known = [*(one.id for one in memories), *links]
    vectors = reader.vectors(lore.sense.model, [one.id for one in memories])
    return {
        "memories": {one.id: asdict(one) for one in memories},
        "links": {id: asdict(link) for id, link in links.items()},
        "vectors": {id: vector.tobytes() for id, vector in vectors.items()},
        "notes": {name: noted for name, noted in reader.noted("").items() if not name.startswith(RUN)},
        "journal": {id: [asdict(entry) for entry in reader.history(id)] for id in known},
    }


def shape(lore: Lore) -> dict[str, Any]:
    """What is known, whatever its ids: texts with their place, what was superseded by what, and links."""
    reader = lore.store.reader(lore.namespace)
    memories = {one.id: one for one in reader.select(EVERYTHING, ALL)}
    ways = reader.ancestors(memories)
    links = {link.id: link for id in memories for link in reader.all_links(id)}
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
        "notes": sorted({name.partition("/")[0] for name in reader.noted("")}),
    }


def planned(report: Report) -> list[str]:
    """What a night has done, or would do."""
    return [told for done in report.phases for told in done.told]


def done(report: Report) -> dict[str, int]:
    """What it amounts to; that all was looked at says nothing."""
    return {name: count for name, count in report.counts.items() if name != "relevance_updated"}
