"""The adapter for commands, against a real program that behaves well and badly."""

import json
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lore.clock import Clock
from lore.errors import Invalid
from lore.llm import Waiting, language_model
from lore.llm.base import (
    Limited,
    NoAnswer,
    OverBudget,
    Prompt,
    Refused,
    Settings,
    Unreachable,
    is_refusal,
)
from lore.llm.command import CommandModel
from lore.llm.structured import ask
from lore.transcripts.ignore_rules import IgnoreRules
from tests.llm.conftest import COLOUR
from tests.llm.serving import HERE

QUESTION = Prompt(system="You are terse.", text="Which colour has grass? Größe 👍", schema=COLOUR, timeout=30)

Opened = Callable[[str], CommandModel]


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "record.json"


@pytest.fixture
def opened(record: Path) -> Opened:
    """A model behind the program, in any of its moods."""

    def open_(behaviour: str) -> CommandModel:
        program = shlex.join([sys.executable, str(HERE / "program.py"), behaviour, str(record)])
        return CommandModel(
            Settings(command=f"{program} -p --output-format json", extraction_model="careful")
        )

    return open_


@pytest.fixture
def codex(record: Path, tmp_path: Path) -> Opened:
    """A model behind a program of that name."""

    def open_(behaviour: str) -> CommandModel:
        program = tmp_path / "codex"
        command = shlex.join([sys.executable, str(HERE / "program.py"), behaviour, str(record)])
        program.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        program.chmod(0o700)
        return CommandModel(Settings(command=f"{program} exec"))

    return open_


def told(record: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return found


def test_the_answer_comes_with_what_it_took(opened: Opened) -> None:
    reply = ask(opened("ok"), QUESTION)
    assert reply.data == {"colour": "green"}
    assert (reply.model, reply.tokens_in, reply.tokens_out, reply.cost) == ("careful", 7, 5, 0.25)


def test_the_text_comes_through_stdin_and_the_flags_that_exist_are_used(opened: Opened, record: Path) -> None:
    opened("ok").complete(QUESTION)
    given = told(record)
    assert given["text"] == QUESTION.text
    print_, format, json_, *flags = given["arguments"]
    assert (print_, format, json_) == ("-p", "--output-format", "json")
    assert flags[:4] == ["--no-session-persistence", "--model", "careful", "--system-prompt"]
    assert flags[4].startswith(QUESTION.system)
    assert "JSON schema" in flags[4]
    assert flags[5:] == ["--tools", ""]


def test_a_flag_that_the_user_gave_is_not_given_twice(record: Path) -> None:
    program = shlex.join([sys.executable, str(HERE / "program.py"), "ok", str(record), "--model", "mine"])
    CommandModel(Settings(command=program)).complete(QUESTION)
    assert told(record)["arguments"].count("--model") == 1


def test_a_command_without_such_flags_reads_everything_from_stdin(opened: Opened, record: Path) -> None:
    opened("old").complete(QUESTION)
    given = told(record)
    assert given["arguments"][3:] == ["--model", "careful"]
    assert given["text"].startswith(QUESTION.system)
    assert given["text"].endswith(QUESTION.text)


def test_it_runs_outside_of_claude_and_of_every_project(
    opened: Opened, record: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setenv("LORE_DATA_DIR", "/somewhere")
    opened("ok").complete(QUESTION)
    given = told(record)
    home = os.environ.get("HOME")
    inside = {"CLAUDECODE": None, "HOME": home, "LORE_DISABLE": "1", "LORE_DATA_DIR": None}
    assert given["inside"] == inside
    assert IgnoreRules([], Path.home())(given["folder"])
    assert Path(given["folder"]) != Path.cwd()
    assert not Path(given["folder"]).exists()


def test_plain_text_is_an_answer_too(opened: Opened) -> None:
    reply = ask(opened("text"), QUESTION)
    assert (reply.data, reply.cost) == ({"colour": "green"}, None)


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("fail", r"code 1: Invalid API key\. Please run /login"),
        ("silent", "printed nothing"),
    ],
)
def test_a_failure_is_told_in_the_commands_own_words(opened: Opened, behaviour: str, words: str) -> None:
    with pytest.raises(Refused, match=words) as caught:
        opened(behaviour).complete(QUESTION)
    assert not caught.value.retry
    assert caught.value.general == (behaviour == "fail")


