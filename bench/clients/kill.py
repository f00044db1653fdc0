"""kill: the daemon is killed again and again while agents work; each agent keeps its one `lore-mcp`."""

import itertools
import random
import time
from collections.abc import Iterator
from multiprocessing.sharedctypes import SynchronizedArray
from multiprocessing.synchronize import Event
from typing import Any, NamedTuple

from bench.clients.crowd import FORKING, Agent, crowd
from bench.clients.line import Line, Refused, Silence
from bench.clients.report import say, spread, table
from bench.clients.scene import Scene, killed

SETTLE_SECONDS = 0.1
"""By then the last words of a dead daemon are through, and no new one can have begun."""
LONGEST_PAUSE_SECONDS = 1.0
RECOVER_SECONDS = 120.0
LOOK_EVERY_SECONDS = 0.01
CALLS_BETWEEN = 2
"""So many answers everyone gets before the next kill."""
HONEST = "not known whether this was done"
TOLD_FAILURES = 5


class Call(NamedTuple):
    """One call of an agent: from when to when, and how it went (`done`, `unknown`, or what was wrong)."""

    write: bool
    sent_at: float
    answered_at: float
    outcome: str
    text: str = ""

    def outlived(self, moment: float) -> bool:
        """Whether the daemon that it was sent to was killed over it."""
        return self.sent_at <= moment < self.answered_at - SETTLE_SECONDS


def kill(model: str, clients: int, kills: int, seed: int) -> dict[str, Any]:
    over = FORKING.Event()
    answers = FORKING.Array("q", clients)
    with Scene(model) as scene:

        def life(agent: Agent) -> Iterator[Any]:
            with Line(scene.relay(), log=scene.log) as line:
                line.tools()
                agent.wait()
                yield _worked(line, agent.number, over, answers)

        scene.warm()
        with crowd(clients, life) as agents:
            agents.wait()
            moments = _terror(scene, answers, kills, random.Random(seed))
            over.set()
            told: list[list[Call]] = agents.told()
        daemons = len(scene.daemons())
        scene.stop()
        contents = scene.contents()
        unhealthy = scene.healthy()
    return {
        "clients": clients,
        "kills": len(moments),
        "daemons_alive": daemons,
        "doctor": unhealthy or "clean",
        **_outcome(told, contents, moments),
    }


def shown(report: dict[str, Any]) -> str:
    counts = table(
        f"{report['kills']} kills of the daemon under {report['clients']} busy clients",
        ["calls", "acked writes", "lost", "twice", "unknown", "of these kept", "retried", "failed", "stuck"],
        [
            [report["calls"], report["acknowledged"], report["lost"], report["twice"], report["unknown"],
             report["unknown_kept"], report["retried"], report["failed"], report["stuck"]]
        ],
    )  # fmt: skip
    first, last = report["first_answer_seconds"], report["last_client_seconds"]
    times = table(
        f"seconds from a kill to the next answer; doctor: {report['doctor']}",
        ["", "p50", "max"],
        [["of any client", first["p50"], first["worst"]], ["of the last client", last["p50"], last["worst"]]],
    )
    return "\n".join([counts, times, *(f"  failed: {failure}" for failure in report["failures"])])


def sound(report: dict[str, Any]) -> bool:
    """Nothing acknowledged is lost or there twice, every client works to the end, the store is whole."""
    counts = (report[name] for name in ("lost", "twice", "failed", "stuck"))
    return not any(counts) and report["doctor"] == "clean" and report["daemons_alive"] == 1


# --- an agent
def _worked(line: Line, number: int, over: Event, answers: "SynchronizedArray[int]") -> list[Call]:
    """Write and search in turn until it is over; a server that falls silent ends it early."""
    calls: list[Call] = []
    for count in itertools.count():
        if over.is_set():
            return calls
        write = (count + number) % 2 == 0
        text = f"Agent {number} noted fact {count}." if write else ""
        sent_at = time.monotonic()
        try:
            outcome = _asked(line, write, text, number)
        except Silence as silence:
            calls.append(Call(write, sent_at, time.monotonic(), f"silence: {silence}", text))
            return calls
        calls.append(Call(write, sent_at, time.monotonic(), outcome, text))
        if outcome == "done":
            answers[number] += 1
    return calls


def _asked(line: Line, write: bool, text: str, number: int) -> str:
    try:
        if write:
            result = line.call("store", {"content": text})
        else:
            result = line.call("search", {"query": f"what did agent {number} note?"})
    except Refused as refusal:
        return f"refused: {refusal}"
    if not result.get("isError"):
        return "done"
    return "unknown" if HONEST in str(result["content"]) else f"error: {result['content']}"


# --- the one who kills
def _terror(scene: Scene, answers: "SynchronizedArray[int]", kills: int, fate: random.Random) -> list[float]:
    """Kill, wait until everyone works again, and so on; the moments of it."""
    moments: list[float] = []
    for number in range(kills):
        if not _everyone_works(answers):
            return moments
        time.sleep(fate.uniform(0, LONGEST_PAUSE_SECONDS))
        moments.extend(killed(pid) for pid in scene.daemons())
        time.sleep(SETTLE_SECONDS)
        if number % 10 == 9:
            say(f"{number + 1} kills, {sum(answers[:]):,} calls done")
    _everyone_works(answers)
    return moments


def _everyone_works(answers: "SynchronizedArray[int]") -> bool:
    """Wait until every agent has had answers; False if one has none for too long."""
    before = answers[:]
    until = time.monotonic() + RECOVER_SECONDS
    while any(now < then + CALLS_BETWEEN for now, then in zip(answers[:], before, strict=True)):
        if time.monotonic() > until:
            say("a client does not recover")
            return False
        time.sleep(LOOK_EVERY_SECONDS)
    return True


# --- what became of it
def _outcome(told: list[list[Call]], contents: dict[str, int], moments: list[float]) -> dict[str, Any]:
    calls = [call for client in told for call in client]
    acknowledged = [call for call in calls if call.write and call.outcome == "done"]
    unknown = [call for call in calls if call.outcome == "unknown"]
    failed = [call for call in calls if call.outcome not in ("done", "unknown")]
    orphans = [call for call in calls if any(call.outlived(moment) for moment in moments)]
    recoveries = [_recoveries(told, moment) for moment in moments]
    return {
        "calls": len(calls),
        "acknowledged": len(acknowledged),
        "lost": sum(contents.get(call.text, 0) == 0 for call in acknowledged),
        "twice": sum(contents.get(call.text, 0) > 1 for call in calls if call.write),
        "unknown": len(unknown),
        "unknown_kept": sum(contents.get(call.text, 0) > 0 for call in unknown),
        "unknown_searches": sum(not call.write for call in unknown),
        "retried": sum(not call.write and call.outcome == "done" for call in orphans),
        "failed": len(failed),
        "failures": sorted({call.outcome for call in failed})[:TOLD_FAILURES],
        "stuck": sum(None in times for times in recoveries),
        "first_answer_seconds": spread([_known(times)[0] for times in recoveries if any(times)])._asdict(),
        "last_client_seconds": spread([_known(times)[-1] for times in recoveries if any(times)])._asdict(),
    }


def _recoveries(told: list[list[Call]], moment: float) -> list[float | None]:
    """For each client, how long after the kill it had its next good answer."""
    return [
        next(
            (
                call.answered_at - moment
                for call in client
                if call.outcome == "done" and call.answered_at > moment + SETTLE_SECONDS
            ),
            None,
        )
        for client in told
    ]


def _known(times: list[float | None]) -> list[float]:
    return sorted(time for time in times if time is not None)
