"""contradict: of two statements that cannot both be true now, the newer one stands."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from lore.engine.consolidate.asking import contradictory
from lore.engine.consolidate.plan import Plan, Step, View
from lore.engine.consolidate.resummarize import followed
from lore.engine.consolidate.said import ALIKE, Said, from_persons, outdated_in, said_by, scopes
from lore.engine.consolidate.trees import done, in_parts, own, since
from lore.engine.entity_view import ENTITY
from lore.engine.find_duplicate import KNOWLEDGE
from lore.llm.base import LanguageModel
from lore.model import DISTILLED, Filter, Link, Memory
from lore.ranking.claims import shares
from lore.ranking.compare import LONGEST_TEXT, Relation, compare
from lore.ranking.pairs import close_pairs
from lore.text import preview

NAME, JUDGED = "contradict", "judged"
"""The phase, and under which name it notes what was judged of a run that a language model has broken off."""
RULE = "preference"
"""The type of a user's rule."""
WHOLE = 0.8
"""A text of which less is outdated stays: the rest of it may be true."""
PAIRS_EACH = 50
"""About how many pairs of one parent's children it is asked, at most: the most alike."""


@dataclass(frozen=True, slots=True)
class _Pair:
    older: Memory
    newer: Memory
    why: str

    @property
    def name(self) -> str:
        """The same as long as both say the same."""
        told = "\0".join((self.older.id, self.older.content, self.newer.id, self.newer.content))
        return blake2b(told.encode(), digest_size=8).hexdigest()


def contradict(view: View) -> Iterator[Plan]:
    """By rules: same subject and attribute, another value. A language model verifies, and finds more."""
    if view.fallback and (since(NAME, view, model=True) or view.reader.noted(JUDGED)):
        return  # the rules do not overrule what a language model has judged; new statements wait for it
    after = since(NAME, view, model=view.model is not None)
    if after and not view.reader.count(_since(_statements(view), after)):
        return
    pairs = list(_by_rules(view, after))
    if view.model is None:
        steps = _steps(view, _permitted(view, pairs))
        plan = Plan(phase=NAME, steps=steps, noted=done(NAME, view, model=False))
    else:
        new = [pair for pair in pairs if max(pair.older.updated_at, pair.newer.updated_at) >= after]
        plan = _verified(view, view.model, [*new, *_siblings(view, after)])
    yield plan
    there = view.reader.get([change.before.id for step in plan.steps for change in step.changed])
    yield followed(view, [id for id, memory in there.items() if memory.superseded_by])


def _statements(view: View) -> Filter:
    return Filter(kinds=KNOWLEDGE - {ENTITY}, namespaces=frozenset({view.namespace}))


def _by_rules(view: View, after: float) -> Iterator[_Pair]:
    """Which are outdated as a whole, each with the one that outdates it."""
    said: list[Said] = []
    ids = view.reader.ids(_statements(view))
    for number, part in enumerate(in_parts(ids)):
        view.told(NAME, number * len(part), len(ids))
        said += said_by(view, view.reader.get(part))
    yield from _by_grammar(view, said)
    yield from _by_wording(view, said, after)


def _permitted(view: View, pairs: Sequence[_Pair]) -> list[_Pair]:
    """The pairs that may be resolved without a language model.

    A statement of an agent hides nothing but statements of agents. A rule of a user is hidden only if the
    wording alone makes the update certain.
    """
    persons = from_persons(view, (memory for pair in pairs for memory in (pair.older, pair.newer)))
    return [
        pair
        for pair in pairs
        if pair.newer.source_type != DISTILLED
        or pair.newer.id in persons
        or (pair.older.source_type == DISTILLED and pair.older.id not in persons)
        if pair.older.id not in persons
        or pair.older.type != RULE
        or compare(pair.older.content, pair.newer.content, thorough=False) is Relation.UPDATE
    ]


def _by_grammar(view: View, said: Sequence[Said]) -> Iterator[_Pair]:
    """By what each states of which subject, whatever its words."""
    found = [pair for scope in scopes(view, said) for pair in outdated_in(scope)]
    outdated_share = shares(found)
    first = {pair.older: pair for pair in reversed(found) if outdated_share[pair.older] >= WHOLE}
    memories = view.reader.get({id for pair in first.values() for id in (pair.older, pair.newer)})
    for pair in first.values():
        if pair.older in memories and pair.newer in memories:
            yield _Pair(memories[pair.older], memories[pair.newer], pair.why)


