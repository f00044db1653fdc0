"""status: what is there, where it is, and whether all of it can be found by meaning."""

from lore.engine.consolidation_backlog import runs, staged
from lore.engine.embeddings import Embeddings
from lore.health import Status
from lore.store import Reader, Store
from lore.version import VERSION


def status(*, store: Store, reader: Reader, sense: Embeddings, namespace: str) -> Status:
    """A few counts; nothing is changed and no model is loaded."""
    return Status(
        version=VERSION,
        location=store.location,
        namespace=namespace,
        counts=reader.counts(),
        model=sense.model,
        meaning=sense.state,
        trouble=sense.trouble,
        embedded=store.embedded(sense.model),
        pending=store.pending(sense.model),
        size_bytes=store.size_bytes(),
        last_write_at=store.last_write_at(),
        staged_turns=sum(one.turns for one in staged(reader, namespace)),
        last_run=next(iter(runs(reader)), None),
        warnings=tuple(store.warnings()),
    )
