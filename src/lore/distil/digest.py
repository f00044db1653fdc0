"""digest: turns → segments → statements → the few of each segment that are worth reading → topics."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from types import MappingProxyType

import numpy as np

from lore.distil.base import Digest, Finding, Relation, Spoken, Topic
from lore.distil.cues import points_elsewhere
from lore.distil.entities import entities_of, plain_names, shared_rare
from lore.distil.phrases import telling_words
from lore.distil.segment import MAX_TURNS, segments
from lore.distil.statements import Statement, statements_of
from lore.distil.titles import ended, overview_of, subject_of, title_of
from lore.ranking.relate import shared_words

MOST_FINDINGS = 14
MOST_CANDIDATES = 80
"""Of how many statements, the strongest, a topic is chosen: keeps long segments cheap."""
MOST_OF: Mapping[str, int] = MappingProxyType({"command": 3, "fact": 9, "outcome": 5, "event": 2, "goal": 3})
MOST_OF_TURN, FEWEST_MOST, TURNS_PER_FINDING = 4, 4, 2
"""Limits of findings below high importance, without commands: of a turn, of a short topic; turns per finding
of a long topic."""
LEAST_SCORE = 0.42
SAME, REPEATED = 0.6, 0.2
"""Two statements that share so many of their words say the same."""
CENTRALITY, POSITION, OF_USER = 0.12, 0.04, 0.05
STRONG = 0.7
"""From here on a statement that points at something said before is kept, with its topic before it."""
WORTH_A_TOPIC = 0.6
RARE, RARE_SHARE = 2, 0.2
"""A name in more topics than this, and in more than this share of them, connects none of them."""
RANKS = {"high": 0, "medium": 1, "low": 2}
MOST_SHARED = 4

Likeness = Callable[[float], float]


def digest(spoken: Sequence[Spoken], likeness: Likeness = float, max_turns: int = MAX_TURNS) -> Digest:
    """What a conversation leaves behind. likeness: a cosine on the scale of 0 unrelated to 1 the same."""
    topics: list[Topic] = []
    begin = 0
    for end in segments(spoken, max_turns):
        topic = _topic(spoken[begin:end], likeness)
        if topic:
            topics.append(topic)
        begin = end
    return Digest(topics=tuple(topics), relations=tuple(_relations(topics)))


def _topic(spoken: Sequence[Spoken], likeness: Likeness) -> Topic | None:
    statements = statements_of(spoken)
    if all(one.type == "command" and one.strength < WORTH_A_TOPIC for one in statements):
        return None
    title = subject_of(spoken)
    scores = _scores(statements, spoken, likeness)
    most = max(FEWEST_MOST, len(spoken) // TURNS_PER_FINDING)
    chosen = _chosen(statements, scores, title, most) or _chosen(statements, scores, "", most)
    known = plain_names(statement.text for statement in statements)
    findings = tuple(_finding(statement, known) for statement in chosen)
    if not findings:
        return None
    return Topic(
        title=title_of(spoken, findings),
        overview=overview_of(spoken, findings),
        findings=findings,
        turns=tuple(turn.number for turn in spoken),
    )


def _scores(statements: Sequence[Statement], spoken: Sequence[Spoken], likeness: Likeness) -> list[float]:
    """How sure each is to be knowledge; then how central to the segment, and how late in it."""
    turns = {turn.number: turn for turn in spoken}
    spread = Counter(word for turn in spoken for word in telling_words(turn.text[:2_000]))
    nearness = _nearness(spoken, likeness)
    first, length = (spoken[0].number, len(spoken)) if spoken else (0, 1)
    scores = []
    for statement in statements:
        number = statement.turns[-1]
        told = telling_words(statement.text)
        shared = sum(spread[word] > 1 for word in told) / len(told) if told else 0.0
        central = (shared + nearness[number]) / 2 if number in nearness else shared
        score = statement.strength + CENTRALITY * central + POSITION * (number - first) / length
        scores.append(score + OF_USER * (turns[number].role == "user"))
    return scores


def _nearness(spoken: Sequence[Spoken], likeness: Likeness) -> dict[int, float]:
    """How alike each turn that has a vector is to the middle of them all."""
    known = [(turn.number, turn.vector) for turn in spoken if turn.vector is not None]
    if not known:
        return {}
    vectors = np.array([vector for _, vector in known], dtype=np.float64)
    centre = vectors.mean(axis=0)
    lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(centre)
    cosines = np.divide(vectors @ centre, lengths, out=np.zeros(len(known)), where=lengths > 0)
    return {
        number: min(1.0, max(0.0, likeness(float(cosine))))
        for (number, _), cosine in zip(known, cosines, strict=True)
    }


def _chosen(
    statements: Sequence[Statement], scores: Sequence[float], title: str, most: int
) -> list[Statement]:
    """The best that do not repeat each other, most important first, then in the order of the conversation."""
    order = sorted(range(len(statements)), key=lambda at: (-scores[at], at))[:MOST_CANDIDATES]
    chosen: list[tuple[Statement, frozenset[str]]] = []
    counts: Counter[str] = Counter()
    titled = telling_words(title)
    for at in order:
        statement = _alone(statements[at], title)
        if statement is None or scores[at] < LEAST_SCORE:
            continue
        told = telling_words(statement.text)
        places = _places(statement, most)
        if any(counts[place] >= limit for place, limit in places.items()):
            continue
        if _repeats(statement, titled) or any(shared_words(told, other) >= SAME for _, other in chosen):
            continue
        chosen.append((statement, told))
        counts.update(places.keys())
        if len(chosen) == MOST_FINDINGS:
            break
    kept = [statement for statement, _ in chosen]
    return sorted(kept, key=lambda one: (RANKS[one.importance], one.turns, one.place))


def _places(statement: Statement, most: int) -> dict[str, int]:
    """The counts in which a statement has to find room, and their limits."""
    places: dict[str, int] = {statement.type: MOST_OF.get(statement.type, MOST_FINDINGS)}
    if statement.importance != "high" and statement.type != "command":
        places |= {"any": most, f"turn {statement.turns[-1]}": MOST_OF_TURN}
    return places


def _repeats(statement: Statement, titled: frozenset[str]) -> bool:
    """Whether it is nothing but the request, which the title tells already."""
    told = telling_words(statement.text)
    return statement.importance != "high" and len(told - titled) <= REPEATED * len(told)


def _alone(statement: Statement, title: str) -> Statement | None:
    """The statement so that it can be read alone: what it points at is never guessed, only its topic told."""
    if not points_elsewhere(statement.text):
        return statement
    if statement.strength < STRONG or not title:
        return None
    return Statement(
        text=f"[{title}] {statement.text}",
        type=statement.type,
        importance=statement.importance,
        strength=statement.strength,
        turns=statement.turns,
        place=statement.place,
        replaces=statement.replaces,
    )


def _finding(statement: Statement, known: Set[str]) -> Finding:
    return Finding(
        text=ended(statement.text),
        type=statement.type,
        importance=statement.importance,
        turns=tuple(sorted(set(statement.turns))),
        entities=entities_of(statement.text, known),
        replaces=statement.replaces,
    )


def _relations(topics: Sequence[Topic]) -> list[Relation]:
    """Topics that speak of the same rare names have to do with each other."""
    named = [
        [name for finding in topic.findings if finding.type != "command" for name in finding.entities]
        for topic in topics
    ]
    shared: dict[tuple[int, int], list[str]] = {}
    for name, places in shared_rare(named, max(RARE, int(RARE_SHARE * len(topics)))).items():
        for at, first in enumerate(places):
            for second in places[at + 1 :]:
                shared.setdefault((first, second), []).append(name)
    return [
        Relation(first=first, second=second, text=f"Both speak of {', '.join(names[:MOST_SHARED])}.")
        for (first, second), names in sorted(shared.items())
    ]
