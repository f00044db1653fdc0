"""hooks: the daemon's side of `lore-hook`: what it adds to a conversation at each event, and what it reads.

At the start of a conversation, and after its context was compacted, Lore adds a brief; to a prompt, memories
that fit it; before a tool is used, known pitfalls, if the user wants that. Nothing is shown twice. At the end
of a turn or a session, and before the context is compacted, the transcript is read at once.
"""

import json
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
from anyio.abc import ByteStream

from lore.actions import Action, action_of, warning
from lore.doors import protocol
from lore.durable import write_whole
from lore.engine import Lore
from lore.environment import of_clients
from lore.errors import Invalid
from lore.transcripts import gemini
from lore.transcripts.gemini import without_hook_context
from lore.transcripts.sources import SOURCES, VARIABLES

BRIEF_TOKENS = 1500
LONGEST_CONTEXT = 10_000
"""Characters that a client adds to a conversation; of a longer text it shows only the beginning."""
LONGEST_SESSION = 200
LONGEST_PROMPT = 4_000
"""Characters of a prompt that are searched with."""
NOT_A_QUESTION = re.compile(r"\s*(/[^/\s]*(\s|$)|<task-notification>)")
"""Prompts that get no memories: commands of the client, and its own messages about background tasks."""
MOST_SESSIONS = 100
MOST_IDS = 300
"""Sessions, and ids of each, in the list of the memories that were shown."""
WAITING_TRANSCRIPTS = 100
BRIEFED = "brief"
"""Mark of a session that has had a brief."""
WARNED = "warned "
"""Beginning of the mark of a session that was warned of a memory; its id follows."""
"""Transcripts that wait to be read; the daemon finds older ones without a hint, a moment later."""


class Injection(NamedTuple):
    """A text for the conversation, and the ids of the memories in it, with marks."""

    text: str = ""
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HookInput:
    """The fields of a client's input. source: why a session starts. transcript: the path of its file. action:
    the use of a tool that is about to begin."""

    event: str
    session: str
    folder: str
    source: str
    prompt: str
    transcript: str
    action: Action


Inject = Callable[[Lore, HookInput, Sequence[str]], Injection]
"""Makes the injection of an event; the last argument lists what the session was shown: ids and marks."""


class Event(NamedTuple):
    """What happens at an event. fresh: the context is lost, so all may be shown again. ingest: the transcript
    is read."""

    inject: Inject | None = None
    fresh: bool = False
    ingest: bool = False


def _brief(lore: Lore, hook: HookInput, shown: Sequence[str]) -> Injection:
    """The brief; a session that is resumed has it already."""
    if hook.source == "resume" and BRIEFED in shown:
        return Injection()
    brief = lore.brief(BRIEF_TOKENS)
    return Injection(brief.text, (BRIEFED, *brief.ids))


def _remind(lore: Lore, hook: HookInput, shown: Sequence[str]) -> Injection:
    """Memories for a prompt, behind the brief if the session has had none: no daemon ran when it began."""
    if NOT_A_QUESTION.match(hook.prompt) or not hook.prompt.strip():
        return Injection()
    before = Injection() if BRIEFED in shown else _brief(lore, hook, shown)
    found = lore.remind(hook.prompt, shown=[*shown, *before.ids])
    text = "\n\n".join(filter(None, (before.text, found.text)))
    if len(text) > LONGEST_CONTEXT:
        return before
    return Injection(text, (before.ids if before.text else ()) + found.ids)


def _warn(lore: Lore, hook: HookInput, shown: Sequence[str]) -> Injection:
    """Pitfalls of the use of a tool that the session was not warned of, even if the brief had them."""
    found = [memory for memory in lore.pitfalls(hook.action) if WARNED + memory.id not in shown]
    ids = tuple(memory.id for memory in found)
    return Injection(warning(found), (*ids, *(WARNED + id for id in ids)))


BEFORE_TOOL = "PreToolUse"
EVENTS: dict[str, Event] = {
    "SessionStart": Event(inject=_brief),
    "UserPromptSubmit": Event(inject=_remind),
    BEFORE_TOOL: Event(inject=_warn),
    "PreCompact": Event(fresh=True, ingest=True),
    "Stop": Event(ingest=True),
    "SessionEnd": Event(ingest=True),
}
GEMINI = {
    "BeforeAgent": "UserPromptSubmit",
    "BeforeTool": BEFORE_TOOL,
    "PreCompress": "PreCompact",
    "AfterAgent": "Stop",
}
"""Events of Gemini CLI -> the same event of the other clients."""
FRESH_SOURCES = ("compact", "clear")
"""Sources of a start at which the context is lost."""


