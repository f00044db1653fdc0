"""jsonc: change one value of a JSON text and keep every other character, comments and trailing commas too."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lore.errors import Invalid

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
Step: TypeAlias = str | int
"""The key of a member, or the index of an element."""
Keys: TypeAlias = tuple[Step, ...]

EMPTY = "{}\n"
"""The document of a file without content."""
UNIT = "  "
DEEPEST = 200
"""Levels of nesting; a file of settings has few."""
_TRIVIA = re.compile(r"[ \t\r\n\ufeff]+|//[^\r\n]*|/\*(?:[^*]|\*(?!/))*+\*/")
_TOKEN = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*+"|[^\s{}\[\],:"/]+|[{}\[\],:]')
_SPACE = re.compile(r"[ \t]*")
_INDENTED = re.compile(r"\n([ \t]+)")
_CLOSING = {"{": "}", "[": "]"}


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its span in the text. items: the members of an object, the elements of an array."""

    start: int
    end: int
    value: Json
    items: "tuple[Item, ...]" = ()


@dataclass(frozen=True, slots=True)
class Item:
    """A member or element. start: of its key or value. comma: the position of the comma behind it, or -1."""

    step: Step
    start: int
    node: Node
    comma: int


# --- reading
def parse(text: str) -> Json:
    """The value of a text. Comments and trailing commas are allowed; a text without content is empty."""
    return _root(text).value


def at(value: Json, keys: Keys) -> Json:
    """The value at a path; None if there is none."""
    for step in keys:
        if isinstance(value, Mapping) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


