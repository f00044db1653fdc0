"""Reading a transcript line by line: whole, in pieces, and after something happened to it."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from lore.transcripts.turns import LASTING, MOST_EARLIER, Heading, LineReader, Turn, TurnOrHeading

FIXTURES = Path(__file__).parent / "fixtures"


def lines_of(fixture: str) -> list[bytes]:
    return (FIXTURES / fixture).read_bytes().splitlines()


def lines(*records: object) -> list[bytes]:
    return [json.dumps(record).encode() for record in records]


def read(reader: type[LineReader], path: str, lines: Sequence[bytes], *splits: int) -> list[TurnOrHeading]:
    """What the lines say. At each split the reader is made anew, with its state as JSON gives it back."""
    one, said = reader(path, {}), list[TurnOrHeading]()
    for number, line in enumerate(lines, 1):
        if number in splits:
            one = reader(path, json.loads(json.dumps(one.state)))
        said += one.read(number, line)
    return said


def turns(said: Sequence[TurnOrHeading]) -> list[Turn]:
    return [one for one in said if isinstance(one, Turn)]


def headings(said: Sequence[TurnOrHeading]) -> list[Heading]:
    return [one for one in said if isinstance(one, Heading)]


def heard(said: Sequence[TurnOrHeading]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text) for turn in turns(said)]


def check(said: Sequence[TurnOrHeading]) -> None:
    """Everything that was said has a name and can be stored."""
    for one in said:
        assert one.session
        json.dumps(asdict(one), ensure_ascii=False, allow_nan=False).encode()
    for turn in turns(said):
        assert turn.uuid
        assert turn.text.strip()
    check_nothing_is_lost(said)


def check_nothing_is_lost(said: Sequence[TurnOrHeading]) -> None:
    """A turn that comes again soon has at least what it had."""
    last: dict[str, Turn] = {}
    for turn in turns(said):
        before = last.pop(turn.uuid, turn)
        for field in LASTING:
            assert getattr(before, field) in (None, "") or getattr(turn, field) not in (None, ""), field
        assert len(turn.reasoning) >= len(before.reasoning)
        last[turn.uuid] = turn
        last = dict(list(last.items())[-MOST_EARLIER:])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=4,
)


@st.composite
def mishaps(draw: st.DrawFn, lines: Sequence[bytes]) -> list[bytes]:
    """The lines with some of them missing, repeated, out of order, cut, garbled, or of another shape."""
    told = list(lines)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(told) - 1)))
        match draw(st.sampled_from(["drop", "repeat", "move", "cut", "garble", "reshape"])):
            case "drop" if len(told) > 1:
                del told[at]
            case "repeat":
                told.insert(draw(st.integers(0, len(told))), told[at])
            case "move":
                told.insert(draw(st.integers(0, len(told) - 1)), told.pop(at))
            case "cut":
                told[at] = told[at][: draw(st.integers(0, len(told[at])))]
            case "garble":
                byte = draw(st.integers(0, len(told[at])))
                told[at] = told[at][:byte] + draw(st.binary(max_size=3)) + told[at][byte + 1 :]
            case "reshape":
                told[at] = reshaped(told[at], draw(st.integers(0, 60)), draw(JSON))
    return told


def reshaped(line: bytes, at: int, value: object) -> bytes:
    """The line with another value in place of the one at a place in it, counted through all of its depth."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    places: list[tuple[Any, Any]] = []
    left = [record]
    while left:
        one = left.pop()
        keys = list(one) if isinstance(one, dict) else range(len(one)) if isinstance(one, list) else []
        places += [(one, key) for key in keys]
        left += [one[key] for key in keys]
    if places:
        holder, key = places[at % len(places)]
        holder[key] = value
    return json.dumps(record).encode()
