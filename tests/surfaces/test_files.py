"""The files dialect: the six commands of the memory tool, with the sentences that models know."""

import random
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lore import Draft, Invalid, Lore, LoreError, Query
from lore.clock import Clock
from lore.engine.file_paths import FILE, ROOT, check_path
from lore.model import Filter, Revision
from lore.ranking.excerpt import excerpt
from lore.surfaces import SURFACES
from lore.surfaces.files import REDACTED, run_memory_tool
from tests.surfaces.checked import checked_call
from tests.surfaces.test_matrix import CHANGES, DELETES, MARK, NEWS, Call, each, run, save

NOTES = "/memories/notes.md"
TEXT = "Meeting on Monday\nBring the walrus\nThanks\n"
SECRET = "ghp_" + "".join(random.Random(5).choices(string.ascii_letters + string.digits, k=36))
FILES = Filter(kinds=frozenset({FILE}))
one_lore = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
"""All examples of a property use one store."""
LISTED = (
    "Here're the files and directories up to 2 levels deep in {}, excluding hidden items and node_modules:"
)


def call(lore: Lore, command: str, path: str | None = None, **more: Any) -> str:
    arguments = {"command": command, **({} if path is None else {"path": path}), **more}
    return str(checked_call(SURFACES["files"].tools["memory"], lore, arguments).data["text"])


def create(lore: Lore, path: str = NOTES, text: str = TEXT) -> str:
    return call(lore, "create", path, file_text=text)


def rename(lore: Lore, old: str, new: str) -> str:
    return call(lore, "rename", old_path=old, new_path=new)


def stored(lore: Lore) -> list[tuple[str, str, float | None]]:
    every = lore.select(Filter(superseded=True, forgotten=True), 1_000)
    return [(memory.title, memory.content, memory.forgotten_at) for memory in every]


def error(lore: Lore, command: str, path: str | None = None, **more: Any) -> str:
    """The words of a refusal; nothing has changed."""
    before = stored(lore)
    result = run_memory_tool(lore, {"command": command, **({"path": path} if path else {}), **more})
    assert result.is_error
    assert stored(lore) == before
    return result.content


def text_at(lore: Lore, path: str = NOTES) -> str:
    """The text of a file, read back from what a model sees."""
    head, *lines = call(lore, "view", path).split("\n")
    assert head == f"Here's the content of {path} with line numbers:"
    assert [line[:7] for line in lines] == [f"{number:6}\t" for number in range(1, len(lines) + 1)]
    return "\n".join(line[7:] for line in lines)


def listing(lore: Lore, path: str = ROOT) -> list[str]:
    head, *lines = call(lore, "view", path).split("\n")
    assert head == LISTED.format(path)
    return lines


# --- the commands
def test_a_file_is_created_and_shown_with_line_numbers(lore: Lore) -> None:
    assert create(lore) == f"File created successfully at: {NOTES}"
    assert call(lore, "view", NOTES) == (
        f"Here's the content of {NOTES} with line numbers:\n"
        "     1\tMeeting on Monday\n     2\tBring the walrus\n     3\tThanks\n     4\t"
    )
    assert call(lore, "view", NOTES, view_range=[2, 3]).split("\n")[1:] == [
        "     2\tBring the walrus",
        "     3\tThanks",
    ]
    assert call(lore, "view", NOTES, view_range=[3, -1]).endswith("\n     3\tThanks\n     4\t")
    assert call(lore, "view", NOTES, view_range=[0, 900]) == call(lore, "view", NOTES)
    for wrong in ([5, 6], [3, 2], [1, -2], [-1, 1], [-3, -1]):
        assert "The file has 4 lines" in error(lore, "view", NOTES, view_range=wrong)


def test_an_existing_file_is_not_overwritten(lore: Lore) -> None:
    create(lore)
    assert error(lore, "create", NOTES, file_text="new") == f"File {NOTES} already exists"
    assert text_at(lore) == TEXT


