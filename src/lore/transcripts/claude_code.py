"""Claude Code: JSON lines, one for every block of a message; most lines are bookkeeping."""

import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import count
from typing import Any

from lore.patterns import regex
from lore.transcripts import fields, tool_calls, user_words
from lore.transcripts.tool_calls import Call
from lore.transcripts.turns import (
    Heading,
    State,
    Turn,
    TurnOrHeading,
    drop_long_calls,
    keep_newest,
    with_earlier_fields,
)

NAME = "claude-code"

TITLES = {"summary": ("summary", 1), "ai-title": ("aiTitle", 2), "custom-title": ("customTitle", 3)}
"""Line types that name a session: the field of the title, and its rank."""
QUEUED = b"queued_command"
CONVERSATION = frozenset({b"", b"user", b"assistant", *(kind.encode() for kind in TITLES)})
RECAP = b"away_summary"
MARKS = (b'"user"', b'"assistant"', b'"summary"', b'-title"', QUEUED, RECAP)
"""A line without any of these is bookkeeping."""
_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_TYPE = regex(
    rb'\s*+\{(?:\s*+"(?!type")[^"\\]*+"\s*+:\s*+(?:' + _STRING + rb"|[-+.\w]++)\s*+,)*+"
    rb'\s*+"type"\s*+:\s*+"([^"\\]*+)"',
    re.DOTALL,
)
"""The type of a line, if only scalar fields precede it."""

MOST_CALLS = 64
MOST_ANSWERED = 16
MOST_MESSAGES = 8
MOST_BLOCKS = 64
MOST_TASKS = 50
ID_LIMIT = 200

ARGUMENTS = (
    "command",
    "file_path",
    "notebook_path",
    "pattern",
    "query",
    "url",
    "skill",
    "subject",
    "plan",
    "description",
    "path",
)
RECAP_HINT = "(disable recaps in /config)"
PLACEHOLDERS = frozenset({"(no content)", "[Old tool result content cleared]"})
PREAMBLE = regex(r"\AThis session is being continued from a previous conversation[^\n]*\n+")
ENDINGS = (
    "\nContinue the conversation from where",
    "\nPlease continue the conversation from where",
    "\nIf you need specific details from before compaction",
)
"""Instructions to the model that follow a summary."""
CREATED = regex(r"\ATask #(\S{1,20}) created successfully: ([^\n]+)")
NOTICE = "<task-notification>"
LAUNCHED = " (This tool result is internal metadata"
TOO_LONG = regex(r"\A(Error: result \([^\n]*?exceeds maximum allowed tokens).*", re.DOTALL)
UNFINISHED = frozenset({"failed", "killed", "error"})


