"""Phase resummarize: the overview of a tree follows the memories below it; the journal keeps older ones."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from lore.distil.sentences import sentences_of
from lore.engine.consolidate.model_questions import write_overview
from lore.engine.consolidate.plan import Change, Plan, Step, View
from lore.engine.consolidate.trees import (
    batches,
    changed_roots,
    children_fingerprint,
    new_since,
    roots_above,
    run_mark,
)
from lore.llm.base import NoAnswer
from lore.model import DISTILLED, OVERVIEW_OF, Memory
from lore.text import label_of, preview

NAME = "resummarize"
LEAST_CHILDREN = 2
"""A tree with fewer children needs no overview."""
SENTENCES = 3
SENTENCE_CHARACTERS, OVERVIEW_CHARACTERS = 240, 600


def resummarize(view: View) -> Iterator[Plan]:
    """Write the overviews of changed trees. Each answer of a language model is stored at once: it cost time
    and maybe money."""
    changed = sorted(changed_roots(view, new_since(NAME, view, inclusive=True)))
    for roots in [changed] if view.model is None else ([root] for root in changed):
        plan = _rewrite(view, roots)
        yield plan
        if plan.error is not None:
            return
    yield Plan(records=(run_mark(NAME, view),))


def refresh_overviews(view: View, ids: Iterable[str]) -> Plan:
    """Rewrite the overviews above these memories, which are forgotten or superseded."""
    roots = view.reader.get(roots_above(view, ids))
    return _rewrite(view, [id for id, root in roots.items() if OVERVIEW_OF in root.metadata])


def _rewrite(view: View, ids: Collection[str]) -> Plan:
    """Rewrite those overviews of these roots that are out of date."""
    steps: list[Step] = []
    for batch in batches(sorted(ids)):
        children = view.reader.children(batch)
        for id, root in view.reader.get(batch).items():
            view.progress(NAME, len(steps), len(ids))
            below = list(view.reader.get(children[id]).values())
            if not _is_outdated(root, below):
                continue
            try:
                steps.append(_step(view, root, below))
            except NoAnswer as error:
                return Plan(steps=tuple(steps), error=error)
    return Plan(steps=tuple(steps))


def _is_outdated(root: Memory, children: Sequence[Memory]) -> bool:
    """A first overview needs some children; an existing one follows every change."""
    existing = root.metadata.get(OVERVIEW_OF)
    return existing != children_fingerprint(children) if existing else len(children) >= LEAST_CHILDREN


def _step(view: View, root: Memory, children: Sequence[Memory]) -> Step:
    """Replace a text that Lore has written; a text of another author gets a summary beside it."""
    text = write_overview(view.model, root, children) if view.model and children else _by_rules(children)
    if root.source_type == DISTILLED:
        after = replace(root, content=text or root.title or root.content)
    else:
        after = replace(root, summary=text)
    metadata = {**root.metadata, OVERVIEW_OF: children_fingerprint(children)}
    label, news = label_of(root.title, root.content), preview(text or "nothing is left below it", 100)
    return Step(
        description=f"“{label}”: {news}",
        counts={"roots_resummarized": 1},
        changes=(Change(before=root, after=replace(after, metadata=metadata, updated_at=view.now)),),
    )


def _by_rules(children: Sequence[Memory]) -> str:
    """The first sentences of the most important children, in order of time; of equals, the latest."""
    best = sorted(children, key=lambda child: (-child.importance, -child.created_at, -child.alias))[
        :SENTENCES
    ]
    in_order = sorted(best, key=lambda child: (child.created_at, child.alias))
    return preview(" ".join(map(_first_sentence, in_order)), OVERVIEW_CHARACTERS)


def _first_sentence(child: Memory) -> str:
    text = preview(next(iter(sentences_of(child.content)), child.content), SENTENCE_CHARACTERS)
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