def test_a_folder_lists_two_levels_with_sizes_and_without_hidden_items(lore: Lore) -> None:
    assert listing(lore) == ["0B\t/memories"]
    create(lore, "/memories/b.md", "b" * 1_536)
    create(lore, "/memories/a/two.md", "é\n")
    create(lore, "/memories/a/deep/three.md", "333")
    create(lore, "/memories/a.md", "a")
    for hidden in ("/memories/.env", "/memories/.git/head", "/memories/a/node_modules/x.js"):
        create(lore, hidden, "h")
    assert listing(lore) == [
        "1.5K\t/memories",
        "7B\t/memories/a/",
        "3B\t/memories/a/deep/",
        "3B\t/memories/a/two.md",
        "1B\t/memories/a.md",
        "1.5K\t/memories/b.md",
    ]
    assert listing(lore, "/memories/a/deep") == call(lore, "view", "/memories/a/deep/").split("\n")[1:]
    assert listing(lore, "/memories/a/deep") == [
        "3B\t/memories/a/deep",
        "3B\t/memories/a/deep/three.md",
    ]
    assert listing(lore, "/memories/.git") == ["1B\t/memories/.git", "1B\t/memories/.git/head"]
    assert text_at(lore, "/memories/.env") == "h"


def test_a_text_that_occurs_once_is_replaced_and_the_answer_shows_the_place(lore: Lore) -> None:
    create(lore, text="".join(f"line {number}\n" for number in range(1, 10)))
    assert call(lore, "str_replace", NOTES, old_str="line 5", new_str="five\nand a half") == (
        "The memory file has been edited. Here is the snippet showing the change (with line numbers):\n"
        "     3\tline 3\n     4\tline 4\n     5\tfive\n     6\tand a half\n     7\tline 6\n     8\tline 7"
    )
    call(lore, "str_replace", NOTES, old_str="five\nand a half\n")
    assert text_at(lore) == "".join(f"line {number}\n" for number in (1, 2, 3, 4, 6, 7, 8, 9))


def test_a_text_that_is_missing_or_occurs_twice_is_not_replaced(lore: Lore) -> None:
    create(lore, text="same\nother\nsame same\naaa")
    assert error(lore, "str_replace", NOTES, old_str="none", new_str="x") == (
        f"No replacement was performed, old_str `none` did not appear verbatim in {NOTES}."
    )
    assert error(lore, "str_replace", NOTES, old_str="same", new_str="x") == (
        "No replacement was performed. Multiple occurrences of old_str `same` in lines: 1, 3. "
        "Please ensure it is unique"
    )
    assert "in lines: 4." in error(lore, "str_replace", NOTES, old_str="aa", new_str="x")  # they overlap
    assert "old_str is empty" in error(lore, "str_replace", NOTES, old_str="", new_str="x")


@pytest.mark.parametrize(
    ("text", "line", "new", "after"),
    [
        ("a\nb\n", 0, "top", "top\na\nb\n"),
        ("a\nb\n", 1, "mid\n", "a\nmid\nb\n"),
        ("a\nb\n", 2, "end", "a\nb\nend\n"),
        ("a\nb", 2, "end", "a\nb\nend\n"),
        ("a\nb", 0, "top", "top\na\nb"),
        ("a\n\n", 2, "x\n\n", "a\n\nx\n\n"),
        ("a\r\nb\r\n", 1, "mid\r\n", "a\r\nmid\r\nb\r\n"),
    ],
)
def test_lines_are_inserted_and_all_others_stay(
    text: str, line: int, new: str, after: str, lore: Lore
) -> None:
    create(lore, text=text)
    done = call(lore, "insert", NOTES, insert_line=line, insert_text=new)
    assert done == f"The file {NOTES} has been edited."
    assert text_at(lore) == after


def test_lines_are_inserted_within_the_file_only(lore: Lore) -> None:
    create(lore)
    for line in (-1, 4):
        assert error(lore, "insert", NOTES, insert_line=line, insert_text="x") == (
            f"Invalid `insert_line` parameter: {line}. "
            "It should be within the range of lines of the file: [0, 3]"
        )


def test_what_is_not_there_is_said_in_the_known_sentences(lore: Lore) -> None:
    create(lore, "/memories/folder/a.md")
    for path in ("/memories/none.md", "/memories/folder"):
        missing = f"The path {path} does not exist. Please provide a valid path."
        assert error(lore, "str_replace", path, old_str="a", new_str="b") == missing
        assert error(lore, "insert", path, insert_line=0, insert_text="b") == missing
    gone = "/memories/none.md"
    assert error(lore, "view", gone) == f"The path {gone} does not exist. Please provide a valid path."
    assert error(lore, "delete", gone) == f"The path {gone} does not exist"
    assert error(lore, "rename", old_path=gone, new_path=NOTES) == f"The path {gone} does not exist"
    assert "Cannot delete the /memories directory itself" in error(lore, "delete", "/memories/")