class Reader:
    """Reads the file of a session or of a subagent.

    state: `calls` wait for their results; `answered` are the latest calls with one; `messages` are the latest
    messages of the model with their reasoning and texts so far; `tasks` are the subject and the status of
    each task; `command` is the uuid and the text of a slash command whose prompt may follow; `title` is the
    rank of the current title; `parent` is the session this one was forked from; `earlier` holds fields of the
    latest turns.
    """

    def __init__(self, path: str, state: Mapping[str, Any]) -> None:
        empty: State = {
            "calls": {}, "answered": {}, "messages": {}, "tasks": {}, "command": [], "title": 0, "parent": "",
            "earlier": {},
        }  # fmt: skip
        self.state: State = empty | deepcopy(dict(state))
        self._session, self._agent = session_and_agent(path)

    def read(self, number: int, line: bytes) -> Sequence[TurnOrHeading]:
        record = fields.parse_object(line) if may_be_conversation(line) else {}
        if not record:
            return ()
        entries = self._entries(record, self._frame(record, number, line))
        earlier = self.state["earlier"]
        return [with_earlier_fields(one, earlier) if isinstance(one, Turn) else one for one in entries]

    def _entries(self, record: Mapping[str, Any], frame: Turn) -> Iterator[TurnOrHeading]:
        kind = fields.text(record.get("type"))
        if kind in TITLES:
            yield from self._title(record, kind, frame)
        elif kind == "attachment":
            yield from self._queued(fields.mapping(record.get("attachment")), frame)
        elif kind == "system" and record.get("subtype") == RECAP.decode():
            if text := fields.message(fields.text(record.get("content")).replace(RECAP_HINT, "")):
                yield replace(frame, role="summary", tool="recap", text=text)
        elif record.get("isMeta") is True:
            yield from self._expansion(record, frame)
        else:
            flat = not kind and "message" not in record
            message = record if flat else fields.mapping(record.get("message"))
            role = kind or message.get("role")
            if role in ("assistant", "user"):
                yield from self._fork(record, frame)
                yield from (self._answer if role == "assistant" else self._prompt)(record, message, frame)

    def _frame(self, record: Mapping[str, Any], number: int, line: bytes) -> Turn:
        """The fields that all turns of a line share."""
        session = fields.text(record.get("sessionId")) or self._session
        sidechain = "sidechain" if record.get("isSidechain") is True else ""
        return Turn(
            uuid=fields.text(record.get("uuid"))
            or fields.digest(session, line.decode(errors="replace").strip()),
            session=session,
            role="user",
            text="",
            at=fields.timestamp(record.get("timestamp")),
            agent=fields.text(record.get("agentId")) or self._agent or sidechain,
            folder=fields.text(record.get("cwd")),
            branch=fields.text(record.get("gitBranch")),
            line=number,
        )

    def _title(self, record: Mapping[str, Any], kind: str, frame: Turn) -> Iterator[Heading]:
        """A title, unless one of higher rank exists. A subagent's title does not name its session."""
        field, rank = TITLES[kind]
        title = fields.shorten(fields.without_base64(fields.text(record.get(field))), fields.CALL_LIMIT)
        if title and frame.session and not frame.agent and rank >= self.state["title"]:
            self.state["title"] = rank
            yield Heading(session=frame.session, title=title)

    def _fork(self, record: Mapping[str, Any], frame: Turn) -> Iterator[Heading]:
        """The parent of a fork, once, although every copied line names it."""
        parent = fields.text(fields.get(record, "forkedFrom", "sessionId"))
        if parent and not self.state["parent"] and not frame.agent and parent != frame.session:
            self.state["parent"] = parent
            yield Heading(session=frame.session, parent=parent)

    def _queued(self, attachment: Mapping[str, Any], frame: Turn) -> Iterator[Turn]:
        """A prompt or a background result that arrived while the model was working."""
        if attachment.get("type") != QUEUED.decode() or attachment.get("isMeta") is True:
            return
        typed = attachment.get("commandMode") in (None, "prompt")
        human = fields.get(attachment, "origin", "kind") in (None, "human")
        texts = [fields.text(block.get("text")) for block in fields.blocks(attachment.get("prompt"))]
        yield from self._input(texts, typed and human, frame, _uuids(frame))

    def _prompt(self, record: Mapping[str, Any], message: Mapping[str, Any], frame: Turn) -> Iterator[Turn]:
        blocks = fields.blocks(message.get("content"))
        texts = [fields.text(block.get("text")) for block in blocks if block.get("type") == "text"]
        if record.get("isCompactSummary") is True:
            if summary := _summary("\n\n".join(texts)):
                yield replace(frame, role="summary", text=summary)
            return
        uuids = _uuids(frame)
        for block in blocks:
            if block.get("type") == "tool_result":
                yield from self._result(block, replace(frame, uuid=next(uuids)), record)
        shown_only = record.get("isVisibleInTranscriptOnly") is True
        human = not shown_only and record.get("promptSource") != "system"
        if human and len(texts) == 1 and (command := user_words.command_of(texts[0])):
            self.state["command"] = [frame.uuid, command]
        yield from self._input(texts, human, frame, uuids)

    def _expansion(self, record: Mapping[str, Any], frame: Turn) -> Iterator[Turn]:
        """The slash command again, with the title of the prompt that it stands for."""
        uuid, command = self.state["command"] or ("", "")
        if not uuid or record.get("parentUuid") != uuid:
            return
        self.state["command"] = []
        if title := user_words.title_of(fields.joined(fields.get(record, "message", "content"))):
            yield replace(frame, uuid=uuid, text=f"{command} — {title}")

    def _input(self, texts: Sequence[str], human: bool, frame: Turn, uuids: Iterator[str]) -> Iterator[Turn]:
        """Background results in the input of the model, then the words of a person."""
        for text in texts:
            if text.lstrip().startswith(NOTICE):
                for notice in text.split(NOTICE)[1:]:
                    yield from self._background_result(notice, replace(frame, uuid=next(uuids)))
        words = "\n\n".join(filter(None, map(_typed, texts)))
        if words and human:
            yield replace(frame, uuid=next(uuids), text=words)

    def _background_result(self, notice: str, frame: Turn) -> Iterator[Turn]:
        if result := _result_text(user_words.inside(notice, "result")):
            _, call = self._call_of(user_words.inside(notice, "tool-use-id"))
            failed = user_words.inside(notice, "status") in UNFINISHED
            text, full = tool_calls.with_result(call, result)
            yield replace(frame, role="tool", tool="Agent", failed=failed, text=text, full=full)

    def _answer(self, record: Mapping[str, Any], message: Mapping[str, Any], frame: Turn) -> Iterator[Turn]:
        model = fields.text(message.get("model"))
        if model == "<synthetic>" or record.get("isApiErrorMessage") is True:
            return
        id, uuids = fields.text(message.get("id")) or frame.uuid, _uuids(frame)
        for block in fields.blocks(message.get("content")):
            kind = fields.text(block.get("type"))
            if kind == "thinking":
                _add_reasoning(self._message(id), fields.without_base64(fields.text(block.get("thinking"))))
            elif kind == "text":
                text = fields.message(fields.text(block.get("text")))
                turn = replace(frame, uuid=next(uuids), role="assistant", text=text, model=model)
                yield from _new_text(self._message(id), turn)
            elif kind.endswith("tool_use"):
                self._add_call(block)
            elif kind.endswith("tool_result"):
                yield from self._result(block, replace(frame, uuid=next(uuids)), record)

    def _message(self, id: str) -> dict[str, Any]:
        """The state of a recent message, whose blocks arrive in separate lines."""
        messages, id = self.state["messages"], id[:ID_LIMIT]
        message: dict[str, Any] = messages.pop(id, {"reasoning": "", "owner": "", "seen": [], "texts": []})
        messages[id] = message
        keep_newest(messages, MOST_MESSAGES)
        return message

    def _add_call(self, block: Mapping[str, Any]) -> None:
        id, name = (fields.text(block.get(key))[:ID_LIMIT] for key in ("id", "name"))
        if id and id not in self.state["answered"]:
            calls = self.state["calls"]
            calls.pop(id, None)
            descriptive = () if name.startswith("mcp__") else ARGUMENTS
            call = tool_calls.call(block.get("input"), name, descriptive)
            calls[id] = [name, *(self._task_list(block) if name == "TaskUpdate" else call)]
            keep_newest(calls, MOST_CALLS)
            drop_long_calls(calls, 2)

    def _task_list(self, block: Mapping[str, Any]) -> Call:
        """All tasks, as they are after this change of one."""
        id, status, subject = (
            fields.text(fields.get(block, "input", key)) for key in ("taskId", "status", "subject")
        )
        tasks, id = self.state["tasks"], id[:ID_LIMIT]
        before = tasks.get(id, [f"Task {id}", ""])
        tasks[id] = [fields.shorten(subject, ID_LIMIT) or before[0], status[:ID_LIMIT] or before[1]]
        keep_newest(tasks, MOST_TASKS)
        return Call(
            fields.shorten(
                f"TaskUpdate:\n{tool_calls.listed(map(tuple, tasks.values()))}", fields.RESULT_LIMIT
            )
        )

    def _call_of(self, id: str) -> tuple[str, Call]:
        """The tool and the call of a result. A second result gets the call's searchable text only."""
        id = id[:ID_LIMIT]
        answered = self.state["answered"]
        name, *parts = self.state["calls"].pop(id, None) or answered.pop(id, None) or [""]
        call = Call(*parts)
        if call.text:
            answered[id] = [name, call.text]
            keep_newest(answered, MOST_ANSWERED)
        return name, call

    def _result(self, block: Mapping[str, Any], frame: Turn, record: Mapping[str, Any]) -> Iterator[Turn]:
        """The tool call with its result, then what the user says in the result."""
        name, call = self._call_of(fields.text(block.get("tool_use_id")))
        texts = (fields.text(part.get("text")) for part in fields.blocks(block.get("content")))
        result = "\n".join(filter(None, map(_result_text, texts)))
        if name == "TaskCreate" and (task := CREATED.match(result)):
            self.state["tasks"][task[1]] = [fields.shorten(task[2], ID_LIMIT), ""]
            keep_newest(self.state["tasks"], MOST_TASKS)
        request = call.full or call.text
        if (plan := user_words.approved_plan(name, result)) and plan.partition("\n")[0] not in request:
            call = tool_calls.call({"plan": plan}, name, ARGUMENTS)
        text, full = tool_calls.with_result(call, result)
        if text:
            failed = block.get("is_error") is True
            yield replace(frame, role="tool", tool=name, text=text, full=full, failed=failed)
        words = "" if frame.agent else user_words.words_of(name, block, record, request)
        if words:
            yield replace(frame, uuid=f"{frame.uuid}:user", tool=name, text=words)


