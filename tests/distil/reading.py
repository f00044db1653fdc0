"""Conversations written down as text, what is expected of their digests, and how far it is met."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lore.distil.base import Digest, Finding, Role, Spoken

FOLDER = Path(__file__).parent / "conversations"
SECONDS_PER_TURN = 40.0

_TURN = re.compile(r"^(user|assistant|summary|tool \w+): ?(.*)$")
_CLOCK = re.compile(r"^@ (\d{4}-\d{2}-\d{2} \d{2}:\d{2})$")
_EXPECTED = re.compile(r"^([+~-]) (?:([\w|]+): )?(.*)$")
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "summary": "summary"}


@dataclass(frozen=True, slots=True)
class Expected:
    """mark: + must be found, ~ may be, - must not. ways: any of these, with all its words in a finding."""

    mark: str
    types: frozenset[str]
    ways: tuple[tuple[str, ...], ...]

    def met_by(self, finding: Finding) -> bool:
        text = finding.text.lower()
        return any(all(word in text for word in way) for way in self.ways) and (
            not self.types or finding.type in self.types
        )

    def __str__(self) -> str:
        ways = " | ".join("; ".join(way) for way in self.ways)
        return f"{self.mark} {'|'.join(sorted(self.types))}: {ways}"


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    spoken: tuple[Spoken, ...]
    expected: tuple[Expected, ...]


@dataclass(frozen=True, slots=True)
class Judged:
    """missed: of what must be found. forbidden: what was found and must not be. unlisted: not asked for."""

    wanted: int
    missed: tuple[Expected, ...]
    forbidden: tuple[Finding, ...]
    unlisted: tuple[Finding, ...]
    findings: int


def conversation(path: Path) -> Conversation:
    told, _, expected = path.read_text(encoding="utf-8").partition("=== expect\n")
    return Conversation(path.stem, tuple(_spoken(told)), tuple(_expected(expected)))


def judged(digest: Digest, expected: tuple[Expected, ...]) -> Judged:
    findings = [finding for topic in digest.topics for finding in topic.findings]
    wanted = [one for one in expected if one.mark == "+"]
    barred = [one for one in expected if one.mark == "-"]
    forbidden = tuple(finding for finding in findings if any(one.met_by(finding) for one in barred))
    welcome = [one for one in expected if one.mark != "-"]
    return Judged(
        wanted=len(wanted),
        missed=tuple(one for one in wanted if not any(one.met_by(finding) for finding in findings)),
        forbidden=forbidden,
        unlisted=tuple(
            finding
            for finding in findings
            if finding not in forbidden and not any(one.met_by(finding) for one in welcome)
        ),
        findings=len(findings),
    )


def _spoken(told: str) -> Iterator[Spoken]:
    at = 0.0
    number = 0
    for speaker, lines in _turns(told):
        if speaker == "@":
            at = datetime.strptime(lines[0], "%Y-%m-%d %H:%M").replace(tzinfo=UTC).timestamp()
            continue
        number += 1
        at += SECONDS_PER_TURN
        tool = speaker.removeprefix("tool ") if speaker.startswith("tool ") else ""
        failed = bool(tool) and lines[-1] == "failed"
        text = "\n".join(lines[:-1] if failed else lines).strip()
        yield Spoken(
            number=number,
            role="tool" if tool else ROLES[speaker],
            text=f"{tool}: {text}" if tool else text,
            at=at,
            tool=tool,
            failed=failed,
        )


def _turns(told: str) -> Iterator[tuple[str, list[str]]]:
    """Who spoke, and the lines of it; a clock time is spoken by @."""
    speaker, lines = "", [""]
    for line in told.splitlines()[1:]:
        turn, clock = _TURN.match(line), _CLOCK.match(line)
        if turn or clock:
            if speaker:
                yield speaker, _trimmed(lines)
            speaker, lines = (turn.group(1), [turn.group(2)]) if turn else ("@", [line[2:]])
        else:
            lines.append(line)
    yield speaker, _trimmed(lines)


def _trimmed(lines: list[str]) -> list[str]:
    while len(lines) > 1 and not lines[-1]:
        lines = lines[:-1]
    return lines


def _expected(told: str) -> Iterator[Expected]:
    for line in told.splitlines():
        found = _EXPECTED.match(line)
        assert found, f"an expectation begins with +, ~ or -: {line!r}"
        mark, types, ways = found.groups()
        yield Expected(
            mark,
            frozenset((types or "").split("|")) - {""},
            tuple(tuple(word.strip().lower() for word in way.split(";")) for way in ways.split(" | ")),
        )