def _by_wording(view: View, said: Sequence[Said], after: float) -> Iterator[_Pair]:
    """Short statements of one project that are alike, of which the newer certainly updates the older."""
    short = {one.id: one for one in said if len(one.text) <= LONGEST_TEXT}
    vectors = view.reader.vectors(view.sense.model, list(short))
    fresh = set(view.reader.ids(_since(_statements(view), after)))
    ids = list(vectors)
    if len(ids) < 2:
        return
    new = np.fromiter((id in fresh for id in ids), dtype=bool, count=len(ids))
    for i, j, _ in close_pairs(np.stack(list(vectors.values())), view.sense.cosine_at(ALIKE), new):
        older, newer = sorted((short[ids[i]], short[ids[j]]), key=lambda one: (one.at, one.alias))
        apart = older.project != newer.project or ((older.local or newer.local) and older.tree != newer.tree)
        if not apart and compare(older.text, newer.text, thorough=False) is Relation.UPDATE:
            memories = view.reader.get([older.id, newer.id])
            if len(memories) == 2:
                yield _Pair(memories[older.id], memories[newer.id], "an update of the same statement")


def _siblings(view: View, after: float) -> Iterator[_Pair]:
    """Children of one parent that are alike, of which at least one is new to this phase."""
    fresh = set(view.reader.ids(_since(own(view), after)))
    homes = set(view.reader.parents(fresh).values())
    for children in view.reader.children(homes).values():
        known = view.reader.get(children)
        ours = {one.id: known[one.id] for one in said_by(view, known)}
        vectors = view.reader.vectors(
            view.sense.model, [id for id, memory in ours.items() if memory.namespace == view.namespace]
        )
        ids = list(vectors)
        if len(ids) < 2:
            continue
        new = np.fromiter((id in fresh for id in ids), dtype=bool, count=len(ids))
        pairs = close_pairs(np.stack(list(vectors.values())), view.sense.cosine_at(ALIKE), new)
        for i, j, _ in pairs[:PAIRS_EACH]:
            older, newer = sorted((ours[ids[i]], ours[ids[j]]), key=lambda one: (one.created_at, one.alias))
            yield _Pair(older, newer, "")


def _verified(view: View, model: LanguageModel, pairs: Iterable[_Pair]) -> Plan:
    """As the language model sees it. Where it fails, it is noted which pairs were judged before."""
    before = view.reader.noted(JUDGED).get(JUDGED, {}).get("pairs", ())
    asked = list({pair.name: pair for pair in pairs if pair.name not in before}.values())
    judged = contradictory(model, [(pair.older, pair.newer) for pair in asked])
    steps = _steps(view, [replace(asked[at], why=why) for at, why in sorted(judged.reasons.items())])
    if judged.trouble is None:
        return Plan(phase=NAME, steps=steps, noted={**done(NAME, view, model=True), JUDGED: None})
    names = [*before, *(pair.name for pair in asked[: judged.pairs])]
    remarks = (str(judged.trouble),)
    return Plan(phase=NAME, steps=steps, noted={JUDGED: {"pairs": names}}, remarks=remarks)


def _since(where: Filter, after: float) -> Filter:
    return replace(where, updated_after=after)


def _steps(view: View, pairs: Sequence[_Pair]) -> tuple[Step, ...]:
    """Each older one once. What is trusted more stays; so does what the newer one hangs far below."""
    links = view.reader.links({pair.older.id for pair in pairs}, kinds=("hierarchical",))
    above = view.reader.ancestors({pair.newer.id for pair in pairs})
    steps: dict[str, Step] = {}
    for pair in pairs:
        older, newer = pair.older, pair.newer
        if older.id in steps or newer.trust < older.trust or older.id in above.get(newer.id, ())[:-1]:
            continue
        steps[older.id] = _step(
            view, pair, [link for link in links if older.id in (link.source, link.target)]
        )
    return tuple(steps.values())


def _step(view: View, pair: _Pair, links: Sequence[Link]) -> Step:
    """The newer one takes over what hangs below the older one; from below it, it moves into its place."""
    older, newer = preview(pair.older.content, 80), preview(pair.newer.content, 80)
    handed = [link for link in links if link.source == pair.older.id]
    below = any(link.target == pair.newer.id for link in handed)
    home = [link.source for link in links if below and link.target == pair.older.id]
    return Step(
        told=f"“{newer}” replaces “{older}” ({pair.why})",
        counted={"contradictions_resolved": 1},
        changed=(view.superseded(pair.older, pair.newer.id),),
        ended=view.ended(handed),
        linked=(
            view.link(pair.newer.id, pair.older.id, "supersedes", why=pair.why),
            *(
                view.link(pair.newer.id, link.target, "hierarchical")
                for link in handed
                if link.target != pair.newer.id
            ),
            *(view.link(parent, pair.newer.id, "hierarchical") for parent in home),
        ),
    )
