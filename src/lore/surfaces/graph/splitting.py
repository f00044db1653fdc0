"""The tools that find entities which have grown too large, and split them."""

from collections.abc import Sequence
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.relate import INVERSES
from lore.engine.split import CONTAINS, Analysis, Part, parts_of
from lore.surfaces.answers import Cut, Fitted, fit
from lore.surfaces.base import Reply
from lore.surfaces.graph.dialect import GRAPH, EntityName, check_count, entity_wanted, refuse_other_kinds
from lore.surfaces.graph.showing import noted


class Analysed(TypedDict):
    entity_name: str
    entity_type: str
    observation_count: int
    threshold: int
    needs_split: bool
    topics: dict[str, list[str]]
    split_score: float


class AnalysisAnswer(TypedDict):
    analysis: Analysed


class CandidatesAnswer(TypedDict):
    candidates: list[Analysed]
    notes: NotRequired[list[str]]


class Original(TypedDict):
    name: str
    entity_type: str


class Split(TypedDict):
    name: str
    entity_type: str
    observations: list[str]


class ApprovedSplit(TypedDict):
    name: Annotated[str, Field(description="Name of the new entity.")]
    entity_type: NotRequired[Annotated[str, Field(description="Default: Generic.")]]
    observations: Annotated[list[str], Field(description="Exact texts to move.")]


Tie = TypedDict("Tie", {"from": str, "to": str, "type": str})


class Reasons(TypedDict):
    observation_count: int
    threshold: int
    split_score: float
    num_topics: int


class Proposal(TypedDict):
    original_entity: Original
    suggested_splits: list[Split]
    relations_to_create: list[Tie]
    analysis: Reasons


class ProposalAnswer(TypedDict):
    proposal: Proposal | None
    message: str


class Done(TypedDict):
    new_entities: list[str]
    moved_observations: int
    relations_created: int
    original_observations_remaining: int


class ExecuteAnswer(TypedDict):
    result: Done


@GRAPH.tool(title="Analyze an entity's size", answer=AnalysisAnswer, read_only=True)
def analyze_entity_split(lore: Lore, entity_name: EntityName) -> Reply:
    """Whether an entity has too many observations (Sesion 15, Proyecto 25, others 20), and its topics."""
    refuse_other_kinds(lore, entity_name)
    with entity_wanted(lore):
        analysis = lore.graph.analyse(entity_name)
    return Reply(AnalysisAnswer(analysis=_fitted([analysis], lore).entries[0]))


@GRAPH.tool(
    title="Propose a split",
    answer=ProposalAnswer,
    read_only=True,
    aliases=("propose_entity_split_tool",),
)
def propose_entity_split(lore: Lore, entity_name: EntityName) -> Reply:
    """Propose how to split an entity by topic; proposal is null if there is no need. Changes nothing."""
    refuse_other_kinds(lore, entity_name)
    with entity_wanted(lore):
        analysis = lore.graph.analyse(entity_name)
    if not analysis.needed:
        return Reply(ProposalAnswer(proposal=None, message="Entity does not need splitting"))
    return Reply(ProposalAnswer(proposal=_proposal(analysis), message="Review, then execute_entity_split"))


@GRAPH.tool(title="Execute a split", answer=ExecuteAnswer, aliases=("execute_entity_split_tool",))
def execute_entity_split(
    lore: Lore,
    entity_name: EntityName,
    approved_splits: Annotated[list[ApprovedSplit], Field(description="The proposed ones to execute.")],
    parent_entity_name: Annotated[str | None, Field(description="Contains the parts instead.")] = None,
) -> Reply:
    """Move observations of an entity into new ones, related by contiene/parte_de; all or nothing."""
    check_count("splits", approved_splits)
    refuse_other_kinds(lore, entity_name, *([parent_entity_name] if parent_entity_name else []))
    parts = [
        Part(name=one["name"], type=one.get("entity_type", ""), observations=tuple(one["observations"]))
        for one in approved_splits
    ]
    with entity_wanted(lore):
        done = lore.graph.split(entity_name, parts, parent_entity_name)
    return Reply(
        ExecuteAnswer(
            result=Done(
                new_entities=[view.name for view in done.created],
                moved_observations=done.moved,
                relations_created=done.relations,
                original_observations_remaining=done.remaining,
            )
        )
    )


@GRAPH.tool(title="Find entities to split", answer=CandidatesAnswer, read_only=True)
def find_split_candidates(lore: Lore) -> Reply:
    """All entities that need splitting, the most urgent first. Changes nothing."""
    fitted = _fitted(lore.graph.candidates(), lore)
    return Reply(noted({"candidates": fitted.entries}, fitted.notes("split these first")))


def _fitted(analyses: Sequence[Analysis], lore: Lore) -> Fitted[Analysed]:
    return fit(
        analyses,
        _analysed,
        query="",
        budget_tokens=lore.tuning.answer_tokens,
        rest="propose_entity_split shows all of it",
    )


def _analysed(analysis: Analysis, cut: Cut) -> Analysed:
    entity = analysis.view.entity
    return Analysed(
        entity_name=entity.title,
        entity_type=entity.type,
        observation_count=analysis.count,
        threshold=analysis.threshold,
        needs_split=analysis.needed,
        topics={topic: [cut(m.content) for m in group] for topic, group in analysis.topics.items()},
        split_score=round(analysis.score, 4),
    )


def _proposal(analysis: Analysis) -> Proposal:
    entity, parts = analysis.view.entity, parts_of(analysis)
    return Proposal(
        original_entity=Original(name=entity.title, entity_type=entity.type),
        suggested_splits=[
            Split(name=part.name, entity_type=part.type, observations=list(part.observations))
            for part in parts
        ],
        relations_to_create=_ties(entity.title, [part.name for part in parts]),
        analysis=Reasons(
            observation_count=analysis.count,
            threshold=analysis.threshold,
            split_score=round(analysis.score, 4),
            num_topics=len(analysis.topics),
        ),
    )


def _ties(whole: str, parts: Sequence[str]) -> list[Tie]:
    ties: list[Tie] = []
    for part in parts:
        ties.append({"from": whole, "to": part, "type": CONTAINS})
        ties.append({"from": part, "to": whole, "type": INVERSES[CONTAINS]})
    return ties
