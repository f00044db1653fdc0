"""Condense: a conversation as a language model reads it; what is worth least is shortened first."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeAlias

from lore.distil.base import Spoken
from lore.text import CHARACTERS_PER_TOKEN, preview, tokens_in

Entry: TypeAlias = tuple[int, str]
"""The number of a turn, and what is shown of it."""
TAIL_SHARE = 0.25
"""The share of the end in a text that is cut."""
TURN_SHARE = 0.25
"""The largest share of a prompt that one turn may take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """The most characters of a turn, by what it is; a kind of turn with 0 is left out.

    closing: the last message of the agent before the user speaks again, and the very last. others: other
    messages of the agent, and summaries of the client. calls: a tool call that worked, without its result.
    errors: the beginning of the result of one that failed.
    """

    users: int = 8_000
    closing: int = 8_000
    others: int
    calls: int
    errors: int

    def within(self, most: int) -> "Measure":
        """The same with at most so many characters of a turn."""
        return replace(
            self,
            users=min(self.users, most),
            closing=min(self.closing, most),
            others=min(self.others, most),
        )


MEASURES = (
    Measure(others=600, calls=160, errors=400),
    Measure(others=300, calls=80, errors=300),
    Measure(others=300, calls=0, errors=200),
    Measure(others=120, calls=0, errors=100),
    Measure(others=0, calls=0, errors=60),
)
"""From the fullest to the shortest: tool calls go first, then what the agent said on its way."""
CALL_CHARACTERS = 160
"""The most characters of a call that failed."""


def condensed(turns: Sequence[Spoken], limit: int) -> list[list[Entry]]:
    """The conversation in one part within `limit` characters, as full as it can be, or in several.

    limit: 0 for none. What the user and the closing messages say is never left out: if only that does not
    fit, it is told in parts of similar length, which begin with a user's turn where possible.
    """
    if not turns:
        return []
    closing = _closing(turns)
    for measure in MEASURES:
        entries = _entries(turns, closing, _limited(measure, limit))
        if not limit or _size(entries) <= limit:
            return [entries]
    sizes = [_size([entry]) for entry in entries]
    by_number = {turn.number: turn for turn in turns}
    return [_fullest(part, closing, limit) for part in _cut(turns, entries, sizes, limit, by_number)]


def _fullest(turns: Sequence[Spoken], closing: frozenset[int], limit: int) -> list[Entry]:
    for measure in MEASURES:
        entries = _entries(turns, closing, _limited(measure, limit))
        if _size(entries) <= limit:
            break
    return entries


def _limited(measure: Measure, limit: int) -> Measure:
    return measure.within(max(1, int(limit * TURN_SHARE))) if limit else measure


def _closing(turns: Sequence[Spoken]) -> frozenset[int]:
    """The numbers of the last messages of the agent before each prompt of the user, and before the end."""
    found: set[int] = set()
    last = 0
    for turn in turns:
        if turn.role == "user" and last:
            found.add(last)
            last = 0
        elif turn.role == "assistant":
            last = turn.number
    return frozenset(found | ({last} if last else set()))


def _entries(turns: Sequence[Spoken], closing: frozenset[int], measure: Measure) -> list[Entry]:
    entries: list[Entry] = []
    day = ""
    for turn in turns:
        text = _text(turn, turn.number in closing, measure)
        if not text:
            continue
        today = "" if turn.at is None else datetime.fromtimestamp(turn.at, UTC).strftime("%Y-%m-%d")
        dated = f", {today}" if today and today != day else ""
        day = today or day
        entries.append((turn.number, f"{_speaker(turn)}{dated}: {text}"))
    return entries


def _speaker(turn: Spoken) -> str:
    return " ".join(filter(None, (turn.role, turn.tool, "(failed)" if turn.failed else "")))


def _text(turn: Spoken, closing: bool, measure: Measure) -> str:
    if turn.role == "tool":
        return _call(turn, measure)
    if turn.role == "user":
        return _shortened(turn.text, measure.users)
    return _shortened(turn.text, measure.closing if closing else measure.others)


def _call(turn: Spoken, measure: Measure) -> str:
    """A call on one line; of its result only an error is worth reading."""
    call, _, result = turn.text.partition("\n")
    call = call.strip().removeprefix(f"{turn.tool}: ") if turn.tool else call.strip()
    if not turn.failed:
        return preview(call, measure.calls) if measure.calls else ""
    error = preview(result, measure.errors)
    return " → ".join(filter(None, (preview(call, CALL_CHARACTERS), error)))


def _shortened(text: str, most: int) -> str:
    """The beginning and the end of a long text, and the number of characters left out between them."""
    text = text.strip()
    if len(text) <= most or not most:
        return text if most else ""
    last = int(most * TAIL_SHARE)
    first = most - last
    return f"{text[:first].rstrip()} […{len(text) - most:,} characters left out…] {text[-last:].lstrip()}"


def _size(entries: Sequence[Entry]) -> int:
    """Characters, as many as the tokens of other scripts would be worth."""
    return sum(tokens_in(text) * CHARACTERS_PER_TOKEN + CHARACTERS_PER_TOKEN for _, text in entries)


def _cut(
    turns: Sequence[Spoken],
    entries: Sequence[Entry],
    sizes: Sequence[int],
    limit: int,
    by_number: dict[int, Spoken],
) -> list[Sequence[Spoken]]:
    """The turns in parts of similar length, each within the limit."""
    share = sum(sizes) / math.ceil(sum(sizes) / limit)
    starts = [entries[0][0]]
    size = 0
    for (number, _), more in zip(entries, sizes, strict=True):
        wanted = size >= share * 0.9 and by_number[number].role == "user"
        if size and (wanted or size + more > min(limit, share * 1.1)):
            starts.append(number)
            size = 0
        size += more
    ends = [*starts[1:], turns[-1].number + 1]
    firsts = [turns[0].number, *starts[1:]]
    return [
        [turn for turn in turns if begin <= turn.number < end]
        for begin, end in zip(firsts, ends, strict=True)
    ]
