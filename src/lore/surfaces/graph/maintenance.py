"""The tools that look after the graph: repetitions, a report, and the import of another server's file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, NotRequired, TypeVar

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.audit import Stale
from lore.engine.duplicates import CONTAINMENT_THRESHOLD, MEANING_THRESHOLD, Pair
from lore.engine.entity_view import SIMILAR, EntityView
from lore.engine.split import Analysis, threshold_of
from lore.errors import Invalid
from lore.model import Memory
from lore.surfaces.answers import Cut, Fitted, fit, portion
from lore.surfaces.base import Reply
from lore.surfaces.graph.dialect import GRAPH, EntityName, entity_wanted, model_wanted, refuse_other_kinds
from lore.surfaces.graph.showing import MOST_OBSERVATIONS, WHOLE, noted

Item = TypeVar("Item")
Entry = TypeVar("Entry")


class DuplicatePair(TypedDict):
    obs_id_a: int
    obs_id_b: int
    obs_text_a: str
    obs_text_b: str
    similarity_score: float
    match_type: str


class Duplicate(TypedDict):
    observation_id: int
    content: str
    similarity_flag: int


class Cluster(TypedDict):
    observations: list[Duplicate]
    size: int


class DuplicatesAnswer(TypedDict):
    entity_name: str
    total_observations: int
    duplicates_found: int
    duplicate_pairs: list[DuplicatePair]
    clusters: list[Cluster]
    notes: NotRequired[list[str]]


class Summary(TypedDict):
    total_entities: int
    total_observations: int
    split_candidates_count: int
    flagged_observations_count: int
    stale_entities_count: int
    large_entities_count: int


class SplitCandidate(TypedDict):
    entity_name: str
    entity_type: str
    observation_count: int
    threshold: int
    split_score: float


class Flagged(TypedDict):
    entity_name: str
    observation_id: int
    observation_text: str
    similarity_flag: int


class StaleEntity(TypedDict):
    entity_name: str
    entity_type: str
    status: str
    last_accessed_days_ago: int
    access_count: int
    observation_count: int


class LargeEntity(TypedDict):
    entity_name: str
    entity_type: str
    observation_count: int
    threshold: int


class ReportAnswer(TypedDict):
    summary: Summary
    split_candidates: list[SplitCandidate]
    flagged_observations: list[Flagged]
    stale_entities: list[StaleEntity]
    large_entities: list[LargeEntity]
    notes: NotRequired[list[str]]


class MigrateAnswer(TypedDict):
    entities_imported: int
    relations_imported: int
    errors: int
    skipped: int


@GRAPH.tool(title="Find repeated observations", answer=DuplicatesAnswer, read_only=True)
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
    refuse_other_kinds(lore, entity_name)
    with entity_wanted(lore), model_wanted():
        found = lore.graph.duplicates(entity_name, threshold, containment_threshold)
    best = sorted(found.pairs, key=lambda pair: -pair.score)
    pairs = _part_of_answer(best, _pair, lore, 2)
    clusters = _part_of_answer(found.clusters, _cluster, lore, 2)
    notes = pairs.notes("raise threshold, or delete some and look again")
    answer = DuplicatesAnswer(
        entity_name=entity_name,
        total_observations=len(found.view.observations),
        duplicates_found=len(found.pairs),
        duplicate_pairs=pairs.entries,
        clusters=clusters.entries,
    )
    return Reply(noted({**answer}, notes))


@GRAPH.tool(title="Report on the graph", answer=ReportAnswer, read_only=True)
def consolidation_report(
    lore: Lore,
    stale_days: Annotated[float, Field(description="Unused for so many days is stale.")] = 90.0,
) -> Reply:
    """What wants attention: entities to split, flagged observations, stale and large entities."""
    audit = lore.graph.audit(stale_days)
    parts = 4
    splits = _part_of_answer(audit.splits, _split_candidate, lore, parts)
    flagged = _part_of_answer(audit.flagged, _flagged, lore, parts)
    stale = _part_of_answer(audit.stale, _stale, lore, parts)
    large = _part_of_answer(audit.large, _large, lore, parts)
    answer = ReportAnswer(
        summary=Summary(
            total_entities=audit.entities,
            total_observations=audit.observations,
            split_candidates_count=len(audit.splits),
            flagged_observations_count=len(audit.flagged),
            stale_entities_count=len(audit.stale),
            large_entities_count=len(audit.large),
        ),
        split_candidates=splits.entries,
        flagged_observations=flagged.entries,
        stale_entities=stale.entries,
        large_entities=large.entries,
    )
    left_out = sum(part.left_out for part in (splits, flagged, stale, large))
    notes = [f"{left_out:,} more did not fit; summary counts all."] if left_out else []
    return Reply(noted({**answer}, notes))


@GRAPH.tool(title="Import a memory file", answer=MigrateAnswer, idempotent=True)
def migrate(
    lore: Lore,
    source_path: Annotated[str, Field(description="A JSONL file of the official memory server.")] = "",
) -> Reply:
    """Import entities and relations from JSONL; running it again adds nothing twice."""
    roots = [Path(root.strip()) for root in lore.tuning.import_roots.split(",") if root.strip()]
    adopted = lore.graph.adopt(source_path, roots)
    return Reply(
        MigrateAnswer(
            entities_imported=adopted.entities,
            relations_imported=adopted.relations,
            errors=adopted.refused,
            skipped=adopted.skipped,
        )
    )


def _part_of_answer(
    items: Sequence[Item], show: Callable[[Item, Cut], Entry], lore: Lore, parts: int
) -> Fitted[Entry]:
    """One of `parts` lists that share the budget evenly."""
    return fit(items, show, query="", budget_tokens=portion(lore.tuning.answer_tokens, parts), rest=WHOLE)


def _pair(pair: Pair, cut: Cut) -> DuplicatePair:
    return DuplicatePair(
        obs_id_a=pair.one.alias,
        obs_id_b=pair.other.alias,
        obs_text_a=cut(pair.one.content),
        obs_text_b=cut(pair.other.content),
        similarity_score=round(pair.score, 4),
        match_type=pair.measure,
    )


def _cluster(memories: tuple[Memory, ...], cut: Cut) -> Cluster:
    """The first observations of a cluster; `size` counts all of them."""
    items = [
        Duplicate(observation_id=m.alias, content=cut(m.content), similarity_flag=int(SIMILAR in m.flags))
        for m in memories[:MOST_OBSERVATIONS]
    ]
    return Cluster(observations=items, size=len(memories))


def _split_candidate(split: Analysis, cut: Cut) -> SplitCandidate:
    return SplitCandidate(
        entity_name=split.view.name,
        entity_type=split.view.entity.type,
        observation_count=split.count,
        threshold=split.threshold,
        split_score=round(split.score, 4),
    )


def _flagged(flagged: tuple[EntityView, Memory], cut: Cut) -> Flagged:
    view, memory = flagged
    return Flagged(
        entity_name=view.name,
        observation_id=memory.alias,
        observation_text=cut(memory.content),
        similarity_flag=1,
    )


def _stale(stale: Stale, cut: Cut) -> StaleEntity:
    view, entity = stale.view, stale.view.entity
    return StaleEntity(
        entity_name=view.name,
        entity_type=entity.type,
        status=entity.status,
        last_accessed_days_ago=int(stale.days),
        access_count=entity.access_count,
        observation_count=len(view.observations),
    )


def _large(view: EntityView, cut: Cut) -> LargeEntity:
    return LargeEntity(
        entity_name=view.name,
        entity_type=view.entity.type,
        observation_count=len(view.observations),
        threshold=threshold_of(view.entity),
    )
