"""Finding notes: lore_search, by a question or by ids."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.errors import Invalid
from lore.model import Answer, Filter, Hit, Link, Query
from lore.surfaces.answers import FETCH_FACTOR, Cut, Outdated, cost, fit, origin, outdated
from lore.surfaces.base import Arguments, Reply
from lore.surfaces.scored.dialect import (
    SCORED,
    SOURCE_TYPES,
    UNKNOWN_SOURCE,
    WHOLE,
    known_source_type,
    link_shown,
    memory_shown,
    moment_of,
    name_of,
    reply,
)


class Search(Arguments):
    query: Annotated[str, Field(description="What you want to know. Not needed with ids.")] = ""
    limit: Annotated[int | None, Field(description="At most this many results (10).")] = None
    min_score: Annotated[float, Field(description="Least combined score, before it fades with disuse.")] = 0.1
    include_links: Annotated[bool, Field(description="With up to 5 links each.")] = True
    include_deleted: Annotated[bool, Field(description="Also forgotten notes.")] = False
    refine_from: Annotated[list[str] | None, Field(description="Rank only these ids, at most 200.")] = None
    format: Annotated[Literal["full", "title"], Field(description="title: ids, titles, scores only.")] = (
        "full"
    )
    ids: Annotated[list[str] | None, Field(description="Fetch these, at most 50, instead of searching.")] = (
        None
    )
    created_after: Annotated[str | None, Field(description="ISO time, inclusive.")] = None
    updated_after: Annotated[str | None, Field(description="ISO time, inclusive.")] = None
    sort_by: Annotated[
        Literal["relevance", "recent", "frequent"], Field(description="Order of the results.")
    ] = "relevance"
    source_type: Annotated[str | None, Field(description="Only these; also: unknown.")] = None


class SearchAnswer(TypedDict):
    results: list[dict[str, Any]]
    total_matched: int
    query: str
    notes: NotRequired[list[str]]


@SCORED.tool(title="Search notes", answer=SearchAnswer)
def lore_search(lore: Lore, asked: Search) -> Reply:
    """Find notes by meaning and words, ranked with quality and use; or fetch notes by ids. Counts as a use.
    Long contents are cut to the matching passage; a note fetched alone by its id comes whole."""
    if asked.ids is None and not asked.query.strip():
        raise Invalid("query is required when ids is not provided")
    _refuse_too_many("ids", asked.ids, lore.tuning.max_search_ids)
    _refuse_too_many("refine_from", asked.refine_from, lore.tuning.max_refine_from_ids)
    answer = _fetched(lore, asked) if asked.ids is not None else _searched(lore, asked)
    hits = _sorted(answer.hits, asked.sort_by)
    budget = _budget(lore, asked)
    newer = outdated(lore, [hit.memory for hit in hits])
    links = _links(hits, budget, lore) if asked.include_links and asked.format == "full" else {}

    def show(hit: Hit, cut: Cut) -> dict[str, Any]:
        id = hit.memory.id
        if asked.format == "title":
            return {**_title_of(hit), **newer.get(id, {})}
        full = _full(hit, newer.get(id, {}), cut)
        return {**full, "links": links[id]} if asked.include_links else full

    fitted = fit(hits, show, query=asked.query, budget_tokens=budget, rest=WHOLE)
    notes = [*answer.notes(), *fitted.notes("ask for fewer, or for format=title")]
    data = {"results": fitted.entries, "total_matched": len(hits), "query": asked.query}
    return reply(data | ({"notes": notes} if notes else {}), notes)


def _budget(lore: Lore, asked: Search) -> int:
    """Tokens for the answer; 0, no limit, for a note that is fetched alone."""
    if asked.ids is None:
        return lore.tuning.answer_tokens
    return lore.tuning.answer_tokens * FETCH_FACTOR if len(asked.ids) > 1 else 0


def _searched(lore: Lore, asked: Search) -> Answer:
    refine = None if asked.refine_from is None else tuple(dict.fromkeys(asked.refine_from))
    limit = lore.tuning.search_limit if asked.limit is None else asked.limit
    query = Query(
        text=asked.query,
        where=_filter(asked, refine),
        limit=limit,
        policy="scored",
        min_score=asked.min_score,
        format=asked.format,
    )
    return Answer(hits=()) if refine == () else lore.search(query)


def _fetched(lore: Lore, asked: Search) -> Answer:
    """In the order asked for; replaced notes are fetched too, deleted ones on request."""
    ids = tuple(dict.fromkeys(asked.ids or ()))
    limit = len(ids) if asked.limit is None else asked.limit
    query = Query(text="", where=_filter(asked, ids), limit=limit, policy="scored", format=asked.format)
    return lore.search(query) if ids else Answer(hits=())


def _filter(asked: Search, ids: tuple[str, ...] | None) -> Filter:
    source_types = frozenset[str]()
    if asked.source_type is not None:
        source_types = frozenset({known_source_type(asked.source_type, (*SOURCE_TYPES, UNKNOWN_SOURCE))})
    return Filter(
        ids=ids,
        forgotten=asked.include_deleted,
        superseded=asked.ids is not None,
        source_types=source_types,
        created_after=_time(asked.created_after, "created_after"),
        updated_after=_time(asked.updated_after, "updated_after"),
    )


def _time(text: str | None, name: str) -> float | None:
    return None if text is None else moment_of(text, name)


def _refuse_too_many(name: str, ids: list[str] | None, most: int) -> None:
    if ids is not None and len(ids) > most:
        raise Invalid(f"{name} has {len(ids)} ids; at most {most}")


def _sorted(hits: Iterable[Hit], by: str) -> list[Hit]:
    if by == "recent":
        return sorted(hits, key=lambda hit: -hit.memory.updated_at)
    if by == "frequent":
        return sorted(hits, key=lambda hit: -hit.memory.access_count)
    return list(hits)


def _title_of(hit: Hit) -> dict[str, Any]:
    return {"id": hit.memory.id, "title": name_of(hit.memory), "score": round(hit.score, 4)}


def _full(hit: Hit, newer: Outdated, cut: Cut) -> dict[str, Any]:
    memory = memory_shown(hit.memory)
    texts = {name: cut(memory[name]) for name in ("description", "content")}
    return {
        "memory": {**memory, **texts, **origin(hit), **newer},
        "relevance": {
            "combined_score": round(hit.score, 4),
            "semantic_score": _strength(hit, "similarity"),
            "keyword_score": _strength(hit, "words"),
            "decay_factor": round(hit.fade, 4),
        },
    }


def _strength(hit: Hit, name: str) -> float:
    return round(hit.signals[name].strength, 4) if name in hit.signals else 0.0


def _links(hits: Iterable[Hit], budget: int, lore: Lore) -> dict[str, list[dict[str, Any]]]:
    """The best links of each note; fewer of each if they would take more than a third of the budget."""
    touching: dict[str, list[Link]] = {hit.memory.id: [] for hit in hits}
    for link in lore.links(list(touching)):
        for end in {link.source, link.target} & touching.keys():
            touching[end].append(link)
    most = lore.tuning.max_links_per_memory
    shown = {id: [link_shown(link) for link in _best(links, most)] for id, links in touching.items()}
    while budget and most and cost(shown) > budget / 3:
        most -= 1
        shown = {id: links[:most] for id, links in shown.items()}
    return shown


def _best(links: list[Link], most: int) -> list[Link]:
    """Those with the best score, the newest among equals."""
    return sorted(links, key=lambda link: (-link.score, -link.created_at))[:most]