def may_be_conversation(line: bytes) -> bool:
    """False for most bookkeeping lines, without parsing them: they are long."""
    type = _TYPE.match(line)
    if type is None:
        return any(mark in line for mark in MARKS)
    kind = type.group(1)
    return (
        kind in CONVERSATION
        or (kind == b"attachment" and QUEUED in line)
        or (kind == b"system" and RECAP in line)
    )


def session_and_agent(path: str) -> tuple[str, str]:
    """From the path `<session>.jsonl` or `<session>/subagents/agent-<id>.jsonl`."""
    *folders, file = re.split(r"[\\/]", path)
    stem = file.removesuffix(".jsonl")
    if not stem.startswith("agent-"):
        return fields.text(stem), ""
    session = folders[folders.index("subagents") - 1] if "subagents" in folders[1:] else stem
    return fields.text(session), fields.text(stem.removeprefix("agent-"))


def _uuids(frame: Turn) -> Iterator[str]:
    """Ids for the turns of one line; the first is the line's own."""
    return (f"{frame.uuid}:{number}" if number else frame.uuid for number in count())


def _typed(text: str) -> str:
    """The words that a person typed. A command counts only if it has arguments."""
    text = text.strip()
    if text.startswith("<command-"):
        return command if " " in (command := user_words.command_of(text)) else ""
    if text.startswith("<bash-input>"):
        return fields.message(f"! {user_words.inside(text, 'bash-input')}")
    return "" if text.startswith(user_words.CAVEAT) else fields.message(text)


