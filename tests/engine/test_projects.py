"""Projects: what is written in one belongs to it, and a search within one finds nothing of another."""

from pathlib import Path

import pytest

from lore import Draft, Filter, Invalid, Lore, Query, Tie
from lore.engine.reflect import Lesson, Reflection
from lore.surfaces import SURFACES
from tests.transcripts.test_project import git

FERRY, TUG = "example.org/harbour/ferry", "example.org/harbour/tug"
OURS = Filter(projects=frozenset({FERRY}))


def keep(lore: Lore, content: str, project: str = "") -> str:
    return lore.remember(Draft(content=content, project=project)).id


def found(lore: Lore, text: str, where: Filter = OURS, **asked: object) -> set[str]:
    return {hit.memory.id for hit in lore.search(Query(text=text, where=where, **asked)).hits}  # type: ignore[arg-type]


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    git(folder, "init")
    git(folder, "commit", "--allow-empty", "-m", "begin")
    return folder


# --- searching
@pytest.mark.parametrize("settled", [True, False], ids=["by meaning too", "by words"])
def test_a_search_within_a_project_finds_its_own_and_nobodys(settled: bool, lore: Lore) -> None:
    ours, theirs, nobodys = (keep(lore, "the walrus sleeps", key) for key in (FERRY, TUG, ""))
    if settled:
        lore.embed_pending()
    assert found(lore, "walrus") == {ours, nobodys}
    assert found(lore, "walrus", Filter(projects=frozenset({FERRY, TUG}))) == {ours, theirs, nobodys}
    assert found(lore, "walrus", Filter()) == {ours, theirs, nobodys}


def test_meaning_alone_does_not_lead_into_another_project(lore: Lore) -> None:
    ours, _ = (keep(lore, "electrocardiography", key) for key in (FERRY, TUG))
    lore.embed_pending()
    assert found(lore, "cardiographic") == {ours}


@pytest.mark.parametrize(("policy", "deep"), [("tree", True), ("typed", False)], ids=["deep", "as a list"])
def test_links_do_not_lead_into_another_project(policy: str, deep: bool, lore: Lore) -> None:
    seed, ours, theirs = (
        keep(lore, text, key)
        for text, key in (("the walrus sleeps", FERRY), ("a quiet bay", FERRY), ("an anchor chain", TUG))
    )
    lore.embed_pending()
    lore.link(
        [Tie(source=seed, target=ours), Tie(source=seed, target=theirs), Tie(source=ours, target=theirs)]
    )
    assert found(lore, "walrus", Filter(), policy=policy, deep=deep) == {seed, ours, theirs}
    assert found(lore, "walrus", policy=policy, deep=deep) == {seed, ours}


def test_memories_that_are_looked_up_pass_the_filter_too(lore: Lore) -> None:
    ours, theirs = (keep(lore, "the walrus sleeps", key) for key in (FERRY, TUG))
    both = Filter(ids=(ours, theirs), projects=frozenset({FERRY}))
    assert found(lore, "", both) == {ours}


def test_an_empty_answer_counts_what_was_searched(lore: Lore) -> None:
    for project in (FERRY, FERRY, TUG, TUG, TUG, ""):
        keep(lore, "the walrus sleeps", project)
    assert lore.search(Query(text="zeppelin", where=OURS)).stored == 3
    assert lore.search(Query(text="zeppelin")).stored == 6


# --- writing
@pytest.mark.parametrize(
    ("draft", "project"),
    [
        (Draft(content="x"), FERRY),
        (Draft(content="x", type="decision"), FERRY),
        (Draft(content="x", type="preference"), ""),
        (Draft(content="x", type="identity"), ""),
        (Draft(content="x", kind="entity", title="Anna"), ""),
        (Draft(content="x", kind="observation"), ""),
        (Draft(content="x", project=""), ""),
        (Draft(content="x", project=TUG), TUG),
        (Draft(content="x", type="preference", project=TUG), TUG),
    ],
)
def test_what_is_written_in_a_project_belongs_to_it_unless_it_is_about_the_user(
    draft: Draft, project: str, lore: Lore, tmp_path: Path
) -> None:
    folder = made(tmp_path / "ferry")
    git(folder, "remote", "add", "origin", f"https://{FERRY}.git")
    assert lore.in_folder(str(folder)).remember(draft).project == project


