"""The tools that find entities which have grown too large, and split them."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.graph_report import Analysis
from lore.engine.split import Part, parts_of
from lore.surfaces.answers import Cut, Fitted, fit, with_notes
from lore.surfaces.graph import GRAPH, VOCABULARY, EntityName, check_count, check_entities, entity_errors
from lore.surfaces.surface import Reply


class ApprovedSplit(TypedDict):
    name: Annotated[str, Field(description="Name of the new entity.")]
    entity_type: NotRequired[Annotated[str, Field(description="Default: Generic.")]]
    observations: Annotated[list[str], Field(description="Exact texts to move.")]


@GRAPH.tool("Analyze an entity's size", "analysis: object", read_only=True)
def analyze_entity_split(lore: Lore, entity_name: EntityName) -> Reply:
    """Whether an entity has too many observations (Sesion 15, Proyecto 25, others 20), and its topics."""
    return Reply({"analysis": _fitted([_analysis(lore, entity_name)], lore).entries[0]})


@GRAPH.tool(
    "Propose a split",
    "proposal: object|null, message: string",
    read_only=True,
    aliases=("propose_entity_split_tool",),
)
def propose_entity_split(lore: Lore, entity_name: EntityName) -> Reply:
    """Propose how to split an entity by topic; proposal is null if there is no need. Changes nothing."""
    analysis = _analysis(lore, entity_name)
    if not analysis.needed:
        return Reply({"proposal": None, "message": "Entity does not need splitting"})
    return Reply({"proposal": _proposal(analysis), "message": "Review, then execute_entity_split"})


@GRAPH.tool("Execute a split", "result: object", aliases=("execute_entity_split_tool",))
def execute_entity_split(
    lore: Lore,
    entity_name: EntityName,
    approved_splits: Annotated[list[ApprovedSplit], Field(description="The proposed ones to execute.")],
    parent_entity_name: Annotated[str | None, Field(description="Contains the parts instead.")] = None,
) -> Reply:
    """Move observations of an entity into new ones, related by contiene/parte_de; all or nothing."""
    check_count("splits", approved_splits)
    check_entities(lore, entity_name, *([parent_entity_name] if parent_entity_name else []))
    parts = [
        Part(name=one["name"], type=one.get("entity_type", ""), observations=tuple(one["observations"]))
        for one in approved_splits
    ]
    with entity_errors(lore):
        result = lore.split(entity_name, parts, parent_entity_name, VOCABULARY)
    return Reply(
        {
            "result": {
                "new_entities": [view.name for view in result.created],
                "moved_observations": result.moved,
                "relations_created": result.relations,
                "original_observations_remaining": result.remaining,
            }
        }
    )


@GRAPH.tool("Find entities to split", "candidates: array, notes?: array", read_only=True)
def find_split_candidates(lore: Lore) -> Reply:
    """All entities that need splitting, the most urgent first. Changes nothing."""
    fitted = _fitted(lore.analyse(vocabulary=VOCABULARY), lore)
    return Reply(with_notes({"candidates": fitted.entries}, fitted.notes("split these first")))


def _analysis(lore: Lore, name: str) -> Analysis:
    check_entities(lore, name)
    with entity_errors(lore):
        [analysis] = lore.analyse(name, VOCABULARY)
    return analysis


def _fitted(analyses: Sequence[Analysis], lore: Lore) -> Fitted[dict[str, Any]]:
    def show(analysis: Analysis, cut: Cut) -> dict[str, Any]:
        entity = analysis.view.entity
        return {
            "entity_name": entity.title,
            "entity_type": entity.type,
            "observation_count": analysis.count,
            "threshold": analysis.threshold,
            "needs_split": analysis.needed,
            "topics": {topic: [cut(m.content) for m in group] for topic, group in analysis.topics.items()},
            "split_score": round(analysis.score, 4),
        }

    rest = "propose_entity_split shows all of it"
    return fit(analyses, show, budget_tokens=lore.tuning.answer_tokens, rest=rest)


def _proposal(analysis: Analysis) -> dict[str, Any]:
    entity, parts = analysis.view.entity, parts_of(analysis)
    contains = VOCABULARY.contains
    relations = []
    for part in parts:
        relations.append({"from": entity.title, "to": part.name, "type": contains})
        relations.append({"from": part.name, "to": entity.title, "type": VOCABULARY.inverses[contains]})
    return {
        "original_entity": {"name": entity.title, "entity_type": entity.type},
        "suggested_splits": [
            {"name": part.name, "entity_type": part.type, "observations": list(part.observations)}
            for part in parts
        ],
        "relations_to_create": relations,
        "analysis": {
            "observation_count": analysis.count,
            "threshold": analysis.threshold,
            "split_score": round(analysis.score, 4),
            "num_topics": len(analysis.topics),
        },
    }
