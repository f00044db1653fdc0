"""pages: hostile web pages, in a real browser that is signed in to the explorer, reach for its server.

Each page is of another origin (another port, or another name of this machine) and tries one way to read a
memory or to change something: requests with and without the session, forms, frames, scripts, event streams,
pop-ups, workers, sockets.
"""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path

from playwright.sync_api import sync_playwright

from bench.attack.fortress import MARK
from lore.model import Filter
from tests.doors.http.serving import Server, serving

CHROMIUM = Path("/usr/bin/chromium")
PATHS = (
    "/api/v1/export",
    "/changes",
    "/status",
    "/api/v1/settings",
    "/api/v1/session",
    "/explorer/search",
    "/api/v1/tokens",
)
WRITES = {
    "/api/v1/remember": '{"draft": "planted"}',
    "/api/v1/settings": '{"llm_command": "touch planted"}',
    "/api/v1/tokens": '{"name": "planted", "rights": ["admin"]}',
    "/push": '{"client_id": "planted", "turns": []}',
    "/explorer/sign-out": "",
}
SETTLE_MILLISECONDS = 400
"""Time that a page has for its attempts; they are requests on loopback."""


def scripts(base: str) -> Iterator[str]:
    """Yield the script of each page. What it has read it adds to `found`."""
    for path in PATHS:
        url = f"{base}{path}"
        yield f"fetch('{url}', {{credentials: 'include'}}).then(r => r.text()).then(t => found.push(t))"
        yield (
            f"fetch('{url}', {{mode: 'no-cors', credentials: 'include'}})"
            ".then(r => r.text()).then(t => found.push(t))"
        )
        yield (
            f"const f = document.createElement('iframe'); f.src = '{url}';"
            " f.onload = () => found.push(f.contentDocument.body.innerText); document.body.append(f)"
        )
        yield (
            "const x = new XMLHttpRequest(); x.withCredentials = true;"
            f" x.onload = () => found.push(x.responseText); x.open('GET', '{url}'); x.send()"
        )
        yield f"const s = document.createElement('script'); s.src = '{url}'; document.body.append(s)"
        yield f"const w = window.open('{url}'); setTimeout(() => found.push(w.document.body.innerText), 200)"
    for path, body in WRITES.items():
        url = f"{base}{path}"
        yield f"fetch('{url}', {{method: 'POST', body: '{body}', mode: 'no-cors', credentials: 'include'}})"
        yield f"navigator.sendBeacon('{url}', new Blob(['{body}'], {{type: 'text/plain'}}))"
        yield (
            f"fetch('{url}', {{method: 'PUT', body: '{body}', credentials: 'include',"
            " headers: {'Content-Type': 'application/json'}}).then(r => r.text()).then(t => found.push(t))"
        )
        yield (
            f"const f = document.createElement('form'); f.method = 'POST'; f.action = '{url}';"
            " f.enctype = 'text/plain'; f.target = '_blank'; document.body.append(f); f.submit()"
        )
    yield (
        f"const e = new EventSource('{base}/api/v1/events', {{withCredentials: true}});"
        " e.onmessage = m => found.push(m.data)"
    )
    yield f"new WebSocket('{base.replace('http', 'ws')}/mcp').onmessage = e => found.push(e.data)"
    yield f"const i = new Image(); i.src = '{base}/api/v1/export'; document.body.append(i)"
    yield f"import('{base}/api/v1/openapi.json').then(m => found.push(JSON.stringify(m)))"


class Hostile(ThreadingHTTPServer):
    """Serves one page, whose script changes."""

    script = ""


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, Hostile)
        body = f"<body><script>const found = []; {self.server.script}</script>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@contextmanager
def hostile_server() -> Iterator[Hostile]:
    with Hostile(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def run(folder: Path, every: int = 1) -> dict[str, int]:
    """Open one in `every` pages; count them, and those that read or changed something."""
    counts: Counter[str] = Counter(pages=0, leaked=0)
    with serving(folder) as server, hostile_server() as hostile, sync_playwright() as playwright:
        server.served.lore.remember(f"The depot is in {MARK}")
        before = _state(server)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        context = browser.new_context()
        base = f"http://127.0.0.1:{server.port}"
        assert context.request.get(f"{base}/explorer/enter?code={server.served.sessions.code()}").ok
        for number, script in enumerate(islice(scripts(base), 0, None, every)):
            hostile.script = script
            page = context.new_page()
            name = ("127.0.0.1", "localhost")[number % 2]
            page.goto(f"http://{name}:{hostile.server_port}/")
            page.wait_for_timeout(SETTLE_MILLISECONDS)
            read = page.evaluate("JSON.stringify(found)")
            counts["pages"] += 1
            counts["leaked"] += MARK in read.lower() or '"csrf"' in read
            for one in context.pages:
                one.close()
        signed_in = context.request.get(f"{base}/api/v1/session").ok
        counts["signed_out"] = int(not signed_in)
        counts["changed"] = int(_state(server) != before)
        browser.close()
    return dict(counts)


def _state(server: Server) -> tuple[int, int]:
    """Everything a page might change: memories, and files of the data folder that are settings."""
    lore = server.served.lore
    settings = Path(lore.store.report().location).parent / "config.toml"
    return len(lore.select(Filter(), 100)), settings.stat().st_size if settings.exists() else 0