def test_a_project_that_cannot_be_stored_is_refused(lore: Lore) -> None:
    with pytest.raises(Invalid, match="project is not valid Unicode"):
        lore.remember(Draft(content="x", project="\ud800"))


def test_outside_of_a_repository_nothing_belongs_to_a_project(lore: Lore, tmp_path: Path) -> None:
    assert lore.remember(Draft(content="x")).project == ""
    assert lore.in_folder(str(tmp_path)).remember(Draft(content="x")).project == ""
    assert lore.in_folder("").project == ""


def test_worktrees_share_what_was_written_and_folders_of_one_name_do_not(lore: Lore, tmp_path: Path) -> None:
    main, other = made(tmp_path / "work" / "ferry"), made(tmp_path / "play" / "ferry")
    git(main, "worktree", "add", str(tmp_path / "elsewhere"))
    kept = lore.in_folder(str(main)).remember(Draft(content="the walrus sleeps")).id

    def seen_from(folder: Path) -> set[str]:
        return found(lore, "walrus", Filter(projects=frozenset({lore.in_folder(str(folder)).project})))

    assert seen_from(tmp_path / "elsewhere") == seen_from(main) == {kept}
    assert seen_from(other) == set()


def test_another_reader_is_at_work_in_the_same_project(lore: Lore, tmp_path: Path) -> None:
    here = lore.in_folder(str(made(tmp_path / "ferry")))
    assert here.for_namespace("anna", "typed", "me").remember(Draft(content="x")).project == str(
        tmp_path / "ferry"
    )


def test_what_a_session_taught_belongs_to_its_project(lore: Lore, tmp_path: Path) -> None:
    here = lore.in_folder(str(made(tmp_path / "ferry")))
    lesson = Lesson(text="Walruses need ice.", relation="learned_in", score=7.0)
    reflected = here.reflect(Reflection(session="s", title="t", account="What we did.", lessons=(lesson,)))
    note = here.read(reflected.learned[0].id, use=False).memory
    assert reflected.memory.project == note.project == str(tmp_path / "ferry")


# --- dialects
def call(lore: Lore, surface: str, tool: str, **arguments: object) -> str:
    return str(SURFACES[surface].tools[tool](lore, arguments).data)


def test_dialects_write_into_the_project_and_search_all_of_them(lore: Lore, tmp_path: Path) -> None:
    ferry, tug = (lore.in_folder(str(made(tmp_path / name))) for name in ("ferry", "tug"))
    call(ferry, "typed", "memory_save", content="The walrus sleeps on the ice.", memory_type="event")
    call(ferry, "typed", "memory_save", content="Anna prefers tea.", memory_type="preference")
    call(ferry, "tree", "store", content="A lighthouse stands on the cliff.")
    call(ferry, "scored", "lore_insert", memories=[{"title": "harbour", "content": "Harbours silt up."}])
    entity = {"name": "Anna", "entityType": "person", "observations": ["sails"]}
    call(ferry, "graph", "create_entities", entities=[entity])
    projects = {memory.content: memory.project for memory in lore.select(Filter(), 10)}
    assert projects["Anna prefers tea."] == projects["sails"] == ""
    ours = str(tmp_path / "ferry")
    assert [content for content, project in projects.items() if project == ours] == [
        "Harbours silt up.",
        "A lighthouse stands on the cliff.",
        "The walrus sleeps on the ice.",
    ]
    assert "walrus" in call(tug, "typed", "memory_recall", query="walrus")
