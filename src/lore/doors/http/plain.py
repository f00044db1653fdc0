"""plain: arguments and results of verbs as plain JSON, by the annotations of the methods.

The arguments of a verb are one JSON object. A noun is an object of its fields, without type tags. A value of
another type than its annotation is refused, not converted.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from inspect import signature
from typing import Any

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic_core import ErrorDetails, from_json

from lore.doors.codec import LARGEST, hints_of
from lore.engine import Lore
from lore.errors import Invalid
from lore.surfaces.surface import check_count
from lore.text import listed, preview

DEEPEST = 32
"""Levels of objects and arrays inside each other in the arguments of a verb."""
SHOWN_ERRORS = 5
STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""Nouns inside the arguments inherit it."""

Where = tuple[int | str, ...]


@cache
def arguments_of(verb: str) -> type[BaseModel]:
    """The model of a verb's arguments."""
    method = getattr(Lore, verb)
    hints, parameters = hints_of(method), list(signature(method).parameters.values())[1:]
    fields: dict[str, Any] = {
        one.name: (hints[one.name], ... if one.default is one.empty else one.default) for one in parameters
    }
    return create_model(f"{_camel(verb)}Arguments", __config__=STRICT, **fields)


@cache
def result_of(verb: str) -> type[BaseModel]:
    """The model of a verb's result, as the field `result`."""
    fields: dict[str, Any] = {"result": (hints_of(getattr(Lore, verb))["return"], ...)}
    return create_model(f"{_camel(verb)}Result", __config__=STRICT, **fields)


def decode(verb: str, body: bytes) -> dict[str, Any]:
    """The arguments of a verb that a body has; no body: none. Invalid names the wrong one."""
    body = body if body.strip() else b"{}"
    try:
        document = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise Invalid(f"the body is not JSON: {error}") from error
    check_count(document)
    _check(document)
    try:
        arguments = arguments_of(verb).model_validate_json(body)
    except ValidationError as error:
        raise Invalid(_explain(verb, error.errors(include_url=False), document)) from error
    return {name: getattr(arguments, name) for name in arguments.model_fields_set}


def encode(verb: str, result: object) -> bytes:
    """The result of a verb as a JSON document."""
    return _encoder(verb).dump_json(result)


@cache
def _encoder(verb: str) -> TypeAdapter[Any]:
    return TypeAdapter(hints_of(getattr(Lore, verb))["return"])


def _camel(verb: str) -> str:
    return verb.title().replace("_", "")


def _check(document: Any) -> None:
    """Invalid if the document is nested too deeply, or has a number that no store can hold."""
    levels: list[tuple[Where, Any]] = [((), document)]
    for _ in range(DEEPEST + 1):
        if not levels:
            return
        levels = [inner for where, value in levels for inner in _inside(where, value)]
    raise Invalid(f"{_path(levels[0][0][:3])} is nested too deeply; at most {DEEPEST} levels")


def _inside(where: Where, value: Any) -> Iterator[tuple[Where, Any]]:
    if isinstance(value, dict):
        yield from (((*where, name), one) for name, one in value.items())
    elif isinstance(value, list):
        yield from (((*where, index), one) for index, one in enumerate(value))
    elif isinstance(value, int) and not -LARGEST <= value < LARGEST:
        raise Invalid(f"{_path(where)} must be an integer of at most 64 bits, not {preview(str(value), 40)}")


def _explain(verb: str, errors: Sequence[ErrorDetails], document: Any) -> str:
    """One sentence about what is wrong with the arguments."""
    placed = [(one, _place(one, document)) for one in errors]
    lines = [
        _line(verb, one, place)
        for one, place in placed
        if not (_is_type(one["loc"][-1:], place) and any(_is_inside(place, other) for _, other in placed))
    ]
    more = f"; and {len(lines) - SHOWN_ERRORS} more" if len(lines) > SHOWN_ERRORS else ""
    return f"{verb}: {'; '.join(dict.fromkeys(lines[:SHOWN_ERRORS]))}{more}"


def _place(error: ErrorDetails, document: Any) -> Where:
    """The place of an error without the names of types, which are in it where a union was tried."""
    *steps, last = error["loc"] or ("",)
    place: list[int | str] = []
    for step in steps if error["type"] == "missing" else error["loc"]:
        found = step in document if isinstance(document, dict) else isinstance(step, int)
        if found:
            document = document[step]
            place.append(step)
    return (*place, last) if error["type"] == "missing" else tuple(place)


def _is_type(last: Where, place: Where) -> bool:
    """Whether the last step to an error is the name of a type in a union."""
    return place[-1:] != last


def _is_inside(outer: Where, inner: Where) -> bool:
    return len(inner) > len(outer) and inner[: len(outer)] == outer


def _line(verb: str, error: ErrorDetails, place: Where) -> str:
    where = _path(place)
    match error["type"]:
        case "missing":
            return f"{where} is missing"
        case "extra_forbidden":
            names = arguments_of(verb).model_fields
            return f"unknown argument {where}; known: {listed(names) if names else 'none'}"
        case "unexpected_keyword_argument":
            return f"unknown field {where}; /api/v1/openapi.json lists the fields"
        case "model_type":
            return 'the arguments must be an object like {"name": value}'
    return f"{where}: {error['msg']}, not {preview(repr(error['input']), 40)}"


def _path(where: Where) -> str:
    """The place of a value, as a caller of the API would write it."""
    return preview(".".join(map(str, where)), 100) or "the body"
