"""Phase contradict: of two statements that cannot both be true now, the newer one stays."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lore.engine.consolidate.model_questions import judge_pairs
from lore.engine.consolidate.plan import Plan, Step, View
from lore.engine.consolidate.resummarize import refresh_overviews
from lore.engine.consolidate.trees import (
    RECONCILED,
    REFLECTION,
    batches,
    fingerprint,
    from_users,
    new_since,
    own_fragments,
    run_mark,
    similar_pairs,
)
from lore.engine.entity_view import ENTITY, OBSERVATION
from lore.engine.find_duplicate import KNOWLEDGE
from lore.llm.base import LanguageModel
from lore.model import DISTILLED, Filter, Link, Memory
from lore.ranking.claims import Outdated, keys, outdated, shares
from lore.ranking.compare import LONGEST_TEXT, Relation, compare
from lore.store.records import PhaseMark
from lore.store.values import COUNT, ids_of, parents_of
from lore.text import preview, words
from lore.vectors import Vector

NAME, JUDGED = "contradict", "judged"
"""The phase, and the name of its note about pairs judged before a language model failed."""
PREFERENCE = "preference"
"""The type of a user's rule."""
OUTDATED_SHARE = 0.8
"""A text stays if a smaller share of it is outdated: the rest may be true."""
PAIRS_PER_PARENT = 50
"""A language model judges at most this many pairs of one parent's children: the most alike."""
ALIKE = 0.5
"""Trees or siblings above this likeness may be about the same thing."""
_DEFINITE = re.compile(r"[Tt]he |[a-z][a-z -]*[:=]")
_QUALIFIED = re.compile(r"[\d_./]")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a memory states, and when, in which project and tree. alias: the order of simultaneous ones.

    local: it does not name its subject, so that only its tree tells what it is about.
    """

    id: str
    text: str
    at: float
    alias: int
    project: str
    tree: str
    local: bool


@dataclass(frozen=True, slots=True)
class _Pair:
    older: Memory
    newer: Memory
    reason: str

    @property
    def key(self) -> str:
        """The same as long as both texts are."""
        return fingerprint((self.older.id, self.older.content, self.newer.id, self.newer.content))


def contradict(view: View) -> Iterator[Plan]:
    """Rules find pairs with the same subject and attribute but another value. A language model verifies them
    and finds more."""
    if view.fallback and (new_since(NAME, view, model=True) or view.reader.records(PhaseMark, phase=JUDGED)):
        return  # rules do not overrule the judgement of a language model; new statements wait for it
    after = new_since(NAME, view, model=view.model is not None)
    if after and not view.reader.traces(replace(_knowledge(view), updated_after=after), COUNT).total:
        return
    pairs = list(_by_rules(view, after))
    if view.model is None:
        steps = _steps(view, _permitted(view, pairs))
        plan = Plan(steps=steps, records=(run_mark(NAME, view, model=False),))
    else:
        new = [pair for pair in pairs if max(pair.older.updated_at, pair.newer.updated_at) >= after]
        found = (pair for pair in (*new, *_siblings(view, after)) if not _is_reconciled(pair))
        plan = _verify(view, view.model, found)
    yield plan
    changed = view.reader.get([change.before.id for step in plan.steps for change in step.changes])
    yield refresh_overviews(view, [id for id, memory in changed.items() if memory.superseded_by])


def _knowledge(view: View) -> Filter:
    return Filter(kinds=KNOWLEDGE - {ENTITY}, namespaces=frozenset({view.namespace}))


# --- statements
def _statements(view: View, memories: Mapping[str, Memory]) -> list[Statement]:
    """What these memories state. The overview of a tree states nothing that its branches do not."""
    subjects = _subjects(view, memories.values())
    above, below = view.reader.ancestors(memories), view.reader.children(memories)
    return [
        Statement(
            id=id,
            text=_with_subject(memory.content, subjects.get(id, "")),
            at=memory.created_at,
            alias=memory.alias,
            project=memory.project,
            tree=(above.get(id) or [id])[0],
            local=memory.source_type == DISTILLED and _is_local(memory.content),
        )
        for id, memory in memories.items()
        if memory.type != REFLECTION and not (memory.source_type == DISTILLED and below[id])
    ]


def _is_local(text: str) -> bool:
    """Whether the text is about "the deadline" or a plain "port: 80" and names nothing."""
    if not _DEFINITE.match(text):
        return False
    subject = {word for key in keys(text) for word in key.partition("·")[0].split() if "·" in key}
    subject_words = [word for word in text.split()[1:] if subject.issuperset(words(word))]
    return not any(word[0].isupper() or _QUALIFIED.search(word) for word in subject_words)


def _subjects(view: View, memories: Iterable[Memory]) -> Mapping[str, str]:
    """Observation -> the name of its entity, which it often does not repeat."""
    homes = parents_of(
        view.reader.ancestors([memory.id for memory in memories if memory.kind == OBSERVATION])
    )
    entities = view.reader.get(set(homes.values()))
    return {id: entities[home].title for id, home in homes.items() if home in entities}


def _with_subject(text: str, subject: str) -> str:
    if not subject or subject.lower() in text.lower():
        return text
    return f"{subject} {text[:1].lower()}{text[1:]}"


# --- pairs
def _by_rules(view: View, after: float) -> Iterator[_Pair]:
    """Statements that are outdated as a whole, each with the one that outdates it."""
    statements: list[Statement] = []
    ids = ids_of(view.reader.traces(_knowledge(view)))
    for number, batch in enumerate(batches(ids)):
        view.progress(NAME, number * len(batch), len(ids))
        statements += _statements(view, view.reader.get(batch))
    yield from _by_claims(view, statements)
    yield from _by_wording(view, statements, after)


def _by_claims(view: View, statements: Sequence[Statement]) -> Iterator[_Pair]:
    """Pairs that give one attribute of one subject different values, in whatever words."""
    found = [*_outdated_by_name(statements), *_outdated_by_tree(view, statements)]
    outdated_share = shares(found)
    first = {pair.older: pair for pair in reversed(found) if outdated_share[pair.older] >= OUTDATED_SHARE}
    memories = view.reader.get({id for pair in first.values() for id in (pair.older, pair.newer)})
    for pair in first.values():
        if pair.older in memories and pair.newer in memories:
            yield _Pair(memories[pair.older], memories[pair.newer], pair.why)


def _outdated_by_name(statements: Sequence[Statement]) -> Iterator[Outdated]:
    """Statements that name their subject are compared within their project."""
    projects: dict[str, list[Statement]] = defaultdict(list)
    for one in statements:
        if not one.local:
            projects[one.project].append(one)
    for together in projects.values():
        yield from _outdated(together)


def _outdated_by_tree(view: View, statements: Sequence[Statement]) -> Iterator[Outdated]:
    """Statements that do not name their subject are compared within their tree and similar trees."""
    trees = {one.tree for one in statements if one.local}
    by_key: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for one in statements:
        if one.tree in trees:
            for key in keys(one.text):
                by_key[one.project, key].append(one)
    for (_, key), candidates in by_key.items():
        if len(candidates) > 1 and any(one.local for one in candidates):
            for together in _in_similar_trees(view, candidates):
                yield from (pair for pair in _outdated(together) if pair.key == key)


def _outdated(statements: Iterable[Statement]) -> list[Outdated]:
    in_order = sorted(statements, key=lambda one: (one.at, one.alias))
    return outdated((one.id, one.text, one.at) for one in in_order)


def _in_similar_trees(view: View, statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    """Groups of statements: those of one tree, and of every other tree that is like the first."""
    groups: dict[str, list[Statement]] = {}
    vectors = view.reader.vectors(view.embeddings.model, {one.tree for one in statements})
    for one in sorted(statements, key=lambda one: one.at):
        similar = (first for first in groups if _are_similar(view, vectors, first, one.tree))
        groups.setdefault(next(similar, one.tree), []).append(one)
    return (group for group in groups.values() if len(group) > 1)


def _are_similar(view: View, vectors: Mapping[str, Vector], one: str, other: str) -> bool:
    if one == other:
        return True
    if one not in vectors or other not in vectors:
        return False
    return view.embeddings.likeness(float(vectors[one] @ vectors[other])) >= ALIKE


def _by_wording(view: View, statements: Sequence[Statement], after: float) -> Iterator[_Pair]:
    """Similar short statements of one project of which the newer one certainly updates the older one."""
    short = {one.id: one for one in statements if len(one.text) <= LONGEST_TEXT}
    changed = set(ids_of(view.reader.traces(replace(_knowledge(view), updated_after=after))))
    for pair in similar_pairs(view, list(short), ALIKE, changed):
        statement_pair = short[pair.one], short[pair.other]
        older, newer = sorted(statement_pair, key=lambda one: (one.at, one.alias))
        apart = older.project != newer.project or ((older.local or newer.local) and older.tree != newer.tree)
        if not apart and compare(older.text, newer.text, thorough=False) is Relation.UPDATE:
            memories = view.reader.get([older.id, newer.id])
            if len(memories) == 2:
                yield _Pair(memories[older.id], memories[newer.id], "an update of the same statement")


def _siblings(view: View, after: float) -> Iterator[_Pair]:
    """Similar children of one parent; at least one of each pair is new to this phase."""
    changed = set(ids_of(view.reader.traces(own_fragments(view, updated_after=after))))
    homes = set(parents_of(view.reader.ancestors(changed)).values())
    for children in view.reader.children(homes).values():
        memories = view.reader.get(children)
        own = [one.id for one in _statements(view, memories) if memories[one.id].namespace == view.namespace]
        for pair in similar_pairs(view, own, ALIKE, changed)[:PAIRS_PER_PARENT]:
            siblings = memories[pair.one], memories[pair.other]
            older, newer = sorted(siblings, key=lambda memory: (memory.created_at, memory.alias))
            yield _Pair(older, newer, "")


def _is_reconciled(pair: _Pair) -> bool:
    """Whether a language model compared the two when the second of them was stored."""
    stored_last = max(pair.older, pair.newer, key=lambda memory: memory.alias)
    return RECONCILED in stored_last.metadata


# --- decision
def _permitted(view: View, pairs: Sequence[_Pair]) -> list[_Pair]:
    """The pairs that may be resolved without a language model.

    A statement of an agent hides only statements of agents. A rule of a user is hidden only if the wording
    alone makes the update certain.
    """
    users = from_users(view, (memory for pair in pairs for memory in (pair.older, pair.newer)))
    return [
        pair
        for pair in pairs
        if pair.newer.source_type != DISTILLED
        or pair.newer.id in users
        or (pair.older.source_type == DISTILLED and pair.older.id not in users)
        if pair.older.id not in users
        or pair.older.type != PREFERENCE
        or compare(pair.older.content, pair.newer.content, thorough=False) is Relation.UPDATE
    ]


def _verify(view: View, model: LanguageModel, pairs: Iterable[_Pair]) -> Plan:
    """The pairs that a language model confirms. If it fails, the pairs that it has judged are kept."""
    before = next((mark.seen for mark in view.reader.records(PhaseMark, phase=JUDGED)), ())
    open_pairs = list({pair.key: pair for pair in pairs if pair.key not in before}.values())
    judgement = judge_pairs(model, [(pair.older, pair.newer) for pair in open_pairs])
    confirmed = [replace(open_pairs[at], reason=reason) for at, reason in sorted(judgement.reasons.items())]
    steps = _steps(view, confirmed)
    if judgement.error is None:
        complete = run_mark(NAME, view, model=True)
        return Plan(steps=steps, records=(complete,), removed=(PhaseMark(phase=JUDGED),))
    judged = PhaseMark(phase=JUDGED, seen=(*before, *(pair.key for pair in open_pairs[: judgement.judged])))
    return Plan(steps=steps, records=(judged,), error=judgement.error)


def _steps(view: View, pairs: Sequence[_Pair]) -> tuple[Step, ...]:
    """One step for each older memory. A more trusted one stays, and so does a distant ancestor."""
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
    """The newer memory takes over the children of the older one; if it is one of them, it takes its place."""
    older, newer = pair.older.id, pair.newer.id
    to_children = [link for link in links if link.source == older]
    is_child = any(link.target == newer for link in to_children)
    parents = [link.source for link in links if is_child and link.target == older]
    change, supersedes = view.supersede(pair.older, newer, pair.reason)
    texts = preview(pair.newer.content, 80), preview(pair.older.content, 80)
    return Step(
        description=f"“{texts[0]}” replaces “{texts[1]}” ({pair.reason})",
        counts={"contradictions_resolved": 1},
        changes=(change,),
        ended_links=view.end(to_children),
        new_links=(
            supersedes,
            *(view.branch(newer, link.target) for link in to_children if link.target != newer),
            *(view.branch(parent, newer) for parent in parents),
        ),
    )
