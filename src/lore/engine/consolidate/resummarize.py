"""resummarize: the overview of a tree follows what hangs below it; its history keeps what it said before."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from lore.distil.sentences import sentences_of
from lore.engine.consolidate.asking import overview
from lore.engine.consolidate.plan import Change, Plan, Step, View
from lore.engine.consolidate.trees import (
    done,
    fresh_roots,
    in_parts,
    print_of,
    since,
    tops_of,
)
from lore.llm.base import NoAnswer
from lore.model import DISTILLED, OVERVIEW_OF, Memory
from lore.text import label_of, preview

NAME = "resummarize"
BRANCHES = 2
"""A tree with fewer branches needs no overview."""
SENTENCES = 3
LONGEST_SENTENCE, LONGEST = 240, 600


def resummarize(view: View) -> Iterator[Plan]:
    """Trees in which something has changed, each with the overview that it should have now.

    What a language model has said is kept at once: it took time, and may have cost something.
    """
    fresh = sorted(fresh_roots(view, since(NAME, view, itself=True)))
    for tops in [fresh] if view.model is None else ([top] for top in fresh):
        plan = retold(view, tops)
        yield plan
        if plan.remarks:
            return
    yield Plan(phase=NAME, noted=done(NAME, view))


def retold(view: View, tops: Collection[str]) -> Plan:
    """These trees, as far as their overviews are no longer what they should be."""
    steps: list[Step] = []
    for part in in_parts(sorted(tops)):
        children = view.reader.children(part)
        for id, root in view.reader.get(part).items():
            view.told(NAME, len(steps), len(tops))
            below = list(view.reader.get(children[id]).values())
            if not _outdated(root, below):
                continue
            try:
                steps.append(_step(view, root, below))
            except NoAnswer as trouble:
                return Plan(phase=NAME, steps=tuple(steps), remarks=(str(trouble),))
    return Plan(phase=NAME, steps=tuple(steps))


def followed(view: View, ids: Iterable[str]) -> Plan:
    """The overviews that there are above these, which have gone."""
    roots = view.reader.get(tops_of(view, ids))
    return retold(view, [id for id, root in roots.items() if OVERVIEW_OF in root.metadata])


def _outdated(root: Memory, children: Sequence[Memory]) -> bool:
    """What has no overview yet gets one if there is much below it; one that is there is kept up to date."""
    made_of = root.metadata.get(OVERVIEW_OF)
    return made_of != print_of(children) if made_of else len(children) >= BRANCHES


def _step(view: View, root: Memory, children: Sequence[Memory]) -> Step:
    """What Lore has written it writes anew; what somebody else has written gets a summary beside it."""
    text = overview(view.model, root, children) if view.model and children else _short(children)
    if root.source_type == DISTILLED:
        after = replace(root, content=text or root.title or root.content)
    else:
        after = replace(root, summary=text)
    metadata = {**root.metadata, OVERVIEW_OF: print_of(children)}
    return Step(
        told=f"“{label_of(root.title, root.content)}”: {preview(text or 'nothing is left below it', 100)}",
        counted={"roots_resummarized": 1},
        changed=(Change(before=root, after=replace(after, metadata=metadata, updated_at=view.now)),),
    )


def _short(children: Sequence[Memory]) -> str:
    """The most important of what hangs below, the latest first among equals, in their own words."""
    best = sorted(children, key=lambda child: (-child.importance, -child.created_at, -child.alias))[
        :SENTENCES
    ]
    in_order = sorted(best, key=lambda child: (child.created_at, child.alias))
    return preview(" ".join(map(_sentence, in_order)), LONGEST)


def _sentence(child: Memory) -> str:
    text = preview(next(iter(sentences_of(child.content)), child.content), LONGEST_SENTENCE)
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
