"""Policies: which signals count how much, per dialect. Data, not branches."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from lore.errors import Invalid
from lore.text import listed


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How one dialect ranks.

    weights: signal name -> weight. The signals: `similarity` (likeness, or word overlap where a memory
    has no vector), `words` (relative to the best of this search), `relevance` (forgetting curve), `quality`
    (score / 10), `use` (logarithmic count); `meaning` and `wording` (how far a memory stands out by either),
    `company`, `nearby`, `recent`, `when`, `fullness`, `speaker`, `tells`, `answers`, `dated` (`evidence`);
    places in the lists of a reciprocal rank fusion: `meaning_rank`, `words_rank`, `links_rank` (what the
    first hits are linked to).
    visible_above: memories whose relevance is not above this are hidden.
    likely_above: without a common word, a memory less similar than this is hidden as noise.
    best_per_tree: one hit for each tree. fade_per_day: the whole score fades with disuse;
    asked_unfaded: a wanted least score is compared with the score before it fades.
    teleport: how likely the walk of a deep search begins anew at every step; walk: what it counts for where
    no name decides. tidy: a conversation is no hit beside its turns, of what differs in the value alone the
    newest is first (`fresh`), and what repeats a better hit moves down (`repeats`).
    """

    weights: Mapping[str, float]
    candidates: int = 100
    visible_above: float = -1.0
    likely_above: float = -1.0
    best_per_tree: bool = False
    fade_per_day: float = 0.0
    asked_unfaded: bool = False
    usage_cap: int = 100
    teleport: float = 0.5
    walk: float = 0.2
    tidy: bool = False


POLICIES: Mapping[str, Policy] = MappingProxyType(
    {
        "lore": Policy(
            weights={
                "company": 0.182,
                "meaning": 0.159,
                "wording": 0.159,
                "nearby": 0.135,
                "recent": 0.077,
                "when": 0.077,
                "fullness": 0.077,
                "dated": 0.053,
                "speaker": 0.029,
                "answers": 0.019,
                "tells": 0.019,
                "relevance": 0.014,
            },
            candidates=64,
            likely_above=0.1,
            tidy=True,
        ),
        "tree": Policy(
            weights={"similarity": 0.7, "relevance": 0.3},
            visible_above=0.05,
            best_per_tree=True,
            teleport=0.3,
            walk=0.5,
        ),
        "scored": Policy(
            weights={"similarity": 0.45, "words": 0.30, "quality": 0.15, "use": 0.10},
            candidates=200,
            fade_per_day=0.0077,
            asked_unfaded=True,
        ),
        "typed": Policy(
            weights={"meaning_rank": 1 / 3, "words_rank": 1 / 3, "links_rank": 1 / 3},
            candidates=20,
            likely_above=0.1,
        ),
        "tree-first": Policy(
            weights={"similarity": 0.7, "relevance": 0.3},
            visible_above=0.05,
            likely_above=0.1,
        ),
    }
)


def policy_named(name: str, policies: Mapping[str, Policy] = POLICIES) -> Policy:
    """The policy of that name, or Invalid with the known ones."""
    try:
        return policies[name]
    except KeyError:
        raise Invalid(f"unknown policy {name!r}; known: {listed(policies)}") from None
