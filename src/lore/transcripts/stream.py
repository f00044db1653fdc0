"""A long array of JSON objects, one at a time: no more is held than the object that is being read."""

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from lore.errors import Invalid

CHUNK_BYTES = 65_536
LONGEST = 256 * 1024 * 1024
"""Characters of one object; more of it would be too much to hold."""

_DECODER = json.JSONDecoder(strict=False)
_BETWEEN = " \t\r\n,"
_LONGEST_WORD = 16
"""Behind this many characters before the end nothing is wrong only because the rest is missing."""


def chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK_BYTES):
        yield chunk


def objects(chunks: Iterable[bytes], longest: int = LONGEST) -> Iterator[dict[str, Any]]:
    """The objects of an array as they come; what else is in it is passed over.

    Invalid if it is no array, or breaks off; the objects before the break have been given.
    """
    text = _Text(chunks, longest)
    if text.next() != "[":
        raise Invalid("this is not a JSON array; right is an array of conversations: [{…}, {…}]")
    text.at += 1
    count = 0
    while (following := text.next()) != "]":
        if not following:
            raise Invalid(f"the array ends after {count} conversations without a ]; export it again")
        value = text.value(count)
        if isinstance(value, dict):
            count += 1
            yield value


class _Text:
    """The part of the text that has been read and not yet understood."""

    def __init__(self, chunks: Iterable[bytes], longest: int) -> None:
        decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self.rest = (decoder.decode(chunk) for chunk in chunks)
        self.longest = longest
        self.text = ""
        self.at = 0

    def more(self) -> bool:
        """Read on, by as much as there is already: an object is then tried a few times, not once a chunk."""
        kept = [self.text[self.at :]]
        size = wanted = len(kept[0])
        for chunk in self.rest:
            kept.append(chunk)
            size += len(chunk)
            if size > 2 * wanted:
                break
        self.text, self.at = "".join(kept), 0
        return size > wanted

    def next(self) -> str:
        """The next character that is not between two values; empty at the end."""
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in _BETWEEN:
                    return self.text[self.at]
                self.at += 1
            if not self.more():
                return ""

    def value(self, count: int) -> Any:
        """The next value; `count` objects came before it."""
        while True:
            try:
                value, self.at = _DECODER.raw_decode(self.text, self.at)
                return value
            except json.JSONDecodeError as error:
                wrong, unfinished = error.msg, self._unfinished(error)
            except (ValueError, RecursionError) as error:
                wrong, unfinished = str(error), False
            if unfinished and len(self.text) - self.at > self.longest:
                wrong, unfinished = f"it has over {self.longest:,} characters", False
            if not unfinished or not self.more():
                raise Invalid(f"conversation {count + 1} cannot be read: {wrong}; export it again")

    def _unfinished(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated string") or error.pos >= len(self.text) - _LONGEST_WORD
