"""Phase digest: quiet conversations become knowledge, and every topic gets a place in the trees."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from lore.citations import files_in
from lore.distil.base import Digest, Finding, Role, Spoken, Topic
from lore.distil.digest import digest as digest_by_rules
from lore.engine.cite import with_citations
from lore.engine.consolidate.allowance import sessions_left
from lore.engine.consolidate.backlog import (
    ATTEMPTS,
    RETRY_SECONDS,
    recent_turns,
    staged,
    worth_trying,
)
from lore.engine.consolidate.model_questions import Extraction, extract
from lore.engine.consolidate.plan import Change, Plan, Step, View
from lore.engine.consolidate.trees import (
    FRAGMENT,
    REFLECTION,
    children_fingerprint,
    from_users,
    own_fragments,
)
from lore.errors import LoreError
from lore.health import Staged
from lore.llm.base import NoAnswer
from lore.model import DERIVED, DISTILLED, OVERVIEW_OF, TURN, Filter, Link, Memory, Tie, new_id
from lore.ranking.compare import Relation, compare
from lore.ranking.decay import clamp
from lore.ranking.relate import differ_in_detail
from lore.store.records import DigestProgress, SessionAnswers
from lore.store.values import EVERY
from lore.text import label_of, passage_of, preview, terms, words
from lore.transcripts.working_tree import working_tree
from lore.vectors import Vector

NAME = "digest"
"""The phase, and the beginning of the notes that keep a session's answers while others are missing."""
FAILURES_IN_A_ROW = 3
"""After this many failures the cause is hardly the conversations."""
ALL = 1_000_000

BRANCH_ABOVE, LINK_ABOVE = 0.75, 0.35
"""A topic becomes a branch of a tree, or is linked to it, above these likenesses."""
NOVELTY = 0.5
"""The importance of a topic that is like no tree rises by this share."""
REPEATED_FROM = 0.95
"""A finding repeats a memory from this likeness on."""
CORRECTED_FROM = 0.7
"""A correction refers to a memory from this likeness on."""
IMPORTANCE = {"high": 0.9, "medium": 0.5, "low": 0.2}
TOPIC_IMPORTANCE = 0.9
SCHEMA_FIT = "schema-fit link"
TITLE_CHARACTERS = 80
NEAREST = 5
"""The number of nearest memories among which the first suitable one counts."""


def digest(view: View) -> Iterator[Plan]:
    """One plan for each session that is quiet and may be tried now.

    An error that every session would meet ends the phase, and so do several failures in a row.
    """
    waiting = staged(view.reader)
    recent = recent_turns(view.now, view.settings.quiet_seconds(by_model=view.model is not None))
    active = view.reader.count_below([one.session.id for one in waiting], recent)
    ready = [one for one in waiting if not active[one.session.id] and worth_trying(one, view.now)]
    failures = 0
    for number, one in enumerate(ready[: sessions_left(view)]):
        view.progress(NAME, number, len(ready))
        plan = _attempt(view, one)
        yield plan
        failures = failures + 1 if plan.remarks else 0
        if failures == FAILURES_IN_A_ROW or plan.error is not None:
            return


def _attempt(view: View, one: Staged) -> Plan:
    turns = _new_turns(view, one)
    try:
        extraction = _extract(view, one.session, _spoken(view, turns))
        if extraction.error is None:
            return _plan(view, one, turns, extraction.digest)
    except LoreError as error:
        return _failure(view, one, error)
    return _failure(view, one, extraction.error, extraction.answers)


def _new_turns(view: View, one: Staged) -> list[Memory]:
    """The turns that were not digested yet, in the order of the conversation."""
    turns = view.reader.select(Filter(kinds=frozenset({TURN}), under=one.session.id), EVERY)
    until = _progress(view, one).until
    new = (turn for turn in turns if turn.alias > until)
    return sorted(new, key=lambda turn: (turn.created_at, turn.alias))


