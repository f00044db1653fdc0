"""cite: a memory keeps the files that it names as they are when it is written; reading records nothing."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lore import Draft, Filter, Invalid, Lore, NotFound, Query
from lore.citations import CITATIONS, cited_by
from lore.clock import Clock
from lore.engine.reflect import Lesson, Reflection
from lore.model import Revision
from lore.surfaces import SURFACES
from tests.engine.consolidate.helpers import (
    converse,
    extraction,
    fragments,
    item,
    run_phases,
    with_answers,
)

RULE = "The pool in src/app.py must stay small."


def labels(lore: Lore) -> dict[str, list[str]]:
    memories = lore.select(Filter(), 100)
    return {one.content: [file.label for file in cited_by(one.metadata).files] for one in memories}


SAVES: dict[str, Callable[[Lore], Any]] = {
    "remember": lambda lore: lore.remember(Draft(content=RULE)),
    "tree": lambda lore: SURFACES["tree"].tools["store"](lore, {"content": RULE}),
    "tree-first": lambda lore: SURFACES["tree-first"].tools["store_memory"](
        lore, {"content": RULE, "summary": "pool"}
    ),
    "scored": lambda lore: SURFACES["scored"].tools["lore_remember"](lore, {"thought": RULE}),
    "typed": lambda lore: SURFACES["typed"].tools["memory_save"](lore, {"content": RULE}),
    "graph": lambda lore: SURFACES["graph"].tools["create_entities"](
        lore, {"entities": [{"name": "Ferry", "entityType": "Project", "observations": [RULE]}]}
    ),
    "official": lambda lore: SURFACES["official"].tools["create_entities"](
        lore, {"entities": [{"name": "Ferry", "entityType": "Project", "observations": [RULE]}]}
    ),
    "reflect": lambda lore: lore.reflect(
        Reflection(
            session="s",
            title="a day",
            account="a day",
            lessons=(Lesson(text=RULE, relation="learned", score=5.0),),
        )
    ),
}


@pytest.mark.parametrize("way", SAVES)
def test_a_memory_cites_the_files_that_it_names_whichever_way_it_is_stored(
    way: str, inside: Lore, lore: Lore
) -> None:
    SAVES[way](inside)
    assert labels(lore)[RULE] == ["src/app.py"]


@pytest.mark.parametrize("way", SAVES)
def test_outside_of_a_repository_nothing_is_cited(way: str, lore: Lore) -> None:
    SAVES[way](lore)
    assert labels(lore)[RULE] == []


def test_a_memory_of_another_project_cites_nothing_here(inside: Lore) -> None:
    inside.remember(Draft(content=RULE, project="example.org/tug"))
    assert labels(inside)[RULE] == []


def test_a_file_that_does_not_exist_is_no_error(inside: Lore) -> None:
    memory = inside.remember(Draft(content="src/none.py is missing", metadata={"tool": "Edit"}))
    assert memory.metadata == {"tool": "Edit"}


@pytest.mark.parametrize(("seconds", "expected"), [(-60, "fresh"), (900, "changed")], ids=["before", "after"])
def test_a_digested_conversation_cites_files_as_they_were_when_it_ended(
    seconds: int, expected: str, inside: Lore, checkout: Path, clock: Clock
) -> None:
    """seconds: between the conversation and the last change of the file."""
    written = clock() + seconds
    os.utime(checkout / "src" / "app.py", (written, written))
    converse(inside, "s", f"Set up the pool. Remember that {RULE.lower()}", "Done.", folder=str(checkout))
    clock.sleep(minutes=20)
    run_phases(inside)
    [memory] = [memory for memory in fragments(inside) if cited_by(memory.metadata).files]
    assert inside.citations([memory]) == {memory.id: {"src/app.py": expected}}


def test_a_finding_of_a_language_model_cites_the_files_that_its_tool_calls_touched(
    inside: Lore, checkout: Path, clock: Clock
) -> None:
    written = clock() - 60
    os.utime(checkout / "src" / "app.py", (written, written))
    converse(
        inside,
        "s",
        f"Edit: {checkout}/src/app.py\ndone",
        "pytest src/app.py",
        folder=str(checkout),
        tool="Edit",
    )
    clock.sleep(minutes=20)
    found = item("The pool is set to four.", turns=[1, 2])
    answering, _ = with_answers(inside, extraction(found))
    run_phases(answering, "digest")
    [memory] = [memory for memory in fragments(inside) if memory.content == "The pool is set to four."]
    assert inside.citations([memory]) == {memory.id: {"src/app.py": "fresh"}}


# --- writing again
def state(lore: Lore, id: str) -> dict[str, str]:
    return dict(lore.citations([lore.read(id, use=False).memory]).get(id, {}))


def test_only_storing_revising_and_accepting_record_new_content(inside: Lore, checkout: Path) -> None:
    id = inside.remember(Draft(content=RULE)).id
    app = checkout / "src" / "app.py"
    app.write_text("pool = 8\n")
    inside.read(id)
    inside.search(Query(text="pool"))
    inside.revise(Revision(id=id, importance=0.9))
    assert state(inside, id) == {"src/app.py": "changed"}
    inside.revise(Revision(id=id, content=f"{RULE} Really."))
    assert state(inside, id) == {"src/app.py": "fresh"}
    app.write_text("pool = 16\n")
    assert inside.remember(Draft(content=f"{RULE} Really.", once=True)).id == id
    assert state(inside, id) == {"src/app.py": "fresh"}
    app.write_text("pool = 32\n")
    assert inside.cite([id]) == [id]
    assert state(inside, id) == {"src/app.py": "fresh"}
    assert inside.history(id)[-1].cause.verb == "cite"


def test_a_text_that_names_no_file_any_more_cites_none(inside: Lore) -> None:
    id = inside.remember(Draft(content=RULE, metadata={"tool": "Edit"})).id
    assert inside.revise(Revision(id=id, content="The pool is small.")).metadata == {"tool": "Edit"}


def test_accepting_drops_files_that_are_gone(inside: Lore, checkout: Path) -> None:
    id = inside.remember(Draft(content=RULE)).id
    (checkout / "src" / "app.py").unlink()
    assert state(inside, id) == {"src/app.py": "gone"}
    inside.cite([id])
    assert CITATIONS not in inside.read(id).memory.metadata


def test_what_cannot_be_accepted_is_refused_and_nothing_changes(inside: Lore, lore: Lore) -> None:
    id = inside.remember(Draft(content=RULE)).id
    before = lore.read(id, use=False).memory
    foreign = lore.remember(Draft(content="src/app.py of a tug", project="example.org/tug")).id
    with pytest.raises(NotFound, match="unknown memory nobody"):
        inside.cite([id, "nobody"])
    with pytest.raises(Invalid, match=r"belongs to example\.org/tug; this repository is"):
        inside.cite([id, foreign])
    with pytest.raises(Invalid, match="in no repository"):
        lore.cite([id])
    assert lore.read(id, use=False).memory == before
