"""accounts: the turns of a conversation → its account → one memory beside them, rebuilt as it grows."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

from lore.distil.account import Account, Point, account_id
from lore.distil.base import Role, Spoken
from lore.distil.own import own_heading
from lore.distil.report import report_of
from lore.engine.context import Context
from lore.engine.link import new_link
from lore.engine.origins import TURNS as BELOW
from lore.model import ACCOUNT, DISTILLED, SESSION, TURN, Filter, Memory, Tie
from lore.store import Reader
from lore.store.values import EVERY, Page, ids_of
from lore.text import preview
from lore.transcripts.commits import commits_between

TRUST = 0.5
"""Trust in a report of an agent."""
IMPORTANCE = 0.4
NOTHING = "Nothing was asked or reported in words of the user or the agent."
TITLE_CHARACTERS = 80
PARTS = ("request", "done", "decisions", "state", "left")
"""The fields of an account that hold statements; the metadata of its memory keeps them under these names."""
MODEL = "model"
"""Who wrote an account that a language model has written."""
NAMED = "named"
"""Field of a session: the title that it has from its account."""
RECENT = 20
"""The latest conversations, of which every look sees whether they have grown."""
AT_ONCE = 20
"""Accounts of one step."""
GROWING_SECONDS = 30.0
"""A conversation that grows gets no new account before the last one is this old."""
MOST_COMMITS = 3


def keep_accounts(sessions: Iterable[str], context: Context, *, growing: bool = False) -> list[str]:
    """Write the accounts of these sessions as their turns stand; returns the ids of those that changed.

    growing: an account that was written a moment ago waits for the next look.
    """
    reader = context.reader
    found = [one for one in reader.get(dict.fromkeys(sessions)).values() if one.kind == SESSION]
    before = reader.get([account_id(one.id) for one in found], forgotten=True)
    changed: list[str] = []
    for session in found:
        old = before.get(account_id(session.id))
        young = old is not None and 0 <= context.now - old.updated_at < GROWING_SECONDS
        if session.namespace == context.namespace and not (growing and young):
            changed += _keep(session, old, context)
    return changed


def accounts_of(turns: Iterable[Memory], reader: Reader) -> list[str]:
    """The ids of the accounts of the conversations of these turns, forgotten ones included."""
    sessions = frozenset(one.session for one in turns if one.kind in BELOW)
    where = Filter(kinds=frozenset({ACCOUNT}), sessions=sessions, superseded=True, forgotten=True)
    return ids_of(reader.traces(where)) if sessions else []


def renew_accounts(turns: Iterable[Memory], context: Context) -> None:
    """Write the accounts of the conversations of these turns again: some were hidden, or came back."""
    sessions = frozenset(one.session for one in turns if one.kind in BELOW)
    if sessions:
        where = Filter(kinds=frozenset({SESSION}), sessions=sessions)
        keep_accounts(ids_of(context.reader.traces(where)), context)


def due_accounts(reader: Reader, most: int | None = None) -> list[str]:
    """The sessions whose account is missing or older than their turns. most: look at the latest only."""
    own = Filter(kinds=frozenset({SESSION}), namespaces=frozenset({reader.namespace}))
    sessions = ids_of(reader.traces(own, Page(limit=most, order="newest below") if most else EVERY))
    turns = reader.count_below(sessions, Filter(kinds=frozenset({TURN})))
    accounts = reader.get([account_id(id) for id in sessions], forgotten=True)

    def is_due(id: str) -> bool:
        account = accounts.get(account_id(id))
        if account is None:
            return turns[id] > 0
        return account.forgotten_at is None and account.metadata.get("turns") != turns[id]

    return [id for id in sessions if is_due(id)]


def account_memory(
    session: Memory, account: Account, turns: Sequence[Memory], before: Memory | None, now: float
) -> Memory:
    """The account of a session as a memory. turns: number 1 is the first. before: the memory so far."""
    parts = {name: _plain(getattr(account, name), turns) for name in PARTS if getattr(account, name)}
    more = {"files": list(account.files)} if account.files else {}
    last = max((turn.created_at for turn in turns), default=session.created_at)
    blank = before or Memory(
        id=account_id(session.id),
        content="",
        created_at=last,
        updated_at=now,
        namespace=session.namespace,
        kind=ACCOUNT,
        source=session.source,
        source_type=DISTILLED,
        session=session.session,
        importance=IMPORTANCE,
        trust=TRUST,
        author=session.author,
    )
    return replace(
        blank,
        title=_title(session, account, turns),
        content=account.text or NOTHING,
        project=session.project,
        metadata={**parts, **more, "by": account.by, "turns": len(turns)},
        created_at=last,
        updated_at=now,
    )


def spoken_of(turns: Sequence[Memory]) -> list[Spoken]:
    """Turns as a digester sees them, numbered from 1."""
    return [
        Spoken(
            number=number,
            role=cast(Role, turn.type),
            text=turn.content,
            at=turn.created_at,
            tool=turn.metadata.get("tool", ""),
            failed=bool(turn.metadata.get("failed")),
        )
        for number, turn in enumerate(turns, 1)
    ]


def _keep(session: Memory, old: Memory | None, context: Context) -> list[str]:
    """Write one account if it says something else than before; a person's forgetting of it stands.

    So does a model's account, until something is said or hidden.
    """
    if old is not None and old.forgotten_at is not None:
        return []
    every = context.reader.select(Filter(kinds=frozenset({TURN}), under=session.id), EVERY)
    turns = sorted(every, key=lambda turn: (turn.created_at, turn.alias))
    account = report_of([one for one, turn in zip(spoken_of(turns), turns, strict=True) if not _aside(turn)])
    if old is not None and old.metadata.get("by") == MODEL and old.metadata.get("turns") == len(turns):
        return []
    if commits := _commits(session, turns):
        account = replace(account, state=(*account.state, Point(text=commits)))
    new = account_memory(session, account, turns, old, context.now)
    if old is not None and (old.content, old.title, old.metadata) == (new.content, new.title, new.metadata):
        return []
    with context.transaction() as writer:
        if session.id not in writer.get([session.id]):
            return []
        named = [] if new.title == session.title else [_named(session, new.title, context.now)]
        writer.put([new, *named])
        if old is None:
            tie = Tie(source=session.id, target=new.id, kind="hierarchical")
            writer.put_links([new_link(tie, context.cause.verb, context.now)])
    return [new.id]


def _aside(turn: Memory) -> bool:
    """Whether a turn belongs to an agent that the agent has started."""
    return bool(turn.metadata.get("agent"))


def _commits(session: Memory, turns: Sequence[Memory]) -> str:
    """The commits that were made in the session's folder while it went on.

    The folder of a conversation that somebody pushed is on another machine.
    """
    folder = "" if session.author else str(session.metadata.get("folder", ""))
    if not folder or not turns:
        return ""
    subjects = commits_between(folder, turns[0].created_at, turns[-1].created_at)
    shown = "; ".join(preview(one, 60) for one in subjects[-MOST_COMMITS:])
    count = f"{len(subjects)} commits, last: " if len(subjects) > MOST_COMMITS else "committed "
    return f"{count}{shown}" if subjects else ""


def _title(session: Memory, account: Account, turns: Sequence[Memory]) -> str:
    """The client's title of a session; what was asked, where the title is only the beginning of a turn."""
    first = next((turn for turn in turns if turn.type == "user"), turns[0] if turns else session)
    beginnings = (preview(text, TITLE_CHARACTERS) for text in (first.content, own_heading(first.content)))
    derived = session.title in (*beginnings, session.metadata.get(NAMED))
    return account.title if account.title and (derived or session.title.startswith("/")) else session.title


def _named(session: Memory, title: str, now: float) -> Memory:
    """The session under the title of its account."""
    metadata = {**session.metadata, NAMED: title}
    return replace(session, title=title, content=title, metadata=metadata, updated_at=now)


def _plain(points: Sequence[Point], turns: Sequence[Memory]) -> list[dict[str, Any]]:
    """Statements with the ids of their turns."""
    return [
        {"text": one.text, "turns": [turns[turn - 1].id for turn in one.turns if 0 < turn <= len(turns)]}
        for one in points
    ]