def _spoken(view: View, turns: Sequence[Memory]) -> list[Spoken]:
    vectors = view.reader.vectors(view.embeddings.model, [turn.id for turn in turns])
    return [
        Spoken(
            number=number,
            role=cast(Role, turn.type),
            text=turn.content,
            at=turn.created_at,
            tool=turn.metadata.get("tool", ""),
            failed=bool(turn.metadata.get("failed")),
            vector=vectors.get(turn.id),
        )
        for number, turn in enumerate(turns, 1)
    ]


def _extract(view: View, session: Memory, turns: Sequence[Spoken]) -> Extraction:
    if view.model is None:
        return Extraction(digest=digest_by_rules(turns, max(1, view.settings.max_turns_per_extraction)))
    answers = next((one.answers for one in view.reader.records(SessionAnswers, session=session.id)), {})
    return extract(view.model, session, turns, view.settings, answers)


def _progress(view: View, one: Staged) -> DigestProgress:
    stored = view.reader.records(DigestProgress, session=one.session.id)
    return next(iter(stored), DigestProgress(session=one.session.id))


def _plan(view: View, one: Staged, turns: Sequence[Memory], digest: Digest) -> Plan:
    before = _progress(view, one)
    until = max((turn.alias for turn in turns), default=before.until)
    digested = before.turns + one.turns
    session = one.session.id
    return Plan(
        steps=tuple(_Placement(view, one.session, turns).steps(digest)),
        expected=(before,),
        records=(DigestProgress(session=session, turns=digested, until=until, digested_at=view.now),),
        removed=(SessionAnswers(session=session, answers={}),),
        more_counts={"sessions_digested": 1},
    )


def _failure(view: View, one: Staged, error: LoreError, answers: Mapping[str, Any] | None = None) -> Plan:
    """Keep the turns and the answers so far. Each retry waits longer; the last failure waits for a person.

    An error that every session would meet does not count as a failure of this one.
    """
    before = _progress(view, one)
    kept = (SessionAnswers(session=one.session.id, answers=answers),) if answers else ()
    if isinstance(error, NoAnswer) and error.general:
        return Plan(expected=(before,), records=kept, error=error)
    temporary = isinstance(error, NoAnswer) and error.retry
    attempts = min(one.attempts + 1, ATTEMPTS - 1) if temporary else one.attempts + 1
    retry_at = view.now + RETRY_SECONDS * 2 ** (attempts - 1)
    after = replace(before, attempts=attempts, retry_at=retry_at, error=str(error))
    label = label_of(one.session.title, one.session.content)
    remark = f"“{label}” could not be digested ({attempts} of {ATTEMPTS} tries): {error}"
    return Plan(expected=(before,), records=(after, *kept), remarks=(remark,))


# --- placement in the trees
@dataclass(slots=True)
class _TopicDraft:
    """A topic before it is stored: its root, the new memories below it, links, and superseded memories."""

    root: Memory
    vectors: Mapping[str, Vector]
    new: list[Memory] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)

    @property
    def step(self) -> Step:
        """Without a new finding the topic is not kept; only the memories that it repeats get new sources."""
        if not self.new:
            return Step(new_links=tuple(self.links))
        count = len(self.new)
        memories = (replace(self.root, metadata={OVERVIEW_OF: children_fingerprint(self.new)}), *self.new)
        return Step(
            description=f"“{self.root.title}”: {count} {'thing' if count == 1 else 'things'} worth knowing",
            counts={"fragments_extracted": count + 1, "contradictions_resolved": len(self.changes)},
            new_memories=memories,
            changes=tuple(self.changes),
            new_links=tuple(self.links),
            vectors={one.id: self.vectors[one.id] for one in memories if one.id in self.vectors},
        )


