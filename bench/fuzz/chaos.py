"""chaos: wrong values and texts of every kind, and right ones that were damaged."""

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

TEXTS = (
    "", " ", "a", "the ferry leaves at nine", "null", "NaN", "-1", "../../etc/passwd", "%s%n", "x';--",
    "\0", "\x1b[31m", "\ud83d", "\udc00x", "\ufffe", "\u202egnirts", "e\u0301" * 40, "日本語", "\r\n",
    "AKIA" + "Z" * 16, "<script>", "{{x}}", "*", "a AND", '"', "NEAR(", "a*b:c", "(" * 50, "2026-13-45",
    "A" * 300, "\t" * 30,
)  # fmt: skip
NUMBERS = (0, -1, 1, 2**31, 2**53, 2**63, -(2**63), 10**40, 0.5, -0.0, 1e308, 1e-308, 1.5e9)
LONG = ("-", "a ", "( ", ". ", "\n", "A-", "1,", "é", "x/", "_", "😀", "not ")
"""Units of long texts."""
LONGEST = 60_000


class Chaos:
    """One source of chance."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)

    def text(self) -> str:
        """A text; one in thirty is long."""
        roll = self.chance.random()
        if roll < 0.03:
            unit = self.chance.choice(LONG)
            return unit * self.chance.randrange(LONGEST // len(unit))
        if roll < 0.6:
            return " ".join(self.chance.choices(TEXTS, k=self.chance.randrange(1, 4)))
        return "".join(chr(self._character()) for _ in range(self.chance.randrange(40)))

    def _character(self) -> int:
        return self.chance.choice(
            (self.chance.randrange(128), self.chance.randrange(0x3000), self.chance.randrange(0x110000))
        )

    def value(self, depth: int = 3) -> Any:
        """Anything that JSON knows."""
        kind = self.chance.randrange(8 if depth else 5)
        if kind == 0:
            return None
        if kind == 1:
            return self.chance.random() < 0.5
        if kind == 2:
            return self.chance.choice(NUMBERS)
        if kind < 5:
            return self.text()
        if kind == 5:
            return {self.text()[:40]: self.value(depth - 1) for _ in range(self.chance.randrange(4))}
        return [self.value(depth - 1) for _ in range(self.chance.randrange(4))]

    def arguments(self, schema: Mapping[str, Any]) -> Any:
        """Arguments for a tool: mostly of the right kinds, with some missing, some wrong and some unknown."""
        if self.chance.random() < 0.03:
            return self.value()
        given = {
            name: self._fitting(part, schema)
            for name, part in schema.get("properties", {}).items()
            if (name in schema.get("required", ()) and self.chance.random() < 0.97)
            or self.chance.random() < 0.4
        }
        if self.chance.random() < 0.05:
            given[self.text()[:40]] = self.value()
        return given

    def _fitting(self, part: Mapping[str, Any], schema: Mapping[str, Any], depth: int = 4) -> Any:
        if self.chance.random() < 0.08 or not depth:
            return self.value()
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
        if "enum" in part:
            return self.chance.choice(part["enum"])
        kind = part.get("type")
        if "anyOf" in part:
            return self._fitting(self.chance.choice(part["anyOf"]), schema, depth - 1)
        if kind == "array":
            return [
                self._fitting(part.get("items", {}), schema, depth - 1)
                for _ in range(self.chance.randrange(4))
            ]
        if kind == "object":
            inner = part.get("properties", {})
            return {
                name: self._fitting(one, schema, depth - 1)
                for name, one in inner.items()
                if self.chance.random() < 0.9
            }
        plain = {
            "integer": self.chance.randrange(-3, 30),
            "number": self.chance.random(),
            "boolean": self.chance.random() < 0.5,
        }
        return plain.get(str(kind), self.text())

    def damaged(self, line: bytes) -> bytes:
        """A line after an accident: to its values, to its bytes, or none at all. Never more than one line."""
        roll = self.chance.random()
        if roll < 0.45:
            return self.altered(line)
        return self._broken(line).replace(b"\n", b" ") if roll < 0.75 else line

    def altered(self, line: bytes) -> bytes:
        """A line of JSON with other values, and still JSON."""
        value = self._altered(json.loads(line))
        return json.dumps(value, ensure_ascii=self.chance.random() < 0.8).encode("utf-8", "surrogatepass")

    def _broken(self, line: bytes) -> bytes:
        data = bytearray(line)
        for _ in range(self.chance.randrange(1, 4)):
            at = self.chance.randrange(len(data) + 1)
            kind = self.chance.randrange(6)
            if kind == 0:
                del data[at:]
            elif kind == 1:
                del data[at : at + self.chance.randrange(20)]
            elif kind == 2:
                data[at:at] = bytes(self.chance.randrange(256) for _ in range(self.chance.randrange(1, 9)))
            elif kind == 3:
                data[at:at] = self.chance.choice(
                    (b"\xff", b'"', b"{", b"[" * 300, b"\\ud800", b"9" * 5_000, b"\0", b"}")
                )
            elif kind == 4:
                data[at:at] = data[: self.chance.randrange(200)]
            elif data:
                data[at % len(data)] ^= 1 << self.chance.randrange(8)
        return bytes(data)

    def _altered(self, value: Any) -> Any:
        """The value with one to three of its parts replaced, removed, repeated or renamed."""
        for _ in range(self.chance.randrange(1, 4)):
            holders: list[Any] = []
            _collect(value, holders)
            if not holders:
                return self.value()
            self._alter(self.chance.choice(holders))
        return value

    def _alter(self, holder: Any) -> None:
        keys: Sequence[Any] = list(holder) if isinstance(holder, dict) else range(len(holder))
        key, kind = self.chance.choice(keys), self.chance.randrange(5)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[self.text()[:20]] = holder.pop(key)
        elif kind == 2:
            holder[key] = [holder[key]] * self.chance.randrange(3)
        else:
            holder[key] = self.value()


def _collect(value: Any, holders: list[Any]) -> None:
    """All lists and objects that are not empty."""
    if isinstance(value, dict | list) and value:
        holders.append(value)
        for one in value.values() if isinstance(value, dict) else value:
            _collect(one, holders)
