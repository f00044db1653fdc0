"""How much of entities and relations an answer shows: within a budget, with outdated observations marked."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lore.engine import Lore
from lore.engine.entity_view import EntityView
from lore.engine.nodes import Bond
from lore.model import Memory
from lore.surfaces.answers import Cut, Fitted, Outdated, cost, fit, fit_list, outdated, portion, uncut
from lore.surfaces.graph.dialect import Relation, entity_of, relation_of
from lore.text import label_of, terms, tokens

MOST_OBSERVATIONS = 20
"""Observations of one entity that an answer without room for all shows; `observations_omitted` counts the
others."""
ECHO_TOKENS = 1_000
"""Tokens of the entity in the answer to a change of it."""
RELATIONS_SHARE = 3
"""Relations take at most one of so many parts of the budget."""
WHOLE = "open_nodes shows all of it"

Newer = Mapping[str, Outdated]


def newer_than(views: Sequence[EntityView], lore: Lore) -> dict[str, Outdated]:
    """What replaces or updates the observations of these entities, by the observation's id."""
    return outdated(lore, [memory for view in views for memory in view.statements])


def marks(statements: Sequence[Memory], newer: Newer) -> dict[str, Any]:
    """A list of the observations that something newer replaces or updates; nothing if there are none."""
    found = [{"observation": label_of("", m.content), **newer[m.id]} for m in statements if m.id in newer]
    return {"outdated": found} if found else {}


def entity_shown(view: EntityView, newer: Newer, query: str = "", cut: Cut = uncut) -> dict[str, Any]:
    """An entity with the observations that share most words with the query, the newest among equals."""
    texts = [statement.content for statement in view.statements]
    wanted = set(terms(query))
    shares = [len(wanted.intersection(tokens(text))) for text in texts]
    best = sorted(sorted(range(len(texts)), key=lambda at: (-shares[at], -at))[:MOST_OBSERVATIONS])
    omitted = len(texts) - len(best)
    return {
        **entity_of(view),
        "observations": [cut(texts[at]) for at in best],
        **({"observations_omitted": omitted} if omitted else {}),
        **marks([view.statements[at] for at in best], newer),
    }


def fit_entities(views: Sequence[EntityView], newer: Newer, budget_tokens: int) -> Fitted[dict[str, Any]]:
    """Whole entities if all of them fit; otherwise the newest observations of each, long ones cut."""
    whole = [{**entity_of(view), **marks(view.statements, newer)} for view in views]
    if not budget_tokens or cost(whole) <= budget_tokens:
        return Fitted(whole, 0, budget_tokens)
    return fit(
        views,
        lambda view, cut: entity_shown(view, newer, cut=cut),
        query="",
        budget_tokens=budget_tokens,
        rest=WHOLE,
    )


def echo(view: EntityView, lore: Lore) -> dict[str, Any]:
    """An entity that was just changed: whole if it is small."""
    budget = min(ECHO_TOKENS, lore.tuning.answer_tokens)
    return fit_entities([view], {}, budget).entries[0]


def fit_relations(bonds: Sequence[Bond], budget_tokens: int) -> tuple[Fitted[Relation], int]:
    """The first relations that fit their share of the budget, and the tokens that they leave."""
    fitted = fit_list([relation_of(bond) for bond in bonds], portion(budget_tokens, RELATIONS_SHARE))
    left = max(1, budget_tokens - cost(fitted.entries)) if budget_tokens else 0
    return fitted, left


def graph_answer(
    entities: Fitted[Any], relations: Fitted[Relation], budget_tokens: int, advice: str
) -> dict[str, Any]:
    """Entities, relations, and notes on those that did not fit."""
    notes = replace(entities, budget_tokens=budget_tokens).notes(advice)
    if relations.left_out:
        notes.append(
            f"{relations.left_out:,} more relations did not fit; open an entity alone for all of its."
        )
    return noted({"entities": entities.entries, "relations": relations.entries}, notes)


def noted(answer: dict[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    """The answer, with notes only where there are some."""
    return answer | ({"notes": list(notes)} if notes else {})
