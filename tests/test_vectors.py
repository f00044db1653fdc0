"""Vectors keep their bits when stored, and refuse what is not a direction."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.errors import Invalid
from lore.vectors import Vector, cosine, cosine_at, likeness, packed, unit, unpacked

NUMBERS = st.floats(width=32, allow_nan=False, allow_infinity=False)


def vector(*numbers: float) -> Vector:
    return np.array(numbers, np.float32)


@given(st.lists(NUMBERS, min_size=1, max_size=64))
def test_a_stored_vector_comes_back_with_the_same_bits(numbers: list[float]) -> None:
    original = vector(*numbers)
    assert unpacked(packed(original)).tobytes() == original.tobytes()


def test_the_stored_bytes_are_little_endian_on_every_machine() -> None:
    big_endian = np.array([1.0, -2.5], ">f4")
    assert packed(big_endian) == struct.pack("<2f", 1.0, -2.5)
    assert unpacked(struct.pack("<2f", 1.0, -2.5)).tolist() == [1.0, -2.5]
    assert unpacked(struct.pack("<f", 1.0)).dtype == np.float32


@pytest.mark.parametrize("blob", [b"", b"abc", b"abcde"])
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
    if wrong.ndim == 1:
        with pytest.raises(Invalid):
            unpacked(wrong.tobytes())


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
