"""The slow commands of bench/ still run: each once, in small."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def run(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_speed_times_a_small_store(tmp_path: Path) -> None:
    report = tmp_path / "speed.json"
    run("bench.speed", "--sizes", "60", "--queries", "5", "--json", str(report))
    [row] = json.loads(report.read_text())
    assert row["memories"] == 60
    assert row["search"]["p50"] > 0


def test_surfaces_times_the_tools_of_every_surface(tmp_path: Path) -> None:
    report = tmp_path / "surfaces.json"
    run("bench.surfaces", "--memories", "60", "--calls", "1", "--json", str(report))
    rows = {row["surface"]: row for row in json.loads(report.read_text())}
    assert {"tree", "scored", "graph", "typed", "official"} <= rows.keys()
    assert all(row["tokens"] < row["listed_tokens"] for row in rows.values())
    assert {"search", "read", "store"} <= rows["tree"]["p50_ms"].keys()


def test_killed_writers_lose_nothing() -> None:
    assert "lost 0, twice 0" in run("bench.kill", "--kills", "2")


def clients(part: str, report: Path, *arguments: str) -> Any:
    run("bench.clients", part, "--model", "hash", "--alone", "--json", str(report), *arguments)
    return json.loads(report.read_text())[part]


def test_clients_that_start_at_once_share_one_daemon(tmp_path: Path) -> None:
    flood = clients("flood", tmp_path / "flood.json", "--flood", "4")
    assert (flood["daemons_started"], flood["daemons_alive"]) == (1, 1)
    assert (flood["clients_of_it"], flood["kept"], flood["found"]) == (4, 4, 4)


def test_clients_that_work_at_once_lose_nothing(tmp_path: Path) -> None:
    mixed = clients("mixed", tmp_path / "mixed.json", "--clients", "3", "--calls", "20")
    assert [(load["acknowledged"], load["lost"], load["failed"]) for load in mixed["load"]] == [
        (30, 0, 0)
    ] * 2
    [parallel] = mixed["parallel"]
    assert (parallel["acknowledged"], parallel["kept"]) == (50, 50)


def test_clients_of_a_killed_daemon_lose_nothing_and_work_on(tmp_path: Path) -> None:
    kill = clients("kill", tmp_path / "kill.json", "--clients", "3", "--kills", "2")
    assert (kill["kills"], kill["lost"], kill["twice"], kill["failed"], kill["stuck"]) == (2, 0, 0, 0, 0)
    assert kill["acknowledged"] > 0
    assert kill["doctor"] == "clean"


def test_ingest_reads_transcripts_once_and_finds_new_lines(tmp_path: Path) -> None:
    report = tmp_path / "ingest.json"
    run("bench.ingest", "--megabytes", "3", "--files", "2", "--json", str(report))
    figures = json.loads(report.read_text())
    assert figures["first"]["turns"] == figures["turns"] > 0
    assert figures["second"]["turns"] == figures["second"]["bytes"] == 0
    assert len(figures["append_to_found_ms"]) == 5
