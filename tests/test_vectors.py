"""Vectors keep their direction when stored, and refuse what is not a direction."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.errors import Invalid
from lore.vectors import Vector, cosine, cosine_at, likeness, packed, stored_bytes, unit, unpacked

NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def vector(*numbers: float) -> Vector:
    return np.array(numbers, np.float32)


@given(st.lists(NUMBERS, min_size=1, max_size=64))
def test_a_stored_vector_comes_back_with_sixteen_bits_of_its_largest_number(numbers: list[float]) -> None:
    original = vector(*numbers)
    stored = packed(original)
    assert len(stored) == stored_bytes(len(numbers))
    error = np.abs(unpacked(stored).astype(np.float64) - original).max()
    assert error <= np.abs(original.astype(np.float64)).max() / 60_000 + 1e-44


def test_the_cosine_of_a_stored_vector_is_exact_to_four_digits_at_least() -> None:
    for seed in range(20):
        one, other = (
            unit(np.random.default_rng(seed + at).standard_normal(384).astype(np.float32)) for at in (0, 100)
        )
        near = unit(one + 0.1 * other)
        assert float(unpacked(packed(one)) @ near) == pytest.approx(float(one @ near), abs=2e-5)


def test_the_stored_bytes_are_little_endian_on_every_machine() -> None:
    big_endian = np.array([32767.0, -2.0], ">f4")
    assert packed(big_endian) == struct.pack("<fhh", 1.0, 32767, -2)
    assert unpacked(struct.pack("<fhh", 0.5, 2, -3)).tolist() == [1.0, -1.5]
    assert unpacked(struct.pack("<fh", 1.0, 1)).dtype == np.float32


@pytest.mark.parametrize("blob", [b"", b"abcd", b"abcdefg", b"\0\0\xc0\x7fab"])
def test_bytes_that_are_no_vector_are_refused(blob: bytes) -> None:
    with pytest.raises(Invalid):
        unpacked(blob)


@pytest.mark.parametrize(
    "wrong", [vector(), vector(1, float("nan")), vector(float("inf")), np.ones((2, 2), np.float32)]
)
def test_what_is_no_vector_is_neither_stored_nor_read_nor_scaled(wrong: Vector) -> None:
    with pytest.raises(Invalid):
        packed(wrong)
    with pytest.raises(Invalid):
        unit(wrong)
    with pytest.raises(Invalid):
        cosine(wrong, wrong)


def test_unit_keeps_the_direction_even_of_tiny_and_huge_vectors() -> None:
    assert unit(vector(3, 4)) == pytest.approx([0.6, 0.8])
    assert unit(vector(3e-30, 4e-30)) == pytest.approx([0.6, 0.8])
    assert unit(vector(3e30, 4e30)) == pytest.approx([0.6, 0.8])
    assert unit(vector(3, 4)).dtype == np.float32


def test_zeros_have_no_direction() -> None:
    with pytest.raises(Invalid):
        unit(vector(0, 0))


def test_cosine_compares_directions_not_lengths() -> None:
    assert cosine(vector(1, 0), vector(5, 0)) == pytest.approx(1)
    assert cosine(vector(1, 0), vector(0, 2)) == pytest.approx(0)
    assert cosine(vector(1, 0), vector(-3, 0)) == pytest.approx(-1)
    assert cosine(vector(1, 0), vector(1, 1)) == pytest.approx(0.5**0.5)


@given(st.lists(NUMBERS, min_size=1, max_size=16).filter(any))
def test_cosine_never_leaves_its_range(numbers: list[float]) -> None:
    assert 1 - 1e-6 < cosine(vector(*numbers), vector(*numbers)) <= 1


def test_vectors_of_different_sizes_are_not_compared() -> None:
    with pytest.raises(Invalid, match=r"\(2,\) and \(3,\)"):
        cosine(vector(1, 0), vector(1, 0, 0))


def test_likeness_is_zero_at_the_floor_and_one_for_equal_texts() -> None:
    assert likeness(0.75, floor=0.75) == pytest.approx(0)
    assert likeness(0.875, floor=0.75) == pytest.approx(0.5)
    assert likeness(1.0, floor=0.75) == pytest.approx(1)
    assert likeness(0.3, floor=0.0) == 0.3


@given(st.floats(-1, 1), st.floats(-0.5, 0.9))
def test_a_threshold_can_be_moved_to_the_cosine(threshold: float, floor: float) -> None:
    assert likeness(cosine_at(threshold, floor), floor) == pytest.approx(threshold, abs=1e-9)
