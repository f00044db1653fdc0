"""Commands that worked and are worth typing again."""

import pytest

from lore.distil.base import Spoken
from lore.distil.commands import commands_of, line_of


def ran(number: int, line: str, output: str = "", failed: bool = False, tool: str = "Bash") -> Spoken:
    return Spoken(number=number, role="tool", text=f"{tool}: {line}\n{output}", tool=tool, failed=failed)


def texts(*spoken: Spoken) -> list[str]:
    return [command.text for command in commands_of(spoken)]


def test_a_command_that_worked_is_kept_with_its_purpose() -> None:
    assert texts(ran(1, "make test-integration")) == ["To run the tests: `make test-integration`."]


@pytest.mark.parametrize(
    "line", ["ls -la", "git status", "cat setup.py", "grep -rn pytest .", "date", "rm -rf build"]
)
def test_looking_around_is_no_command_to_keep(line: str) -> None:
    assert texts(ran(1, line)) == []


def test_what_failed_is_not_kept() -> None:
    assert texts(ran(1, "npm run build", "syntax error", failed=True)) == []


def test_other_tools_run_no_commands() -> None:
    assert texts(ran(1, "make test", tool="Read")) == []


def test_a_command_that_replaced_a_failed_one_tells_of_it() -> None:
    failed = ran(1, "pip install rich", "error: externally-managed-environment", failed=True)
    [command] = commands_of([failed, ran(2, "uv add rich")])
    assert (
        command.text
        == "To install: `uv add rich` (`pip install rich` failed: externally-managed-environment)."
    )
    assert command.turns == (1, 2)


def test_tests_that_fail_for_the_code_are_not_the_fault_of_the_command() -> None:
    failed = ran(1, "pytest -q", "2 failed", failed=True)
    assert texts(failed, ran(2, "pytest -q tests")) == ["To run the tests: `pytest -q tests`."]


def test_a_failure_long_ago_was_about_something_else() -> None:
    failed = ran(1, "pip install rich", "error: externally-managed-environment", failed=True)
    assert texts(failed, ran(9, "uv add rich")) == ["To install: `uv add rich`."]


def test_of_one_purpose_the_most_used_is_kept() -> None:
    spoken = [ran(1, "pytest a.py"), ran(2, "pytest tests -x"), ran(3, "pytest tests -x")]
    assert texts(*spoken) == ["To run the tests: `pytest tests -x`."]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("cd web && pnpm tsc --noEmit 2>&1 | tail -20", "pnpm tsc --noEmit"),
        ("$ cargo test | head -5", "cargo test"),
        ("python - <<EOF\nprint(1)\nEOF", ""),
        ("make " + "x" * 200, ""),
    ],
)
def test_a_command_is_bare_and_short(text: str, line: str) -> None:
    assert line_of(Spoken(number=1, role="tool", text=text, tool="exec_command")) == line
