"""The slow commands of bench/ still run: each once, in small."""

import json
import subprocess
import sys
from pathlib import Path

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
