"""relevance: how present everything is now. It is computed whenever somebody asks, so nothing is kept."""

from collections.abc import Iterator

from lore.engine.consolidate.plan import Plan, View
from lore.engine.consolidate.trees import in_parts
from lore.model import VERBATIM, Filter
from lore.ranking.decay import relevance

NAME = "relevance"
VISIBLE = 0.05


def recompute(view: View) -> Iterator[Plan]:
    """Count what is in sight and what has faded out of it."""
    ids = view.reader.ids(Filter(namespaces=frozenset({view.namespace}), other_kinds=VERBATIM))
    faded = sum(
        relevance(memory, view.now) <= VISIBLE
        for part in in_parts(ids)
        for memory in view.reader.get(part).values()
    )
    remarks = (f"{faded:,} of {len(ids):,} memories have faded from view",) if faded else ()
    yield Plan(phase=NAME, counted={"relevance_updated": len(ids)}, remarks=remarks)
