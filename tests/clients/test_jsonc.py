"""One value of a JSON text changes; every other character stays."""

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.clients.jsonc import Json, Keys, drop, parse, put
from lore.errors import Invalid

KEYS = st.text('abc"\\/*é', max_size=3)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\/*,]}{[:é\n', max_size=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
TRIVIA = st.sampled_from(
    ["", "", "", " ", "\n", "\n  ", "\r\n\t", "/* c */", " /* , } */ ", "// x: {\n", "  // c  \n    "]
)
NEW = "lore"
"""A key that no generated object has."""


@st.composite
def texts(draw: st.DrawFn, value: Json) -> str:
    """A text of this value with comments and trailing commas at random places."""

    def written(value: Json) -> str:
        if isinstance(value, Mapping):
            return container(
                "{", [f"{json.dumps(key)}{gap()}:{gap()}{written(value[key])}" for key in value], "}"
            )
        if isinstance(value, list):
            return container("[", [written(element) for element in value], "]")
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    def container(opening: str, items: list[str], closing: str) -> str:
        comma = draw(st.sampled_from(["", ","])) if items else ""
        spaced = [gap() + item + gap() for item in items]
        empty = draw(st.sampled_from(["", "/* c */", " // c\n "])) if not items else ""
        return opening + ",".join(spaced) + comma + (gap() if items else empty) + closing

    def gap() -> str:
        return draw(TRIVIA)

    return gap() + written(value) + gap()


@st.composite
def places(draw: st.DrawFn, value: Json) -> Keys:
    """A path whose last step is new: a key of an object, or the end of an array."""
    keys: Keys = ()
    while True:
        inner: list[tuple[str | int, Json]] = []
        if isinstance(value, Mapping):
            inner = [(key, value[key]) for key in value if isinstance(value[key], Mapping | list)]
        elif isinstance(value, list):
            inner = [(n, one) for n, one in enumerate(value) if isinstance(one, Mapping | list)]
        if not inner or draw(st.booleans()):
            break
        step, value = draw(st.sampled_from(inner))
        keys += (step,)
    return (*keys, len(value) if isinstance(value, list) else NEW)


def with_value(document: Json, keys: Keys, value: Json) -> Json:
    """The document with the value at a path."""
    step, rest = keys[0], keys[1:]
    if isinstance(step, int):
        assert isinstance(document, list)
        kept = [*document, None][: max(len(document), step + 1)]
        kept[step] = with_value(kept[step], rest, value) if rest else value
        return kept
    assert isinstance(document, Mapping)
    return {**document, step: with_value(document.get(step, {}), rest, value) if rest else value}


@given(st.data(), OBJECTS, VALUES)
def test_a_new_value_changes_nothing_else_and_leaves_no_trace_when_it_goes(
    data: st.DataObject, document: dict[str, Json], value: Json
) -> None:
    text = data.draw(texts(document))
    assert parse(text) == document
    keys = data.draw(places(document))
    changed = put(text, keys, value)
    assert parse(changed) == with_value(document, keys, value)
    assert put(changed, keys, value) == changed
    assert drop(changed, keys, keep=len(keys) - 1) == text
    rest = iter(changed)
    assert all(character in rest for character in text)


@given(st.data(), OBJECTS, VALUES)
def test_a_value_below_missing_objects_takes_them_along_when_it_goes(
    data: st.DataObject, document: dict[str, Json], value: Json
) -> None:
    text = data.draw(texts(document))
    keys = (NEW, "below", 0, "deeper")
    changed = put(text, keys, value)
    assert parse(changed) == {**document, NEW: {"below": [{"deeper": value}]}}
    assert drop(changed, keys) == text


@given(st.data(), OBJECTS.filter(bool), VALUES)
def test_a_replaced_value_changes_nothing_around_it(
    data: st.DataObject, document: dict[str, Json], value: Json
) -> None:
    text = data.draw(texts(document))
    key = data.draw(st.sampled_from(list(document)))
    changed = put(text, (key,), value)
    assert parse(changed) == {**document, key: value}
    assert parse(drop(changed, (key,))) == {name: kept for name, kept in document.items() if name != key}


def test_a_new_member_looks_like_its_neighbours() -> None:
    text = '{\r\n\t"a": 1, // one\r\n\t"b": {}  // two\r\n}\r\n'
    assert put(text, ("c", "d"), 1) == (
        '{\r\n\t"a": 1, // one\r\n\t"b": {},  // two\r\n\t"c": {\r\n\t\t"d": 1\r\n\t}\r\n}\r\n'
    )
    assert put('{"a": 1}', ("c", "d"), [1]) == '{"a": 1, "c": {"d": [1]}}'
    assert put("", ("c",), 1) == '{\n  "c": 1\n}\n'


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a" 1}', "line 1, column 6: expected ':'"),
        ('{\n  "a": tru\n}', "line 2, column 8: expected a value"),
        ('{"a": 1 "b": 2}', "line 1, column 9: expected ',' or '}'"),
        ("{a: 1}", "line 1, column 2: expected a key in double quotes or '}'"),
        ('{"a": 1}}', "line 1, column 9: expected the end of the file"),
        ('{"a": /* 1}', "line 1, column 7: expected a value"),
        ("[" * 100_000, "line 1, column 201: expected a value"),
    ],
)
def test_a_text_that_is_no_json_is_refused_with_line_and_column(text: str, where: str) -> None:
    with pytest.raises(Invalid, match="^" + where.replace("(", r"\(")):
        put(text, ("x",), 1)


def test_a_member_of_something_that_is_no_object_is_refused() -> None:
    with pytest.raises(Invalid, match="there is no place for 'x'"):
        put('{"a": [1]}', ("a", "x"), 1)
