"""The `lore` command as a whole: help, completion, ids, errors, and what it does not load."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import click
import pytest

from lore import Draft, Lore
from lore.doors.cli import COMMANDS, cli
from lore.model import Cause
from tests.doors.command import Command


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


@pytest.fixture
def kept_at_once(lore: Lore) -> list[str]:
    """Three memories of the same millisecond, in the same folder that `run` uses."""
    drafts = [Draft(content=f"thing {number}") for number in range(3)]
    return [one.memory.id for one in lore.remember_all(drafts)]


def loaded_by(*args: str, env: dict[str, str] | None = None) -> set[str]:
    """The modules that a process has loaded after running the command."""
    code = f"""
import sys
from lore.doors.cli import cli
try:
    cli.main({list(args)!r}, prog_name="lore", standalone_mode=False)
finally:
    print("loaded", *sys.modules)
"""
    call = [sys.executable, "-c", code]
    settings = {**os.environ, **(env or {})}
    done = subprocess.run(call, env=settings, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.rpartition("loaded")[2].split())


def test_help_lists_every_command_and_loads_none(run: Command) -> None:
    text = run("--help").stdout
    for name, (_, line) in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(line)}$", text, re.MULTILINE)
    assert not loaded_by("--help") & {"numpy", "apsw", "mcp", "lore.engine"}


def test_a_search_does_not_load_the_mcp_sdk(run: Command) -> None:
    modules = loaded_by("--data-dir", str(run.data_dir), "search", "anything")
    assert "lore.doors.cli.search" in modules
    assert "mcp" not in modules


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_begins_with_its_line_in_the_list(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name
    assert (command.help or "").splitlines()[0] == COMMANDS[name][1]


def test_the_version_is_printed(run: Command) -> None:
    assert re.fullmatch(r"lore \d+\.\d+\.\d+\n", run("--version").stdout)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_names_the_command_and_its_installation(run: Command, shell: str) -> None:
    script = run("completion", shell).stdout
    assert "_LORE_COMPLETE" in script
    assert script.splitlines()[-1].startswith("# To install: ")
    assert f"lore completion {shell}" in script.splitlines()[-1]


def test_the_bash_script_is_valid_bash(run: Command) -> None:
    script = run("completion", "bash").stdout
    subprocess.run(["bash", "-n"], input=script, text=True, check=True, timeout=60)


WORDS = {"_LORE_COMPLETE": "bash_complete", "COMP_WORDS": "lore re", "COMP_CWORD": "1"}


def test_command_names_are_completed(run: Command) -> None:
    assert run.output(env=WORDS).split() == [
        "plain,read",
        "plain,remember",
        "plain,restore",
        "plain,restore-backup",
    ]


def test_completing_a_name_loads_no_command() -> None:
    assert not loaded_by(env=WORDS) & {"numpy", "apsw", "mcp"}


def test_the_flags_choose_where_the_memories_are(run: Command, tmp_path: Path) -> None:
    elsewhere = str(tmp_path / "elsewhere" / "other.db")
    assert run.document("--db", elsewhere, "status")["location"] == elsewhere
    folder = tmp_path / "folder"
    assert run.document("--data-dir", str(folder), "status")["location"] == str(folder / "memory.db")


def test_a_namespace_keeps_its_memories_to_itself(run: Command) -> None:
    run("--namespace", "anna", "remember", "a secret garden")
    assert run.document("search", "garden")["hits"] == []
    assert len(run.document("--namespace", "anna", "search", "garden")["hits"]) == 1


# --- ids
def test_the_beginning_of_an_id_is_enough(run: Command) -> None:
    id = run.keep("only this")
    assert run.document("read", id[:6].upper())["memory"]["id"] == id


def test_the_short_ids_of_a_list_can_be_typed_back(run: Command, kept_at_once: list[str]) -> None:
    rows = run("roots").stdout.splitlines()[1:]
    short = [row.split()[0] for row in rows]
    assert sorted(short) == sorted(id[-8:] for id in kept_at_once)
    assert sorted(run.document("read", id)["memory"]["id"] for id in short) == sorted(kept_at_once)


def test_a_short_id_that_two_memories_share_is_shown_longer(run: Command, lore: Lore) -> None:
    alike = [
        replace(lore.remember(Draft(content=f"tea {n}")), id=f"{n}0000000-{n}77777777777") for n in (1, 2)
    ]
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()) as writer:
        writer.put([replace(one, alias=0) for one in alike])
    shown = {line.split()[0] for line in run("roots", "tea").stdout.splitlines()[1:]}
    assert {"177777777777", "277777777777"} < shown
    assert run.document("read", "177777777777")["memory"]["id"] == alike[0].id


def test_an_ambiguous_beginning_names_the_candidates(run: Command, kept_at_once: list[str]) -> None:
    error = run("read", kept_at_once[0][:8], code=1).stderr
    assert error.startswith(f"lore: {kept_at_once[0][:8]} matches several memories: ")
    assert all(id[-8:] in error for id in kept_at_once)
    assert "and more" not in error


def test_a_long_list_of_candidates_is_cut(run: Command) -> None:
    for number in range(7):
        run("remember", f"thing {number}")
    assert "and more; give one of these" in run("read", "0", code=1).stderr


@pytest.mark.parametrize(
    "args",
    [
        ("read", "ffff"),
        ("explore", "ffff"),
        ("forget", "ffff"),
        ("restore", "ffff"),
    ],
)
def test_an_unknown_id_is_named_wherever_it_is_given(run: Command, args: tuple[str, ...]) -> None:
    assert run(*args, code=1).stderr == "lore: unknown memory ffff\n"


@pytest.mark.parametrize(
    ("command", "option"), [("search", "under"), ("search", "among"), ("remember", "under")]
)
def test_an_error_names_the_option_that_the_id_was_given_to(run: Command, command: str, option: str) -> None:
    error = run(command, f"--{option}", "ffff", "x", code=1).stderr
    assert error == f"lore: --{option}: unknown memory ffff\n"


@pytest.mark.parametrize("id", ["", " ", "\udcff", "x" * 300])
def test_a_text_that_cannot_be_an_id_is_refused(run: Command, id: str) -> None:
    assert run("read", id, code=1).stderr.startswith("lore: id ")


# --- errors
def test_an_error_is_one_line_on_stderr(run: Command) -> None:
    result = run("remember", "   ", code=1)
    assert (result.stdout, result.stderr) == ("", "lore: content is empty; give some text\n")


def test_with_json_an_error_is_a_document_on_stderr(run: Command) -> None:
    result = run("read", "ffff", "--json", code=1)
    assert result.stdout == ""
    assert json.loads(result.stderr) == {"error": "unknown memory ffff", "kind": "NotFound"}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("serach", "x"), "No such command 'serach'. Did you mean 'search'?"),
        (("search", "--polcy", "lore", "x"), "No such option '--polcy'."),
        (("remember",), "Missing argument 'TEXT...'."),
        (("search", "x", "--limit", "none"), "Invalid value for '-l' / '--limit'"),
        (("daemon", "strat"), "No such command 'strat'. Did you mean 'start'?"),
        (("--verbos",), "No such option '--verbos'."),
    ],
)
def test_with_json_a_wrong_command_line_is_a_document_too(
    run: Command, args: tuple[str, ...], said: str
) -> None:
    result = run(*args, "--json", code=2)
    assert result.stdout == ""
    document = json.loads(result.stderr)
    assert document["error"].startswith(said)
    assert document["kind"] == "Usage"


def test_json_after_a_double_dash_is_text(run: Command) -> None:
    assert run("read", "--", "--json", code=1).stderr == "lore: unknown memory --json\n"


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (("search", "--limit", "0", "x"), 2, "'--limit'"),
        (("search", "--limit", "100000", "x"), 1, "lore: limit is 100000"),
        (("search", "--policy", "best", "x"), 1, "known: graph, lore, scored, tree"),
        (("search", "--since", "soon", "x"), 1, "lore: --since: cannot read 'soon' as a time"),
        (("search", "--until", "soon", "x"), 1, "lore: --until: cannot read 'soon' as a time"),
        (("search", "--project", "nowhere", "x"), 1, "lore: --project: unknown project 'nowhere'"),
        (("serach", "x"), 2, "No such command 'serach'. Did you mean 'search'?"),
        (("daemon", "strat"), 2, "No such command 'strat'. Did you mean 'start'?"),
        (("search", "--limt", "3", "x"), 2, "Did you mean '--limit'?"),
        (("search", "--db", "notes.db", "x"), 2, "It belongs before the command: lore --db ..."),
        (("--json", "status"), 2, "It belongs behind the command: lore status --json"),
        (("search",), 1, "lore: query is empty"),
        (("search", "--format", "pdf", "x"), 2, "'ids', 'title', 'full'"),
        (("roots", "--limit", "-1"), 2, "'--limit'"),
        (("explore", "x", "--depth", "-1"), 2, "'--depth'"),
        (("remember",), 2, "TEXT"),
        (("remember", "x", "--importance", "7"), 1, "lore: importance is 7"),
        (("completion", "tcsh"), 2, "'bash', 'zsh', 'fish'"),
    ],
)
def test_an_error_names_the_wrong_argument(run: Command, args: tuple[str, ...], code: int, said: str) -> None:
    assert said in run(*args, code=code).stderr


def test_names_from_the_older_systems_work_and_are_not_listed(run: Command) -> None:
    id = run.keep("the deploy key is in the vault")
    assert run.document("query", "deploy key", "-l", "1")["hits"][0]["memory"]["id"] == id
    assert "Start the daemon" in run("daemonize", "--help").stdout
    assert not {"query", "daemonize"} & set(run("--help").stdout.split())


def test_a_mistake_in_the_settings_is_named(run: Command) -> None:
    run.data_dir.mkdir()
    (run.data_dir / "config.toml").write_text("idle_minutes = 'red'\n")
    assert "config.toml: idle_minutes must be a number" in run("status", code=1).stderr


def test_a_setting_that_is_ignored_is_named_once_and_the_command_goes_on(run: Command) -> None:
    run.data_dir.mkdir()
    (run.data_dir / "config.toml").write_text("idle_minute = 3\n")
    done = run("roots", "--json")
    assert json.loads(done.stdout) == {"roots": []}
    assert done.stderr.count("unknown setting idle_minute is ignored; did you mean idle_minutes?") == 1


def test_control_characters_in_memories_are_made_visible(run: Command) -> None:
    id = run.keep("red \x1b[31m and \x9b31m and \u202e backwards", "--title", "title\x07")
    for args in (
        ("read", id),
        ("roots",),
        ("explore", id),
        ("search", "red"),
        ("search", "--format", "full", "red"),
    ):
        assert not set("\x1b\x9b\u202e\x07") & set(run(*args).output)
    assert run.document("read", id)["memory"]["content"] == "red \x1b[31m and \x9b31m and \u202e backwards"
