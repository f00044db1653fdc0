"""relate, unrelate, end: typed relations between entities by name; some come in pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from lore.engine.link import ended, made
from lore.engine.observe import implied
from lore.engine.portrait import entities_named
from lore.engine.remember import SHORT_LIMIT_BYTES
from lore.errors import NotFound
from lore.model import Cause, Link, Memory, Tie
from lore.store import Reader, Store, Writer
from lore.text import storable

INVERSES: Mapping[str, str] = MappingProxyType({"contiene": "parte_de", "parte_de": "contiene"})
AUTOMATIC = "inverse"
"""Who made the other half of a pair."""


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
    """A relation that is over, its two entities, and the other half if it was one of a pair."""

    link: Link
    source: Memory
    target: Memory
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
    results = []
    for relation in relations:
        names = dict.fromkeys((relation.source, relation.target))
        ends = entities_named(list(names), reader=writer, namespace=namespace, implied=imply)
        missing = [name for name in names if name not in ends]
        if imply:
            ends |= {n: implied(n, writer=writer, namespace=namespace, now=now) for n in missing}
        elif missing:
            results.append(Related(relation=relation, missing=tuple(missing)))
            continue
        existing = _find(relation, ends, writer)
        if existing is not None and existing.active:
            results.append(Related(relation=relation, known=True))
            continue
        [link] = writer.put_links([_link(relation, ends, now)])
        if pairs and relation.type in INVERSES:
            _pair(relation, ends, writer, now)
        results.append(Related(relation=relation, link=link))
    return results


def unrelate(
    relations: Sequence[Relation], *, store: Store, namespace: str, cause: Cause, now: float
) -> list[Related]:
    """Take relations away, with the automatic half of a pair. Inactive without an end: as if never there."""
    with store.transaction(namespace, cause, now) as writer:
        results = [_found(relation, writer, namespace) for relation in relations]
        for result in results:
            if result.link is not None:
                inverse = _inverse_of(result.link, writer)
                made = [inverse] if inverse is not None and inverse.created_by == AUTOMATIC else []
                gone = [replace(link, active=False, ended_at=None, updated_at=now) for link in made]
                writer.put_links([replace(result.link, active=False, ended_at=None, updated_at=now), *gone])
    return results


def end(alias: int, *, store: Store, namespace: str, cause: Cause, now: float) -> Ending:
    """A relation is over, and so is the other half of a pair; both stay as history."""
    with store.transaction(namespace, cause, now) as writer:
        id = writer.ids_of("link", [alias]).get(alias)
        link = writer.get_links([id])[id] if id is not None else None
        if link is None or link.kind != "relation" or not (link.active or link.ended_at):
            raise NotFound(str(alias))
        ends = writer.get([link.source, link.target], forgotten=True)
        inverse = _inverse_of(link, writer) if link.active else None
        already = not link.active
        if not already:
            over = [ended(each, now) for each in (link, inverse) if each is not None and each.active]
            link, *rest = writer.put_links(over)
            inverse = rest[0] if rest else None
    return Ending(
        link=link, source=ends[link.source], target=ends[link.target], inverse=inverse, already=already
    )


def check(relation: Relation) -> None:
    """Invalid says what about it cannot be stored."""
    storable(relation.type, "relationType", SHORT_LIMIT_BYTES)
    storable(relation.context, "context")


def _found(relation: Relation, writer: Writer, namespace: str) -> Related:
    names = [relation.source, relation.target]
    ends = entities_named(names, reader=writer, namespace=namespace, implied=True)
    missing = tuple(name for name in dict.fromkeys(names) if name not in ends)
    link = None if missing else _find(relation, ends, writer)
    active = link is not None and link.active
    return Related(relation=relation, missing=missing, link=link if active else None, known=active)


def _find(relation: Relation, ends: Mapping[str, Memory], reader: Reader) -> Link | None:
    source, target = ends[relation.source].id, ends[relation.target].id
    return _between(source, target, relation.type, reader)


def _between(source: str, target: str, type: str, reader: Reader) -> Link | None:
    wanted = (source, target, "relation", type)
    links = reader.all_links(source)
    return next((li for li in links if (li.source, li.target, li.kind, li.type) == wanted), None)


def _inverse_of(link: Link, reader: Reader) -> Link | None:
    if link.type not in INVERSES:
        return None
    other = _between(link.target, link.source, INVERSES[link.type], reader)
    return other if other is not None and other.active else None


def _link(relation: Relation, ends: Mapping[str, Memory], now: float, maker: str = "relate") -> Link:
    source, target = ends[relation.source].id, ends[relation.target].id
    tie = Tie(source=source, target=target, kind="relation", type=relation.type, reason=relation.context)
    return made(tie, maker, now)


def _pair(relation: Relation, ends: Mapping[str, Memory], writer: Writer, now: float) -> Link | None:
    inverse = Relation(
        source=relation.target,
        target=relation.source,
        type=INVERSES[relation.type],
        context=f"the other half of {relation.type}",
    )
    existing = _find(inverse, ends, writer)
    if existing is not None and existing.active:
        return None
    [link] = writer.put_links([_link(inverse, ends, now, AUTOMATIC)])
    return link