def _summary(text: str) -> str:
    """A summary without the instructions around it."""
    text = PREAMBLE.sub("", text)
    for ending in ENDINGS:
        text = text.partition(ending)[0] if text.count(ending) == 1 else text
    return fields.message(text)


def _result_text(text: str) -> str:
    """The result of a tool without the client's remarks to the model."""
    text = text.strip()
    if text.startswith("<persisted-output>"):
        text = text.partition("\n\n")[2].removesuffix("</persisted-output>")
    if text.startswith("agentId: ") or text in PLACEHOLDERS:
        return ""
    text = text.removeprefix("<tool_use_error>").removesuffix("</tool_use_error>")
    text = TOO_LONG.sub(r"\1", text.partition(LAUNCHED)[0])
    return fields.without_injected(text).strip()


def _add_reasoning(message: dict[str, Any], text: str) -> None:
    """Keep reasoning for the next text of its message. A longer version replaces its beginning."""
    key = fields.digest(text)
    if not text.strip() or key in message["seen"]:
        return
    message["seen"] = [*message["seen"], key][-MOST_BLOCKS:]
    before = "" if message["owner"] else message["reasoning"]
    whole = text if text.startswith(before) else f"{before}\n\n{text}"
    message["reasoning"], message["owner"] = fields.shorten(whole, fields.REASONING_LIMIT), ""


def _new_text(message: dict[str, Any], turn: Turn) -> Iterator[Turn]:
    """The turn, unless its message has this text already. A longer version keeps the uuid of the shorter."""
    if not turn.text or turn.text in PLACEHOLDERS:
        return
    texts = message["texts"]
    earlier = next((one for one in texts if fields.digest(turn.text[: one[1]]) == one[2]), None)
    if earlier and earlier[1] == len(turn.text):
        return
    uuid = earlier[0] if earlier else turn.uuid
    kept = [one for one in texts if one is not earlier]
    message["texts"] = [*kept, [uuid, len(turn.text), fields.digest(turn.text)]][-MOST_BLOCKS:]
    own = message["owner"] in ("", uuid)
    if message["reasoning"] and own:
        message["owner"] = uuid
    yield replace(turn, uuid=uuid, reasoning=message["reasoning"] if own else "")
