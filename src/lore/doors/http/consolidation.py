"""consolidation: plan, begin and stop a consolidation from a page, and see how far it is."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lore.doors.http.body import read_json
from lore.doors.http.callers import Caller
from lore.doors.http.feeds import Place
from lore.doors.http.openapi import PREFIX
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.engine import Lore
from lore.engine.consolidate.backlog import runs
from lore.engine.consolidate.phases import PHASES, Report
from lore.engine.consolidation_run import RUNNING_JOB, ConsolidationRun, Ended, language_models
from lore.errors import Invalid, LoreError, Unavailable
from lore.store.records import Job
from lore.supervision import failure_of, reason

PATH = f"{PREFIX}/consolidation"
AT_ONCE = 2
"""Consolidations of different namespaces that run at a time."""
PLAN_SECONDS = 20.0
"""A plan that takes longer is answered by its state; GET has it when it is ready."""


@dataclass
class Work:
    """One consolidation, or the plan of one. state: `running`, `planning`, `done`, `planned`, `stopped` or
    `failed`. revision: grows with every change; of two views, a page shows the one with the higher."""

    run: ConsolidationRun
    dry: bool
    phases: tuple[str, ...]
    began_at: float
    state: str
    progress: dict[str, Any] = field(default_factory=lambda: {"phase": "", "done": 0, "total": 0})
    report: dict[str, Any] | None = None
    error: str = ""
    revision: int = 0
    ended: anyio.Event = field(default_factory=anyio.Event)

    def view(self) -> dict[str, Any]:
        """The state as the pages see it; `plan` or `report` once it has ended."""
        result = {"plan" if self.dry else "report": self.report} if self.report else {}
        began = {"began_at": self.began_at, "phases": list(self.phases)}
        return {**self.event(), **began, "error": self.error, **result}

    def event(self) -> dict[str, Any]:
        """The part of the view that pages hear of at every change."""
        return {"state": self.state, "revision": self.revision, **self.progress}


def routes(served: Served) -> list[Route]:
    """The routes of this module."""
    door = ConsolidationDoor(served)
    served.resources.append(door.running)
    return [
        Route("GET", PATH, "read", door.show),
        Route("POST", f"{PATH}/plan", "admin", door.plan),
        Route("POST", f"{PATH}/run", "admin", door.begin),
        Route("POST", f"{PATH}/stop", "admin", door.stop),
    ]


class ConsolidationDoor:
    """The consolidations that pages have begun: one for each namespace at a time."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._works: dict[Place, Work] = {}
        self._turns = anyio.CapacityLimiter(AT_ONCE)
        self._first_revision = int(time.time() * 1000)  # above all of an earlier process
        self._revisions = count(self._first_revision + 1)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run what is begun until the server ends; then each ends after its current step."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            yield
            for work in self._works.values():
                work.run.end()

    async def show(self, request: Request, caller: Caller) -> Response:
        """The state, the last runs, and what a run may do."""
        lore = self._lore(request, caller)
        work = self._works.get((lore.tenant, lore.namespace))
        past = await self._served.run("the runs", partial(_past, lore), reading=True)
        state = work.view() if work else {"state": "idle", "revision": self._first_revision}
        return JSONResponse({**state, "known_phases": list(PHASES), **past})

    async def plan(self, request: Request, caller: Caller) -> Response:
        """What a consolidation would do now; it changes nothing."""
        work = await self._start(request, caller, dry=True)
        with anyio.move_on_after(PLAN_SECONDS):
            await work.ended.wait()
        return JSONResponse(work.view(), 200 if work.ended.is_set() else 202)

    async def begin(self, request: Request, caller: Caller) -> Response:
        """Begin a consolidation; events say how far it is."""
        work = await self._start(request, caller, dry=False)
        return JSONResponse(work.view(), 202)

    async def stop(self, request: Request, caller: Caller) -> Response:
        """End the consolidation after its current step."""
        lore = self._lore(request, caller)
        work = self._works.get((lore.tenant, lore.namespace))
        if work is None or work.ended.is_set():
            raise Invalid("no consolidation was begun here that could be stopped")
        work.run.end()
        return JSONResponse(work.view(), 202)

    def _lore(self, request: Request, caller: Caller) -> Lore:
        return self._served.lore_of(request, caller, "explorer")

    async def _start(self, request: Request, caller: Caller, *, dry: bool) -> Work:
        lore = self._lore(request, caller)
        phases = _phases(await read_json(request, self._served.config.body_bytes))
        place = (lore.tenant, lore.namespace)
        older = self._works.get(place)
        if older is not None and not older.ended.is_set():
            raise Unavailable(f"a consolidation is {older.state} already; wait for its end, or stop it")
        run = ConsolidationRun(lore, partial(self._report, place))
        state = "planning" if dry else "running"
        self._works[place] = Work(run, dry, phases, lore.clock(), state)
        self._publish(place)
        self._tasks.start_soon(self._work, place, self._works[place])
        return self._works[place]

    async def _work(self, place: Place, work: Work) -> None:
        """Do it in a thread; whatever goes wrong becomes its state."""
        reports: list[Report] = []
        error = await anyio.to_thread.run_sync(
            failure_of,
            lambda: reports.append(work.run.run(work.phases, dry=work.dry)),
            limiter=self._turns,
        )
        if error is None:
            work.report = _report(reports[0])
            work.state = "stopped" if work.run.ended else "planned" if work.dry else "done"
        elif isinstance(error, Ended):
            work.state, work.error = "stopped", str(error)
        else:
            work.state = "failed"
            work.error = str(error) if isinstance(error, LoreError) else reason(error)
        work.ended.set()
        self._publish(place)

    def _report(self, place: Place, phase: str, done: int, total: int) -> None:
        """Note how far it is; called by the thread that does it."""
        self._works[place].progress = {"phase": phase, "done": done, "total": total}
        anyio.from_thread.run_sync(self._publish, place)

    def _publish(self, place: Place) -> None:
        work = self._works[place]
        work.revision = next(self._revisions)
        self._served.feeds.publish(place, "consolidation", work.event())


def _phases(body: dict[str, Any]) -> tuple[str, ...]:
    """The phases that a body names; none for all."""
    phases = body.pop("phases", None) or []
    if body:
        raise Invalid(f"unknown argument {next(iter(body))[:40]!r}; known: phases")
    wrong = not isinstance(phases, list) or [name for name in phases if name not in PHASES]
    if wrong:
        raise Invalid(f"phases must be a list of some of {', '.join(PHASES)}")
    return tuple(dict.fromkeys(phases))


def _report(report: Report) -> dict[str, Any]:
    more = {"counts": report.counts, "remarks": list(report.remarks), "seconds": report.seconds}
    return {**asdict(report), **more}


def _past(lore: Lore) -> dict[str, Any]:
    reader = lore.store.reader(lore.namespace, lore.tenant)
    busy = any(one.claimed_until > lore.clock() for one in reader.records(Job, name=RUNNING_JOB))
    return {
        "runs": runs(reader),
        "busy": busy,
        "language_model": language_models(lore),
        "staged": len(lore.staged()),
    }
