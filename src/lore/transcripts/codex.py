"""Codex: the rollout of a session, in either of its two forms; a fork begins with its parent's turns.

The paginated form records everything as completed items, the legacy form as events. Both are read; an entry
that one form has given in a turn is not taken from the other again. Messages to the model are never read: a
person's words cannot be separated there from the text that the client added.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Literal, TypeAlias
from uuid import UUID

from lore.patterns import regex
from lore.transcripts import codex_tools, fields, tool_calls
from lore.transcripts.tool_calls import Call
from lore.transcripts.turns import (
    Heading,
    Role,
    State,
    Turn,
    TurnOrHeading,
    drop_long_calls,
    keep_newest,
    with_earlier_fields,
)

NAME = "codex"

Form: TypeAlias = Literal["item", "event"]
Session: TypeAlias = dict[str, Any]
TYPES = regex(rb'"type":\s*"(\w+)"')
BOOKKEEPING = {
    (b"world_state",), (b"token_usage_record",),
    (b"response_item", b"message"), (b"response_item", b"reasoning"), (b"response_item", b"compaction"),
    (b"event_msg", b"token_count"), (b"event_msg", b"thread_settings_applied"),
}  # fmt: skip
"""The types at the beginning of lines that are not parsed; they are the longest ones."""
BEGINNING_BYTES = 400
UUID_IN_NAME = regex(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
REQUEST = "## My request for Codex:"
"""Separates the text of an editor from the words of a person."""
REPLAY_SECONDS = 5.0
"""A fork writes its parent's turns within this time after its beginning."""
MOST_SESSIONS = 16
MOST_CALLS = 32
MOST_COUNTED = 256


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    at: float | None
    payload: dict[str, Any]