class _Placement:
    """Finds a place for each topic of a session: below a tree about the subject, beside one, or alone."""

    def __init__(self, view: View, session: Memory, turns: Sequence[Memory]) -> None:
        self._view = view
        self._session = session
        self._turns = dict(enumerate(turns, 1))
        self._tree = working_tree(str(session.metadata.get("folder", "")))
        self._until = max((turn.created_at for turn in turns), default=view.now)
        self._drafts: list[_TopicDraft] = []

    def steps(self, digest: Digest) -> Iterator[Step]:
        """One step for each topic, and one for each relation between two topics."""
        for topic in digest.topics:
            yield self._draft(topic).step
        for relation in digest.relations:
            one, other = self._drafts[relation.first], self._drafts[relation.second]
            if one is not other and one.new and other.new:
                tie = Tie(source=one.root.id, target=other.root.id, reason=relation.text)
                yield Step(new_links=(self._view.link(tie),))

    def _draft(self, topic: Topic) -> _TopicDraft:
        root = self._memory(topic.overview, topic.turns, title=preview(topic.title, TITLE_CHARACTERS))
        memories = [
            self._cited(self._memory(one.text, one.turns, type=one.type), one) for one in topic.findings
        ]
        vectors = self._vectors([root, *memories])
        tree, likeness = self._nearest(vectors.get(root.id), root, roots=True)
        novelty = 1 + NOVELTY * (1 - clamp(likeness)) if vectors else 1.0
        draft = _TopicDraft(replace(root, importance=clamp(TOPIC_IMPORTANCE * novelty)), vectors)
        self._drafts.append(draft)
        for finding, memory in zip(topic.findings, memories, strict=True):
            importance = clamp(IMPORTANCE[finding.importance] * novelty)
            self._add(draft, finding, replace(memory, importance=importance))
        if draft.new:
            draft.links += self._sources(root, topic.turns[:1])
            draft.links += self._to_tree(root, tree, likeness)
        return draft

    def _cited(self, memory: Memory, finding: Finding) -> Memory:
        """The memory with the files that it names, and those that its tool calls read or changed.

        A file that changed after the conversation counts as changed since.
        """
        calls = (turn.content.partition("\n")[0] for turn in self._of(finding.turns) if turn.type == "tool")
        paths = [call.rpartition(": ")[2] for call in calls]
        touched = [path for path in paths if [one.path for one in files_in(path)] == [path]]
        return with_citations(memory, self._tree, more=touched, until=self._until)

    def _to_tree(self, root: Memory, tree: Memory | None, likeness: float) -> list[Link]:
        if tree is None or likeness <= LINK_ABOVE:
            return []
        if likeness > BRANCH_ABOVE:
            return [self._view.branch(tree.id, root.id)]
        tie = Tie(source=tree.id, target=root.id, weight=clamp(likeness), reason=SCHEMA_FIT)
        return [self._view.link(tie)]

    def _add(self, draft: _TopicDraft, finding: Finding, memory: Memory) -> None:
        """Put a finding below its topic, after the one before; an existing memory only gets a new source."""
        view = self._view
        existing = self._repeated_here(draft, memory) or self._repeated(draft.vectors.get(memory.id), memory)
        if existing is not None:
            draft.links += self._sources(existing, finding.turns)
            return
        if draft.new:
            draft.links.append(view.link(Tie(source=draft.new[-1].id, target=memory.id, kind="temporal")))
        draft.new.append(memory)
        draft.links.append(view.branch(draft.root.id, memory.id))
        draft.links += self._sources(memory, finding.turns)
        superseded = {change.before.id for one in self._drafts for change in one.changes}
        refuted = self._refuted(finding.replaces, memory) if finding.replaces else None
        if refuted is not None and refuted.id not in superseded:
            change, link = view.supersede(refuted, memory.id, "corrected")
            draft.changes.append(change)
            draft.links.append(link)

    def _repeated_here(self, draft: _TopicDraft, memory: Memory) -> Memory | None:
        """The finding of the same session that says the same."""
        vector = draft.vectors.get(memory.id)
        for one in self._drafts:
            for other in one.new:
                theirs = one.vectors.get(other.id)
                likeness = 0.0
                if vector is not None and theirs is not None:
                    likeness = self._view.embeddings.likeness(float(vector @ theirs))
                if _repeats(memory, other, likeness):
                    return other
        return None

    def _repeated(self, vector: Vector | None, memory: Memory) -> Memory | None:
        """The existing memory that says the same; without an embedder, in the same words."""
        existing, likeness = self._nearest(vector, memory)
        if existing is None and vector is None:
            where = own_fragments(self._view, projects=frozenset({memory.project}))
            best = list(self._view.reader.matching(terms(memory.content), 1, where).strengths)
            existing = self._view.reader.get(best).get(best[0]) if best else None
        return existing if existing is not None and _repeats(memory, existing, likeness) else None

    def _refuted(self, text: str, correction: Memory) -> Memory | None:
        """The existing statement that this correction refutes, unless it is newer or more trusted.

        text: the statement that is not so, in the words of the correction.
        """
        reader = self._view.reader
        vectors = self._view.embeddings.embed_texts([text])
        old, likeness = self._nearest(None if vectors is None else vectors[0], correction)
        if old is None or likeness < CORRECTED_FROM or old.trust > correction.trust:
            return None
        if reader.children([old.id])[old.id] or words(old.content) == words(correction.content):
            return None
        return old if old.created_at <= correction.created_at and self._may_hide(old, correction) else None

    def _may_hide(self, old: Memory, correction: Memory) -> bool:
        """Without a language model, a user's statement is hidden only if the wording is certain."""
        if self._view.model is not None or old.id not in from_users(self._view, [old]):
            return True
        return compare(old.content, correction.content, thorough=False) is Relation.UPDATE

    def _nearest(
        self, vector: Vector | None, memory: Memory, roots: bool = False
    ) -> tuple[Memory | None, float]:
        """The most similar memory of the same project or of none, and its likeness; no reflection."""
        if vector is None:
            return None, 0.0
        view = self._view
        where = own_fragments(view, roots=roots, projects=frozenset({memory.project}))
        near = view.reader.near(vector, view.embeddings.model, NEAREST, where)
        existing = view.reader.get(near)
        for id, cosine in near.items():
            if id in existing and existing[id].type != REFLECTION:
                return existing[id], view.embeddings.likeness(cosine)
        return None, 0.0

    def _vectors(self, memories: Sequence[Memory]) -> dict[str, Vector]:
        passages = [passage_of(one.title, one.summary, one.content, one.context) for one in memories]
        vectors = self._view.embeddings.embed_texts(passages)
        return {} if vectors is None else dict(zip((one.id for one in memories), vectors, strict=True))

    def _sources(self, memory: Memory, turns: Sequence[int]) -> list[Link]:
        return [
            self._view.link(Tie(source=memory.id, target=turn.id, kind="relation", type=DERIVED))
            for turn in self._of(turns)
        ]

    def _of(self, numbers: Sequence[int]) -> list[Memory]:
        return [self._turns[number] for number in numbers if number in self._turns]

    def _memory(self, content: str, turns: Sequence[int], title: str = "", type: str = "") -> Memory:
        """A memory with the date of its turns, so that the newer of two statements is the one said later.

        It fades from now on: knowledge from an old conversation that was read just now is not faded.
        """
        session, now = self._session, self._view.now
        sources = self._of(turns)
        authors = {turn.author for turn in sources or [session]}
        return Memory(
            id=new_id(now),
            namespace=self._view.namespace,
            kind=FRAGMENT,
            type=type,
            title=title,
            content=content,
            source=session.source,
            source_type=DISTILLED,
            session=session.session,
            project=session.project,
            trust=min((turn.trust for turn in sources), default=session.trust),
            created_at=max((turn.created_at for turn in sources), default=now),
            updated_at=now,
            last_reinforced_at=now,
            author=authors.pop() if len(authors) == 1 else "",
        )


def _repeats(memory: Memory, other: Memory, likeness: float) -> bool:
    if words(memory.content) == words(other.content):
        return True
    return likeness >= REPEATED_FROM and not differ_in_detail(other.content, memory.content)
