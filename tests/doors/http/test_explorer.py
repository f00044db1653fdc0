"""The shell of the explorer and its files: a strict policy, caches by version, and nothing outside the
folder."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from lore.doors.http import explorer
from lore.doors.http.app import application
from lore.doors.http.callers import Caller
from tests.doors.http.guarded import Guarded, guarded

FILES = {
    "shell.html": explorer.FILES.joinpath("shell.html").read_text(),
    "missing.html": explorer.FILES.joinpath("missing.html").read_text(),
    "app.js": "import 'preact';",
    "app.css": "body {}",
    "icon.svg": "<svg/>",
    "notes.py": "secret",
    "vendor/imports.json": '{"preact": "preact.js"}',
    "vendor/preact.js": "export {};",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("explorer")) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of an explorer; beside them one that is none of it."""
    place = tmp_path / "static"
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    (tmp_path / "secret.js").write_text("secret")
    (place / "link.js").symlink_to(tmp_path / "secret.js")
    return place


@pytest.fixture
def client(server: Guarded, folder: Path) -> TestClient:
    app = application(server.served, explorer.routes(server.served, folder), nobody)
    return TestClient(app, follow_redirects=False)


async def nobody(request: Request) -> Caller:
    """The pages are for everybody: nobody asks who it is."""
    raise AssertionError("the route is not public")


def base_of(client: TestClient) -> str:
    [base] = re.findall(r'src="(/explorer/static/\w+)/app.js"', client.get("/explorer/").text)
    return str(base)


def test_browsers_are_sent_to_the_explorer_and_programs_find_what_they_found(client: TestClient) -> None:
    page = client.get("/", headers={"Accept": "text/html,*/*"})
    assert (page.status_code, page.headers["location"]) == (307, "/explorer/")
    assert client.get("/explorer").headers["location"] == "/explorer/"
    answer = client.get("/")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "NotFound")


def test_every_page_has_the_same_shell_whose_policy_allows_only_its_import_map(client: TestClient) -> None:
    shell = client.get("/explorer/")
    assert {client.get(f"/explorer/{page}").text for page in ("memory/01a?x=<b>", "sign-in")} == {shell.text}
    policy = dict(part.split(" ", 1) for part in shell.headers["content-security-policy"].split("; "))
    [imports] = re.findall(r'<script type="importmap">(.*?)</script>', shell.text)
    digest = base64.b64encode(hashlib.sha256(imports.encode()).digest()).decode()
    assert policy["script-src"] == f"'self' 'sha256-{digest}'"
    assert {name: policy[name] for name in policy.keys() - {"script-src", "img-src", "worker-src"}} == {
        "default-src": "'none'",
        "style-src": "'self'",
        "font-src": "'self'",
        "connect-src": "'self'",
        "manifest-src": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
    }
    assert "unsafe" not in shell.headers["content-security-policy"]
    assert json.loads(imports)["imports"] == {"preact": f"{base_of(client)}/vendor/preact.js"}
    scripts = re.findall(r"<script\b([^>]*)>", shell.text)
    assert [one for one in scripts if "importmap" not in one and " src=" not in one] == []
    assert not re.search(r"\bon\w+=|\bstyle=|<style", shell.text)


@pytest.mark.parametrize(
    ("path", "media_type"),
    [("app.js", "text/javascript"), ("app.css", "text/css"), ("icon.svg", "image/svg+xml"),
     ("vendor/preact.js", "text/javascript"), ("vendor/imports.json", "application/json")],
)  # fmt: skip
def test_files_are_kept_for_ever_under_their_version_and_checked_under_others(
    client: TestClient, folder: Path, path: str, media_type: str
) -> None:
    base = base_of(client)
    answer = client.get(f"{base}/{path}")
    assert (answer.text, answer.headers["content-type"]) == (FILES[path], f"{media_type}; charset=utf-8")
    assert "immutable" in answer.headers["cache-control"]
    known = {"If-None-Match": answer.headers["etag"]}
    old = client.get(f"/explorer/static/older/{path}", headers=known)
    assert (old.status_code, old.headers["cache-control"]) == (304, "no-cache")
    (folder / path).write_text("{}" if path.endswith("json") else "changed")
    assert base not in client.get("/explorer/").text
    assert client.get(f"{base}/{path}", headers=known).headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    ["..%2fsecret.js", "%2e%2e%2fsecret.js", "vendor%2f..%2f..%2fsecret.js", "%2fetc/hosts.txt",
     "link.js", "notes.py", "shell.html", "vendor", "", "nothing.js", "app.js%00.js", "a" * 5000 + ".js"],
)  # fmt: skip
def test_nothing_else_is_served(client: TestClient, path: str) -> None:
    answer = client.get(f"/explorer/static/v/{path}")
    assert (answer.status_code, "secret" in answer.text.replace("secret.js", "")) == (404, False)


def test_without_its_libraries_the_explorer_says_how_to_get_them(client: TestClient, folder: Path) -> None:
    (folder / "vendor/imports.json").unlink()
    page = client.get("/explorer/")
    assert (page.status_code, "scripts/vendor/bring" in page.text) == (200, True)
    assert "<script" not in page.text


def test_the_libraries_are_brought_with_their_licences() -> None:
    vendor = explorer.FILES / "vendor"
    imports = json.loads((vendor / "imports.json").read_text())
    assert {"preact", "htm/preact", "sigma", "graphology", "uplot"} <= imports.keys()
    for name in imports.values():
        text = (vendor / name).read_text()
        assert all((vendor / part).is_file() for part in re.findall(r'from"\./([^"]+)"', text)), name
    assert "preact" in (vendor / "LICENSES.txt").read_text()
