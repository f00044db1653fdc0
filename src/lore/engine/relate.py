"""relate, unrelate, end: typed relations between entities by name; some come in pairs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from lore.engine.link import end_link, new_link
from lore.engine.nodes import addressed, names_of
from lore.engine.observe import implied
from lore.engine.remember import SHORT_LIMIT_BYTES
from lore.errors import NotFound
from lore.model import Cause, Link, Memory, Tie
from lore.store import Reader, Store, Writer
from lore.text import check_storable

INVERSES: Mapping[str, str] = MappingProxyType({"contiene": "parte_de", "parte_de": "contiene"})
AUTOMATIC = "inverse"
"""Who made the other half of a pair."""
Endpoint = tuple[str, str, str]
"""Source, target and type of a relation: no two relations share one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What somebody says about two entities."""

    source: str
    target: str
    type: str
    context: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """What became of one relation: the link that was made or taken away, else why there is none.

    missing: the ends that do not exist. known: the relation was there before.
    """

    relation: Relation
    link: Link | None = None
    missing: tuple[str, ...] = ()
    known: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """A relation that is over, the names of its ends, and the other half if it was one of a pair."""

    link: Link
    source: str
    target: str
    inverse: Link | None
    already: bool


def relate(
    relations: Sequence[Relation],
    *,
    pairs: bool,
    imply: bool,
    store: Store,
    namespace: str,
    cause: Cause,
    now: float,
) -> list[Related]:
    """Keep each relation whose ends exist and that is new; one that had ended is active again.

    pairs: also keep the inverse where there is one. imply: an end that does not exist is implied.
    """
    for relation in relations:
        check(relation)
    with store.transaction(namespace, cause, now) as writer:
        return related(relations, pairs=pairs, imply=imply, writer=writer, namespace=namespace, now=now)


def related(
    relations: Sequence[Relation],
    *,
    pairs: bool,
    imply: bool,
    writer: Writer,
    namespace: str,
    now: float,
) -> list[Related]:
    """The same inside a transaction of the caller's."""
    names = dict.fromkeys(end for relation in relations for end in (relation.source, relation.target))
    ends = addressed(names, reader=writer, namespace=namespace, implied=imply)
    if imply:
        missing = [name for name in names if name not in ends]
        ends |= implied(missing, writer=writer, namespace=namespace, now=now)
    taken = set(_active(ends.values(), writer))
    links: dict[Endpoint, Link] = {}
    results = []
    for relation in relations:
        if missing := [n for n in dict.fromkeys((relation.source, relation.target)) if n not in ends]:
            results.append(Related(relation=relation, missing=tuple(missing)))
        elif (link := _link(relation, ends, now)) and _place_of(link) in taken:
            results.append(Related(relation=relation, known=True))
        else:
            new = [link, *([_inverse(relation, ends, now)] if pairs and relation.type in INVERSES else [])]
            links |= {place: each for each in new if (place := _place_of(each)) not in taken}
            taken |= links.keys()
            results.append(Related(relation=relation, link=link))
    stored = dict(zip(links, writer.put_links(links.values()), strict=True))
    return [
        result if result.link is None else replace(result, link=stored[_place_of(result.link)])
        for result in results
    ]


def unrelate(
    relations: Sequence[Relation], *, store: Store, namespace: str, cause: Cause, now: float
) -> list[Related]:
    """Take relations away, with the automatic half of a pair. Inactive without an end: as if never there."""
    with store.transaction(namespace, cause, now) as writer:
        names = dict.fromkeys(end for relation in relations for end in (relation.source, relation.target))
        ends = addressed(names, reader=writer, namespace=namespace, implied=True)
        active = _active(ends.values(), writer)
        results = [_found(relation, ends, active) for relation in relations]
        gone: dict[Endpoint, Link] = {}
        for link in (result.link for result in results if result.link is not None):
            gone[_place_of(link)] = link
            inverse = active.get((link.target, link.source, INVERSES.get(link.type, "")))
            if link.type in INVERSES and inverse is not None and inverse.created_by == AUTOMATIC:
                gone[_place_of(inverse)] = inverse
        writer.put_links(
            [replace(link, active=False, ended_at=None, updated_at=now) for link in gone.values()]
        )
    return results


def end(alias: int, *, store: Store, namespace: str, cause: Cause, now: float) -> Ending:
    """A relation is over, and so is the other half of a pair; both stay as history."""
    with store.transaction(namespace, cause, now) as writer:
        id = writer.ids_of("link", [alias]).get(alias)
        link = writer.get_links([id])[id] if id is not None else None
        if link is None or link.kind != "relation" or not (link.active or link.ended_at):
            raise NotFound(str(alias))
        ends = names_of(writer.get([link.source, link.target], forgotten=True).values(), writer)
        inverse = _inverse_of(link, writer) if link.active else None
        already = not link.active
        if not already:
            over = [end_link(each, now) for each in (link, inverse) if each is not None and each.active]
            link, *rest = writer.put_links(over)
            inverse = rest[0] if rest else None
    return Ending(
        link=link, source=ends[link.source], target=ends[link.target], inverse=inverse, already=already
    )


def check(relation: Relation) -> None:
    """Invalid says what about it cannot be stored."""
    check_storable(relation.type, "relationType", SHORT_LIMIT_BYTES)
    check_storable(relation.context, "context")


def _found(relation: Relation, ends: Mapping[str, Memory], active: Mapping[Endpoint, Link]) -> Related:
    names = dict.fromkeys((relation.source, relation.target))
    if missing := tuple(name for name in names if name not in ends):
        return Related(relation=relation, missing=missing)
    link = active.get((ends[relation.source].id, ends[relation.target].id, relation.type))
    return Related(relation=relation, link=link, known=link is not None)


def _active(ends: Iterable[Memory], reader: Reader) -> dict[Endpoint, Link]:
    """The active relations that touch any of these memories."""
    links = reader.links({memory.id for memory in ends}, kinds=("relation",))
    return {_place_of(link): link for link in links}


def _place_of(link: Link) -> Endpoint:
    return (link.source, link.target, link.type)


def _inverse_of(link: Link, reader: Reader) -> Link | None:
    """The active other half of a pair."""
    if link.type not in INVERSES:
        return None
    links = reader.links([link.source], kinds=("relation",))
    wanted = (link.target, link.source, INVERSES[link.type])
    return next((each for each in links if _place_of(each) == wanted), None)


def _link(relation: Relation, ends: Mapping[str, Memory], now: float, maker: str = "relate") -> Link:
    source, target = ends[relation.source].id, ends[relation.target].id
    tie = Tie(source=source, target=target, kind="relation", type=relation.type, reason=relation.context)
    return new_link(tie, maker, now)


def _inverse(relation: Relation, ends: Mapping[str, Memory], now: float) -> Link:
    inverse = Relation(
        source=relation.target,
        target=relation.source,
        type=INVERSES[relation.type],
        context=f"the other half of {relation.type}",
    )
    return _link(inverse, ends, now, AUTOMATIC)