def read_input(fields: dict[str, str]) -> HookInput:
    """The input of a client's hook, from the fields of the handshake."""
    try:
        sent: Any = json.loads(fields.get("input") or "{}")
    except (ValueError, RecursionError) as error:
        raise Invalid(f"the input of the hook is no JSON: {error}") from error
    if not isinstance(sent, dict):
        raise Invalid("the input of the hook is no JSON object")
    texts = {name: _storable(value) for name, value in sent.items() if isinstance(value, str)}
    event = fields.get("event") or texts.get("hook_event_name", "")
    if GEMINI.get(event, event) not in EVENTS:
        raise Invalid(f"unknown event {event!r}; known: {', '.join([*EVENTS, *GEMINI])}")
    return HookInput(
        event=event,
        session=texts.get("session_id", "")[:LONGEST_SESSION],
        folder=texts.get("cwd") or fields.get("folder", ""),
        source=texts.get("source", ""),
        prompt=without_hook_context(texts.get("prompt", ""))[:LONGEST_PROMPT],
        transcript=texts.get("transcript_path", ""),
        action=action_of(sent),
    )


def client_of(hook: HookInput) -> str:
    """The client that runs a hook, by the place of its transcript; empty if nothing tells."""
    path, variables = Path(hook.transcript), of_clients(VARIABLES)
    for source in SOURCES.values() if hook.transcript else ():
        if source.owns(path) or path.is_relative_to(source.place(Path.home(), variables)):
            return source.name
    return gemini.NAME if hook.event in GEMINI else ""


def _storable(text: str) -> str:
    """A text that can be a path or a query: JSON may contain NULs and halves of characters."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


class Hooks:
    """Answers hooks, and collects the transcripts that they name."""

    def __init__(self, shown: Path) -> None:
        """shown: the file that keeps which memories each session was shown."""
        self._shown = Shown(shown)
        self._named: deque[str] = deque(maxlen=WAITING_TRANSCRIPTS)
        self._arrived = anyio.Event()

    async def serve(self, hook: HookInput, lore: Lore, stream: ByteStream, *, warns: bool) -> None:
        """Send the output for a hook. Only delivered text counts as shown. warns: whether to warn."""
        name = GEMINI.get(hook.event, hook.event)
        event = EVENTS[name]
        if event.ingest and hook.transcript:
            self._named.append(hook.transcript)
            self._arrived.set()
        if event.fresh or hook.source in FRESH_SOURCES:
            await anyio.to_thread.run_sync(self._shown.forget, hook.session)
        injection = Injection()
        if event.inject is not None and (warns or name != BEFORE_TOOL):
            shown = self._shown.of(hook.session)
            injection = await anyio.to_thread.run_sync(event.inject, lore, hook, shown)
        await stream.send(protocol.encode("welcome", {"output": output_of(hook, injection)}))
        if injection.text and hook.session:
            await anyio.to_thread.run_sync(self._shown.add, hook.session, injection.ids)

    async def transcripts(self) -> AsyncIterator[str]:
        """The paths of transcripts to be read at once, as hooks name them."""
        while True:
            while self._named:
                yield self._named.popleft()
            self._arrived = anyio.Event()
            await self._arrived.wait()


def output_of(hook: HookInput, injection: Injection) -> str:
    """The JSON that the client expects; empty if there is nothing to add."""
    if not injection.text:
        return ""
    context = {"hookEventName": hook.event, "additionalContext": injection.text[:LONGEST_CONTEXT]}
    return json.dumps({"hookSpecificOutput": context}, ensure_ascii=False)


class Shown:
    """Ids of the memories that each session was shown, in a file for the next daemon.

    The file is not flushed to disk: after a power cut a memory may be shown a second time.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._sessions: dict[str, list[str]] = {}
        with suppress(OSError, ValueError, AttributeError):
            stored = json.loads(path.read_text())
            self._sessions = {str(session): list(map(str, ids)) for session, ids in stored.items()}

    def of(self, session: str) -> tuple[str, ...]:
        """Ids and marks of what a session was shown. A session without a name counts as briefed."""
        return tuple(self._sessions.get(session, ())) if session else (BRIEFED,)

    def add(self, session: str, ids: Sequence[str]) -> None:
        """Add ids; the sessions that were shown nothing for the longest time are dropped."""
        with self._guard:
            before = self._sessions.pop(session, [])
            self._sessions[session] = list(dict.fromkeys([*before, *ids]))[-MOST_IDS:]
            self._sessions = dict(list(self._sessions.items())[-MOST_SESSIONS:])
            self._write()

    def forget(self, session: str) -> None:
        """Let a session be shown everything again."""
        with self._guard:
            if self._sessions.pop(session, None) is not None:
                self._write()

    def _write(self) -> None:
        with suppress(OSError):  # a full or read-only disk: this daemon still knows
            write_whole(self._path, json.dumps(self._sessions))
