"""Policies: which signals count how much, per dialect. Data, not branches."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lore.errors import Invalid
from lore.text import listed

EVIDENCE: Mapping[str, float] = MappingProxyType(
    {
        "session_support": 0.185,
        "meaning": 0.18,
        "neighbour_support": 0.137,
        "wording": 0.113,
        "recent": 0.05,
        "when": 0.08,
        "length": 0.1,
        "speaker": 0.03,
        "is_statement": 0.03,
        "exact": 0.4,
    }
)
"""How well a memory matches a question: the same signals with the same weights for every dialect.

`meaning`: the likeness, z-scaled. `wording`: the `coverage`. `exact`: it has an identifier of the question to
the letter. `session_support`, `neighbour_support`, `recent`, `when`, `length`, `speaker`, `is_statement`: see
`evidence`.
"""
MATCH = "match"
STALE: Mapping[str, float] = MappingProxyType({"fresh": 1.0, "changed": 0.9, "gone": 0.8})
"""Factor on the score of a hit, by the state of a file that it cites. It moves a hit down and hides none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How one dialect ranks.

    weights: signal name -> weight. A policy with `match` weighs the engine's evidence, on a scale that
    compares between questions, against `relevance` (forgetting curve), `quality` (score / 10), `use`
    (logarithmic count) and `links` (what the first hits are linked to). All of these but `links` count in
    proportion to the match: they decide between similar matches and never outvote a clear one. evidence: the
    signals of the match.
    A policy without `match` is a published formula, taken to the letter. Its signals: `similarity` (likeness,
    or word overlap where a memory has no vector), `words` (relative to the best of this search), `relevance`,
    `quality`, `use`, and places in the lists of a reciprocal rank fusion: `meaning_rank`, `words_rank`,
    `links_rank`. A weight of 0: the signal is reported and does not count.
    likely_above: a memory without a common word or link that is not more similar than this is hidden, where
    others match clearly.
    fade_per_day, fade_floor: the whole score fades with disuse, down to this share of it. asked_unfaded: the
    least score that a caller wants is compared with the score before it fades.
    teleport: how likely the walk of a deep search begins anew at every step; walk: what it counts for where
    no name decides. tidy: a conversation is no hit beside its turns, of what differs in the value alone the
    newest is first (`fresh`), and what repeats a better hit moves down (`repeats`).
    visible_above: memories whose relevance is not above this are hidden. best_per_tree: one hit a tree.
    """

    weights: Mapping[str, float]
    evidence: Mapping[str, float] = field(default_factory=lambda: EVIDENCE)
    candidates: int = 64
    likely_above: float = 0.1
    visible_above: float = -1.0
    best_per_tree: bool = False
    fade_per_day: float = 0.0
    fade_floor: float = 0.0
    asked_unfaded: bool = False
    usage_cap: int = 100
    teleport: float = 0.5
    walk: float = 0.2
    tidy: bool = True

    @property
    def formula(self) -> bool:
        """Whether this is a published formula without the engine's evidence."""
        return MATCH not in self.weights


SCORED_FADE_PER_DAY = 0.0077

POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        "lore": Policy(weights={MATCH: 0.98, "relevance": 0.02}),
        "tree": Policy(weights={MATCH: 0.7, "relevance": 0.3}, teleport=0.3, walk=0.5),
        "tree-first": Policy(weights={MATCH: 0.7, "relevance": 0.3}),
        "scored": Policy(
            weights={MATCH: 0.75, "quality": 0.15, "use": 0.10, "similarity": 0.0, "words": 0.0},
            fade_per_day=SCORED_FADE_PER_DAY,
            fade_floor=0.85,
            asked_unfaded=True,
        ),
        "typed": Policy(weights={MATCH: 0.9, "links": 0.1}),
        "graph": Policy(weights={MATCH: 1.0}),
    }
)
"""What every dialect uses unless the setting `ranking` is "reference"."""

REFERENCE: Mapping[str, Policy] = MappingProxyType(
    {
        "lore": POLICIES["lore"],
        "tree": Policy(
            weights={"similarity": 0.7, "relevance": 0.3},
            candidates=100,
            likely_above=-1.0,
            visible_above=0.05,
            best_per_tree=True,
            teleport=0.3,
            walk=0.5,
            tidy=False,
        ),
        "tree-first": Policy(
            weights={"similarity": 0.7, "relevance": 0.3},
            candidates=100,
            visible_above=0.05,
            likely_above=0.1,
            tidy=False,
        ),
        "scored": Policy(
            weights={"similarity": 0.45, "words": 0.30, "quality": 0.15, "use": 0.10},
            candidates=200,
            likely_above=-1.0,
            fade_per_day=SCORED_FADE_PER_DAY,
            asked_unfaded=True,
            tidy=False,
        ),
        "typed": Policy(
            weights={"meaning_rank": 1 / 3, "words_rank": 1 / 3, "links_rank": 1 / 3},
            candidates=20,
            likely_above=0.1,
            tidy=False,
        ),
        "graph": Policy(weights={"similarity": 1.0}, tidy=False),
    }
)
"""The formulas that the dialects publish, to the letter."""

RANKINGS: Mapping[str, Mapping[str, Policy]] = MappingProxyType({"lore": POLICIES, "reference": REFERENCE})
"""The values of the setting `ranking`."""


def policy_named(name: str, policies: Mapping[str, Policy] = POLICIES) -> Policy:
    """The policy of that name, or Invalid with the known ones."""
    try:
        return policies[name]
    except KeyError:
        raise Invalid(f"unknown policy {name!r}; known: {listed(policies)}") from None