class _Parser:
    """Reads one text from its beginning to its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def document(self) -> Node:
        root = self._node(self._next(), DEEPEST)
        if token := self._next():
            raise self._wrong("the end of the file", token)
        return root

    def _next(self) -> str:
        """The next token, which ends at `_at`; empty at the end of the text."""
        while found := _TRIVIA.match(self._text, self._at):
            self._at = found.end()
        if self._at == len(self._text):
            return ""
        if not (found := _TOKEN.match(self._text, self._at)):
            raise self._wrong("a value")
        self._at = found.end()
        return found[0]

    def _node(self, token: str, levels: int) -> Node:
        start = self._at - len(token)
        if token in _CLOSING and levels:
            items = self._items(token, levels - 1)
            values = [item.node.value for item in items]
            value: Json = dict(zip([str(item.step) for item in items], values, strict=True))
            return Node(start, self._at, values if token == "[" else value, tuple(items))
        try:
            return Node(start, self._at, json.loads(token))
        except ValueError:
            raise self._wrong("a value", token) from None

    def _items(self, bracket: str, levels: int) -> list[Item]:
        items: list[Item] = []
        while (token := self._next()) != _CLOSING[bracket]:
            if items and items[-1].comma < 0:
                raise self._wrong(f"',' or '{_CLOSING[bracket]}'", token)
            items.append(self._item(token, len(items) if bracket == "[" else None, levels))
        return items

    def _item(self, token: str, index: int | None, levels: int) -> Item:
        start = self._at - len(token)
        step: Step
        if index is None:
            if not token.startswith('"'):
                raise self._wrong("a key in double quotes or '}'", token)
            step = str(self._node(token, levels).value)
            if (colon := self._next()) != ":":
                raise self._wrong("':'", colon)
            token = self._next()
        else:
            step = index
        node = self._node(token, levels)
        before = self._at
        if self._next() == ",":
            return Item(step, start, node, self._at - 1)
        self._at = before
        return Item(step, start, node, -1)

    def _wrong(self, expected: str, token: str = "") -> Invalid:
        at = self._at - len(token)
        line = self._text.count("\n", 0, at) + 1
        column = at - (self._text.rfind("\n", 0, at) + 1) + 1
        return Invalid(f"line {line}, column {column}: expected {expected}")


def _root(text: str) -> Node:
    return _Parser(text if text.strip() else EMPTY).document()


def _child(node: Node, step: Step) -> Item | None:
    """The item of a step; of equal keys the last, which is the one that readers take."""
    return next((item for item in reversed(node.items) if item.step == step), None)


def _reach(root: Node, keys: Keys) -> list[Node]:
    """The nodes on a path, beginning with the root, as far as they exist."""
    nodes = [root]
    for step in keys:
        if (item := _child(nodes[-1], step)) is None:
            break
        nodes.append(item.node)
    return nodes


# --- writing
def put(text: str, keys: Keys, value: Json) -> str:
    """The text with the value at a path; missing objects on the way are created.

    An index equal to the length of an array appends to it.
    """
    text = text if text.strip() else EMPTY
    nodes = _reach(_root(text), keys)
    node, missing = nodes[-1], keys[len(nodes) - 1 :]
    if not missing:
        if node.value == value:
            return text
        indent = _indent(text, node.start)
        return text[: node.start] + _rendered(text, value, indent) + text[node.end :]
    for step in reversed(missing[1:]):
        value = {step: value} if isinstance(step, str) else [value]
    return _insert(text, node, missing[0], value)


def drop(text: str, keys: Keys, keep: int = 0) -> str:
    """The text without the value at a path, and without objects on the way that are empty then.

    keep: so many steps of the path stay, even if they are empty.
    """
    nodes = _reach(_root(text), keys)
    if len(nodes) <= len(keys):
        return text
    last = len(keys)
    while last - 1 > keep and _has_only(text, nodes[last - 1]):
        last -= 1
    return _remove(text, nodes[last - 1], keys[last - 1])


def _has_only(text: str, node: Node) -> bool:
    """Whether a container has one item and no comments."""
    inside = text[node.start + 1 : node.items[0].start] + text[node.items[0].node.end : node.end - 1]
    return len(node.items) == 1 and not inside.replace(",", "", 1).strip()


def _insert(text: str, node: Node, step: Step, value: Json) -> str:
    if text[node.start] != ("{" if isinstance(step, str) else "["):
        raise Invalid(f"there is no place for {step!r}: found {text[node.start : node.end][:40]}")
    if not node.items:
        return _insert_first(text, node, step, value)
    last = node.items[-1]
    gap = text[_last_comment(text, node.start + 1)[0] : node.items[0].start]
    after = last.node.end if last.comma < 0 else last.comma + 1
    place, line_ended = _line_end(text, after)
    own_line = "\n" in gap or line_ended
    indent = _indent(text, node.items[0].start)
    before = _newline(text) + indent if own_line else " "
    member = before + _member(text, step, value, indent if own_line else None)
    if last.comma < 0:
        return text[:after] + "," + text[after:place] + member + text[place:]
    return text[:place] + member + "," + text[place:]


def _insert_first(text: str, node: Node, step: Step, value: Json) -> str:
    place, line_ended = _line_end(text, node.start + 1)
    outer, newline = _indent(text, node.start), _newline(text)
    indent = outer + _unit(text)
    end = "" if "\n" in text[place : node.end] else newline + outer
    has_comment, one_line = place > node.start + 1, "\n" not in text.strip()
    if end and not line_ended and (has_comment or (one_line and node.start > text.find("{"))):
        space = " " if has_comment else ""
        return text[:place] + space + _member(text, step, value, None) + text[place:]
    return text[:place] + newline + indent + _member(text, step, value, indent) + end + text[place:]


def _remove(text: str, node: Node, step: Step) -> str:
    index = max(index for index, item in enumerate(node.items) if item.step == step)
    item = node.items[index]
    previous = node.items[index - 1] if index else None
    begin = previous.comma + 1 if previous else node.start + 1
    gap, line_comment = _last_comment(text, begin)
    end = item.node.end if item.comma < 0 else item.comma + 1
    if len(node.items) == 1:
        if not (text[begin:gap] + text[end : node.end - 1]).strip():
            gap, end = begin, node.end - 1
    elif previous is None and "\n" not in text[gap : item.start]:
        gap, end = item.start, _space_end(text, end)
    elif previous is not None and item.comma < 0:
        text, gap, end = _without(text, previous.comma), gap - 1, end - 1
    ends_line = text.startswith(("\r", "\n"), _space_end(text, end))
    return text[:gap] + (_newline(text) if line_comment and not ends_line else "") + text[end:]


def _without(text: str, at: int) -> str:
    return text[:at] + text[at + 1 :]


# --- layout
def _member(text: str, step: Step, value: Json, indent: str | None) -> str:
    """A member or element; indent: of its line, None if it shares the line with others."""
    key = f"{json.dumps(step, ensure_ascii=False)}: " if isinstance(step, str) else ""
    return key + (json.dumps(value, ensure_ascii=False) if indent is None else _rendered(text, value, indent))


def _rendered(text: str, value: Json, indent: str) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=_unit(text)).split("\n")
    return (_newline(text) + indent).join(lines)


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _indent(text: str, at: int) -> str:
    """The spaces at the beginning of the line of a position."""
    found = _SPACE.match(text, text.rfind("\n", 0, at) + 1)
    return found[0] if found else ""


def _unit(text: str) -> str:
    """The spaces that the file uses for one level."""
    found = _INDENTED.search(text)
    return found[1] if found else UNIT


def _last_comment(text: str, begin: int) -> tuple[int, bool]:
    """The end of the last comment before the next item, or `begin`; and whether it goes to the line's end."""
    last = begin, False
    while found := _TRIVIA.match(text, begin):
        begin = found.end()
        if found[0].startswith("/"):
            last = begin, found[0].startswith("//")
    return last


def _line_end(text: str, at: int) -> tuple[int, bool]:
    """The end of the comments that follow on the same line, and whether one of them ends the line."""
    while found := _TRIVIA.match(text, begin := _space_end(text, at)):
        if not found[0].startswith("/"):
            break
        at = found.end()
        if text.startswith("//", begin):
            return at, True
    return at, False


def _space_end(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
