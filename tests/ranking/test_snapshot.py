"""Which observations stand for an entity."""

from lore.ranking.limbic import room_for, snapshot_of


def test_the_room_is_what_the_header_leaves() -> None:
    assert room_for("Entity (Type) [activo]: ") == 1_602


def test_a_few_observations_are_all_there() -> None:
    assert snapshot_of("E", ["one", "two"]) == "one | two"
    assert snapshot_of("E", []) == ""
    ten = [f"number {n}" for n in range(10)]
    assert snapshot_of("E", ten).split(" | ") == ten


def test_of_many_the_first_three_and_the_last_seven_are_always_there() -> None:
    many = [f"{n} " + "x" * 300 for n in range(30)]
    chosen = [int(part.split()[0]) for part in snapshot_of("E", many).split(" | ")]
    assert chosen == [0, 1, 2, *range(23, 30)]


def test_the_rest_is_filled_with_the_most_varied_in_order() -> None:
    ends = ["end"] * 3, ["end"] * 7
    dull = ["same " * 200] * 5
    varied = [" ".join(f"{letter}{n}" for n in range(100)) for letter in "ab"]
    chosen = snapshot_of("E", [*ends[0], dull[0], varied[0], dull[1], varied[1], *dull[2:], *ends[1]])
    assert [part[:2] for part in chosen.split(" | ")] == ["en"] * 3 + ["a0", "b0"] + ["en"] * 7
    assert len(chosen) <= room_for("E")
