"""digest: conversations that have come to rest → what is worth knowing of them → into the trees."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from lore.distil.base import Digest, Role, Spoken
from lore.distil.digest import digest as distilled
from lore.engine.consolidate.asking import Extracted, Limits, extracted
from lore.engine.consolidate.plan import Plan, View
from lore.engine.consolidate.route import Origin, routed
from lore.engine.consolidation_backlog import ATTEMPTS, DIGEST, RETRY_SECONDS, lately, staged, worth_trying
from lore.errors import LoreError
from lore.health import Staged
from lore.llm.base import NoAnswer
from lore.model import TURN, Filter, Memory
from lore.text import label_of

NAME, ANSWERS = "digest", "answers/"
"""The phase, and under which names the answers of a conversation are kept while others are missing."""
FAILURES_IN_A_ROW = 3
"""After so many it is hardly the conversations that are to blame."""
ALL = 1_000_000


def digest(view: View) -> Iterator[Plan]:
    """Each conversation that has been quiet for long enough is a plan of its own.

    What would keep any of them from being digested ends the phase, and so do failures one after the other.
    """
    ready = _ready(view)
    failures = 0
    for number, one in enumerate(ready):
        view.told(NAME, number, len(ready))
        plan, trouble = _attempt(view, one)
        yield plan
        failures = failures + 1 if trouble else 0
        if failures == FAILURES_IN_A_ROW or _general(trouble):
            return


def _ready(view: View) -> list[Staged]:
    """Those that are quiet, and not to be left alone after a failure."""
    waiting = staged(view.reader, view.namespace)
    recent_turns = lately(view.now, view.settings.idle_threshold)
    busy = view.reader.count_below([one.session.id for one in waiting], recent_turns)
    return [one for one in waiting if not busy[one.session.id] and worth_trying(one, view.now)]


def _attempt(view: View, one: Staged) -> tuple[Plan, LoreError | None]:
    turns = _turns(view, one)
    spoken = _spoken(view, turns)
    try:
        found = _found(view, one.session, spoken)
        if found.trouble is None:
            return _plan(view, one, turns, spoken, found.digest), None
    except LoreError as trouble:
        return _failed(view, one, trouble), trouble
    return _failed(view, one, found.trouble, found.answers), found.trouble


def _general(trouble: LoreError | None) -> bool:
    return isinstance(trouble, NoAnswer) and trouble.general


def _plan(view: View, one: Staged, turns: Sequence[Memory], spoken: Sequence[Spoken], found: Digest) -> Plan:
    until = max(turn.alias for turn in turns) if turns else one.noted.get("until", 0)
    noted = {"turns": one.noted.get("turns", 0) + one.turns, "until": until, "at": view.now}
    by_number = {said.number: turn for said, turn in zip(spoken, turns, strict=True)}
    return Plan(
        phase=NAME,
        steps=tuple(routed(view, found, Origin(one.session, by_number))),
        expected={DIGEST + one.session.id: one.noted},
        noted={DIGEST + one.session.id: noted, ANSWERS + one.session.id: None},
        counted={"sessions_digested": 1},
    )


def _found(view: View, session: Memory, spoken: Sequence[Spoken]) -> Extracted:
    settings = view.settings
    most = max(1, settings.max_turns_per_extraction)
    if view.model is None:
        return Extracted(digest=distilled(spoken, most))
    limits = Limits(
        turns=most, characters=settings.max_chars_per_extraction, at_once=settings.llm_max_concurrency
    )
    name = ANSWERS + session.id
    return extracted(view.model, session, spoken, limits, view.reader.noted(name).get(name, {}))


def _turns(view: View, one: Staged) -> list[Memory]:
    """Those that were not digested yet, in the order of the conversation."""
    turns = view.reader.select(Filter(kinds=frozenset({TURN}), under=one.session.id), ALL)
    new = (turn for turn in turns if turn.alias > one.noted.get("until", 0))
    return sorted(new, key=lambda turn: (turn.created_at, turn.alias))


def _spoken(view: View, turns: Sequence[Memory]) -> list[Spoken]:
    vectors = view.reader.vectors(view.sense.model, [turn.id for turn in turns])
    return [
        Spoken(
            number=number,
            role=cast(Role, turn.type),
            text=turn.content,
            at=turn.created_at,
            tool=turn.metadata.get("tool", ""),
            failed=bool(turn.metadata.get("failed")),
            vector=vectors.get(turn.id),
        )
        for number, turn in enumerate(turns, 1)
    ]


def _failed(view: View, one: Staged, trouble: LoreError, answers: Mapping[str, Any] | None = None) -> Plan:
    """The turns stay; they are tried again, later each time, and at last shown to a person.

    What would have befallen any conversation is not held against this one. Answers that have come are kept.
    """
    kept = {ANSWERS + one.session.id: answers} if answers else {}
    expected = {DIGEST + one.session.id: one.noted}
    if _general(trouble):
        return Plan(phase=NAME, expected=expected, noted=kept, remarks=(str(trouble),))
    away = isinstance(trouble, NoAnswer) and trouble.retry
    attempts = min(one.attempts + 1, ATTEMPTS - 1) if away else one.attempts + 1
    retry_at = view.now + RETRY_SECONDS * 2 ** (attempts - 1)
    noted = {**one.noted, "attempts": attempts, "retry_at": retry_at, "trouble": str(trouble)}
    label = label_of(one.session.title, one.session.content)
    return Plan(
        phase=NAME,
        expected=expected,
        noted={DIGEST + one.session.id: noted, **kept},
        remarks=(f"“{label}” could not be digested ({attempts} of {ATTEMPTS} tries): {trouble}",),
    )