def test_a_folder_is_renamed_and_deleted_with_all_that_is_in_it(lore: Lore) -> None:
    for name in ("a.md", "sub/b.md", "sub/sub/c.md"):
        create(lore, f"/memories/old/{name}", name)
    create(lore, "/memories/old.md", "a neighbour that mentions /memories/old/a.md")
    assert rename(lore, "/memories/old", "/memories/new/home") == (
        "Successfully renamed /memories/old to /memories/new/home"
    )
    for name in ("a.md", "sub/b.md", "sub/sub/c.md"):
        assert text_at(lore, f"/memories/new/home/{name}") == name
    error(lore, "view", "/memories/old")
    assert call(lore, "delete", "/memories/new") == "Successfully deleted /memories/new"
    assert [line.partition("\t")[2] for line in listing(lore)] == ["/memories", "/memories/old.md"]


def test_nothing_is_moved_to_where_something_is_or_into_itself(lore: Lore) -> None:
    create(lore)
    create(lore, "/memories/folder/a.md")
    for taken in (NOTES, "/memories/folder", "/memories"):
        assert error(lore, "rename", old_path=NOTES, new_path=taken) == (
            f"The destination {taken} already exists"
        )
    for inside in ("/memories/folder/b", "/memories/folder/a/b"):
        assert "inside itself" in error(lore, "rename", old_path="/memories/folder", new_path=inside)
    assert "inside itself" in error(lore, "rename", old_path="/memories", new_path="/memories/all")
    below = f"{NOTES}/x.md"
    assert f"{NOTES} is a file" in error(lore, "rename", old_path="/memories/folder", new_path=below)
    assert f"{NOTES} is a file" in error(lore, "create", below, file_text="x")
    assert "already exists" in error(lore, "create", "/memories/folder", file_text="x")
    long = "/memories/" + "n" * 986
    assert "limit is 1,000" in error(lore, "rename", old_path="/memories/folder", new_path=long)


def test_a_command_without_its_arguments_names_them(lore: Lore) -> None:
    assert error(lore, "insert", NOTES) == "insert needs insert_line, insert_text"
    assert error(lore, "rename", NOTES) == "rename needs new_path, old_path"
    assert "'command'" in error(lore, "append", NOTES)
    assert "unknown argument 'text'" in error(lore, "create", NOTES, text="x")


# --- texts
@one_lore
@given(text=st.text(min_size=1).filter(lambda text: "\0" not in text and text.strip()))
def test_every_text_comes_back_as_it_was_written(lore: Lore, text: str) -> None:
    lore.edit_file(NOTES, lambda existing: "the text before")
    call(lore, "str_replace", NOTES, old_str="the text before", new_str=text)
    assert text_at(lore) == text


def test_a_file_of_the_largest_size_comes_back_whole_and_a_larger_one_is_refused(lore: Lore) -> None:
    largest = "é\n" * 16_666 + "ab"
    create(lore, text=largest)
    assert text_at(lore) == largest
    assert "50,001 bytes; the limit is 50,000" in error(
        lore, "str_replace", NOTES, old_str="ab", new_str="abc"
    )
    assert "the limit is 50,000" in error(lore, "create", "/memories/b", file_text="x" * 50_001)


@pytest.mark.parametrize("text", ["", " \n", "a\0b", "\ud800"])
def test_a_text_that_cannot_be_stored_is_refused(text: str, lore: Lore) -> None:
    assert f"the text of {NOTES}" in error(lore, "create", NOTES, file_text=text)
    create(lore, text="old")
    assert error(lore, "str_replace", NOTES, old_str="old", new_str=text)


def test_the_answer_says_so_when_a_secret_was_replaced(lore: Lore) -> None:
    assert REDACTED in create(lore, text=f"token: {SECRET}\n")
    assert SECRET not in text_at(lore)
    assert "[redacted" in text_at(lore)
    why = error(lore, "str_replace", NOTES, old_str=f"token: {SECRET}", new_str="x")
    assert "Secrets are stored as [redacted" in why
    assert REDACTED in call(lore, "insert", NOTES, insert_line=0, insert_text=f"again {SECRET}")
    changed = call(lore, "str_replace", NOTES, old_str="token: ", new_str=f"{SECRET}\ntoken: ")
    assert REDACTED in changed
    assert SECRET not in changed
    assert REDACTED not in call(lore, "insert", NOTES, insert_line=0, insert_text="harmless")


