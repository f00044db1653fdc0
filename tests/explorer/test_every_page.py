"""Every page: hostile texts stay texts, axe finds nothing serious in light and dark, and a phone suffices."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from lore.doors.http import explorer as door
from lore.engine.entity_view import Subject
from lore.engine.relate import Relation
from lore.model import Draft, Tie
from tests.doors.http.serving import Server
from tests.explorer.explorer import Explorer

ROOT = Path(__file__).parents[2]
AXE = ROOT / "scripts/vendor/node_modules/axe-core/axe.min.js"
HOSTILE = (
    '<img src=x onerror="document.title=1"><script>document.title=2</script>"><svg onload=alert(3)>{{4}}'
)
HOSTILE_TITLES = ("1", "2")
"""The titles of a page in which a hostile text runs."""
SHOWN = "<img src=x onerror="
KINDS = ("note", "fragment", "observation", "reflection", "turn", "session")
FOREIGN = "img[src=x], script:not([src]):not([type=importmap]), svg[onload], [onerror], [onload]"
"""Elements that a hostile text makes where it is not escaped."""
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\("
)
PAGES = (
    "",
    "search",
    "search?q=onerror+document+title+svg+onload",
    "search?q=nothing+like+this&kind=entity",
    "memory/{note}",
    "memory/{turn}",
    "memory/{gone}",
    "memory/{replaced}",
    "review",
    "map",
    "trees",
    "trees/{tree}",
    "entities",
    "entities/{entity}",
    "timeline",
    "sessions",
    "sessions/{session}",
    "sessions/A%20quieter%20inbox",
    "consolidation",
    "backup",
    "metrics",
    "settings",
    "settings?show=Weights+of+scored+notes",
    "settings?show=Sources",
    "settings?show=Tokens",
    "no-such-page",
)


@pytest.fixture(scope="module")
def ids(server: Server) -> dict[str, str]:
    """Memories of every kind with a hostile text in every field; their ids by name."""
    lore = server.served.lore
    text: dict[str, Any] = {
        name: f"{name} {HOSTILE}" for name in ("content", "title", "summary", "status", "source", "channel")
    }
    found: dict[str, str] = {}
    parent = None
    for kind in KINDS:
        draft = Draft(
            **text,
            kind=kind,
            type=HOSTILE,
            project=HOSTILE,
            session=HOSTILE,
            source_type=HOSTILE,
            flags=frozenset({HOSTILE}),
            metadata={HOSTILE: HOSTILE},
        )
        found[kind] = lore.remember(replace(draft, content=f"{kind} {HOSTILE}", parent=parent)).id
        parent = found.get("fragment")
    lore.edit_file("/memories/hostile.md", lambda _: HOSTILE)
    for name in ("gone", "old", "new"):
        found[name] = lore.remember(Draft(content=f"{name} {HOSTILE}", title=f"{name} {HOSTILE}")).id
    lore.link(
        [Tie(source=found["note"], target=found["old"], reason=HOSTILE, type=HOSTILE, kind="relation")],
        HOSTILE,
    )
    lore.forget([found["gone"]], HOSTILE)
    lore.supersede(found["old"], found["new"], HOSTILE)
    entity, _ = lore.introduce(
        [
            Subject(name=HOSTILE, type=HOSTILE, status=HOSTILE, observations=(HOSTILE,)),
            Subject(name="Plain", type="person"),
        ]
    )
    lore.relate([Relation(source=HOSTILE, target="Plain", type=HOSTILE, context=HOSTILE)])
    return found | {"replaced": found["old"], "tree": found["fragment"], "entity": entity.entity.id}


TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.querySelectorAll("main *")].filter((one) => one.getBoundingClientRect().right > innerWidth)
    .map((one) => one.outerHTML.slice(0, 80))"""
"""The elements that make a page wider than the window."""
DARK_INK = "rgb(237, 237, 240)"
STILL = """async () => {
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  await Promise.allSettled(document.getAnimations().map((one) => one.finished));
}"""
"""Waits until new colours are drawn and no transition runs."""


CHECK = "async (rules) => (await axe.run(document, {resultTypes: ['violations'], ...rules})).violations"


def serious(page: Page, rules: dict[str, list[str]]) -> list[str]:
    """What axe finds, as one line each. rules: its options; empty for all rules."""
    page.evaluate(STILL)
    found = page.evaluate(CHECK, rules)
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    return [
        f"{one['id']}: {one['help']}: {one['nodes'][0]['html']}: {one['nodes'][0]['failureSummary']}"
        for one in grave
    ]


@pytest.mark.parametrize("path", PAGES)
def test_hostile_texts_stay_texts_and_nothing_hinders_anybody(
    path: str, explorer: Explorer, ids: dict[str, str]
) -> None:
    page = explorer.open(path.format(**ids))
    expect(page.locator(FOREIGN)).to_have_count(0)
    if "{" in path or "onerror" in path:
        expect(page.locator("main")).to_contain_text(SHOWN)
    if not AXE.exists():
        pytest.skip("axe-core is not there: scripts/vendor/bring installs it")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    assert serious(page, {}) == []
    page.emulate_media(color_scheme="dark")
    expect(page.locator("h1").first).to_have_css("color", DARK_INK)
    assert serious(page, {"runOnly": ["color-contrast"]}) == []
    page.set_viewport_size({"width": 390, "height": 844})
    page.evaluate(STILL)
    assert page.evaluate(TOO_WIDE) == []
    assert page.title() not in HOSTILE_TITLES


def test_no_module_makes_markup_of_texts() -> None:
    own = [path for path in door.FILES.rglob("*.js") if door.VENDOR not in path.parts]
    assert own
    assert [path.name for path in own if MARKUP.search(path.read_text(encoding="utf-8"))] == []
