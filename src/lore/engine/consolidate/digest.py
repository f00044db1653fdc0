"""Phase digest: quiet conversations become knowledge, the newest first."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from lore.distil.digest import digest as digest_by_rules
from lore.engine.consolidate.allowance import sessions_left
from lore.engine.consolidate.backlog import (
    ATTEMPTS,
    RETRY_SECONDS,
    by_rules,
    recent_turns,
    staged,
    worth_trying,
)
from lore.engine.consolidate.by_model import steps_of
from lore.engine.consolidate.by_rules import Placement
from lore.engine.consolidate.conversation import Conversation, conversation
from lore.engine.consolidate.extract import Questions
from lore.engine.consolidate.plan import Plan, Step, View
from lore.errors import LoreError
from lore.health import Staged
from lore.llm.base import NoAnswer
from lore.store.records import DigestProgress, PhaseMark, SessionAnswers
from lore.text import label_of

NAME = "digest"
"""The phase, and the beginning of the notes that keep a session's answers while others are missing."""
FAILURES_IN_A_ROW = 3
"""After this many failures the cause is hardly the conversations."""


def digest(view: View) -> Iterator[Plan]:
    """One plan for each session that is quiet and may be tried now, the newest first.

    What rules digested while the language model could not be asked, it digests again. An error that every
    session would meet ends the phase, and so do several failures in a row.
    """
    waiting = staged(view.reader)
    if view.model is not None:
        waiting += _again(view, {one.session.id for one in waiting})
    recent = recent_turns(view.now, view.settings.quiet_seconds(by_model=view.model is not None))
    active = view.reader.count_below([one.session.id for one in waiting], recent)
    ready = [one for one in waiting if not active[one.session.id] and worth_trying(one, view.now)]
    ready.sort(key=lambda one: (one.session.created_at, one.session.id), reverse=True)
    failures = 0
    for number, one in enumerate(ready[: sessions_left(view)]):
        view.progress(NAME, number, len(ready))
        plan = _attempt(view, one)
        yield plan
        failures = failures + 1 if plan.remarks else 0
        if failures == FAILURES_IN_A_ROW or plan.error is not None:
            return


def _again(view: View, besides: set[str]) -> list[Staged]:
    """Sessions without new turns that only the rules have digested, in place of a language model."""
    sessions = view.reader.get([id for id in by_rules(view.reader).seen if id not in besides])
    return [
        Staged(session=session, turns=0, attempts=before.attempts, retry_at=before.retry_at)
        for session in sessions.values()
        for before in [_progress(view, session.id)]
    ]


def _attempt(view: View, one: Staged) -> Plan:
    if view.model is None:
        return _by_rules(view, one)
    answers = next((kept.answers for kept in view.reader.records(SessionAnswers, session=one.session.id)), {})
    questions = Questions(view.model, answers)
    try:
        return _by_model(view, one, questions)
    except LoreError as error:
        return _failure(view, one, error, questions.used)


def _by_model(view: View, one: Staged, questions: Questions) -> Plan:
    """What rules have digested before is read again from the beginning."""
    mark = by_rules(view.reader)
    again = one.session.id in mark.seen
    read = conversation(view, one.session, 0 if again else _progress(view, one.session.id).until)
    steps = steps_of(questions, read, view.settings.max_chars_per_extraction) if read.new else []
    after = replace(mark, seen=tuple(id for id in mark.seen if id != one.session.id))
    return _plan(view, one, read, steps, (mark, after) if again else None)


def _by_rules(view: View, one: Staged) -> Plan:
    """Remember that a language model should have done it, if one is configured."""
    read = conversation(view, one.session, _progress(view, one.session.id).until)
    found = digest_by_rules(read.spoken(), max(1, view.settings.max_turns_per_extraction))
    mark = by_rules(view.reader)
    noted = bool(view.fallback) and one.session.id not in mark.seen
    after = replace(mark, seen=(*mark.seen, one.session.id))
    return _plan(view, one, read, list(Placement(read).steps(found)), (mark, after) if noted else None)


def _plan(
    view: View,
    one: Staged,
    read: Conversation,
    steps: list[Step],
    mark: tuple[PhaseMark, PhaseMark] | None,
) -> Plan:
    """mark: before and after, where it changes."""
    session = one.session.id
    before = _progress(view, session)
    until = max((turn.alias for turn in read.new), default=before.until)
    after = DigestProgress(
        session=session,
        turns=before.turns + one.turns,
        until=max(until, before.until),
        digested_at=view.now,
    )
    return Plan(
        steps=tuple(steps),
        expected=(before, mark[0]) if mark else (before,),
        records=(after, mark[1]) if mark else (after,),
        removed=(SessionAnswers(session=session, answers={}),),
        more_counts={"sessions_digested": 1},
    )


def _progress(view: View, session: str) -> DigestProgress:
    stored = view.reader.records(DigestProgress, session=session)
    return next(iter(stored), DigestProgress(session=session))


def _failure(view: View, one: Staged, error: LoreError, answers: Mapping[str, Any]) -> Plan:
    """Keep the turns and the answers so far. Each retry waits longer; the last failure waits for a person.

    An error that every session would meet does not count as a failure of this one.
    """
    before = _progress(view, one.session.id)
    kept = (SessionAnswers(session=one.session.id, answers=answers),) if answers else ()
    if isinstance(error, NoAnswer) and error.general:
        return Plan(expected=(before,), records=kept, error=error)
    temporary = isinstance(error, NoAnswer) and error.retry
    attempts = min(one.attempts + 1, ATTEMPTS - 1) if temporary else one.attempts + 1
    retry_at = view.now + RETRY_SECONDS * 2 ** (attempts - 1)
    after = replace(before, attempts=attempts, retry_at=retry_at, error=str(error))
    label = label_of(one.session.title, one.session.content)
    remark = f"“{label}” could not be digested ({attempts} of {ATTEMPTS} tries): {error}"
    return Plan(expected=(before,), records=(after, *kept), remarks=(remark,))
