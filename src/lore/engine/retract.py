"""retract: hide observations by their exact text, or the memory whose own text it is."""

from collections.abc import Sequence
from dataclasses import replace

from lore.engine.entity_view import ENTITY, EntityView, past_of, refresh_entity_text
from lore.engine.forget import hide
from lore.engine.nodes import addressed, portrayed
from lore.engine.observe import Subject
from lore.engine.use import count_use
from lore.errors import Invalid, NotFound
from lore.model import Cause, Memory
from lore.store import Store, Writer
from lore.text import preview


def retract(
    subjects: Sequence[Subject],
    *,
    strict: bool,
    store: Store,
    namespace: str,
    cause: Cause,
    now: float,
) -> dict[str, EntityView]:
    """Hide observations by their exact text: subject name -> what is left, unless nothing is.

    The text of another dialect's memory is the memory itself: it is forgotten. strict: a name that is
    unknown is NotFound.
    """
    with store.transaction(namespace, cause, now) as writer:
        known = addressed([subject.name for subject in subjects], reader=writer, namespace=namespace)
        if strict and (missing := [subject.name for subject in subjects if subject.name not in known]):
            raise NotFound(missing[0])
        for subject in subjects:
            if subject.name in known:
                _retract(subject, known[subject.name], writer, cause, now)
        left = list(writer.get([memory.id for memory in known.values()]).values())
        refresh_entity_text([memory.id for memory in left], writer=writer, now=now)
        views = {p.entity.id: p for p in portrayed(left, reader=writer)}
    count_use(list(views), store=store, now=now)
    return {name: views[memory.id] for name, memory in known.items() if memory.id in views}


def _retract(subject: Subject, memory: Memory, writer: Writer, cause: Cause, now: float) -> None:
    past = past_of(memory, reader=writer)
    gone = [observation for observation in past if observation.content in subject.observations]
    hidden = [
        replace(observation, forgotten_at=now, forgotten_reason=cause.reason, updated_at=now)
        for observation in gone
    ]
    writer.put(hidden)
    if memory.kind == ENTITY or memory.content not in subject.observations:
        return
    if any(observation not in gone and observation.superseded_by is None for observation in past):
        whose = preview(subject.name, 80)
        raise Invalid(
            f"{preview(memory.content, 80)!r} is the memory {whose!r} itself, and other observations were "
            "added to it; delete those as well, or the whole with delete_entities"
        )
    hide(memory, cause.reason, writer, now)
