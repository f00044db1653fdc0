"""Commands: what was typed into a shell, worked, and is worth typing again."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lore.distil.base import Spoken
from lore.distil.phrases import alternatives, names_of, pattern
from lore.patterns import regex

LONGEST, LONGEST_ERROR = 140, 100
LONGEST_READ = 1_000
"""Characters of a line that are looked at."""
SOON = 4
"""Within so many turns a command that works takes the place of one that failed."""

_SHELL = regex(r"bash|shell|exec|terminal|powershell|command|zsh", re.IGNORECASE)
_PURPOSES: Mapping[str, re.Pattern[str]] = {
    name: regex(rf"(?<!\w){alternatives(name, 'purpose')}(?!\w)", re.IGNORECASE)
    for name in names_of("purpose")
}
"""What a command is good for, in the order of asking."""
_PREFIX = regex(r"^(?:cd\s+\S+\s*(?:&&|;)\s*)+|^\$\s+")
_SUFFIX = regex(r"\s*(?:2>&1|\|\s*(?:tail|head|grep|tee|less|cat)\b[^|&;]*|\|\|\s*true|>\s*/dev/null)\s*$")
_LOOKING = regex(
    r"^(?:sudo\s+)?(?:ls|cat|grep|rg|find|head|tail|sed|awk|echo|which|git|wc|ps|for|while|if|until|rm|cp|mv|test"
    r"|mkdir|touch|chmod|kill|date|env|type|man|jq|curl|wget)\b"
)
_MISUSED = pattern("misused")


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that worked. failed: the one before it that should have done the same; why: what it said."""

    line: str
    purpose: str
    turns: tuple[int, ...]
    failed: str = ""
    why: str = ""

    @property
    def text(self) -> str:
        """As a sentence."""
        text = f"{self.purpose}: `{self.line}`"
        why = f": {self.why}" if self.why else ""
        return f"{text} (`{self.failed}` failed{why})." if self.failed else f"{text}."


def commands_of(spoken: Iterable[Spoken]) -> list[Command]:
    """Of those that worked, for each purpose the most used, or shortest; and what replaced a failed one."""
    uses: Counter[str] = Counter()
    found: dict[str, Command] = {}
    failures: dict[str, tuple[Spoken, str]] = {}
    for turn in spoken:
        line = line_of(turn)
        purpose = _purpose(line) if line else ""
        if not purpose:
            continue
        if turn.failed:
            failures[purpose] = (turn, line)
            continue
        uses[line] += 1
        before = failures.pop(purpose, None)
        command = found.get(line) or Command(line=line, purpose=purpose, turns=(turn.number,))
        soon = before and turn.number - before[0].number <= SOON
        found[line] = _after(before, command) if before and soon else command
    best: dict[str, Command] = {}
    for command in sorted(found.values(), key=lambda one: (-uses[one.line], len(one.line))):
        best.setdefault(command.purpose, command)
    kept = [command for command in found.values() if command.failed or command in best.values()]
    return sorted(kept, key=lambda command: command.turns)


def line_of(turn: Spoken) -> str:
    """What was typed, without changes of folder and cuts of the output; empty if it is no short command."""
    if turn.role != "tool" or not _SHELL.search(turn.tool):
        return ""
    first = turn.text[:LONGEST_READ].partition("\n")[0].removeprefix(f"{turn.tool}:").strip()
    line = _PREFIX.sub("", first)
    while (shorter := _SUFFIX.sub("", line)) != line:
        line = shorter
    ends_early = line.endswith(("\\", "<<EOF", "&&", "|", "{", "(")) or "<<" in line or "…" in line
    return "" if ends_early or not 4 <= len(line) <= LONGEST or "`" in line else line


def _purpose(line: str) -> str:
    if _LOOKING.match(line):
        return ""
    return next((purpose for purpose, pattern in _PURPOSES.items() if pattern.search(line)), "")


def _after(before: tuple[Spoken, str], command: Command) -> Command:
    """With the failure before it, if that was the fault of the command and not of the code."""
    turn, line = before
    output = turn.text.partition("\n")[2]
    errors = [line.strip() for line in output.splitlines() if _MISUSED.search(line[:LONGEST_READ])]
    if line == command.line or not (errors or line.split()[0] != command.line.split()[0]):
        return command
    why = errors[0].removeprefix("error: ")[:LONGEST_ERROR].rstrip(" .") if errors else ""
    return Command(
        line=command.line,
        purpose=command.purpose,
        turns=(turn.number, *command.turns),
        failed=line,
        why=why,
    )


def worth(commands: Sequence[Command]) -> dict[Command, float]:
    """How much each is worth keeping: one that was found by failing first most, installing least."""
    return {
        command: 0.6 if command.failed else 0.35 if command.purpose == "To install" else 0.45
        for command in commands
    }
