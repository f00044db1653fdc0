"""Packed transcripts: the same bytes, lines and turns as before they were packed."""

import gzip
import io
import json
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.errors import Unavailable
from lore.transcripts import codex, compressed, growing
from lore.transcripts.base import Said, Turn
from lore.transcripts.compressed import Packing, unpacked
from lore.transcripts.growing import Growing, still_true
from tests.transcripts import reading

ROLLOUT = b"\n".join(reading.lines_of("codex-0.166.0-rollout-paginated.jsonl")) + b"\n"
NAME = "rollout-2026-11-15T21-14-24-01a1e10f-b202-7bc2-9059-3856366a4f70.jsonl"
LINES = b"".join(b"%d %s\n" % (number, b"x" * (number * 7 % 200)) for number in range(4_000))


@dataclass(frozen=True)
class Way:
    """A way to pack, and to unpack again."""

    pack: Callable[[bytes], bytes]
    packing: Packing


GZIP = Way(gzip.compress, Packing(lambda file: gzip.GzipFile(fileobj=file), (OSError, EOFError, zlib.error)))


def zstd() -> Way:
    try:
        packing = compressed.zstd()
    except Unavailable as missing:
        pytest.skip(str(missing))
    return Way(import_module(packing.unpack.__module__.removesuffix("._zstdfile")).compress, packing)


@pytest.fixture(params=["gzip", "zstd"])
def way(request: pytest.FixtureRequest) -> Way:
    return GZIP if request.param == "gzip" else zstd()


def packed(data: bytes, way: Way) -> BinaryIO:
    return unpacked(io.BytesIO(way.pack(data)), way.packing)


def read(file: BinaryIO, name: str) -> list[Said]:
    reader = codex.Reader(name, {})
    return [one for number, line in Growing(file) for one in reader.read(number, line)]


def test_a_packed_file_gives_its_bytes_its_lines_and_its_end(way: Way) -> None:
    file = packed(LINES, way)
    assert file.read() == LINES
    assert file.seek(0) == 0
    assert file.readlines() == LINES.splitlines(keepends=True)
    assert file.seek(-5, os.SEEK_END) == len(LINES) - 5
    assert file.read() == LINES[-5:]
    assert file.seek(len(LINES) + 10) == len(LINES) + 10
    assert file.read() == b""


def test_several_packings_in_one_file_are_read_to_the_end(way: Way) -> None:
    file = unpacked(io.BytesIO(way.pack(b"one\n") + way.pack(b"two\n")), way.packing)
    assert file.read() == b"one\ntwo\n"


STEPS = st.lists(
    st.tuples(st.sampled_from(["seek", "end", "read", "line"]), st.integers(0, 5_000)), max_size=12
)


@given(STEPS)
def test_wherever_it_is_read_it_is_the_same(steps: list[tuple[str, int]]) -> None:
    data = LINES[:4_000]
    with pytest.MonkeyPatch.context() as small:
        small.setattr(compressed, "KEPT", 64)
        small.setattr(compressed, "CHUNK", 32)
        file, plain = packed(data, GZIP), io.BytesIO(data)
        for step, number in steps:
            for one in (found := [file, plain]):
                if step == "seek":
                    one.seek(number)
                elif step == "end":
                    one.seek(-min(number, len(data)), os.SEEK_END)
            if step in ("read", "line"):
                first, second = (
                    one.read(number) if step == "read" else one.readline(number) for one in found
                )
                assert first == second
            assert file.tell() == plain.tell()


def test_what_lies_before_the_beginning_is_nowhere() -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        packed(b"abc", GZIP).seek(-4, os.SEEK_END)


def test_a_file_is_unpacked_once_however_often_its_place_is_noted() -> None:
    begun = []

    def unpack(file: BinaryIO) -> compressed.Stream:
        begun.append(file)
        return GZIP.packing.unpack(file)

    data = LINES * 10
    assert len(data) > 3 * compressed.KEPT
    lines = Growing(unpacked(io.BytesIO(gzip.compress(data)), Packing(unpack, ())))
    marks = [lines.mark for number, _ in lines if number % 500 == 0]
    assert marks[-1].offset == len(data)
    assert len(begun) == 1
    assert still_true(marks[-1], unpacked(io.BytesIO(gzip.compress(data)), Packing(unpack, ())))
    assert len(begun) == 2


def test_what_was_read_before_it_was_packed_is_not_read_again(way: Way) -> None:
    plain = Growing(io.BytesIO(LINES[: LINES.index(b"2000 ")]))
    assert len(list(plain)) == 2_000
    file = packed(LINES, way)
    assert still_true(plain.mark, file)
    assert [number for number, _ in Growing(file, plain.mark)] == list(range(2_001, 4_001))
    assert not still_true(plain.mark, packed(LINES[5:], way))


def test_a_packed_rollout_says_the_same_under_the_same_names(way: Way) -> None:
    before = read(io.BytesIO(ROLLOUT), f"sessions/{NAME}")
    assert len([one for one in before if isinstance(one, Turn)]) == 5
    assert read(packed(ROLLOUT, way), f"archived_sessions/{NAME}.zst") == before


@given(st.integers(0, len(gzip.compress(ROLLOUT))), st.binary(max_size=4))
def test_what_comes_before_a_damage_is_read(at: int, garbage: bytes) -> None:
    whole = gzip.compress(ROLLOUT)
    cut = unpacked(io.BytesIO(whole[:at]), GZIP.packing).read()
    assert ROLLOUT.startswith(cut)
    reading.check(read(unpacked(io.BytesIO(whole[:at] + garbage + whole[at + 2 :]), GZIP.packing), NAME))


def test_of_a_file_that_was_cut_most_is_read(way: Way) -> None:
    noise = b"".join(json.dumps({"n": os.urandom(40).hex()}).encode() + b"\n" for _ in range(20_000))
    whole = way.pack(noise)
    read = unpacked(io.BytesIO(whole[: len(whole) * 3 // 4]), way.packing).read()
    assert noise.startswith(read)
    assert len(read) > len(noise) // 2


def test_a_packed_file_has_the_identity_of_the_file(tmp_path: Path) -> None:
    way = zstd()
    path = tmp_path / f"{NAME}.zst"
    path.write_bytes(way.pack(ROLLOUT))
    with compressed.opened(path) as file, path.open("rb") as itself:
        assert growing.identity(file) == growing.identity(itself)
        assert file.read() == ROLLOUT
    assert file.closed


def test_a_file_that_is_not_packed_is_opened_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(ROLLOUT)
    with compressed.opened(path) as file:
        assert file.read() == ROLLOUT


def test_without_a_module_for_it_the_user_is_told_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"{NAME}.zst"
    path.write_bytes(b"")
    monkeypatch.setattr(compressed, "MODULES", ("there_is.no_such_module",))
    with pytest.raises(Unavailable, match=r"pip install backports\.zstd"):
        compressed.opened(path)
