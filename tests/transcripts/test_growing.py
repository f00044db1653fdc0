"""growing: nothing of a file is read twice, nothing whole is missed, however it changes between two looks."""

import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.transcripts import growing
from lore.transcripts.base import Said, State, Turn
from lore.transcripts.growing import BEGINNING, Growing, Watermark, identity, still_true

TEXTS = st.binary(max_size=60).map(lambda text: text.replace(b"\n", b"").rstrip(b"\r"))
ENDS = st.sampled_from([b"\n", b"\r\n"])


def read(data: bytes, mark: Watermark = BEGINNING) -> list[tuple[int, bytes]]:
    return list(Growing(io.BytesIO(data), mark))


def texts(data: bytes) -> list[bytes]:
    return [text for _, text in read(data)]


def after(data: bytes, mark: Watermark = BEGINNING) -> Watermark:
    growing = Growing(io.BytesIO(data), mark)
    list(growing)
    return growing.mark


def true(mark: Watermark, data: bytes) -> bool:
    return still_true(mark, io.BytesIO(data))


@given(st.lists(st.tuples(TEXTS, ENDS)), TEXTS)
def test_whole_lines_with_either_end(written: list[tuple[bytes, bytes]], torn: bytes) -> None:
    data = b"".join(text + end for text, end in written) + torn
    assert read(data) == list(enumerate([text for text, _ in written], 1))
    assert after(data).offset == len(data) - len(torn)


@given(st.lists(TEXTS, min_size=1), st.data())
def test_a_file_that_grows_is_read_on(written: list[bytes], data: st.DataObject) -> None:
    """In pieces that end anywhere, also within a line."""
    whole = b"".join(text + b"\n" for text in written)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)))))
    mark = BEGINNING
    found: list[tuple[int, bytes]] = []
    for end in [*cuts, len(whole)]:
        assert true(mark, whole[:end])
        found += read(whole[:end], mark)
        mark = after(whole[:end], mark)
    assert found == list(enumerate(written, 1))


@given(st.lists(TEXTS, min_size=1), st.data())
def test_a_file_that_was_cut_is_another(written: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(text + b"\n" for text in written)
    assert not true(after(whole), whole[: data.draw(st.integers(0, len(whole) - 1))])


@given(st.lists(TEXTS, min_size=2, unique=True), st.data())
def test_a_file_that_was_written_anew_is_another(written: list[bytes], data: st.DataObject) -> None:
    """Its first or its last line tells."""
    whole = b"".join(text + b"\n" for text in written)
    changed = list(written)
    at = data.draw(st.sampled_from([0, len(written) - 1]))
    changed[at] += b"!"
    anew = b"".join(text + b"\n" for text in changed)
    assert not true(after(whole), anew + whole)


def test_to_ask_how_far_it_is_does_not_disturb_the_reading() -> None:
    growing = Growing(io.BytesIO(b"one\ntwo\nthree\n"))
    marks = [(text, growing.mark.offset, growing.mark.lines) for _, text in growing]
    assert marks == [(b"one", 4, 1), (b"two", 8, 2), (b"three", 14, 3)]


def test_a_beginning_is_always_true() -> None:
    assert true(BEGINNING, b"")
    assert true(BEGINNING, b"anything")


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "LONGEST_LINE", 100)


@pytest.mark.usefixtures("short_lines")
def test_a_line_that_nobody_said_is_passed_over() -> None:
    data = b"one\n" + b"x" * 350 + b"\nthree\n" + b"y" * 99 + b"\n"
    assert texts(data) == [b"one", b"", b"three", b"y" * 99]
    assert after(data).offset == len(data)
    assert true(after(data), data + b"more\n")


@pytest.mark.usefixtures("short_lines")
def test_a_long_line_without_an_end_waits() -> None:
    assert texts(b"one\n" + b"x" * 350) == [b"one"]


def test_long_lines_are_told_apart_by_their_ends() -> None:
    one, other = b"a" * 10_000 + b"1\n", b"a" * 10_000 + b"2\n"
    assert not true(after(b"first\n" + one), b"first\n" + other)
    assert true(after(b"first\n" + one), b"first\n" + one + other)


def test_a_renamed_file_keeps_its_identity(tmp_path: Path) -> None:
    before, later = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    before.write_bytes(b"hello\n")

    def looked_at(path: Path) -> tuple[int, int]:
        with path.open("rb") as file:
            return identity(file)

    known = looked_at(before)
    os.rename(before, later)
    assert looked_at(later) == known


def test_memory_stays_flat() -> None:
    """Nothing is read ahead of the line that is asked for, beyond a buffer."""

    class Counting(io.BytesIO):
        taken = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            self.taken += len(line)
            return line

    file = Counting(b"".join(b"%d\n" % number for number in range(10_000)))
    next(iter(Growing(file)))
    assert file.taken < 100


class Fragile:
    """A reader with a mistake in it: one line is more than it withstands."""

    def __init__(self, path: str, state: Mapping[str, Any]) -> None:
        self.state: State = {}

    def read(self, number: int, line: bytes) -> Sequence[Said]:
        if line == b"poison":
            raise KeyError("a mistake of ours")
        return [Turn(uuid=str(number), session="s", role="user", text=line.decode())]


def test_a_line_that_its_reader_does_not_withstand_is_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\npoison\nthree\n")
    with growing.opened(Fragile, path, []) as transcript:
        said = [turn.text for piece in transcript for turn in piece if isinstance(turn, Turn)]
        assert transcript.left.mark.lines == 3
    assert said == ["one", "three"]
    assert f"{path}, line 2, is passed over: KeyError: 'a mistake of ours'" in caplog.text
