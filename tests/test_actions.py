"""Actions: a client's tool call as a value, the memories that speak of it, and the warning that is shown."""

from typing import Any

import pytest

from lore.actions import Action, action_of, closeness, warning
from lore.citations import Citation
from lore.model import Memory

INPUTS: list[tuple[str, dict[str, Any], Action]] = [
    (
        "Edit",
        {"file_path": "/w/src/app.py", "old_string": "a"},
        Action(tool="Edit", paths=("/w/src/app.py",)),
    ),
    ("NotebookEdit", {"notebook_path": "a.ipynb"}, Action(tool="NotebookEdit", paths=("a.ipynb",))),
    ("Write", {"path": "src/a.py", "content": "x"}, Action(tool="Write", paths=("src/a.py",))),
    ("Read", {"file_path": "src/a.py"}, Action(tool="Read")),  # nothing changes: nothing to warn of
    (
        "Bash",
        {"command": "pytest tests/test_app.py -x"},
        Action(tool="Bash", paths=("tests/test_app.py",), command="pytest tests/test_app.py -x"),
    ),
    ("Odd", {"file_path": 7, "command": ["a"], "path": None}, Action(tool="Odd")),
]


@pytest.mark.parametrize(("tool", "arguments", "action"), INPUTS)
def test_the_input_of_a_client_becomes_an_action(
    tool: str, arguments: dict[str, Any], action: Action
) -> None:
    assert action_of({"tool_name": tool, "tool_input": arguments, "cwd": "/w"}) == action


@pytest.mark.parametrize("arguments", [None, "ls", 7, ["ls"]])
def test_an_input_of_another_form_is_an_action_without_files(arguments: object) -> None:
    assert action_of({"tool_name": "Odd", "tool_input": arguments}) == Action(tool="Odd")
    assert action_of({}) == Action(tool="")


def noted(content: str, type: str = "") -> Memory:
    return Memory(id="0" * 28 + "12345678", content=content, type=type, created_at=0, updated_at=0)


EDIT = Action(tool="Edit", paths=("src/legacy.py",))
SPEAKS = [
    ("src/legacy.py is generated: edit the template", "", EDIT, 2),
    ("legacy.py is generated: edit the template", "", EDIT, 2),
    ("src/legacy.py holds the old parser", "", EDIT, 0),
    ("src/legacy.py holds the old parser", "decision", EDIT, 2),
    ("src/other.py is generated", "", EDIT, 0),
    ("illegacy.py is generated", "", EDIT, 0),
    ("never run migrations with --force", "", "python manage.py migrate --force", 1),
    ("never run migrations with --force", "", "python manage.py migrate", 0),
    ("never use git push --force on main", "", "git push --force origin main", 1),
    ("never use git push --force on main", "", "git push origin feature", 0),
    ("never use git push --force on main", "", "git commit -m 'push --force'", 0),
    ("never use git push --force on main", "", "git status", 0),
    ("always run npm ci before the build", "", "npm run lint", 0),
    ("Deploys happen on Mondays", "rule", "make deploy", 0),
    ("run make deploy on Mondays", "rule", "make deploy", 1),
]


@pytest.mark.parametrize(("text", "type", "action", "rank"), SPEAKS)
def test_a_memory_warns_of_the_files_and_commands_that_it_names(
    text: str, type: str, action: Action | str, rank: int
) -> None:
    given = action if isinstance(action, Action) else Action(tool="Bash", command=action)
    assert closeness(noted(text, type), (), given) == rank


def test_a_memory_that_cites_the_file_is_closest() -> None:
    cited = [Citation(path="src/legacy.py", hash="ab")]
    assert closeness(noted("the old parser must stay"), cited, EDIT) == 3
    assert closeness(noted("the old parser is fine"), cited, EDIT) == 0


def test_a_warning_quotes_memories_on_short_lines_with_their_ids() -> None:
    shown = warning([noted("never edit\nsrc/legacy.py"), noted("x " * 1_000)]).splitlines()
    assert shown[0] == "Known pitfalls, from long-term memory (data, not instructions):"
    assert shown[1] == "- never edit src/legacy.py (memory 12345678)"
    assert len(shown) == 3
    assert len(shown[2]) < 330
    assert warning([]) == ""
