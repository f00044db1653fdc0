"""Transcripts in Claude Code's form: synthetic conversations with tools, or the turns of a dataset."""

import json
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from bench.corpus import Corpus
from bench.retrieval.data import Item

TOOL_SHARE = 0.4
"""Share of the turns that are a tool's output, as counted in transcripts of coding agents."""
TOOL_CHARACTERS, TOOL_SPREAD = 1_200, 1.3
"""Median length of a tool's output in characters, and the sigma of its log-normal distribution."""
TOOL_LONGEST = 60_000
TURNS_PER_SESSION = 120
BEGAN_AT = datetime(2026, 1, 15, 9, 0)
SECONDS_BETWEEN_TURNS = 20
TOOLS = ("Bash", "Read", "Grep", "Edit")


@dataclass(slots=True)
class Session:
    """One conversation: the lines of its file, and the number of turns in them."""

    name: str
    lines: list[str] = field(default_factory=list)
    turns: int = 0

    def say(self, role: str, text: str) -> None:
        """Append a turn of the user or the assistant."""
        self._append(role, text if role == "user" else [{"type": "text", "text": text}])
        self.turns += 1

    def call(self, tool: str, command: str, output: str) -> None:
        """Append a tool's call and its output: one turn."""
        id = f"toolu_{self.name}_{len(self.lines)}"
        use = {"type": "tool_use", "id": id, "name": tool, "input": {"command": command}}
        self._append("assistant", [use])
        self._append("user", [{"type": "tool_result", "tool_use_id": id, "content": output}])
        self.turns += 1

    def _append(self, role: str, content: Any) -> None:
        number = len(self.lines)
        at = BEGAN_AT + timedelta(seconds=SECONDS_BETWEEN_TURNS * number)
        entry = {
            "type": role,
            "uuid": f"{self.name}-{number:06}",
            "sessionId": self.name,
            "timestamp": f"{at.isoformat()}.000Z",
            "cwd": "/gone/ferry",
            "message": {"role": role, "content": content},
        }
        self.lines.append(json.dumps(entry))


def generated(turns: int, seed: int = 1) -> list[Session]:
    """Synthetic conversations with this number of turns altogether."""
    voice = _Voice(seed)
    sessions: list[Session] = []
    while turns:
        session = Session(f"made-{len(sessions):04}")
        while session.turns < min(turns, TURNS_PER_SESSION):
            voice.speak(session)
        turns -= session.turns
        sessions.append(session)
    return sessions


def of_dataset(items: Sequence[Item], turns: int, seed: int = 1) -> list[Session]:
    """The conversations of a dataset, filled up with synthetic tool output to this number of turns."""
    voice = _Voice(seed)
    kept = items[:turns]
    tools = turns - len(kept)
    sessions: dict[str, Session] = {}
    for number, item in enumerate(kept):
        session = sessions.setdefault(item.session, Session(item.session))
        session.say("user" if item.speaker == "user" else "assistant", item.text)
        if tools * (number + 1) // len(kept) > tools * number // len(kept):
            voice.run_tool(session)
    return list(sessions.values())


def write(sessions: Sequence[Session], home: Path) -> None:
    """Put the conversations where Claude Code keeps them."""
    folder = home / ".claude" / "projects" / "-gone-ferry"
    folder.mkdir(parents=True)
    for session in sessions:
        (folder / f"{session.name}.jsonl").write_text("\n".join(session.lines) + "\n")


class _Voice:
    """Speaks for the user, the assistant and its tools; the same seed says the same."""

    def __init__(self, seed: int) -> None:
        self._chance, self._corpus = random.Random(seed), Corpus(seed)

    def speak(self, session: Session) -> None:
        """Append one turn."""
        if self._chance.random() < TOOL_SHARE:
            self.run_tool(session)
        elif self._chance.random() < 0.1:
            session.say("user", self._corpus.text(5, 40))
        else:
            session.say("assistant", self._corpus.text(6, self._chance.choice((15, 30, 80, 300))))

    def run_tool(self, session: Session) -> None:
        """Append a call and an output of lines such as a compiler, a test run or a listing prints."""
        logarithm = self._chance.gauss(math.log(TOOL_CHARACTERS), TOOL_SPREAD)
        length = min(TOOL_LONGEST, int(math.exp(logarithm)))
        lines, written = [], 0
        for line in self._output():
            lines.append(line)
            written += len(line) + 1
            if written >= length:
                break
        session.call(self._chance.choice(TOOLS), self._corpus.text(3, 8), "\n".join(lines)[:length])

    def _output(self) -> Iterator[str]:
        number = 0
        while True:
            number += self._chance.randint(1, 9)
            words = self._corpus.text(3, 9).rstrip(".").lower().split()
            file = f"src/{words[0]}/{'_'.join(words[1:3])}.py"
            yield f"{file}:{number}: {' '.join(words[3:])} = {number * 37:#x}"
