"""decay: associations that nobody has used for long end. Time counts, not how often Lore slept.

A link from a correction to what it corrects never ends: it is knowledge, however rarely it is used.
"""

from collections.abc import Iterator, Mapping

from lore.engine.consolidate.plan import Plan, Step, View
from lore.engine.consolidate.trees import in_parts
from lore.model import UPDATES, Filter, Link, Memory
from lore.ranking.decay import link_weight

NAME = "decay"
FADED = 0.15
"""An association below this weight ends; it can be brought back."""
SHOWN = 5


def decay(view: View) -> Iterator[Plan]:
    """All of the namespace's associations, each at the weight that time has left it."""
    ids = view.reader.ids(Filter(namespaces=frozenset({view.namespace})))
    faded: dict[str, Link] = {}
    for number, part in enumerate(in_parts(ids)):
        view.told(NAME, number * len(part), len(ids))
        links = [link for link in view.reader.links(part, kinds=("associative",)) if link.type != UPDATES]
        ends = view.reader.get({end for link in links for end in (link.source, link.target)})
        faded |= {
            link.id: link for link in links if link.id not in faded and _weight(link, ends, view) < FADED
        }
    steps = [
        Step(
            told=f"a link of weight {link.weight:.2f} has faded",
            counted={"edges_pruned": 1},
            ended=view.ended([link]),
        )
        for link in faded.values()
    ]
    yield Plan(phase=NAME, steps=tuple(steps))


def _weight(link: Link, ends: Mapping[str, Memory], view: View) -> float:
    """A link is used when both of its ends are: the later one of them last."""
    uses = [ends[end].last_accessed_at or 0.0 for end in (link.source, link.target) if end in ends]
    used_at = max(link.updated_at, min(uses, default=0.0))
    return link_weight(link.weight, used_at, view.now, view.settings.edge_decay_days)
