"""Fixtures of consolidation with a language model: conversations, scripted answers, a real server."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from lore import Filter, Lore
from lore.clock import Clock
from lore.engine.ingest import Ingested
from lore.engine.spending import StoreLedger
from lore.llm import Calling, Waiting
from lore.llm.base import LanguageModel, Prompt
from lore.llm.budget import Budget, Limits
from lore.llm.scripted import Answer, ScriptedModel
from lore.model import SESSION, Cause, Memory, new_id
from lore.transcripts.sources import SOURCES
from tests.engine.consolidate.helpers import extraction, verdicts
from tests.llm.serving import Server, misbehaving

FOLDER = "/gone/ferry"
FIRST = datetime(2025, 12, 31, 10, tzinfo=UTC)
NOTHING: dict[str, Any] = extraction()
QUIET: dict[str, dict[str, Any]] = {
    "session": NOTHING,
    "verdicts": verdicts(),
    "overview": {"title": "A tree", "overview": "What the tree says in short."},
    "insight": {"insight": None, "sources": []},
    "contradictions": {"contradictions": []},
}
"""The default answer to each kind of prompt; the key is a field that only this answer has."""

RecordSession = Callable[..., Memory]


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with misbehaving() as running:
        yield running


@pytest.fixture
def record_session(lore: Lore, tmp_path: Path) -> RecordSession:
    """Writes a transcript of alternating user and agent turns and ingests it; returns its session."""

    def record(
        *texts: str, session: str = "one", at: datetime = FIRST, by: Lore = lore, more: bool = False
    ) -> Memory:
        lines = [_line(number, text, session, at) for number, text in enumerate(texts)]
        path = tmp_path / f"{session}.jsonl"
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        new = sum(by.ingest(path, SOURCES["claude-code"]), Ingested()).turns
        assert more or new == len(texts)
        [memory] = [
            one for one in by.select(Filter(kinds=frozenset({SESSION})), 99) if one.session == session
        ]
        return memory

    return record


def _line(number: int, text: str, session: str, at: datetime) -> dict[str, Any]:
    role = "assistant" if number % 2 else "user"
    moment = at + timedelta(minutes=number)
    return {
        "type": role,
        "message": {"role": role, "content": [{"type": "text", "text": text}]},
        "uuid": f"{session}-{number}",
        "timestamp": moment.isoformat(),
        "cwd": FOLDER,
        "sessionId": session,
        "gitBranch": "harbour-works",
    }


def answer_field(prompt: Prompt) -> str:
    """The field that only the answer to this prompt has."""
    assert prompt.schema is not None
    return next(name for name in QUIET if name in prompt.schema["required"])


def scripted(**answers: Answer | Callable[[Prompt], Answer]) -> ScriptedModel:
    """A model with one answer for each kind of prompt."""

    def answer(prompt: Prompt) -> Answer:
        record_session = answers.get(name := answer_field(prompt), QUIET[name])
        return record_session(prompt) if callable(record_session) else record_session

    return ScriptedModel(answer)


def prompts_of(model: ScriptedModel, name: str) -> list[Prompt]:
    """The prompts of one kind that the model got."""
    return [prompt for prompt in model.prompts if answer_field(prompt) == name]


def store_statement(lore: Lore, text: str, *, days: float = -1.0, trust: float = 0.5, **more: Any) -> Memory:
    """Store an embedded statement, dated `days` after the first conversation."""
    at = FIRST.timestamp() + days * 86_400
    memory = Memory(
        id=new_id(at),
        namespace=lore.namespace,
        kind="fragment",
        content=text,
        project=FOLDER,
        trust=trust,
        created_at=at,
        updated_at=lore.clock(),
        **more,
    )
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()) as writer:
        writer.put([memory])
    lore.embed_pending()
    return memory


def with_model(lore: Lore, model: LanguageModel) -> Lore:
    return replace(lore, model=model)


def with_budget(lore: Lore, model: ScriptedModel, clock: Clock, *, tokens: int) -> Lore:
    """As the settings would wire it: with a limit for each day, and what was spent in the store."""
    budget = Budget(limits=Limits(tokens=tokens), ledger=StoreLedger(lore.store, clock), clock=clock)
    return with_model(
        lore, Calling(model, budget, timeout=60, concurrency=1, waiting=waiting_by_clock(clock))
    )


def waiting_by_clock(clock: Clock) -> Waiting:
    """Waiting moves the test clock and takes no time."""
    return Waiting(clock=clock, sleep=lambda seconds: clock.sleep(seconds=seconds), chance=lambda: 0.0)


def fragments(lore: Lore) -> list[Memory]:
    """Distilled memories in the order of their storage."""
    found = lore.select(Filter(kinds=frozenset({"fragment"})), 1_000)
    return sorted((one for one in found if one.source_type == "distilled"), key=lambda one: one.alias)


def statements(lore: Lore) -> list[str]:
    """The single statements that were distilled; topics have a title."""
    return [memory.content for memory in fragments(lore) if not memory.title]


def is_consistent(lore: Lore) -> bool:
    """Whether the store finds nothing wrong with itself."""
    return all(finding.passed for finding in lore.check())
