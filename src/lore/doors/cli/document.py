"""Document: the nouns as JSON, under the names of their fields, times in UTC."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import click

from lore.doors.cli.times import iso


def plain(value: Any, name: str = "") -> Any:
    """A noun, or a collection of them, as what JSON knows. Metadata is somebody's own: left as it is."""
    if name == "metadata":
        return dict(value)
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name), field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {key: plain(inner, key) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, float) and (name == "at" or name.endswith("_at")):
        return iso(value)
    return value


def show_document(document: Mapping[str, Any]) -> None:
    """One JSON document on stdout."""
    click.echo(json.dumps(document, ensure_ascii=False, indent=2))
