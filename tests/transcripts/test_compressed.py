"""Compressed transcripts: the same bytes, lines and turns as before they were compressed."""

import io
import json
import os
import sys
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.bookmark import Bookmark
from lore.transcripts import codex, line_files
from lore.transcripts.line_files import WholeLines, decompressed, open_file, still_valid
from lore.transcripts.turns import Turn, TurnOrHeading
from tests.transcripts import reading

if sys.version_info >= (3, 14):
    from compression.zstd import compress
else:
    from backports.zstd import compress

ROLLOUT = b"\n".join(reading.lines_of("codex-0.166.0-rollout-paginated.jsonl")) + b"\n"
NAME = "rollout-2026-11-15T21-14-24-01a1e10f-b202-7bc2-9059-3856366a4f70.jsonl"
LINES = b"".join(b"%d %s\n" % (number, b"x" * (number * 7 % 200)) for number in range(4_000))
BEGINNING = Bookmark(path=NAME)


def packed(data: bytes) -> BinaryIO:
    return decompressed(io.BytesIO(compress(data)))


def read(file: BinaryIO, name: str) -> list[TurnOrHeading]:
    reader = codex.Reader(name, {})
    return [one for number, line in WholeLines(file, BEGINNING) for one in reader.read(number, line)]


def test_a_compressed_file_gives_its_bytes_and_lines() -> None:
    file = packed(LINES)
    assert file.read() == LINES
    assert file.seek(0) == 0
    assert file.readlines() == LINES.splitlines(keepends=True)
    file.seek(len(LINES) + 10)
    assert file.read() == b""


def test_several_compressed_frames_in_one_file_are_read_to_the_end() -> None:
    assert decompressed(io.BytesIO(compress(b"one\n") + compress(b"two\n"))).read() == b"one\ntwo\n"


STEPS = st.lists(st.tuples(st.sampled_from(["seek", "read", "line"]), st.integers(0, 5_000)), max_size=12)


@given(STEPS)
def test_a_compressed_file_is_the_same_wherever_it_is_read(steps: list[tuple[str, int]]) -> None:
    data = LINES[:4_000]
    with pytest.MonkeyPatch.context() as small:
        small.setattr(line_files, "CHUNK_BYTES", 32)
        file, plain = packed(data), io.BytesIO(data)
        for step, number in steps:
            if step == "seek":
                file.seek(min(number, len(data)))
                plain.seek(min(number, len(data)))
            elif step == "read":
                assert file.read(number) == plain.read(number)
            else:
                assert file.readline(number) == plain.readline(number)
            assert file.tell() == plain.tell()


def test_a_file_is_decompressed_once_however_many_bookmarks_are_taken() -> None:
    class Counting(io.BytesIO):
        taken = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            self.taken += len(data)
            return data

    data = b"".join(os.urandom(40).hex().encode() + b"\n" for _ in range(40_000))
    whole = compress(data)
    file = Counting(whole)
    lines = WholeLines(decompressed(file), BEGINNING)
    before = file.taken
    bookmarks = [lines.bookmark for number, _ in lines if number % 500 == 0]
    assert bookmarks[-1].offset == len(data)
    assert file.taken - before <= len(whole)
    file = Counting(whole)
    assert still_valid(bookmarks[-1], decompressed(file))
    assert file.taken <= len(whole)


def test_lines_read_before_the_file_was_compressed_are_not_read_again() -> None:
    plain = WholeLines(io.BytesIO(LINES[: LINES.index(b"2000 ")]), BEGINNING)
    assert len(list(plain)) == 2_000
    file = packed(LINES)
    assert still_valid(plain.bookmark, file)
    assert [number for number, _ in WholeLines(file, plain.bookmark)] == list(range(2_001, 4_001))
    assert not still_valid(plain.bookmark, packed(LINES[5:]))


def test_a_compressed_rollout_has_the_same_turns_with_the_same_ids() -> None:
    before = read(io.BytesIO(ROLLOUT), f"sessions/{NAME}")
    assert len([one for one in before if isinstance(one, Turn)]) == 5
    assert read(packed(ROLLOUT), f"archived_sessions/{NAME}.zst") == before


@given(st.integers(0, len(compress(ROLLOUT))), st.binary(max_size=4))
def test_the_lines_before_a_damage_are_read(at: int, garbage: bytes) -> None:
    whole = compress(ROLLOUT)
    cut = decompressed(io.BytesIO(whole[:at])).read()
    assert ROLLOUT.startswith(cut)
    reading.check(read(decompressed(io.BytesIO(whole[:at] + garbage + whole[at + 2 :])), NAME))


def test_most_of_a_truncated_file_is_read_and_no_bookmark_behind_its_end_is_valid() -> None:
    noise = b"".join(json.dumps({"n": os.urandom(40).hex()}).encode() + b"\n" for _ in range(20_000))
    whole = compress(noise)
    lines = WholeLines(packed(noise), BEGINNING)
    assert len(list(lines)) == 20_000
    cut = whole[: len(whole) * 3 // 4]
    rest = decompressed(io.BytesIO(cut)).read()
    assert noise.startswith(rest)
    assert len(rest) > len(noise) // 2
    assert not still_valid(lines.bookmark, decompressed(io.BytesIO(cut)))


def test_a_compressed_file_has_the_identity_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.zst"
    path.write_bytes(compress(ROLLOUT))
    with open_file(path) as file, path.open("rb") as itself:
        assert os.fstat(file.fileno()).st_ino == os.fstat(itself.fileno()).st_ino
        assert file.read() == ROLLOUT
    assert file.closed


def test_a_file_that_is_not_compressed_is_opened_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(ROLLOUT)
    with open_file(path) as file:
        assert file.read() == ROLLOUT