class Reader:
    """Reads one rollout.

    state: `sessions` has the file's own session first, then those that it replays; sessions that it only
    names are `guessed`. `opened` is the time of the first line, `turn` the id of the current turn, `turns`
    the number of turns without an id. `counts` has how often each form gave a text in this turn. `calls` are
    tool calls and the form that gave their result. `reasoning` waits for the next text. `earlier` holds
    fields of the latest turns.

    A subagent's turns belong to the session in its own description, or to the session of its sender. The
    sender may be a subagent as well, which is known only if it is replayed.
    """

    def __init__(self, path: str, state: Mapping[str, Any]) -> None:
        self._stem = fields.label(PurePath(path).name.split(".")[0])
        self._uuids = UUID_IN_NAME.findall(self._stem)
        self.state: State = {
            "sessions": [], "opened": None, "turn": "", "turns": 0, "model": "", "folder": "",
            "counts": {}, "calls": {}, "reasoning": "", "earlier": {}, **deepcopy(dict(state)),
        }  # fmt: skip

    def read(self, number: int, line: bytes) -> Sequence[TurnOrHeading]:
        types = tuple(TYPES.findall(line[:BEGINNING_BYTES])[:2])
        if types in BOOKKEEPING or types[:1] in BOOKKEEPING:
            return []
        record = fields.parse_object(line)
        parsed = _Line(
            number, fields.timestamp(record.get("timestamp")), fields.mapping(record.get("payload"))
        )
        if self.state["opened"] is None:
            self.state["opened"] = parsed.at
        match record.get("type"):
            case "session_meta":
                return self._meta(parsed)
            case "turn_context":
                self._context(parsed.payload)
            case "compacted":
                return self._message(parsed, "summary", fields.text(parsed.payload.get("message")), "event")
            case "response_item":
                return self._response(parsed)
            case "event_msg":
                return self._event(parsed)
        return []

    # --- sessions

    def _meta(self, line: _Line) -> list[TurnOrHeading]:
        meta = line.payload
        if not (id := fields.label(meta.get("id"))):
            return []
        agent, sender = _agent_and_sender(meta)
        root = fields.label(meta.get("session_id")) if agent else id
        parent = sender or fields.label(meta.get("forked_from_id"))
        session = _session(
            id,
            session=(sender or id) if root in ("", id) else root,
            agent=agent,
            folder=fields.label(meta.get("cwd")),
            branch=fields.label(fields.get(meta, "git", "branch")),
            remote=fields.label(fields.get(meta, "git", "repository_url")),
            parent=parent,
        )
        self._add_session(session, line.number)
        at = fields.timestamp(meta.get("timestamp"))
        own = Heading(session=id, folder=session["folder"], parent=self._root(parent), at=at)
        return [*([own] if self._root(id) == id else []), *self._fork_of(id)]

    def _fork_of(self, id: str) -> list[TurnOrHeading]:
        """A new heading of the file's own session if its parent, this session, proves to be a subagent."""
        own, root = self.state["sessions"][0], self._root(id)
        if own["agent"] or own["parent"] != id or root == id:
            return []
        return [Heading(session=own["id"], folder=own["folder"], parent=root)]

    def _root(self, id: str) -> str:
        """The session to which turns of this session belong."""
        return next((str(one["session"]) for one in self.state["sessions"] if one["id"] == id), id)

    def _add_session(self, session: Session, number: int) -> None:
        """Add a session and its parent; a later description replaces the earlier one."""
        sessions: list[Session] = self.state["sessions"]
        if not sessions and number > 1 and self._uuids:  # the first line was lost
            sessions.append(_session(self._uuids[-1]))
        places = {one["id"]: place for place, one in enumerate(sessions)}
        place = places.get(session["id"], len(sessions))
        sessions[place : place + 1] = [{**session, "guessed": False}]
        parent, root = session["parent"], session["session"]
        if parent and parent not in {*places, session["id"]}:
            sent = {"session": root, "agent": parent} if session["agent"] and root != parent else {}
            sessions.append(_session(parent, folder=session["folder"], **sent))
        del sessions[MOST_SESSIONS:]
        for one in sessions:
            passed = {one["id"]}
            while (above := self._root(one["session"])) not in {*passed, one["session"]}:
                passed.add(one["session"])
                one["session"] = above

    def _owner(self, line: _Line, turn: str) -> Session:
        """The session of a turn: ids of version 7 contain the times when turns and sessions began."""
        sessions: list[Session] = self.state["sessions"] or [_session([self._stem, *self._uuids][-1])]
        if began := _created_at(turn):
            older = [one for one in sessions if (_created_at(one["id"]) or began) <= began]
            return max(older, key=lambda one: _created_at(one["id"]) or 0.0) if older else sessions[-1]
        replayed = [one for one in sessions[1:] if not one["guessed"]]
        opened = self.state["opened"]
        early = line.at is not None and opened is not None and line.at - opened < REPLAY_SECONDS
        return replayed[-1] if replayed and early else sessions[0]

    def _context(self, context: Mapping[str, Any]) -> None:
        self._begin(context)
        self.state["model"] = fields.label(context.get("model")) or self.state["model"]
        self.state["folder"] = fields.label(context.get("cwd")) or self.state["folder"]

    def _begin(self, payload: Mapping[str, Any]) -> None:
        """Begin the turn that a payload names, unless it is the current one."""
        turn = fields.label(payload.get("turn_id")) or self.state["turn"]
        if turn != self.state["turn"]:
            self.state |= {"turn": turn, "counts": {}, "reasoning": ""}

    # --- messages

    def _event(self, line: _Line) -> Sequence[TurnOrHeading]:
        event = line.payload
        match event.get("type"):
            case "item_completed":
                return self._item(line, fields.mapping(event.get("item")))
            case "task_started" | "turn_started":
                self._begin(event)
            case "user_message":
                return self._user_message(line)
            case "agent_message":
                return self._message(line, "assistant", fields.text(event.get("message")), "event")
            case "agent_reasoning":
                self._add_reasoning(fields.text(event.get("text")))
            case "thread_name_updated":
                title, id = fields.label(event.get("thread_name")), fields.label(event.get("thread_id"))
                return [Heading(session=id, title=title)] if id and title and self._root(id) == id else []
            case _ if finished := codex_tools.finished(event):
                return self._finished(line, fields.label(event.get("call_id")), finished)
        return []

    def _item(self, line: _Line, item: dict[str, Any]) -> Sequence[TurnOrHeading]:
        id = fields.label(item.get("id"))
        if finished := codex_tools.finished(item):  # perhaps of an earlier turn
            return self._finished(line, id, finished)
        self._begin(line.payload)
        match item.get("type"):
            case "UserMessage":
                return self._message(line, "user", _request(fields.joined(item.get("content"))), "item", id)
            case "AgentMessage":
                return self._message(line, "assistant", fields.joined(item.get("content")), "item", id)
            case "Plan":
                return self._message(line, "assistant", fields.text(item.get("text")), "item", id)
            case "Reasoning":
                texts = fields.array(item.get("summary_text")) or fields.array(item.get("raw_content"))
                self._add_reasoning("\n\n".join(map(fields.text, texts)))
        return []

    def _user_message(self, line: _Line) -> list[TurnOrHeading]:
        """A person's words. Where turns have no ids, each message of a person begins one."""
        if line.payload.get("kind") not in (None, "plain"):
            return []
        if not self.state["turn"] or self.state["turn"].startswith("#"):
            self.state["turns"] += 1
            self._begin({"turn_id": f"#{self.state['turns']}"})
        return self._message(line, "user", _request(fields.text(line.payload.get("message"))), "event")

    def _add_reasoning(self, text: str) -> None:
        if text not in self.state["reasoning"]:
            self.state["reasoning"] = fields.reasoning([self.state["reasoning"], text])

    def _message(self, line: _Line, role: Role, text: str, form: Form, id: str = "") -> list[TurnOrHeading]:
        if not (text := fields.message(text)):
            return []
        searched = fields.excerpt(text)
        count: dict[str, int] = self.state["counts"].setdefault(
            fields.digest(role, searched), {"item": 0, "event": 0}
        )
        count[form] += 1
        keep_newest(self.state["counts"], MOST_COUNTED)
        if count["event" if form == "item" else "item"] >= count[form]:
            return []
        turn = self.state["turn"]
        uuid = self._uuid(line, turn, id or fields.digest(role, searched, count[form]))
        reasoning = self._take_reasoning() if role == "assistant" else ""
        return [self._turn(line, turn, uuid=uuid, role=role, text=text, reasoning=reasoning)]

    def _take_reasoning(self) -> str:
        reasoning, self.state["reasoning"] = self.state["reasoning"], ""
        return str(reasoning)

    # --- tools

    def _response(self, line: _Line) -> Sequence[TurnOrHeading]:
        item = line.payload
        if not (id := fields.label(item.get("call_id")) or fields.label(item.get("id"))):
            return []
        match item.get("type"):
            case "function_call" | "custom_tool_call" | "local_shell_call" as kind:
                arguments = item.get("arguments") or item.get("input") or item.get("action")
                self._add_call(id, codex_tools.tool_name(item) or kind, codex_tools.requested(arguments))
                drop_long_calls(self.state["calls"], "full")
            case "function_call_output" | "custom_tool_call_output":
                call = self.state["calls"].get(id)
                if call and not call["form"]:  # the client's own record of the call is better; it may follow
                    return self._result(line, id, "event", codex_tools.answered(_request_of(call), item))
            case "web_search_call" if finished := codex_tools.finished(item):
                return self._finished(line, id, finished)
        return []

    def _add_call(self, id: str, name: str, call: Call, turn: str = "") -> dict[str, Any]:
        turn = turn or self.state["turn"]
        calls: dict[str, dict[str, Any]] = self.state["calls"]
        before = calls.pop(id, {})
        new = {"turn": turn, "name": name, "text": call.text, "full": call.full, "form": ""}
        new |= {"model": self.state["model"], "reasoning": ""}
        calls[id] = before if before.get("turn") == turn else new
        calls[id]["reasoning"] = calls[id]["reasoning"] or self._take_reasoning()
        keep_newest(calls, MOST_CALLS)
        return calls[id]

    def _finished(self, line: _Line, id: str, finished: codex_tools.Finished) -> list[TurnOrHeading]:
        if not id:
            return []
        call = self.state["calls"].get(id) or self._add_call(
            id, finished.name, finished.call, fields.label(line.payload.get("turn_id"))
        )
        if call["form"] == "item":
            return []
        if finished.name.startswith(codex_tools.SERVER):
            call["name"] = finished.name
        if not finished.call.text:
            finished = replace(finished, call=_request_of(call))
        return self._result(line, id, "item", finished)

    def _result(
        self, line: _Line, id: str, form: Form, finished: codex_tools.Finished
    ) -> list[TurnOrHeading]:
        call = self.state["calls"][id]
        text, full = tool_calls.with_result(finished.call, finished.result)
        call |= {"form": form, "full": ""}
        if not text:
            return []
        turn, uuid = call["turn"], self._uuid(line, call["turn"], id)
        more = {"tool": call["name"], "failed": finished.failed}
        more |= {"reasoning": call["reasoning"], "model": call["model"]}
        found: list[TurnOrHeading] = [
            self._turn(line, turn, uuid=uuid, role="tool", text=text, full=full, **more)
        ]
        if words := codex_tools.answers(call["name"], finished):
            found.append(
                self._turn(line, turn, uuid=f"{uuid}:user", role="user", text=words, tool=call["name"])
            )
        return found

    # --- turns

    def _uuid(self, line: _Line, turn: str, id: str) -> str:
        """The same in every file that repeats the turn. Only a UUID is unique beyond its session."""
        return f"{turn}/{id}" if _created_at(turn) else f"{self._owner(line, turn)['id']}/{turn}/{id}"

    def _turn(self, line: _Line, turn: str, *, role: Role, **more: Any) -> Turn:
        owner = self._owner(line, turn)
        own = not self.state["sessions"] or owner is self.state["sessions"][0]
        at = fields.timestamp(line.payload.get("completed_at_ms"))
        if at is None:  # the lines of a replay have the time of the fork
            at = line.at if own else _created_at(turn)
        new = Turn(
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
        return with_earlier_fields(new, self.state["earlier"])


def _request_of(call: Mapping[str, Any]) -> Call:
    return Call(call["text"], call["full"])


def _session(id: str, **more: str) -> Session:
    empty = {"id": id, "session": id, "agent": "", "folder": "", "branch": "", "remote": "", "parent": ""}
    return {**empty, **more, "guessed": True}


def _agent_and_sender(meta: Mapping[str, Any]) -> tuple[str, str]:
    """The name of a subagent and the session that started it, if known; no name for any other session."""
    subagent = fields.get(meta, "source", "subagent")
    spawn = fields.mapping(fields.get(subagent, "thread_spawn"))
    sender = fields.first(meta.get("parent_thread_id"), spawn.get("parent_thread_id"))
    if not subagent and not sender and meta.get("thread_source") != "subagent":
        return "", ""
    names = [record.get(name) for name in ("agent_nickname", "agent_role") for record in (meta, spawn)]
    agent = fields.first(*names, subagent, fields.get(subagent, "other"), meta.get("id"))
    return fields.label(agent), fields.label(sender or meta.get("forked_from_id"))


def _request(text: str) -> str:
    return text.partition(REQUEST)[2] or text


def _created_at(id: str) -> float | None:
    """The time in an id of UUID version 7; None for any other id."""
    try:
        uuid = UUID(id)
    except ValueError:
        return None
    return fields.in_calendar((uuid.int >> 80) / 1000) if uuid.version == 7 else None
