"""admit: the step that everything passes before it is stored; secrets stay outside.

The store's writer admits each row that it writes. Verbs that look at a text before they write it (for its
duplicates, its title, its vector) admit it first, so that they look at what will be stored.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from operator import is_
from typing import Any, TypeVar, cast

from lore.redact import named_secret, redact

Any_ = TypeVar("Any_")
PLAIN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,64}")

SHORTEST = 7
"""Characters of the shortest text that can hold a secret: `pwd=abc`."""
SHORT, MOST_CLEAN = 80, 2_000
"""Characters of texts that are remembered as clean, and the number of them."""
_clean: set[str] = set()


class Admitted(str):
    """A text without secrets; to admit it again costs nothing."""

    __slots__ = ()


def admit(value: Any_) -> Any_:
    """The same value with its secrets replaced by their kinds: a text, a mapping, a sequence, a noun of ours.

    What holds no secret comes back as it is. In a mapping the name of a value counts.
    """
    return cast(Any_, _admitted(value, "")) if value else value


def _admitted(value: Any, name: str) -> Any:
    if not value or (value.__class__ is Admitted and not name):
        return value
    if isinstance(value, str):
        return _text(value, name)
    if isinstance(value, int | float):
        return value
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, list | tuple | set | frozenset):
        admitted = [_admitted(one, name) for one in value]
        same = all(map(is_, admitted, value))
        return value if same else type(value)(admitted)
    if is_dataclass(value) and not isinstance(value, type):
        return _noun(value)
    return value


def _text(text: str, name: str) -> str:
    if text in _clean and not name:
        return text
    if name and (kind := named_secret(name, text)):
        return Admitted(f"[redacted: {kind}]")
    if isinstance(text, Admitted) or len(text) < SHORTEST or PLAIN_ID.fullmatch(text):
        return text
    redacted = redact(text)
    if redacted.found:
        return Admitted(redacted.text)
    _remember(text)
    return text


def _remember(text: str) -> None:
    """Short texts come again and again: names of clients, folders, branches, sessions."""
    if len(text) <= SHORT:
        if len(_clean) >= MOST_CLEAN:
            _clean.clear()
        _clean.add(text)


def _mapping(mapping: Mapping[Any, Any]) -> Mapping[Any, Any]:
    admitted, same = {}, True
    for name, value in mapping.items():
        clean_name = _admitted(name, "")
        clean = _admitted(value, name if name.__class__ is str else "")
        same = same and clean is value and clean_name is name
        admitted[clean_name] = clean
    return mapping if same else admitted


def _noun(noun: Any) -> Any:
    changes = {
        field.name: admitted
        for field in fields(noun)
        if field.init and (admitted := _admitted(value := getattr(noun, field.name), "")) is not value
    }
    return replace(noun, **changes) if changes else noun
