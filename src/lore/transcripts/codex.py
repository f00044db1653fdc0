"""Codex: the rollout of a session, in either of its two forms; a fork begins with what its parent said.

The paginated form tells each thing as an item that is completed, the legacy form as an event. Both are read;
what one of them has told in a turn is not taken from the other again. What stands in a message to the model
is never read: a person's words and what the client put around them cannot be told apart there.
"""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal, TypeAlias
from uuid import UUID

from lore.transcripts import codex_tools, fields, words
from lore.transcripts.base import Heading, Role, Said, State, Turn
from lore.transcripts.lines import at_least, keep_last, keep_short, name_of, named, record_of, texts_of

NAME = "codex"

Source: TypeAlias = Literal["item", "event"]
TYPES = re.compile(rb'"type":\s*"(\w+)"')
BOOKKEEPING = {
    (b"world_state",), (b"token_usage_record",),
    (b"response_item", b"message"), (b"response_item", b"reasoning"), (b"response_item", b"compaction"),
    (b"event_msg", b"token_count"), (b"event_msg", b"thread_settings_applied"),
}  # fmt: skip
"""How lines begin that say nothing here; they are the largest ones."""
BEGINNING = 400
UUID_IN_NAME = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
REQUEST = "## My request for Codex:"
"""Stands between what an editor adds and what a person wrote."""
REPLAY_SECONDS = 5.0
"""A fork writes what its parent said in one go, at its own beginning."""
MOST_SESSIONS = 16
MOST_CALLS = 32
MOST_SAID = 256


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    at: float | None
    payload: dict[str, Any]


