"""explorer: the pages for people. The server sends one shell and its files; a browser does the rest over
/api/v1."""

import base64
import hashlib
import json
from pathlib import Path
from string import Template

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.staticfiles import StaticFiles

from lore.doors.http.callers import Caller
from lore.doors.http.routes import Route
from lore.doors.http.served import Served

PATH = "/explorer"
STATIC_PATH = f"{PATH}/static"
FILES = Path(__file__).with_name("explorer_static")
"""The explorer's own files, and in `vendor` those that scripts/vendor brings from npm."""
VENDOR = "vendor"
IMPORTS_FILE = f"{VENDOR}/imports.json"
"""Name of a library as the pages import it -> its file in `vendor`; scripts/vendor writes it."""
SHELL, MISSING_SHELL = "shell.html", "missing.html"
MEDIA_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".txt": "text/plain",
}
"""Suffix of a file that is served -> its type; others are not served."""
FOR_EVER = "public, max-age=31536000, immutable"
CHECKED = "no-cache"
"""Cache-Control of files under the version in their address, and under any other."""
POLICY = {
    "default-src": "'none'",
    "script-src": "'self' {imports}",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "worker-src": "'self' blob:",
    "manifest-src": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
}
"""Content-Security-Policy of the shell. The layout of the map runs in a worker that its library makes of a
blob; a worker has the policy of its page."""


def routes(served: Served, folder: Path = FILES) -> list[Route]:
    """The routes of this module. They show no memory: everybody may have them."""
    pages = Pages(folder)
    return [
        Route("GET", "/", None, _to_explorer),
        Route("GET", PATH, None, _to_explorer),
        Route("GET", f"{STATIC_PATH}/{{version}}/{{path:path}}", None, pages.file),
        Route("GET", f"{PATH}/{{page:path}}", None, pages.shell),
    ]


async def _to_explorer(request: Request, caller: Caller) -> Response:
    """Send a browser to the explorer; programs find no page here."""
    if request.url.path == "/" and "text/html" not in request.headers.get("accept", ""):
        raise HTTPException(404)
    return RedirectResponse(f"{PATH}/", 307)


class Pages:
    """The shell and the files in one folder, as they are when they are asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = StaticFiles(directory=folder)
        self._version = ""
        """Of the files when the shell was last sent: looking at all of them for each would take long."""

    async def shell(self, request: Request, caller: Caller) -> Response:
        """The one page of the explorer; its script shows what the address names."""
        self._version, libraries = version_of(self._folder), _libraries(self._folder)
        base = f"{STATIC_PATH}/{self._version}"
        addresses = {name: f"{base}/{VENDOR}/{file}" for name, file in libraries.items()}
        imports = json.dumps({"imports": addresses})
        shell = self._folder / (SHELL if libraries else MISSING_SHELL)
        text = Template(shell.read_text(encoding="utf-8")).substitute(base=base, imports=imports)
        headers = {"Content-Security-Policy": _policy(imports), "Cache-Control": CHECKED}
        return HTMLResponse(text, headers=headers)

    async def file(self, request: Request, caller: Caller) -> Response:
        """A file; browsers keep it for ever under the version in the shell."""
        path = request.path_params["path"]
        media_type = MEDIA_TYPES.get(Path(path).suffix)
        if media_type is None:
            raise HTTPException(404)
        response = await self._files.get_response(path, request.scope)
        if response.status_code == 200:
            response.headers["Content-Type"] = f"{media_type}; charset=utf-8"
        self._version = self._version or version_of(self._folder)
        current = request.path_params["version"] == self._version
        response.headers["Cache-Control"] = FOR_EVER if current else CHECKED
        return response


def version_of(folder: Path) -> str:
    """Changes whenever a file in this folder does."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    stats = [(path.relative_to(folder).as_posix(), path.stat()) for path in files]
    marks = "\n".join(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)
    return hashlib.sha256(marks.encode()).hexdigest()[:12]


def _libraries(folder: Path) -> dict[str, str]:
    """The files of the libraries by name; none where they have not been brought."""
    try:
        names: dict[str, str] = json.loads((folder / IMPORTS_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return names


def _policy(imports: str) -> str:
    """The only inline script that may run is this import map, known by its digest."""
    digest = base64.b64encode(hashlib.sha256(imports.encode()).digest()).decode()
    directives = [f"{name} {value}" for name, value in POLICY.items()]
    return "; ".join(directives).format(imports=f"'sha256-{digest}'")
