"""recall: choose what passes a filter by one order → show it in another → count the use."""

from lore.engine.use import count_use
from lore.errors import Invalid
from lore.model import Answer, Filter, Hit, Memory, Order, Signal
from lore.ranking.decay import relevance
from lore.store import Reader, Store

LIMIT = 1_000


def recall(
    where: Filter, *, choose: Order, show: Order, limit: int, store: Store, reader: Reader, now: float
) -> Answer:
    """The first `limit` of one order, shown in another; each has its place as its score, the first one 1."""
    if not 1 <= limit <= LIMIT:
        raise Invalid(f"limit is {limit}; it must be between 1 and {LIMIT:,}")
    chosen = reader.select(where, limit, choose)
    if show != choose:
        chosen = sorted(chosen, key=lambda memory: _place(memory, show))
    total = reader.count(where) if len(chosen) == limit else len(chosen)

    hits = [_hit(memory, 1 - place / len(chosen), now) for place, memory in enumerate(chosen)]
    count_use([hit.memory.id for hit in hits], store=store, now=now)
    return Answer(
        hits=tuple(hits),
        stored=None if hits else reader.count(Filter()),
        cut=total - len(hits),
    )


def _place(memory: Memory, order: Order) -> tuple[float, float, int]:
    first = {"newest": 0.0, "importance": memory.importance, "use": float(memory.access_count)}
    return -first.get(order, 0.0), -memory.created_at, -memory.alias


def _hit(memory: Memory, score: float, now: float) -> Hit:
    return Hit(
        memory=memory, score=score, signals={"place": Signal(score, 1.0)}, relevance=relevance(memory, now)
    )