def test_a_model_that_the_command_does_not_know_is_a_fault_of_the_settings(opened: Opened) -> None:
    with pytest.raises(
        Refused, match=r"'careful'.*selected model.*set extraction_model under \[llm\]"
    ) as caught:
        opened("model").complete(QUESTION)
    assert (caught.value.general, caught.value.retry) == (True, False)


@pytest.mark.parametrize("behaviour", ["limit", "error", "spent"])
def test_a_limit_ends_the_day_and_is_no_answer(record: Path, clock: Clock, behaviour: str) -> None:
    """Also where the command reports success. The next question is not even asked."""
    program = shlex.join([sys.executable, str(HERE / "program.py"), behaviour, str(record)])
    settings = Settings(backend="command", command=f"{program} -p --output-format json")
    model = language_model(settings, waiting=Waiting(clock=clock))
    assert model is not None
    with pytest.raises(OverBudget, match=r"limit .*sonnet is asked again at \d{4}-\d\d-\d\d 00:00 UTC"):
        model.complete(QUESTION)
    record.unlink()
    with pytest.raises(OverBudget, match="asked again"):
        model.complete(QUESTION)
    assert not record.exists()
    clock.sleep(days=1)
    with pytest.raises(OverBudget):
        model.complete(QUESTION)
    assert record.exists()


def test_an_answer_about_limits_is_an_answer() -> None:
    assert not is_refusal('{"overview": "The client has a rate limit of 5 requests."}')
    assert is_refusal("Claude AI usage limit reached|1760000000")


def test_codex_is_asked_without_tools_hooks_servers_and_traces(codex: Opened, record: Path) -> None:
    reply = ask(codex("ok"), QUESTION)
    assert (reply.data, reply.model) == ({"colour": "green"}, "codex")
    assert (reply.tokens_in, reply.tokens_out, reply.cost) == (10, 5, None)
    given = told(record)
    assert (given["text"], given["instructions"], given["schema"]) == (QUESTION.text, QUESTION.system, COLOUR)
    arguments = " ".join(given["arguments"])
    for part in (
        "--ephemeral",
        "--disable hooks",
        "--disable shell_tool",
        "-c mcp_servers={}",
        "-s read-only",
    ):
        assert part in arguments
    assert "--model" not in arguments


@pytest.mark.parametrize(
    ("behaviour", "kind", "words"),
    [
        ("limit", Limited, "hit your usage limit"),
        ("model", Refused, "extraction_model"),
        ("account", Refused, "extraction_model"),
        ("old", Refused, "--ephemeral.*newer Codex"),
    ],
)
def test_codex_fails_in_its_own_words(
    codex: Opened, behaviour: str, kind: type[NoAnswer], words: str
) -> None:
    with pytest.raises(kind, match=words) as caught:
        codex(behaviour).complete(QUESTION)
    assert caught.value.general == (kind is Refused)


@pytest.mark.parametrize("behaviour", ["hang", "left"])
def test_after_the_timeout_nothing_of_it_is_left(opened: Opened, record: Path, behaviour: str) -> None:
    """Its child holds a pipe open, whose end only comes when that child is gone too.

    Whatever a busy machine needs to start the program, in one of these times it has.
    """
    os.mkfifo(record)
    with os.fdopen(os.open(record, os.O_RDONLY | os.O_NONBLOCK), "rb") as pipe:
        os.set_blocking(pipe.fileno(), True)
        for seconds in (2, 8, 32):
            with pytest.raises(Unreachable, match=rf"within {seconds} s \(timeout_secs\)") as caught:
                opened(behaviour).complete(replace(QUESTION, timeout=seconds))
            assert caught.value.lost
            if said := pipe.read():
                break
    assert said == b"started"


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(Refused, match=r"'no-such-command'.*install it") as caught:
        CommandModel(Settings(command="no-such-command -p")).complete(QUESTION)
    assert caught.value.general


@pytest.mark.parametrize("command", ["", "  ", 'claude "'])
def test_a_command_that_is_none_is_refused(command: str) -> None:
    with pytest.raises(Invalid, match="command"):
        CommandModel(Settings(command=command))