# --- paths
REFUSED = [
    "",
    "notes.md",
    "/",
    "/etc/passwd",
    "/memoriesX/a",
    "/Memories/a",
    "memories/a",
    "/memories/..",
    "/memories/../etc/passwd",
    "/memories/a/../../b",
    "/memories/./a",
    "/memories//a",
    "/memories/a//",
    "//memories/a",
    "/memories/%2e%2e/a",
    "/memories/%252e%252e/a",
    "/memories/a%2fb",
    "/memories\\a",
    "/memories/..\\a",
    "/memories/a\0b",
    "/memories/a\nb",
    "/memories/a\u200bb",
    "/memories/\u202ea",
    "/memories/\ud800",
    "/memories/a ",
    "/memories/ a/b",
    "/memories/a /b",
    "/memories/．．/a",
    "/memories/‥/a",
    "/memories／a",
    "/memories/ｅtc",
    f"/memories/{SECRET}",
    "/memories/" + "x" * 1_000,
]


@pytest.mark.parametrize("path", REFUSED)
def test_a_path_that_leads_elsewhere_or_looks_like_another_is_refused(path: str, lore: Lore) -> None:
    create(lore)
    for command, more in COMMANDS.items():
        given_path = {name: path for name in ("path", "old_path", "new_path")}
        why = error(lore, command, **{**more, **given_path})
        why.encode()
        assert SECRET not in why
    assert "path" in error(lore, "rename", old_path=NOTES, new_path=path)


COMMANDS: Mapping[str, dict[str, Any]] = {
    "view": {},
    "create": {"file_text": "x"},
    "str_replace": {"old_str": "a", "new_str": "b"},
    "insert": {"insert_line": 0, "insert_text": "x"},
    "delete": {},
    "rename": {},
}
PARTS = st.sampled_from(
    ["memories", "a", "A", "..", ".", "", "%2e%2e", "\\", "\0", " ", "é", "e\u0301", "．", "\ud800", "x.md"]
)
PATHS = st.text() | st.lists(PARTS | st.text(max_size=3), max_size=5).map(
    lambda parts: "/memories/" + "/".join(parts)
)
VALUES = st.none() | st.integers() | st.floats() | st.text(max_size=5) | st.lists(st.integers(), max_size=3)


@given(path=PATHS)
def test_no_path_reaches_outside_and_each_has_one_form(path: str) -> None:
    try:
        checked = check_path(path)
    except Invalid as refusal:
        str(refusal).encode()
    else:
        first, root, *parts = checked.split("/")
        assert (first, root) == ("", "memories")
        assert all(part.strip() == part and part not in ("", ".", "..") for part in parts)
        assert "\\" not in checked
        assert checked.isprintable()
        assert check_path(checked) == checked


@one_lore
@given(data=st.data())
def test_no_input_ends_otherwise_than_in_an_answer(lore: Lore, data: st.DataObject) -> None:
    names = ["command", "path", "old_path", "view_range", "insert_line", "file_text", "old_str", "x"]
    command = st.sampled_from([*COMMANDS, "x"])
    picked = {name: data.draw(VALUES) for name in data.draw(st.sets(st.sampled_from(names)))}
    paths = {name: data.draw(PATHS) for name in ("path", "old_path", "new_path")}
    more = {"insert_text": "x", "insert_line": 0, "file_text": "one", "old_str": "o"}
    result = run_memory_tool(lore, {"command": data.draw(command), **paths, **more, **picked})
    result.content.encode()
    assert all(file.title.startswith(f"{ROOT}/") for file in lore.select(FILES, 10_000))


def test_one_name_in_two_encodings_is_one_file_and_case_matters(lore: Lore) -> None:
    create(lore, "/memories/caf\u00e9.md", "one")
    assert "already exists" in error(lore, "create", "/memories/cafe\u0301.md", file_text="two")
    create(lore, "/memories/CAF\u00c9.md", "two")
    assert text_at(lore, "/memories/caf\u00e9.md") == "one"


# --- one store
@each(CHANGES)
def test_a_change_through_another_dialect_changes_the_file(call: Call, lore: Lore) -> None:
    tool, given = call
    run(lore, tool, given(save(lore, "files.memory")))
    assert text_at(lore, "/memories/station.md") == NEWS


