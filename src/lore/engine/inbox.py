"""inbox, judge: what Lore did or held back by itself → a person lets it stand or takes it back."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from lore.engine.browse import check_limit
from lore.engine.consolidate.plan import MERGED, VERB
from lore.engine.context import Context
from lore.engine.forget import hide
from lore.engine.handout import HELD, LEAST_TRUST, held_key, reasons_of
from lore.engine.undo import take_back
from lore.errors import LoreError, Unavailable
from lore.inspection import Held, Judged, Proposal
from lore.model import OF_CONVERSATIONS, TURN, VERBATIM, Entry, Filter, Link, Memory
from lore.quarantine import rules_version
from lore.store import Reader, Writer
from lore.store.records import Judgement, PhaseMark
from lore.store.values import EVERY, JournalFilter, Page, Suggestion, SuggestionFilter
from lore.text import label_of, preview

CONTRADICTION, MERGE = "contradiction", "merge"
NEWEST, EXAMINED = 200, 1_000
"""Memories whose text each call examines: the newest ones, and those of a page of the journal."""
USER = "user"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """What waits for a person, the newest or best first. counts: of all of each list.

    labels: of the memories that suggestions would link, by id. quarantined: memories that no agent gets
    unasked because of their text, and rules that only an agent has stored. complete: all texts were
    examined for that.
    """

    suggestions: tuple[Suggestion, ...]
    contradictions: tuple[Proposal, ...]
    merges: tuple[Proposal, ...]
    quarantined: tuple[Held, ...]
    counts: Mapping[str, int]
    labels: Mapping[str, str]
    complete: bool = True


def inbox(limit: int, context: Context) -> Inbox:
    """Suggested links, memories that consolidation replaced by others, and memories that are held back.

    Accepted ones are left out. Texts are examined a page of the journal at a time, the newest always.
    """
    check_limit(limit)
    reader = context.reader
    accepted = {one.key for one in reader.records(Judgement) if one.verdict == "accepted"}
    pending = reader.suggestions(SuggestionFilter(pending=True))
    shown = pending[:limit]
    ends = reader.get({id for one in shown for id in (one.source, one.target)})
    replaced = _replaced(accepted, reader)
    held, complete = _held(context)
    held = [one for one in held if one.key not in accepted]
    return Inbox(
        suggestions=tuple(shown),
        contradictions=tuple(_proposals(replaced[CONTRADICTION][:limit], reader)),
        merges=tuple(_proposals(replaced[MERGE][:limit], reader)),
        quarantined=tuple(held[:limit]),
        counts={
            "suggestions": len(pending),
            "contradictions": len(replaced[CONTRADICTION]),
            "merges": len(replaced[MERGE]),
            "quarantined": len(held),
        },
        labels={id: label_of(memory.title, memory.content) for id, memory in ends.items()},
        complete=complete,
    )


def judge(keys: Sequence[str], accepted: bool, context: Context) -> list[Judged]:
    """Let each stand and leave the inbox, or take it back, each in a transaction of its own.

    A rejected replacement is undone; a rejected memory is forgotten. An accepted memory may be handed out
    unasked as long as its text stays the same.
    """
    return [_judge(key, accepted, context) for key in dict.fromkeys(keys)]


def _judge(key: str, accepted: bool, context: Context) -> Judged:
    try:
        with context.transaction() as writer:
            if why := _settle(key, accepted, writer):
                return Judged(key=key, accepted=accepted, why=why)
            verdict = Judgement(
                key=key,
                verdict="accepted" if accepted else "rejected",
                judged_at=writer.now,
                judged_by=context.cause.actor,
            )
            writer.put_records([verdict])
    except LoreError as error:
        return Judged(key=key, accepted=accepted, why=str(error))
    return Judged(key=key, accepted=accepted)


def _settle(key: str, accepted: bool, writer: Writer) -> str:
    """Do what the judgement demands; returns the reason if nothing can be done."""
    kind, _, rest = key.partition(":")
    if kind == HELD:
        memory = writer.get([id := rest.partition(":")[0]]).get(id)
        if memory is None or held_key(memory) != key:
            return f"memory {preview(id, 80)} is forgotten or has another text since"
        if not accepted:
            hide(memory, writer.cause.reason or "rejected", writer)
        return ""
    link = next(iter(writer.links(ids=[rest], ended=True)), None)
    if link is None or kind != _kind(link):
        return f"unknown key {preview(key, 80)}; `inbox` lists those that wait"
    if not _in_force(link, writer.get([link.source, link.target])):
        return "it is not in force any more"
    if not accepted:
        take_back(_entries_of(link, writer), writer)
    return ""


# --- replacements by consolidation
def _kind(link: Link) -> str:
    """What a link that supersedes stands for; empty if consolidation did not make it."""
    if link.kind != "supersedes" or link.created_by != VERB:
        return ""
    return MERGE if link.reason == MERGED else CONTRADICTION


def _in_force(link: Link, memories: Mapping[str, Memory]) -> bool:
    older = memories.get(link.target)
    return (
        link.active and link.source in memories and older is not None and older.superseded_by == link.source
    )


def _replaced(accepted: set[str], reader: Reader) -> dict[str, list[Link]]:
    """The links of replacements in force that nobody has accepted, by kind, newest first."""
    links = [link for link in reader.links(kinds=("supersedes",), ended=True) if link.active and _kind(link)]
    memories = reader.get({end for link in links for end in (link.source, link.target)})
    found: dict[str, list[Link]] = {CONTRADICTION: [], MERGE: []}
    for link in reversed(links):
        if _key(link) not in accepted and _in_force(link, memories):
            found[_kind(link)].append(link)
    return found


def _key(link: Link) -> str:
    return f"{_kind(link)}:{link.id}"


def _proposals(links: Sequence[Link], reader: Reader) -> Iterator[Proposal]:
    memories = reader.get({end for link in links for end in (link.source, link.target)})
    for link in links:
        yield Proposal(
            key=_key(link),
            batch=_origin(link, reader).batch,
            at=link.created_at,
            older=memories[link.target],
            newer=memories[link.source],
            reason=link.reason,
        )


def _origin(link: Link, reader: Reader) -> Entry:
    """The journal entry that made the link, or made it active again."""
    entries = reader.journal(JournalFilter(id=link.id), EVERY)
    return next(one for one in entries if one.before is None or (one.after or {}).get("active"))


def _entries_of(link: Link, reader: Reader) -> list[Entry]:
    """The journal entries of one replacement: its transaction may also hold others.

    These are the entries of the older memory and of its links, and those of new links by which the newer
    memory took over what the older one was linked to.
    """
    entries = reader.journal(JournalFilter(batch=_origin(link, reader).batch, newest_first=False), EVERY)
    changed = reader.links(ids=[one.id for one in entries if one.noun == "link"], ended=True)
    own = {one.id for one in changed if link.target in (one.source, one.target)}
    neighbours = {one.other(link.target) for one in changed if one.id in own} - {link.source}
    old_ties = reader.links([link.target], ended=True)
    neighbours |= {one.other(link.target) for one in old_ties} - {link.source}
    new = {one.id for one in entries if one.before is None}
    taken_over = {
        one.id
        for one in changed
        if one.id in new and link.source in (one.source, one.target) and one.other(link.source) in neighbours
    }
    return [one for one in entries if one.id == link.target or one.id in own | taken_over]


# --- memories that are held back
def _held(context: Context) -> tuple[list[Held], bool]:
    """Memories that would be handed out but for their text, newest first, and whether all were examined."""
    mark, complete = _examine(context)
    newest = context.reader.select(Filter(other_kinds=OF_CONVERSATIONS), Page(limit=NEWEST))
    candidates = {memory.id: memory for memory in newest} | context.reader.get(mark.seen)
    in_order = sorted(candidates.values(), key=lambda one: (-one.created_at, -one.alias))
    found = [
        Held(key=held_key(memory), memory=memory, reasons=reasons)
        for memory in in_order
        if _is_handed_out(memory) and (reasons := reasons_of(memory, context.reader))
    ]
    return found, complete


def _examine(context: Context) -> tuple[PhaseMark, bool]:
    """Read on in the journal of this namespace and note the memories with a suspicious text.

    Each call reads a page, so that all memories of a large store are examined after some calls. The mark is
    derived state: where the disk cannot be written, the next call reads the same page again.
    """
    reader = context.store.reader(context.namespace, context.tenant)
    stored, rules = next(iter(reader.records(PhaseMark, phase=HELD)), None), rules_version()
    mark = stored if stored and stored.settings.startswith(rules) else PhaseMark(phase=HELD, settings=rules)
    cursor = mark.settings.removeprefix(rules)
    entries = reader.journal(JournalFilter(newest_first=False), Page(limit=EXAMINED, cursor=cursor))
    if not entries:
        return mark, True
    changed = reader.get({entry.id for entry in entries if entry.noun == "memory"})
    held = [id for id, one in changed.items() if _is_handed_out(one) and reasons_of(one, reader)]
    seen = tuple(dict.fromkeys([*(id for id in mark.seen if id not in changed), *held]))
    moved = PhaseMark(phase=HELD, done_at=context.now, settings=f"{rules}{entries.cursor}", seen=seen)
    try:
        with context.transaction() as writer:
            if writer.records(PhaseMark, phase=HELD) == ([stored] if stored else []):
                writer.put_records([moved])
    except Unavailable as trouble:
        logger.warning("the examined memories could not be noted: %s", trouble)
    return moved, not entries.more


def _is_handed_out(memory: Memory) -> bool:
    """Whether agents get such memories unasked: trusted ones, and of what was said only the user's turns."""
    said = memory.kind in VERBATIM and (memory.kind, memory.type) != (TURN, USER)
    return memory.trust >= LEAST_TRUST and not said
