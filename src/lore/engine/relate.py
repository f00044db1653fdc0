"""relate, unrelate, end_relation: typed relations between entities by name; some have an inverse."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lore.engine.context import Context
from lore.engine.entity_view import GraphVocabulary, implied
from lore.engine.link import end_link, new_link
from lore.engine.nodes import addressed, names_of
from lore.errors import NotFound
from lore.model import Link, Memory, Tie
from lore.store import Reader, Writer
from lore.text import SHORT_LIMIT_BYTES, check_storable

AUTOMATIC = "inverse"
"""The maker of a link that was created as the inverse of another."""
Endpoint = tuple[str, str, str]
"""Source, target and type of a relation: no two relations share one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A relation between two entities, by their names."""

    source: str
    target: str
    type: str
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """The result for one relation: the link that was created or deleted, or the reason why there is none.

    missing: the ends that do not exist. existed: the relation was there before.
    """

    relation: Relation
    link: Link | None = None
    missing: tuple[str, ...] = ()
    existed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A relation that has ended, the names of its ends, and the inverse that ended with it.

    already: it had ended before.
    """

    link: Link
    source: str
    target: str
    inverse: Link | None
    already: bool


def relate(
    relations: Sequence[Relation], context: Context, *, inverses: Mapping[str, str], imply: bool
) -> list[Related]:
    """Keep each relation whose ends exist and that is new; one that had ended is active again.

    inverses: relation types for which the inverse is kept as well. imply: create ends that do not exist.
    """
    for relation in relations:
        check(relation)
    with context.transaction() as writer:
        return related(relations, inverses=inverses, imply=imply, writer=writer)


def related(
    relations: Sequence[Relation], *, inverses: Mapping[str, str], imply: bool, writer: Writer
) -> list[Related]:
    """`relate` inside a transaction of the caller."""
    names = dict.fromkeys(end for relation in relations for end in (relation.source, relation.target))
    ends = addressed(names, reader=writer, which="implied" if imply else "current")
    if imply:
        missing = [name for name in names if name not in ends]
        ends |= implied(missing, writer=writer)
    taken = set(_active(ends.values(), writer))
    links: dict[Endpoint, Link] = {}
    results = []
    for relation in relations:
        if missing := [n for n in dict.fromkeys((relation.source, relation.target)) if n not in ends]:
            results.append(Related(relation=relation, missing=tuple(missing)))
        elif (link := _link(relation, ends, writer.now)) and _place_of(link) in taken:
            results.append(Related(relation=relation, existed=True))
        else:
            inverse = inverses.get(relation.type)
            new = [link, *([_inverse(relation, inverse, ends, writer.now)] if inverse else [])]
            links |= {place: each for each in new if (place := _place_of(each)) not in taken}
            taken |= links.keys()
            results.append(Related(relation=relation, link=link))
    stored = dict(zip(links, writer.put_links(links.values()), strict=True))
    return [
        result if result.link is None else replace(result, link=stored[_place_of(result.link)])
        for result in results
    ]


def unrelate(relations: Sequence[Relation], context: Context, vocabulary: GraphVocabulary) -> list[Related]:
    """Delete relations, with inverses that were created automatically.

    A deleted relation is inactive and has no end; an ended one has the time of its end.
    """
    with context.transaction() as writer:
        names = dict.fromkeys(end for relation in relations for end in (relation.source, relation.target))
        ends = addressed(names, reader=writer, which="implied")
        active = _active(ends.values(), writer)
        results = [_found(relation, ends, active) for relation in relations]
        gone: dict[Endpoint, Link] = {}
        for link in (result.link for result in results if result.link is not None):
            gone[_place_of(link)] = link
            inverse = active.get((link.target, link.source, vocabulary.inverses.get(link.type, "")))
            if link.type in vocabulary.inverses and inverse is not None and inverse.created_by == AUTOMATIC:
                gone[_place_of(inverse)] = inverse
        writer.put_links(
            [replace(link, active=False, ended_at=None, updated_at=context.now) for link in gone.values()]
        )
    return results


def end_relation(alias: int, context: Context, vocabulary: GraphVocabulary) -> Ending:
    """End a relation and its inverse; both stay as history."""
    with context.transaction() as writer:
        ids = writer.resolve([alias], 1, "link")[alias]
        link = next(iter(writer.links(ids=ids, ended=True)), None)
        if link is None or link.kind != "relation" or not (link.active or link.ended_at):
            raise NotFound(str(alias))
        ends = names_of(writer.get([link.source, link.target], forgotten=True).values(), writer)
        inverse = _inverse_of(link, vocabulary.inverses, writer) if link.active else None
        already = not link.active
        if not already:
            ended = [
                end_link(each, context.now) for each in (link, inverse) if each is not None and each.active
            ]
            link, *rest = writer.put_links(ended)
            inverse = rest[0] if rest else None
    return Ending(
        link=link, source=ends[link.source], target=ends[link.target], inverse=inverse, already=already
    )


def check(relation: Relation) -> None:
    """Raise Invalid if the relation cannot be stored."""
    check_storable(relation.type, "relationType", SHORT_LIMIT_BYTES)
    check_storable(relation.context, "context")


def _found(relation: Relation, ends: Mapping[str, Memory], active: Mapping[Endpoint, Link]) -> Related:
    names = dict.fromkeys((relation.source, relation.target))
    if missing := tuple(name for name in names if name not in ends):
        return Related(relation=relation, missing=missing)
    link = active.get((ends[relation.source].id, ends[relation.target].id, relation.type))
    return Related(relation=relation, link=link, existed=link is not None)


def _active(ends: Iterable[Memory], reader: Reader) -> dict[Endpoint, Link]:
    """The active relations that touch any of these memories."""
    links = reader.links({memory.id for memory in ends}, kinds=("relation",))
    return {_place_of(link): link for link in links}


def _place_of(link: Link) -> Endpoint:
    return (link.source, link.target, link.type)


def _inverse_of(link: Link, inverses: Mapping[str, str], reader: Reader) -> Link | None:
    """The active link in the other direction, if the type of the link has an inverse."""
    if link.type not in inverses:
        return None
    links = reader.links([link.source], kinds=("relation",))
    wanted = (link.target, link.source, inverses[link.type])
    return next((each for each in links if _place_of(each) == wanted), None)


def _link(relation: Relation, ends: Mapping[str, Memory], now: float, maker: str = "relate") -> Link:
    source, target = ends[relation.source].id, ends[relation.target].id
    tie = Tie(source=source, target=target, kind="relation", type=relation.type, reason=relation.context)
    return new_link(tie, maker, now)


def _inverse(relation: Relation, type: str, ends: Mapping[str, Memory], now: float) -> Link:
    inverse = Relation(
        source=relation.target,
        target=relation.source,
        type=type,
        context=f"the other half of {relation.type}",
    )
    return _link(inverse, ends, now, AUTOMATIC)