class Reader:
    """Reads one rollout.

    sessions: the file's own first, then those that it replays; guessed are those that it only names. opened:
    when it was begun. turn: the one that is going on; asked: how many there were, where they have no names.
    said: how often each source said a thing in this turn. calls: what was asked of tools, and who told how it
    ended. thought: what the model thought before its next word. earlier: what the last turns told.

    A subagent's session is the one that its own description names, or that of the one that sent it; which
    may be a subagent as well, and is told only if it is replayed.
    """

    def __init__(self, path: str, state: Mapping[str, Any]) -> None:
        self._stem = named(PurePath(path).name.split(".")[0])
        self._uuids = UUID_IN_NAME.findall(self._stem)
        self.state: State = {
            "sessions": [], "opened": None, "turn": "", "asked": 0, "model": "", "folder": "",
            "said": {}, "calls": {}, "thought": "", "earlier": {}, **deepcopy(dict(state)),
        }  # fmt: skip

    def read(self, number: int, line: bytes) -> Sequence[Said]:
        types = tuple(TYPES.findall(line[:BEGINNING])[:2])
        if types in BOOKKEEPING or types[:1] in BOOKKEEPING:
            return []
        record = record_of(line)
        told = _Line(number, words.moment(record.get("timestamp")), fields.mapping(record.get("payload")))
        if self.state["opened"] is None:
            self.state["opened"] = told.at
        match record.get("type"):
            case "session_meta":
                return self._meta(told)
            case "turn_context":
                self._context(told.payload)
            case "compacted":
                return self._say(told, "summary", fields.text(told.payload.get("message")), "event")
            case "response_item":
                return self._response(told)
            case "event_msg":
                return self._event(told)
        return []

    # --- sessions and turns

    def _meta(self, line: _Line) -> list[Said]:
        meta = line.payload
        if not (id := named(meta.get("id"))):
            return []
        git, (agent, sender) = fields.mapping(meta.get("git")), _sent(meta)
        root = named(meta.get("session_id")) if agent else id
        came_from = sender or named(meta.get("forked_from_id"))
        session = _session(
            id,
            session=(sender or id) if root in ("", id) else root,
            agent=agent,
            folder=named(meta.get("cwd")),
            branch=named(git.get("branch")),
            remote=named(git.get("repository_url")),
            parent=came_from,
        )
        self._know(session, line.number)
        at = words.moment(meta.get("timestamp"))
        own = Heading(session=id, folder=session["folder"], parent=self._root(came_from), at=at)
        return [*([] if self._root(id) != id else [own]), *self._forks_of(id)]

    def _forks_of(self, id: str) -> list[Said]:
        """The session whose file this is, if it was forked from one that turns out to be a subagent."""
        first, root = self.state["sessions"][0], self._root(id)
        if first["agent"] or first["parent"] != id or root == id:
            return []
        return [Heading(session=first["id"], folder=first["folder"], parent=root)]

    def _root(self, id: str) -> str:
        """The session that turns of this one belong to."""
        return next((str(one["session"]) for one in self.state["sessions"] if one["id"] == id), id)

    def _know(self, session: dict[str, Any], number: int) -> None:
        """Note a session, and that it came from another; one that is told of again has only changed."""
        sessions: list[dict[str, Any]] = self.state["sessions"]
        if not sessions and number > 1 and self._uuids:  # the first line was lost
            sessions.append(_session(self._uuids[-1]))
        known = {one["id"]: place for place, one in enumerate(sessions)}
        place = known.get(session["id"], len(sessions))
        sessions[place : place + 1] = [{**session, "guessed": False}]
        parent, root = session["parent"], session["session"]
        if parent and parent not in {*known, session["id"]}:
            sent = {"session": root, "agent": parent} if session["agent"] and root != parent else {}
            sessions.append(_session(parent, folder=session["folder"], **sent))
        del sessions[MOST_SESSIONS:]
        for one in sessions:
            passed = {one["id"]}
            while (above := self._root(one["session"])) not in {*passed, one["session"]}:
                passed.add(one["session"])
                one["session"] = above

    def _owner(self, line: _Line, turn: str) -> dict[str, Any]:
        """Whose turn it is: names of turns tell when they began, and so do those of sessions."""
        sessions: list[dict[str, Any]] = self.state["sessions"] or [_session([self._stem, *self._uuids][-1])]
        if began := _born(turn):
            born = [one for one in sessions if (_born(one["id"]) or began) <= began]
            return max(born, key=lambda one: _born(one["id"]) or 0.0) if born else sessions[-1]
        told = [one for one in sessions[1:] if not one["guessed"]]
        opened = self.state["opened"]
        replayed = line.at is not None and opened is not None and line.at - opened < REPLAY_SECONDS
        return told[-1] if told and replayed else sessions[0]

    def _context(self, context: Mapping[str, Any]) -> None:
        self._begin(named(context.get("turn_id")) or self.state["turn"])
        self.state["model"] = named(context.get("model")) or self.state["model"]
        self.state["folder"] = named(context.get("cwd")) or self.state["folder"]

    def _begin(self, turn: str) -> None:
        if turn != self.state["turn"]:
            self.state |= {"turn": turn, "said": {}, "thought": ""}

    # --- what was said

    def _event(self, line: _Line) -> Sequence[Said]:
        event = line.payload
        match event.get("type"):
            case "item_completed":
                return self._item(line, fields.mapping(event.get("item")))
            case "task_started" | "turn_started":
                self._begin(named(event.get("turn_id")) or self.state["turn"])
            case "user_message":
                return self._ask(line)
            case "agent_message":
                return self._say(line, "assistant", fields.text(event.get("message")), "event")
            case "agent_reasoning":
                self._think(fields.text(event.get("text")))
            case "thread_name_updated":
                title, id = named(event.get("thread_name")), named(event.get("thread_id"))
                return [Heading(session=id, title=title)] if id and title and self._root(id) == id else []
            case _ if done := codex_tools.done(event):
                return self._done(line, named(event.get("call_id")), done)
        return []

    def _item(self, line: _Line, item: dict[str, Any]) -> Sequence[Said]:
        id = named(item.get("id"))
        if done := codex_tools.done(item):  # perhaps of an earlier turn: it took its time
            return self._done(line, id, done)
        self._begin(named(line.payload.get("turn_id")) or self.state["turn"])
        match item.get("type"):
            case "UserMessage":
                return self._say(line, "user", _requested(texts_of(item.get("content"))), "item", id)
            case "AgentMessage":
                return self._say(line, "assistant", texts_of(item.get("content")), "item", id)
            case "Plan":
                return self._say(line, "assistant", fields.text(item.get("text")), "item", id)
            case "Reasoning":
                thoughts = fields.several(item.get("summary_text")) or fields.several(item.get("raw_content"))
                self._think("\n\n".join(map(fields.text, thoughts)))
        return []

    def _ask(self, line: _Line) -> list[Said]:
        """A person's words; where turns have no names of their own, each of them begins one."""
        if line.payload.get("kind") not in (None, "plain"):
            return []
        if not self.state["turn"] or self.state["turn"].startswith("#"):
            self.state["asked"] += 1
            self._begin(f"#{self.state['asked']}")
        return self._say(line, "user", _requested(fields.text(line.payload.get("message"))), "event")

    def _think(self, text: str) -> None:
        if text not in self.state["thought"]:
            self.state["thought"] = fields.thought([self.state["thought"], text])

    def _say(self, line: _Line, role: Role, text: str, source: Source, id: str = "") -> list[Said]:
        if not (text := words.spoken(text)):
            return []
        said: dict[str, dict[str, int]] = self.state["said"]
        name = words.excerpt(text)
        told = said.setdefault(name_of(role, name), {"item": 0, "event": 0})
        told[source] += 1
        keep_last(said, MOST_SAID)
        if told["event" if source == "item" else "item"] >= told[source]:
            return []
        turn = self.state["turn"]
        uuid = self._uuid(line, turn, id or name_of(role, name, told[source]))
        reasoning = self._thought() if role == "assistant" else ""
        return [self._turn(line, turn, uuid=uuid, role=role, text=text, reasoning=reasoning)]

    def _thought(self) -> str:
        thought, self.state["thought"] = self.state["thought"], ""
        return str(thought)

    # --- what was done

    def _response(self, line: _Line) -> Sequence[Said]:
        item = line.payload
        if not (call := named(item.get("call_id")) or named(item.get("id"))):
            return []
        match item.get("type"):
            case "function_call" | "custom_tool_call" | "local_shell_call" as kind:
                given = item.get("arguments") or item.get("input") or item.get("action")
                self._call(call, codex_tools.name_of(item) or kind, codex_tools.asked(given))
                keep_short(self.state["calls"], "full")
            case "function_call_output" | "custom_tool_call_output":
                return self._answer(line, call, item.get("output"))
            case "web_search_call" if done := codex_tools.done(item):
                return self._done(line, call, done)
        return []

    def _call(self, id: str, name: str, call: fields.Call, turn: str = "") -> dict[str, Any]:
        calls: dict[str, dict[str, Any]] = self.state["calls"]
        turn = turn or self.state["turn"]
        before = calls.pop(id, {})
        model = self.state["model"]
        asked = {"turn": turn, "name": name, "call": call.brief, "full": call.full, "model": model}
        asked |= {"thought": "", "told": ""}
        calls[id] = before if before.get("turn") == turn else asked
        calls[id]["thought"] = calls[id]["thought"] or self._thought()
        keep_last(calls, MOST_CALLS)
        return calls[id]

    def _answer(self, line: _Line, id: str, output: object) -> list[Said]:
        """What the model was told; what the client tells of the same call is better, and may come later."""
        call = self.state["calls"].get(id)
        if not call or call["told"]:
            return []
        call["told"] = "event"
        result, failed = codex_tools.answered(output)
        return self._used(line, id, fields.exchange(_asked(call), result), failed)

    def _done(self, line: _Line, id: str, done: codex_tools.Done) -> list[Said]:
        if not id:
            return []
        call = self.state["calls"].get(id)
        if not call:
            call = self._call(id, done.name, done.call, named(line.payload.get("turn_id")))
        if call["told"] == "item":
            return []
        call["told"] = "item"
        if done.name.startswith(codex_tools.SERVER):
            call["name"] = done.name
        asked = done.call if done.call.brief else _asked(call)
        return self._used(line, id, fields.exchange(asked, done.result), done.failed)

    def _used(self, line: _Line, id: str, exchange: fields.Exchange, failed: bool) -> list[Said]:
        call = self.state["calls"][id]
        call["full"] = ""
        text, full = exchange
        if not text:
            return []
        turn, uuid = call["turn"], self._uuid(line, call["turn"], id)
        more = {"reasoning": call["thought"], "tool": call["name"], "failed": failed, "model": call["model"]}
        return [self._turn(line, turn, uuid=uuid, role="tool", text=text, full=full, **more)]

    # --- turns

    def _uuid(self, line: _Line, turn: str, id: str) -> str:
        """The same in every file that repeats the turn. A name that is no UUID is one in its session only."""
        return f"{turn}/{id}" if _born(turn) else f"{self._owner(line, turn)['id']}/{turn}/{id}"

    def _turn(self, line: _Line, turn: str, *, role: Role, **more: Any) -> Turn:
        owner = self._owner(line, turn)
        own = not self.state["sessions"] or owner is self.state["sessions"][0]
        at = words.moment(line.payload.get("completed_at_ms"))
        if at is None:  # a replay is written when the fork begins, long after it was said
            at = line.at if own else _born(turn)
        told = Turn(
            session=owner["session"],
            role=role,
            at=at,
            agent=owner["agent"],
            folder=self.state["folder"] or owner["folder"],
            branch=owner["branch"],
            remote=owner["remote"],
            line=line.number,
            **{"model": "" if role == "user" else self.state["model"], **more},
        )
        return at_least(told, self.state["earlier"])


