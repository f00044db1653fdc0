"""admit: the step that everything passes before it is stored; secrets stay outside.

The store's writer admits each row that it writes. Verbs that look at a text before they write it (for its
duplicates, its title, its vector) admit it first, so that they look at what will be stored.
"""

import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from lore.redact import named_secret, redact

Any_ = TypeVar("Any_")
PLAIN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,64}")


class Admitted(str):
    """A text without secrets; to admit it again costs nothing."""

    __slots__ = ()


def admit(value: Any_) -> Any_:
    """The same value with its secrets replaced by their kinds: a text, a mapping, a sequence, a noun of ours.

    What holds no secret comes back as it is. In a mapping the name of a value counts.
    """
    return cast(Any_, _admitted(value, ""))


def _admitted(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return _text(value, name)
    if isinstance(value, Mapping):
        return _mapping(value)
    if isinstance(value, list | tuple | set | frozenset):
        admitted = [_admitted(one, name) for one in value]
        same = all(one is other for one, other in zip(admitted, value, strict=True))
        return value if same else type(value)(admitted)
    if is_dataclass(value) and not isinstance(value, type):
        return _noun(value)
    return value


def _text(text: str, name: str) -> str:
    if name and (kind := named_secret(name, text)):
        return Admitted(f"[redacted: {kind}]")
    if isinstance(text, Admitted) or not text or PLAIN_ID.fullmatch(text):
        return text
    redacted = redact(text)
    return Admitted(redacted.text) if redacted.found else text


def _mapping(mapping: Mapping[Any, Any]) -> Mapping[Any, Any]:
    admitted = {
        _admitted(name, ""): _admitted(value, name if isinstance(name, str) else "")
        for name, value in mapping.items()
    }
    same = all(
        one is other and value is mapping[other]
        for (one, value), other in zip(admitted.items(), mapping, strict=False)
    )
    return mapping if same and len(admitted) == len(mapping) else admitted


def _noun(noun: Any) -> Any:
    changes = {
        field.name: admitted
        for field in fields(noun)
        if field.init and (admitted := _admitted(value := getattr(noun, field.name), "")) is not value
    }
    return replace(noun, **changes) if changes else noun
