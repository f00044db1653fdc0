"""The tools that look after the graph: repetitions, a report, and the import of another server's file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from lore.engine import Lore
from lore.engine.duplicates import CONTAINMENT_THRESHOLD, MEANING_THRESHOLD, Pair, Thresholds
from lore.engine.entity_view import SIMILAR, EntityView
from lore.engine.import_graph import file_within
from lore.errors import Invalid
from lore.model import Memory
from lore.surfaces.answers import Cut, Fitted, Item, fit, fit_list, portion, with_notes
from lore.surfaces.graph import (
    GRAPH,
    SHOWN_OBSERVATIONS,
    VOCABULARY,
    WHOLE,
    EntityName,
    check_entities,
    entity_errors,
    model_errors,
)
from lore.surfaces.surface import Reply


@GRAPH.tool(
    "Find repeated observations",
    "entity_name: string, total_observations: integer, duplicates_found: integer, duplicate_pairs: array, "
    "clusters: array, notes?: array",
    read_only=True,
)
def find_duplicate_observations(
    lore: Lore,
    entity_name: EntityName,
    threshold: Annotated[float, Field(description="Least likeness in meaning.")] = MEANING_THRESHOLD,
    containment_threshold: Annotated[
        float, Field(description="Least share of a short text's words in one twice as long.")
    ] = CONTAINMENT_THRESHOLD,
) -> Reply:
    """Observations of an entity that say the same, as pairs and clusters. Changes nothing."""
    for name, value in (("threshold", threshold), ("containment_threshold", containment_threshold)):
        if not 0 <= value <= 1:
            raise Invalid(f"{name} is {value}; it must be between 0 and 1")
    check_entities(lore, entity_name)
    with entity_errors(lore), model_errors():
        found = lore.find_repetitions(entity_name, Thresholds(threshold, containment_threshold))
    pairs = _list(sorted(found.pairs, key=lambda pair: -pair.score), _pair, lore, 2)
    answer = {
        "entity_name": entity_name,
        "total_observations": len(found.view.observations),
        "duplicates_found": len(found.pairs),
        "duplicate_pairs": pairs.entries,
        "clusters": _list(found.clusters, _cluster, lore, 2).entries,
    }
    return Reply(with_notes(answer, pairs.notes("raise threshold, or delete some and look again")))


@GRAPH.tool(
    "Report on the graph",
    "summary: object, split_candidates: array, flagged_observations: array, stale_entities: array, "
    "large_entities: array, notes?: array",
    read_only=True,
)
def consolidation_report(
    lore: Lore,
    stale_days: Annotated[float, Field(description="Unused for so many days is stale.")] = 90.0,
) -> Reply:
    """What wants attention: entities to split, flagged observations, stale and large entities."""
    report = lore.graph_report(stale_days, VOCABULARY)
    splits = [
        {
            **_entity(split.view),
            "observation_count": split.count,
            "threshold": split.threshold,
            "split_score": round(split.score, 4),
        }
        for split in report.splits
    ]
    stale = [
        {
            **_entity(one.view),
            "status": one.view.entity.status,
            "last_accessed_days_ago": int(one.days),
            "access_count": one.view.entity.access_count,
            "observation_count": len(one.view.observations),
        }
        for one in report.stale
    ]
    large = [
        {
            **_entity(view),
            "observation_count": len(view.observations),
            "threshold": VOCABULARY.split_threshold_of(view.entity.type),
        }
        for view in report.large
    ]
    budget = portion(lore.tuning.answer_tokens, 4)
    lists = {
        "split_candidates": fit_list(splits, budget),
        "flagged_observations": _list(report.flagged, _flagged, lore, 4),
        "stale_entities": fit_list(stale, budget),
        "large_entities": fit_list(large, budget),
    }
    summary = {
        "total_entities": report.entities,
        "total_observations": report.observations,
        "split_candidates_count": len(report.splits),
        "flagged_observations_count": len(report.flagged),
        "stale_entities_count": len(report.stale),
        "large_entities_count": len(report.large),
    }
    answer = {"summary": summary, **{name: fitted.entries for name, fitted in lists.items()}}
    left_out = sum(fitted.left_out for fitted in lists.values())
    notes = [f"{left_out:,} more did not fit; summary counts all."] if left_out else []
    return Reply(with_notes(answer, notes))


@GRAPH.tool(
    "Import a memory file",
    "entities_imported: integer, relations_imported: integer, errors: integer, skipped: integer",
    idempotent=True,
    local=True,
)
def migrate(
    lore: Lore,
    source_path: Annotated[str, Field(description="A JSONL file of the official memory server.")] = "",
) -> Reply:
    """Import entities and relations from JSONL; running it again adds nothing twice."""
    roots = [Path(root.strip()) for root in lore.tuning.import_roots.split(",") if root.strip()]
    path = file_within(source_path, roots)
    imported = lore.import_graph(path, faithful=False, vocabulary=VOCABULARY)
    return Reply(
        {
            "entities_imported": imported.entities,
            "relations_imported": imported.relations,
            "errors": imported.refused,
            "skipped": imported.skipped,
        }
    )


def _list(
    items: Sequence[Item], show: Callable[[Item, Cut], dict[str, Any]], lore: Lore, parts: int
) -> Fitted[dict[str, Any]]:
    """One of `parts` lists that share the budget evenly."""
    return fit(items, show, budget_tokens=portion(lore.tuning.answer_tokens, parts), rest=WHOLE)


def _pair(pair: Pair, cut: Cut) -> dict[str, Any]:
    return {
        "obs_id_a": pair.one.alias,
        "obs_id_b": pair.other.alias,
        "obs_text_a": cut(pair.one.content),
        "obs_text_b": cut(pair.other.content),
        "similarity_score": round(pair.score, 4),
        "match_type": pair.measure,
    }


def _cluster(memories: tuple[Memory, ...], cut: Cut) -> dict[str, Any]:
    """The first observations of a cluster; `size` counts all of them."""
    observations = [
        {"observation_id": m.alias, "content": cut(m.content), "similarity_flag": int(SIMILAR in m.flags)}
        for m in memories[:SHOWN_OBSERVATIONS]
    ]
    return {"observations": observations, "size": len(memories)}


def _entity(view: EntityView) -> dict[str, Any]:
    return {"entity_name": view.name, "entity_type": view.entity.type}


def _flagged(flagged: tuple[EntityView, Memory], cut: Cut) -> dict[str, Any]:
    view, memory = flagged
    return {
        "entity_name": view.name,
        "observation_id": memory.alias,
        "observation_text": cut(memory.content),
        "similarity_flag": 1,
    }