def _asked(call: Mapping[str, Any]) -> fields.Call:
    """The call that the state remembers; one of an older Lore in brief only."""
    return fields.Call(call["call"], call.get("full", ""))


def _session(id: str, **more: str) -> dict[str, Any]:
    known = {"id": id, "session": id, "agent": "", "folder": "", "branch": "", "remote": "", "parent": ""}
    return {**known, **more, "guessed": True}


def _sent(meta: Mapping[str, Any]) -> tuple[str, str]:
    """The name of a subagent and the session that sent it, if that is told; no name of any other session."""
    sent = fields.mapping(meta.get("source")).get("subagent")
    spawned = fields.mapping(fields.mapping(sent).get("thread_spawn"))
    sender = fields.first((meta.get("parent_thread_id"), spawned.get("parent_thread_id")))
    if not sent and not sender and meta.get("thread_source") != "subagent":
        return "", ""
    names = [given.get(name) for name in ("agent_nickname", "agent_role") for given in (meta, spawned)]
    agent = fields.first((*names, sent, fields.mapping(sent).get("other"), meta.get("id")))
    return named(agent), named(sender or meta.get("forked_from_id"))


def _requested(text: str) -> str:
    return text.partition(REQUEST)[2] or text


def _born(id: str) -> float | None:
    """When a name was given, which version 7 of UUIDs tells; None of any other."""
    try:
        uuid = UUID(id)
    except ValueError:
        return None
    return words.in_calendar((uuid.int >> 80) / 1000) if uuid.version == 7 else None
