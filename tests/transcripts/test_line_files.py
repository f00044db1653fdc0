"""No line of a file is read twice and no whole line is missed, however the file changes between readings."""

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.bookmark import Bookmark
from lore.transcripts import line_files
from lore.transcripts.line_files import WholeLines, still_valid
from lore.transcripts.turns import State, Turn, TurnOrHeading

BEGINNING = Bookmark(path="a.jsonl")
TEXTS = st.binary(max_size=60).map(lambda text: text.replace(b"\n", b"").rstrip(b"\r"))
ENDS = st.sampled_from([b"\n", b"\r\n"])


def read(data: bytes, mark: Bookmark = BEGINNING) -> list[tuple[int, bytes]]:
    return list(WholeLines(io.BytesIO(data), mark))


def texts(data: bytes) -> list[bytes]:
    return [text for _, text in read(data)]


def after(data: bytes, mark: Bookmark = BEGINNING) -> Bookmark:
    lines = WholeLines(io.BytesIO(data), mark)
    list(lines)
    return lines.bookmark


def true(mark: Bookmark, data: bytes) -> bool:
    return still_valid(mark, io.BytesIO(data))


@given(st.lists(st.tuples(TEXTS, ENDS)), TEXTS)
def test_lines_end_with_a_newline_with_or_without_a_carriage_return(
    written: list[tuple[bytes, bytes]], torn: bytes
) -> None:
    data = b"".join(text + end for text, end in written) + torn
    assert read(data) == list(enumerate([text for text, _ in written], 1))
    assert after(data).offset == len(data) - len(torn)


@given(st.lists(TEXTS, min_size=1), st.data())
def test_a_growing_file_is_read_from_its_bookmark(written: list[bytes], data: st.DataObject) -> None:
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
def test_a_bookmark_is_not_valid_for_a_truncated_file(written: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(text + b"\n" for text in written)
    assert not true(after(whole), whole[: data.draw(st.integers(0, len(whole) - 1))])


@given(st.lists(TEXTS, min_size=2, unique=True), st.data())
def test_a_bookmark_is_not_valid_for_a_rewritten_file(written: list[bytes], data: st.DataObject) -> None:
    """Its first or its last line tells."""
    whole = b"".join(text + b"\n" for text in written)
    changed = list(written)
    at = data.draw(st.sampled_from([0, len(written) - 1]))
    changed[at] += b"!"
    anew = b"".join(text + b"\n" for text in changed)
    assert not true(after(whole), anew + whole)


def test_taking_a_bookmark_does_not_disturb_the_reading() -> None:
    lines = WholeLines(io.BytesIO(b"one\ntwo\nthree\n"), BEGINNING)
    marks = [(text, lines.bookmark.offset, lines.bookmark.lines) for _, text in lines]
    assert marks == [(b"one", 4, 1), (b"two", 8, 2), (b"three", 14, 3)]


def test_a_bookmark_at_the_beginning_is_valid_for_any_file() -> None:
    assert true(BEGINNING, b"")
    assert true(BEGINNING, b"anything")


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_files, "LONGEST_LINE", 100)


@pytest.mark.usefixtures("short_lines")
def test_a_line_over_the_limit_is_passed_over() -> None:
    data = b"one\n" + b"x" * 350 + b"\nthree\n" + b"y" * 99 + b"\n"
    assert texts(data) == [b"one", b"", b"three", b"y" * 99]
    assert after(data).offset == len(data)
    assert true(after(data), data + b"more\n")


@pytest.mark.usefixtures("short_lines")
def test_an_incomplete_long_line_waits_for_its_end() -> None:
    assert texts(b"one\n" + b"x" * 350) == [b"one"]


def test_long_lines_with_different_ends_have_different_bookmarks() -> None:
    one, other = b"a" * 10_000 + b"1\n", b"a" * 10_000 + b"2\n"
    assert not true(after(b"first\n" + one), b"first\n" + other)
    assert true(after(b"first\n" + one), b"first\n" + one + other)


def test_a_renamed_file_keeps_its_bookmark(tmp_path: Path) -> None:
    before, later = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    before.write_bytes(b"hello\n")
    with line_files.open_transcript(Fragile, before, []) as transcript:
        assert len(list(transcript)) == 1
        bookmark = transcript.bookmark
    os.rename(before, later)
    with line_files.open_transcript(Fragile, later, [bookmark]) as transcript:
        assert list(transcript) == []
        assert transcript.bookmark == replace(bookmark, path=str(later))


def test_a_line_that_is_completed_while_it_is_read_waits_for_the_next_reading() -> None:
    class Growing(io.BytesIO):
        """Its writer appends the rest of the line as soon as its beginning has been read."""

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            if line == b"be":
                self.write(b"gun\n")
                self.seek(-4, os.SEEK_CUR)
            return line

    lines = WholeLines(Growing(b"one\nbe"), BEGINNING)
    assert list(lines) == [(1, b"one")]
    assert list(lines) == [(2, b"begun")]
    assert lines.too_long == 0


def test_lines_are_not_read_ahead() -> None:
    """Nothing is read ahead of the line that is asked for, beyond a buffer."""

    class Counting(io.BytesIO):
        taken = 0

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            self.taken += len(line)
            return line

    file = Counting(b"".join(b"%d\n" % number for number in range(10_000)))
    next(iter(WholeLines(file, BEGINNING)))
    assert file.taken < 100


class Fragile:
    """A reader with a mistake in it: one line is more than it withstands."""

    def __init__(self, path: str, state: Mapping[str, Any]) -> None:
        self.state: State = {}

    def read(self, number: int, line: bytes) -> Sequence[TurnOrHeading]:
        if line == b"poison":
            raise KeyError("a mistake of ours")
        return [Turn(uuid=str(number), session="s", role="user", text=line.decode())]


def test_a_line_on_which_its_reader_fails_is_passed_over(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\npoison\nthree\n")
    with line_files.open_transcript(Fragile, path, []) as transcript:
        said = [turn.text for piece in transcript for turn in piece if isinstance(turn, Turn)]
        assert transcript.bookmark.lines == 3
    assert said == ["one", "three"]
    assert f"{path}, line 2, is passed over: KeyError: 'a mistake of ours'" in caplog.text