@each(DELETES)
def test_what_another_dialect_deletes_is_no_file_any_more(call: Call, lore: Lore) -> None:
    tool, given = call
    saved = save(lore, "files.memory")
    run(lore, tool, given(saved))
    assert listing(lore) == ["0B\t/memories"]
    create(lore, "/memories/station.md", "another")
    with pytest.raises(LoreError, match="already exists"):
        lore.restore([saved.id])
    assert MARK not in text_at(lore, "/memories/station.md")


def test_memories_of_other_dialects_are_no_files(lore: Lore) -> None:
    lore.remember(Draft(content="A note.", title=NOTES))
    with pytest.raises(Invalid, match="surface files"):
        lore.remember(Draft(content="Another.", kind=FILE, title=NOTES))
    assert listing(lore) == ["0B\t/memories"]
    create(lore)
    assert text_at(lore) == TEXT


def test_the_path_of_a_file_stays_when_its_text_changes(lore: Lore) -> None:
    create(lore, text=NOTES)
    [file] = lore.select(FILES, 10)
    lore.revise(Revision(id=file.id, content="new"))
    assert text_at(lore) == "new"
    with pytest.raises(Invalid, match="rename the file"):
        lore.revise(Revision(id=file.id, title="/memories/other.md"))


def test_each_namespace_has_its_own_files(lore: Lore) -> None:
    create(lore, text="shared")
    anna, ben = lore.for_namespace("anna"), lore.for_namespace("ben")
    assert listing(anna) == ["0B\t/memories"]
    create(anna, text="of anna")
    create(ben, text="of ben")
    call(anna, "delete", NOTES)
    assert text_at(ben) == "of ben"
    assert text_at(lore) == "shared"


def test_the_history_has_every_version_and_a_deleted_file_comes_back(lore: Lore, clock: Clock) -> None:
    create(lore, text="first")
    clock.sleep(hours=1)
    call(lore, "str_replace", NOTES, old_str="first", new_str="second")
    [file] = lore.select(FILES, 10)
    rename(lore, NOTES, "/memories/new.md")
    call(lore, "delete", "/memories/new.md")
    before = [dict(entry.before or {}) for entry in lore.history(file.id)]
    assert [one["content"] for one in before if "content" in one] == ["first"]
    assert [one["title"] for one in before if "title" in one] == [NOTES]
    lore.restore([file.id])
    assert text_at(lore, "/memories/new.md") == "second"


def test_two_files_do_not_come_back_to_one_path(lore: Lore) -> None:
    for text in ("first", "second"):
        create(lore, text=text)
        call(lore, "delete", NOTES)
    create(lore, f"{NOTES}/below", "third")
    call(lore, "delete", NOTES)
    ids = [file.id for file in lore.select(Filter(forgotten=True, kinds=FILES.kinds), 10)]
    assert len(ids) == 3
    with pytest.raises(LoreError, match="one by one"):
        lore.restore(ids[1:])
    with pytest.raises(LoreError, match="one by one"):
        lore.restore(ids[:2])
    assert listing(lore) == ["0B\t/memories"]


def test_a_search_finds_the_passage_of_a_long_file(lore: Lore) -> None:
    lines = [f"Item {number}: nothing to see about topic {number * 7}." for number in range(700)]
    lines[555] = "The spare key of the lighthouse hangs behind the barometer."
    create(lore, text="\n".join(lines))
    lore.embed_pending()
    [hit, *_] = lore.search(Query(text="where is the spare key of the lighthouse?")).hits
    assert hit.memory.title == NOTES
    assert "behind the barometer" in excerpt(hit.memory.content, "spare key of the lighthouse", 300)
    [result] = run(lore, "tree.search", {"query": "spare key lighthouse", "detail": "preview"})["results"]
    assert "behind the barometer" in str(result)


def test_a_view_counts_as_use_and_a_listing_does_not(lore: Lore) -> None:
    create(lore)
    listing(lore)
    assert lore.select(FILES, 1)[0].access_count == 0
    call(lore, "view", NOTES)
    assert lore.select(FILES, 1)[0].access_count == 1


def test_the_example_of_the_page_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LORE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "hash")
    page = (Path(__file__).parents[2] / "docs" / "memory-tool.md").read_text(encoding="utf-8")
    example = page.split("```python\n")[1].split("```")[0]
    exec(compile(example, "docs/memory-tool.md", "exec"), {})
    assert capsys.readouterr().out == "File created successfully at: /memories/team.md False\n"
