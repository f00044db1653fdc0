"""metrics: figures of a server for Prometheus: requests, calls, the store and the process."""

from collections.abc import Iterator

from anyio import current_time
from prometheus_client import CollectorRegistry, Counter, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from lore.doors.http.routes import ROUTE, Route
from lore.engine import Lore
from lore.version import VERSION

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds of the latency histogram, in seconds."""
UNKNOWN = "none"
"""The route of a request that no route answers."""
METHODS = frozenset("GET HEAD POST PUT PATCH DELETE OPTIONS".split())


class Metrics:
    """Counts what one server does."""

    def __init__(self, lore: Lore) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "lore_http_requests", "Answered requests.", ("method", "route", "status"), registry=self._registry
        )
        self._seconds = Histogram(
            "lore_http_request_seconds",
            "Time until an answer begins.",
            ("method", "route"),
            buckets=BUCKETS,
            registry=self._registry,
        )
        self._verbs = Counter("lore_verb_calls", "Calls of verbs.", ("verb",), registry=self._registry)
        self._tools = Counter("lore_tool_calls", "Calls of tools.", ("tool",), registry=self._registry)
        self._registry.register(StoreFigures(lore))
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request. route: the pattern of its path."""
        method = method if method in METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def verb_called(self, verb: str) -> None:
        """Count a call of a verb in the table."""
        self._verbs.labels(verb).inc()

    def tool_called(self, tool: str) -> None:
        """Count a call of a tool that a surface offers."""
        self._tools.labels(tool).inc()

    def text(self) -> bytes:
        """All figures, as Prometheus reads them."""
        return generate_latest(self._registry)


class Counted:
    """Counts the answers of an application, and the time until each begins."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = current_time()

        async def note(message: Message) -> None:
            if message["type"] == "http.response.start":
                route: Route | None = scope.get(ROUTE)
                path = route.path if route else UNKNOWN
                self._metrics.answered(scope["method"], path, message["status"], current_time() - began)
            await send(message)

        await self._app(scope, receive, note)


class StoreFigures(Collector):
    """Figures of the store, read whenever they are asked for."""

    def __init__(self, lore: Lore) -> None:
        self._lore = lore

    @override
    def collect(self) -> Iterator[GaugeMetricFamily]:
        status = self._lore.status()
        figures = {
            "lore_memories": ("Memories that the server's own namespace sees.", status.counts.memories),
            "lore_links": ("Links that the server's own namespace sees.", status.counts.links),
            "lore_pending_embeddings": ("Memories without an embedding.", self._lore.pending()),
            "lore_staged_turns": ("Turns that wait to be digested.", status.staged_turns),
            "lore_store_bytes": ("Size of the store.", status.size_bytes),
            "lore_model_ready": ("1 if the embedding model is loaded.", status.embedding_state == "ready"),
        }
        for name, (about, value) in figures.items():
            yield GaugeMetricFamily(name, about, value=float(value))
        version = GaugeMetricFamily("lore_info", "The version of the server.", labels=["version"])
        version.add_metric([VERSION], 1.0)
        yield version
