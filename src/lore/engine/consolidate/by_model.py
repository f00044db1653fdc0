"""By model: what a language model found in a conversation → compared with what is stored → steps."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.distil.account import Account, Point, account_id, points_of
from lore.distil.learnings import CLOSED_COUNT, REPEATED_COUNT, learnt_count
from lore.engine.accounts import MODEL, account_memory
from lore.engine.consolidate.conversation import Conversation
from lore.engine.consolidate.extract import Extracted, Item, Questions, extract
from lore.engine.consolidate.plan import Change, Step
from lore.engine.consolidate.reconcile import GOALS, Verdict, reconcile
from lore.engine.consolidate.topics import Topics
from lore.engine.consolidate.trees import RECONCILED, own_fragments
from lore.engine.consolidate.trust import ASSISTANT_TRUST, copied_from_tools, trust_of
from lore.engine.undo import VERB as UNDO
from lore.model import Link, Memory
from lore.store import Reader
from lore.store.columns import with_columns
from lore.store.values import EVERY, JournalFilter, Page
from lore.text import preview
from lore.vectors import Vector

IMPORTANCE: Mapping[str, float] = {
    "rule": 0.9,
    "decision": 0.8,
    "pitfall": 0.8,
    "command": 0.6,
    "todo": 0.6,
    "fact": 0.5,
}
REINFORCED = 0.05
"""What the importance of a memory rises by, up to MOST_IMPORTANT, each time that it is said again."""
MOST_IMPORTANT = 0.95
OPEN_STATUS, DONE_STATUS = "open", "done"
KEPT_PARTS = ("state", "decisions")
"""Parts of an account that stay as they were extracted: Lore saw them itself."""
WRITTEN_BEFORE = 30
"""Memories of earlier turns of the conversation that the language model sees."""


def steps_of(questions: Questions, conversation: Conversation, limit: int) -> list[Step]:
    """What a language model makes of the new turns of a conversation; NoAnswer if it does not answer.

    limit: characters of turns in one prompt.
    """
    topics = Topics.of(conversation)
    account = _account(conversation)
    before = _written_before(conversation, account)
    extracted = extract(questions, conversation, topics.titles, before, limit)
    copied = copied_from_tools((item.text for item in extracted.items), conversation.turns)
    items = [_memory(conversation, item, item.text in copied) for item in extracted.items]
    vectors = conversation.vectors(items)
    verdicts = reconcile(questions, conversation, items, vectors, extracted.report.done)
    draft = _Draft(conversation, extracted.items, items, vectors)
    draft.decide(verdicts)
    return [_account_step(conversation, extracted, account), *draft.steps(topics)]


def _memory(conversation: Conversation, item: Item, copied: bool) -> Memory:
    cited = conversation.of(item.turns)
    trust = trust_of(item.text, item.type, cited, copied=copied)
    memory = conversation.memory(
        item.text,
        item.turns,
        trust=trust,
        type=item.type,
        status=OPEN_STATUS if item.type == "todo" else "",
        importance=IMPORTANCE[item.type],
        metadata={RECONCILED: True},
    )
    return conversation.cited(memory, item.turns, item.files)


# --- the account
def _account(conversation: Conversation) -> Memory | None:
    """The account of the conversation as it is stored, also if it is forgotten."""
    id = account_id(conversation.session.id)
    return conversation.view.reader.get([id], forgotten=True).get(id)


def _written_before(conversation: Conversation, account: Memory | None) -> list[str]:
    """What is stored about the turns that were digested before."""
    if not conversation.until:
        return []
    where = own_fragments(conversation.view, sessions=frozenset({conversation.session.session}))
    found = conversation.view.reader.select(where, Page(limit=WRITTEN_BEFORE))
    items = [f"- {one.content}" for one in found if RECONCILED in one.metadata]
    written = _as_a_model_wrote_it(account, conversation.view.reader) if account else None
    return [*(written.content.splitlines() if written else []), *items]


def _as_a_model_wrote_it(account: Memory, reader: Reader) -> Memory:
    """The account as a language model wrote it last, before Lore wrote it again for the turns that followed.

    As it stands, if no model wrote it, if that was undone, or if turns that it is about were hidden since.
    """
    earlier = account
    for entry in reader.journal(JournalFilter(id=account.id), EVERY):
        if earlier.metadata.get("by") == MODEL or entry.before is None or entry.cause.verb == UNDO:
            break
        later, earlier = earlier, with_columns(earlier, dict(entry.before))
        if earlier.metadata.get("turns", 0) > later.metadata.get("turns", 0):
            return account
    return earlier if earlier.metadata.get("by") == MODEL else account


def _account_step(conversation: Conversation, extracted: Extracted, before: Memory | None) -> Step:
    """The report as the account. State and decisions stay as Lore extracted them; what is forgotten too."""
    if before is not None and before.forgotten_at is not None:
        return Step()
    report = extracted.report
    account = Account(
        title=report.title,
        request=_points([report.request]),
        done=_points(report.done),
        left=_points(report.left),
        files=report.files,
        by=MODEL,
        **{part: _stored_points(before, part, conversation) for part in KEPT_PARTS},
    )
    if not account.decisions:
        decided = (item for item in extracted.items if item.type == "decision")
        account = replace(account, decisions=tuple(Point(text=one.text, turns=one.turns) for one in decided))
    session, turns = conversation.session, conversation.turns
    memory = account_memory(session, account, turns, before, conversation.view.now)
    changes = (Change(before=before, after=memory),) if before else ()
    return Step(
        description=f"account: {report.title}",
        changes=changes,
        new_memories=() if before else (memory,),
        vectors=conversation.vectors([memory]),
    )


def _points(texts: Sequence[str]) -> tuple[Point, ...]:
    return tuple(Point(text=text) for text in texts if text)


def _stored_points(account: Memory | None, part: str, conversation: Conversation) -> tuple[Point, ...]:
    numbers = {turn.id: number for number, turn in enumerate(conversation.turns, 1)}
    return tuple(
        Point(text=str(one["text"]), turns=tuple(numbers[id] for id in one["turns"] if id in numbers))
        for one in (points_of(account, part) if account else ())
    )


# --- the items
@dataclass(slots=True)
class _Draft:
    """The items of a conversation while it is decided what becomes of each.

    kept: the number of each item that is stored -> turns that it comes from. changes: by the id of the
    memory. links: to existing memories.
    """

    conversation: Conversation
    items: Sequence[Item]
    memories: list[Memory]
    vectors: Mapping[str, Vector]
    kept: dict[int, list[int]] = field(default_factory=dict)
    changes: dict[str, Change] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def decide(self, verdicts: Sequence[Verdict]) -> None:
        """Apply each verdict to the items before, and to existing memories."""
        for at, verdict in enumerate(verdicts):
            if at >= len(self.items):
                self._close(verdict.of, self.conversation.ended_at, ASSISTANT_TRUST, verdict)
            elif isinstance(verdict.of, int):
                self._within(at, verdict.of, verdict)
            else:
                self._beside(at, verdict.of, verdict)

    def _within(self, at: int, other: int, verdict: Verdict) -> None:
        """An item beside an earlier one of the same conversation: the state at the end counts."""
        turns = list(self.items[at].turns)
        if other not in self.kept or verdict.word == "closes":
            self.kept[at] = turns
        elif verdict.word == "same":
            self.kept[other] = list(dict.fromkeys([*self.kept[other], *turns]))
        else:
            if self.memories[at].trust >= self.memories[other].trust:
                del self.kept[other]
            self.kept[at] = turns

    def _beside(self, at: int, old: Memory | None, verdict: Verdict) -> None:
        """An item beside an existing memory: the newer one replaces the older, but never a more trusted."""
        new, turns = self.memories[at], list(self.items[at].turns)
        if old is None or verdict.word == "new" or old.id in self.changes:
            self.kept[at] = turns
            return
        if verdict.word == "closes":
            self._close(old, new.created_at, new.trust, verdict)
            self.kept[at] = turns
        elif verdict.word == "same" and new.trust <= old.trust:
            self._repeat(old, new, turns)
        elif new.created_at < old.created_at and verdict.word != "same":
            if old.trust < new.trust:
                self.kept[at] = turns
        else:
            self.kept[at] = turns
            if new.trust >= old.trust:
                self._replace(old, new, verdict)

    def _repeat(self, old: Memory, new: Memory, turns: Sequence[int]) -> None:
        """The existing memory gets the turns as sources; an agent's or user's word makes it weigh more."""
        self.links += self.conversation.sources(old.id, turns)
        self.counts[REPEATED_COUNT] += 1
        if new.trust >= ASSISTANT_TRUST and old.importance < MOST_IMPORTANT:
            importance = min(MOST_IMPORTANT, old.importance + REINFORCED)
            after = replace(old, importance=importance, updated_at=self.conversation.view.now)
            self.changes[old.id] = Change(before=old, after=after)

    def _replace(self, old: Memory, new: Memory, verdict: Verdict) -> None:
        change, link = self.conversation.view.supersede(old, new.id, verdict.word)
        self.changes[old.id] = change
        self.links.append(link)
        self.counts["contradictions_resolved"] += 1
        self.notes.append(f"“{preview(new.content, 80)}” replaces “{preview(old.content, 80)}”")

    def _close(self, old: Memory | int | None, at: float, trust: float, verdict: Verdict) -> None:
        """A goal or todo is done, if it was set before, and if an agent or the user says so."""
        if verdict.word != "closes" or not isinstance(old, Memory) or old.type not in GOALS:
            return
        if old.id in self.changes or old.created_at > at or trust < ASSISTANT_TRUST:
            return
        after = replace(old, status=DONE_STATUS, updated_at=self.conversation.view.now)
        self.changes[old.id] = Change(before=old, after=after)
        self.counts[CLOSED_COUNT] += 1
        self.notes.append(f"done: “{preview(old.content, 80)}”")

    def steps(self, topics: Topics) -> Iterator[Step]:
        """One step for each topic, and one for what changes in existing memories."""
        by_root: dict[str, list[int]] = {}
        for at in self.kept:
            by_root.setdefault(topics.root_of(self.items[at].topic, self.memories[at]), []).append(at)
        for root, numbers in by_root.items():
            yield self._topic_step(topics, root, numbers)
        if self.changes or self.links:
            yield Step(
                description="; ".join(self.notes),
                counts=self.counts,
                changes=tuple(self.changes.values()),
                new_links=tuple(self.links),
            )

    def _topic_step(self, topics: Topics, root: str, numbers: Sequence[int]) -> Step:
        new = [self.memories[at] for at in numbers]
        view, conversation = self.conversation.view, self.conversation
        sources = [
            link for at in numbers for link in conversation.sources(self.memories[at].id, self.kept[at])
        ]
        heading, links = topics.created(root, new, self.kept[numbers[0]])
        count, things = len(new), "thing" if len(new) == 1 else "things"
        learnt = Counter(learnt_count(one.type) for one in new)
        return Step(
            description=f"“{topics.title(root)}”: {count} {things} worth knowing",
            counts={"fragments_extracted": count + len(heading), **learnt},
            new_memories=(*heading, *new),
            new_links=(*links, *(view.branch(root, one.id) for one in new), *sources),
            vectors={
                **{one.id: self.vectors[one.id] for one in new if one.id in self.vectors},
                **topics.vectors(heading),
            },
        )
