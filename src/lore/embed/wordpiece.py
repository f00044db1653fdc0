"""Text → token ids, the way BERT (uncased) was trained to read: clean, split, longest known pieces."""

from collections.abc import Iterator
from pathlib import Path
from unicodedata import category, normalize

LONGEST_WORD = 100  # characters; a longer word is [UNK]
DROPPED = {"Cc", "Cf", "Co", "Cs"}  # controls, formats, private use, surrogates; unassigned ones stay
IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


def _cleaned(char: str) -> str:
    """One character: controls vanish, every space is the same, an ideograph is a word of its own."""
    if char in "\t\n\r":
        return " "
    if char == "\ufffd" or category(char) in DROPPED:
        return ""
    if char.isspace():
        return " "
    if any(first <= ord(char) <= last for first, last in IDEOGRAPHS):
        return f" {char} "
    return char


def _folded(char: str) -> str:
    """One decomposed character: accents vanish, letters are lowered, punctuation stands alone."""
    if category(char) == "Mn":
        return ""
    lowered = char.lower()
    return f" {lowered} " if _is_punctuation(lowered) else lowered


def _is_punctuation(char: str) -> bool:
    return category(char[0])[0] == "P" or char in "$+<=>^`|~"


class _Cleaning(dict[int, str]):
    """A table for `str.translate` that works out each character the first time it is met."""

    def __missing__(self, point: int) -> str:
        self[point] = result = _cleaned(chr(point))
        return result


class _Folding(dict[int, str]):
    """As above, for the step after decomposition."""

    def __missing__(self, point: int) -> str:
        self[point] = result = _folded(chr(point))
        return result


_CLEANING = _Cleaning()
_FOLDING = _Folding()


def words_of(text: str) -> list[str]:
    """The lower-cased, accent-free words and punctuation marks of `text`."""
    decomposed = normalize("NFD", text.translate(_CLEANING))
    return decomposed.translate(_FOLDING).split()


class WordPiece:
    """The vocabulary of one model. Special tokens written in a text are text like any other."""

    def __init__(self, vocab_path: Path) -> None:
        pieces = vocab_path.read_text(encoding="utf-8").rstrip("\n").split("\n")
        self._id_of = {piece: position for position, piece in enumerate(pieces)}
        self._longest = max(map(len, pieces))
        self._start, self._end, self._unknown = (self._id_of[name] for name in ("[CLS]", "[SEP]", "[UNK]"))

    def ids(self, text: str, limit: int) -> list[int]:
        """[CLS], the pieces of `text`, [SEP]: at most `limit` in all; what does not fit is cut off."""
        ids = [self._start]
        for word in words_of(text):
            if len(ids) >= limit:
                break
            ids.extend(self._pieces(word))
        return [*ids[: limit - 1], self._end]

    def _pieces(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [self._unknown]
        if (whole := self._id_of.get(word)) is not None:
            return [whole]
        found = list(self._longest_first(word))
        return [self._unknown] if None in found else [piece for piece in found if piece is not None]

    def _longest_first(self, word: str) -> Iterator[int | None]:
        """The longest known piece, then the longest of what is left …; None where nothing is known."""
        start, mark = 0, ""
        while start < len(word):
            for end in range(min(len(word), start + self._longest), start, -1):
                if (piece := self._id_of.get(mark + word[start:end])) is not None:
                    yield piece
                    start, mark = end, "##"
                    break
            else:
                yield None
                return
