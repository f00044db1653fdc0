"""`lore consolidate`: what it says it did, what it leaves alone, and how it ends."""

import ctypes
import json
import os
import pty
import re
import signal
import socket
import stat
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

import apsw
import pytest

from lore import Draft
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.doors.cli.connect import open_embedder, open_store
from lore.doors.cli.group import Flags
from lore.doors.cli.progress import Progress
from lore.doors.cli.status import counts_text
from lore.doors.rpc import Remote
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate.phases import PHASES, PhaseResult, Report
from lore.engine.embeddings import WORK, embed_batch
from lore.health import Embedding, embed_progress
from tests.doors.command import Command, read_to_the_end
from tests.doors.resident import SECONDS, pid_of, short_folder, until
from tests.doors.test_cli_through_daemon import running
from tests.doors.test_consolidation_schedule import written
from tests.engine.consolidate.helpers import extraction, item

MODEL = """#!/bin/sh
case "$*" in *--help*) exit 0;; esac
case "$(cat)" in *'"verdicts"'*) echo '{{"verdicts": []}}'; exit 0;; esac
{before}
echo '{answer}'
"""
ANSWER = json.dumps(extraction(item("The ferry leaves at noon.", "Ferry")))


@pytest.fixture
def run(tmp_path: Path) -> Command:
    """On a folder with two conversations to digest."""
    run = Command(tmp_path / "data")
    paths = [str(written(tmp_path, name)) for name in ("ferry", "tug")]
    run("ingest", *paths, "--source", "claude-code")
    return run


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that answers as a language model might; it may be written anew."""
    program = tmp_path / "model"
    answer(program, "")
    monkeypatch.setenv("LORE_LLM_BACKEND", "command")
    monkeypatch.setenv("LORE_LLM_COMMAND", str(program))
    return program


def answer(program: Path, before: str) -> None:
    program.write_text(MODEL.format(before=before, answer=ANSWER))
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


# --- what it says
def test_each_phase_is_a_line_with_what_it_did(run: Command) -> None:
    result = run("consolidate")
    head, blank, *lines = result.stdout.splitlines()
    assert re.match(r"Consolidated in \d+\.\d s: 2 conversations digested, \d+ memories extracted", head)
    assert blank == ""
    phases = [line.split()[0] for line in lines if line and not line.startswith(" ")]
    assert phases == [*PHASES, "language"]
    assert re.match(r"digest +\d+\.\d s  2 conversations digested, \d+ memories extracted$", lines[0])
    assert lines[1].startswith("    “")
    assert lines[-1] == "language model  none: works by rules; [llm] backend in config.toml chooses one"
    again = run("consolidate").stdout
    assert re.search(r"^digest +\d+\.\d s  nothing to do$", again, re.M)


def test_few_steps_are_told_unless_all_are_wanted(run: Command, tmp_path: Path) -> None:
    more = [str(written(tmp_path, f"barge{number}")) for number in range(4)]
    run("ingest", *more, "--source", "claude-code")
    short = run("consolidate", "--dry-run", "--phase", "digest").stdout
    assert short.count("    “") == 3
    assert "    … and 3 more; -v shows all" in short
    full = run("consolidate", "--dry-run", "--phase", "digest", "-v").stdout
    assert full.count("    “") == 6
    assert "more" not in full


def test_a_dry_run_changes_nothing_and_says_so(run: Command) -> None:
    before = run.document("status")["counts"]
    result = run("consolidate", "--dry-run")
    assert result.stdout.startswith("Nothing was changed. This is what a consolidation would do:\n")
    assert "2 conversations digested" in result.stdout
    assert "does not see the work of earlier ones" in result.stderr
    status = run.document("status")
    assert (status["counts"], status["last_run"]) == (before, None)
    assert run.document("consolidate", "--dry-run")["applied"] is False


def test_a_dry_run_waits_for_whoever_embeds_and_writes_nothing(run: Command) -> None:
    lore = wire(Config(data_dir=run.data_dir), embedder=HashEmbedder())
    ours, theirs = pty.openpty()
    watching = apsw.Connection(str(run.database))
    with lore.store.exclusive(WORK), run.start("consolidate", "--dry-run", stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"embed elsewhere" not in shown:
            shown += os.read(ours, 4096)
        while embed_batch(store=lore.store, embeddings=lore.embeddings):
            pass
        before = watching.pragma("data_version")
        assert read_to_the_end(ours)
        assert process.wait(SECONDS) == 0
        assert watching.pragma("data_version") == before
    assert b"0 of 10" in shown
    watching.close()
    lore.close()


def test_with_a_daemon_that_embeds_and_without_one_the_command_does(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "hash")
    with short_folder() as folder:
        flags = Flags(data_dir=folder)
        with open_store(flags) as lore:
            with open_embedder(flags, lore) as embeds:
                assert embeds is lore
            with running(folder) as place, open_embedder(flags, lore) as embeds:
                assert isinstance(embeds, Remote)
                os.kill(pid_of(place), signal.SIGKILL)
                lore.remember(Draft(content="The ferry leaves at noon"))
                assert [work.left for work in embed_progress(embeds)] == [1, 0]


def test_progress_is_a_plain_line_without_a_terminal(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lore.doors.cli.progress.LINE_SECONDS", 0.0)
    result = run("consolidate", "--dry-run", "--json")
    assert result.stderr.startswith("embed: 0 of 10\nembed: 10 of 10\ndigest: 0 of 2\n")
    assert json.loads(result.stdout)["embedding"]["done"] == 10


def test_the_time_of_a_run_is_that_of_whoever_waited_for_it() -> None:
    work = Embedding(done=7_000, left=0, seconds=540.0)
    report = Report(
        began_at=0.0, applied=True, phases=(PhaseResult(phase="digest", seconds=4.0),), embedding=work
    )
    assert report.seconds == 544.0


def test_the_rest_is_estimated_from_the_speed_so_far(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lore.doors.cli.progress.LINE_SECONDS", 0.0)
    clock = Clock()
    monkeypatch.setattr("lore.doors.cli.progress.time.monotonic", clock)
    told = Progress()
    told("embed", 100, 7_100)
    clock.sleep(seconds=60)
    told("embed", 1_100, 7_100)
    assert capsys.readouterr().err.splitlines() == [
        "embed: 100 of 7,100",
        "embed: 1,100 of 7,100, about 6 minutes left",
    ]


def test_single_phases_can_be_chosen(run: Command) -> None:
    report = run.document("consolidate", "--phase", "merge", "--phase", "digest")
    assert [done["phase"] for done in report["phases"]] == ["digest", "merge"]
    assert report["applied"] is True
    assert report["counts"]["sessions_digested"] == 2
    assert report["interrupted"] is False
    assert report["phases"][0]["steps"]
    assert re.match(r"\d{4}-\d\d-\d\dT", report["began_at"])


def test_an_unknown_phase_is_named_with_the_known_ones_in_order(run: Command) -> None:
    known = f"unknown phase 'dream'; known, in order: {', '.join(PHASES)}"
    assert known in run("consolidate", "--phase", "dream", code=1).stderr
    told = json.loads(run("consolidate", "--phase", "dream", "--json", code=1).stderr)
    assert told == {"error": known, "kind": "Invalid"}
    assert run.document("staged")["staged_turns"] == 6


def test_the_report_names_amounts_in_words() -> None:
    assert (
        counts_text({"links_created": 1, "sessions_digested": 2})
        == "2 conversations digested, 1 link created"
    )
    assert counts_text({"relevance_updated": 7}) == "7 memories weighed"
    assert counts_text({"relevance_updated": 7}, routine=False) == counts_text({}) == "nothing to do"
    assert (
        counts_text({"roots_merged": 1, "dreams_dreamt": 3}) == "1 tree merged into another, 3 dreams dreamt"
    )


def test_every_count_of_a_phase_has_words_for_the_report(run: Command) -> None:
    report = run.document("consolidate")
    assert "_" not in counts_text(report["counts"])


# --- language models
def test_the_report_shows_the_tokens_of_the_language_model(run: Command, model: Path) -> None:
    result = run("consolidate", "--phase", "digest")
    assert re.search(r"^sonnet  3 questions, [\d,]+ tokens, \$0\.\d\d$", result.stdout, re.M)
    assert re.search(r"^today +\$0\.\d\d of \$1\.00$", result.stdout, re.M)
    report = run.document("consolidate")
    assert report["language_model"]["extraction"] == "sonnet"
    assert [one["calls"] for one in report["today"]] >= [2]
    models = run.document("status")["language_model"]
    assert re.match(r"[23] questions, [\d,]+ of 1,000,000 tokens, \$0\.\d+ of \$1\.00$", models.pop("today"))
    assert models == report["language_model"]
    assert "sonnet, haiku" in run("status").stdout


@pytest.mark.parametrize(
    ("prices", "told"), [("", "price unknown"), ("[llm.prices]\nmine = [9000, 9000]\n", r"\$\d+\.\d\d")]
)
def test_the_cost_follows_the_prices_of_the_settings(
    run: Command, model: Path, monkeypatch: pytest.MonkeyPatch, prices: str, told: str
) -> None:
    monkeypatch.setenv("LORE_EXTRACTION_MODEL", "mine")
    (run.data_dir / "config.toml").write_text(f"[llm]\ndaily_dollars = 0\n{prices}")
    result = run("consolidate", "--phase", "digest")
    assert re.search(rf"^mine +3 questions, [\d,]+ tokens, {told}$", result.stdout, re.M)
    assert " of $" not in result.stdout


def test_offline_consolidation_asks_no_language_model(run: Command, model: Path) -> None:
    answer(model, f"touch {model}.asked")
    result = run("consolidate", "--offline")
    assert "2 conversations digested" in result.stdout
    assert result.stdout.endswith("language model  not used\n")
    assert not Path(f"{model}.asked").exists()


def test_a_language_model_that_fails_is_a_remark(run: Command, model: Path) -> None:
    answer(model, "exit 1")
    result = run("consolidate")
    assert "could not be digested (1 of 5 tries)" in result.stderr
    assert "tried 1 of 5 times" in run("staged").stdout


def test_a_model_that_cannot_be_reached_gives_way_to_the_rules_wherever_one_looks(
    run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    monkeypatch.setenv("LORE_LLM_BACKEND", "anthropic")
    monkeypatch.setenv("LORE_LLM_TIMEOUT_SECS", "0.4")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    assert f"{url}/v1/messages" in run("status").stdout
    assert run.document("consolidate", "--dry-run")["fallback"].startswith(f"{url}/v1/messages cannot be")
    result = run("consolidate")
    assert "2 conversations digested" in result.stdout
    assert "could not be asked, so it worked by rules" in " ".join(result.stdout.split())
    assert "the rules do its work" in " ".join(result.stderr.split())
    status = run.document("status")
    assert status["last_run"]["fallback"].startswith(f"{url}/v1/messages cannot be reached")
    assert status["language_model"]["address"] == f"{url}/v1/messages"
    assert re.search(r"^by rules, because +http://127", run("status").stdout, re.M)


# --- as a process
def test_progress_is_shown_on_a_terminal(run: Command) -> None:
    ours, theirs = pty.openpty()
    with run.start("consolidate", stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        shown = read_to_the_end(ours)
        assert process.wait(SECONDS) == 0
    drawn = re.sub(r"\x1b\[\d+m", "", shown.decode())
    assert re.search(r"\r\x1b\[Kdigest       ━{30}  0 of 2", drawn)
    assert "━" not in drawn.rsplit("\r\x1b[K", 1)[1]
    assert "of 2" not in run("consolidate").stderr


@pytest.mark.parametrize("thread", [min, max])
def test_ctrl_c_keeps_what_was_done_and_says_where_it_stopped(
    run: Command, model: Path, thread: Callable[[Iterable[int]], int]
) -> None:
    """The answer to the second question is not waited for, whichever thread the signal reaches."""
    asked = Path(f"{model}.asked")
    answer(model, f"if [ -e {asked} ]; then echo > {asked}.twice; sleep 60; fi; touch {asked}")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with run.start("consolidate", env={"LORE_LLM_MAX_CONCURRENCY": "1"}, **pipes) as process:
        until(lambda: Path(f"{asked}.twice").exists() or process.poll() is not None)
        assert process.poll() is None
        threads = map(int, os.listdir(f"/proc/{process.pid}/task"))
        assert ctypes.CDLL(None).tgkill(process.pid, thread(threads), signal.SIGINT) == 0
        out, error = process.communicate(timeout=SECONDS)
    assert process.returncode == 130
    assert re.match(rb"Stopped after \d+\.\d s: 1 conversation digested, 2 memories extracted\.\n", out)
    assert b"Traceback" not in error
    assert run.document("staged")["staged_turns"] == 3


def test_consolidation_by_command_works_beside_a_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "hash")
    with short_folder() as folder:
        run = Command(folder / "data")
        run("ingest", str(written(folder, "ferry")), "--source", "claude-code")
        with running(run.data_dir):
            assert "3 turns" in run("status").stdout
            assert "1 conversation digested" in run("consolidate").stdout
            assert re.search(r"^to digest +nothing$", run("status").stdout, re.M)
            assert re.search(r"^results +1 conversation digested", run("status").stdout, re.M)
            assert re.search(r"^learnt +1 conversation → ", run("status").stdout, re.M)
            assert re.search(r"^language model +none: works by rules; \[llm", run("status").stdout, re.M)
            assert re.search(r"^last consolidation +\d{4}-", run("daemon", "status").stdout, re.M)
            assert run.document("daemon", "status")["staged_turns"] == 0
