"""retract: hide observations by their exact text, or the memory whose own text it is."""

from collections.abc import Sequence
from dataclasses import replace

from lore.engine.context import Context, count_use
from lore.engine.entity_view import ENTITY, EntityView, Subject, past_of, refresh_entity_text
from lore.engine.forget import hide
from lore.engine.nodes import addressed, portrayed
from lore.errors import Invalid, NotFound
from lore.model import Memory
from lore.store import Writer
from lore.text import preview


def retract(subjects: Sequence[Subject], context: Context, *, strict: bool) -> dict[str, EntityView]:
    """Hide observations by their exact text; returns the memories that are left, by the subject's name.

    The text of another dialect's memory is the memory itself: it is forgotten. strict: raise NotFound for
    an unknown name.
    """
    with context.transaction() as writer:
        memories = addressed([subject.name for subject in subjects], reader=writer)
        if strict and (missing := [subject.name for subject in subjects if subject.name not in memories]):
            raise NotFound(missing[0])
        for subject in subjects:
            if subject.name in memories:
                _retract(subject, memories[subject.name], writer)
        left = list(writer.get([memory.id for memory in memories.values()]).values())
        refresh_entity_text([memory.id for memory in left], writer=writer)
        views = {p.entity.id: p for p in portrayed(left, reader=writer)}
    count_use(list(views), context)
    return {name: views[memory.id] for name, memory in memories.items() if memory.id in views}


def _retract(subject: Subject, memory: Memory, writer: Writer) -> None:
    past = past_of(memory, reader=writer)
    gone = [observation for observation in past if observation.content in subject.observations]
    hidden = [
        replace(
            observation, forgotten_at=writer.now, forgotten_reason=writer.cause.reason, updated_at=writer.now
        )
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
    hide(memory, writer.cause.reason, writer)
