"""toml: change one value of a TOML text and keep comments, order and layout of all others."""

import re
import tomllib
from collections.abc import Mapping, MutableMapping
from typing import TypeAlias, cast

import tomlkit
from tomlkit.items import InlineTable, Item, Table

from lore.clients.jsonc import Json, Keys
from lore.errors import Invalid, Unavailable

Container: TypeAlias = MutableMapping[str, object]
_LINE_END = re.compile(r"\r?\n")


def parse(text: str) -> Json:
    """The value of a text."""
    try:
        return cast(Json, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise Invalid(str(error)) from error


def put(text: str, keys: Keys, value: Json) -> str:
    """The text with the value at a path; missing tables on the way are created. New lines end as
    all others do."""
    parse(text)
    document = tomlkit.parse(text)
    table: Container = document
    for step in keys[:-1]:
        table = _inner(table, str(step))
    table[str(keys[-1])] = _item(value, inline=isinstance(table, InlineTable))
    new = tomlkit.dumps(document)
    if not text.endswith("\n\n"):
        new = new.rstrip("\n") + "\n"
    if 0 < text.count("\n") == text.count("\r\n"):
        new = _LINE_END.sub("\r\n", new)
    return _checked(new, keys, value)


def drop(text: str, keys: Keys, keep: int = 0) -> str:
    """The text without the value at a path, and without tables on the way that are empty then.

    keep: so many steps of the path stay, even if they are empty.
    """
    document = tomlkit.parse(text)
    tables: list[Container] = [document]
    for step in keys[:-1]:
        inner = tables[-1].get(str(step))
        if not isinstance(inner, MutableMapping):
            return text
        tables.append(inner)
    if keys[-1] not in tables[-1]:
        return text
    last = len(keys) - 1
    while last > keep and len(tables[last]) == 1:
        last -= 1
    del tables[last][str(keys[last])]
    return _checked(tomlkit.dumps(document), keys, None)


def _inner(table: Container, name: str) -> Container:
    if name not in table:
        inline = isinstance(table, InlineTable)
        table[name] = tomlkit.inline_table() if inline else tomlkit.table(is_super_table=True)
    inner = table[name]
    if not isinstance(inner, MutableMapping):
        raise Invalid(f"{name} is no table")
    return inner


def _item(value: Json, *, inline: bool) -> Item:
    if not isinstance(value, Mapping):
        return tomlkit.item(value)
    table: Table | InlineTable = tomlkit.inline_table() if inline else tomlkit.table()
    for key, inner in value.items():
        table.append(key, _item(inner, inline=True))
    if isinstance(table, Table):
        table.add(tomlkit.nl())
    return table


def _checked(text: str, keys: Keys, value: Json) -> str:
    """The text, if it can be read and has this value at a path: not every layout of tables can be edited."""
    found = parse(text)
    for step in keys:
        found = found.get(str(step)) if isinstance(found, Mapping) else None
    if found != value:
        raise Unavailable(f"{'.'.join(map(str, keys))} cannot be changed in this layout; edit it by hand")
    return text
