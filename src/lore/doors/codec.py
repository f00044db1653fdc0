"""codec: encodes values as JSON and decodes them. Only the nouns of Lore (`model`, `health` …) can be
decoded.

Values of JSON types stay as they are. All others are objects whose type is under the key TAG: a noun with its
fields, or a tuple, set, mapping, path or non-finite number with its content.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from lore import actions, health, injection, inspection, model
from lore.errors import Invalid

TAG = ""
OF = "of"
LARGEST = 1 << 63
"""Integers from this one on do not fit into a store."""

NOUNS: dict[str, type] = {
    name: noun
    for room in (model, health, actions, injection, inspection)
    for name, noun in vars(room).items()
    if isinstance(noun, type) and is_dataclass(noun)
}
CONSTRUCTORS: dict[str, tuple[type, Callable[[Any], object]]] = {
    "tuple": (list, tuple),
    "set": (list, frozenset),
    "map": (list, dict),
    "path": (str, Path),
    "number": (str, float),
}
"""Tag -> JSON type of the content, and the function that constructs the value from it."""


def encode(value: object) -> bytes:
    """The value as one line of JSON, newline included."""
    return json.dumps(_plain(value), allow_nan=False, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Any:
    """The value of an encoded line; Invalid if the line is not one."""
    try:
        return json.loads(line, object_hook=_construct)
    except ValueError as error:
        raise Invalid(f"this is not a line of JSON: {error}") from error


def fits(value: object, hint: Any) -> bool:
    """Whether a value is of the type of an annotation."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind is Any:
        return True
    if kind in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if kind is Literal:
        return isinstance(value, str) and value in inner
    if kind in (Mapping, dict):
        return isinstance(value, dict) and all(
            fits(key, inner[0]) and fits(one, inner[1]) for key, one in value.items()
        )
    if kind in (tuple, list, frozenset, Sequence):
        types = (list, tuple) if kind is Sequence else kind
        return isinstance(value, types) and all(fits(one, inner[0]) for one in value)
    if kind in (int, float):
        return _is_number(value, kind)
    return isinstance(value, NoneType if kind is None else kind)


def _is_number(value: object, kind: type) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool) and -LARGEST <= value < LARGEST
    return whole or (kind is float and isinstance(value, float))


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {TAG: "number", OF: repr(value)}
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, tuple):
        return {TAG: "tuple", OF: [_plain(one) for one in value]}
    if isinstance(value, frozenset):
        return {TAG: "set", OF: [_plain(one) for one in value]}
    if isinstance(value, Path):
        return {TAG: "path", OF: str(value)}
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and key != TAG for key in value):
            return {key: _plain(inner) for key, inner in value.items()}
        return {TAG: "map", OF: [[_plain(key), _plain(inner)] for key, inner in value.items()]}
    name = type(value).__name__
    if NOUNS.get(name) is not type(value):
        raise TypeError(f"a {name} cannot be encoded")
    return {TAG: name} | {field: _plain(getattr(value, field)) for field in hints_of(NOUNS[name])}


def _construct(document: dict[str, Any]) -> object:
    """Decode one JSON object; the values inside it are decoded already."""
    if TAG not in document:
        return document
    tag = document.pop(TAG)
    try:
        if tag in CONSTRUCTORS:
            kind, constructor = CONSTRUCTORS[tag]
            if document.keys() != {OF} or not isinstance(document[OF], kind):
                raise TypeError(f"it needs a {kind.__name__} under {OF!r} and nothing else")
            return constructor(document[OF])
        if tag in NOUNS:
            return _noun(NOUNS[tag], document)
    except (TypeError, ValueError) as error:
        raise Invalid(f"this is no {str(tag)[:40]}: {error}") from error
    raise Invalid(f"unknown tag {str(tag)[:40]!r}; known: {', '.join([*CONSTRUCTORS, *NOUNS])}")


def _noun(noun: type, fields: dict[str, Any]) -> object:
    hints = hints_of(noun)
    for name, value in fields.items():
        if name in hints and not fits(value, hints[name]):
            raise TypeError(f"{name} cannot be {repr(value)[:40]}")
    return noun(**fields)


@cache
def hints_of(noun: Any) -> dict[str, Any]:
    """The annotations of a noun's fields or of a function's parameters."""
    return get_type_hints(noun)
