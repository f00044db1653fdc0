"""Our ids are the ids of the reference tokenizer, for any text."""

from functools import cache
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from lore.embed.wordpiece import IDEOGRAPHS, WordPiece, words_of

VOCAB = Path(str(files("lore.embed") / "models" / "vocab.txt"))
PIECES = VOCAB.read_text(encoding="utf-8").split()
OURS = WordPiece(VOCAB)
ENDLESS = 1_000_000
CLS, SEP, UNK = 101, 102, 100


@cache
def reference() -> Tokenizer:
    """Without the special tokens, so that "[SEP]" in a text is text."""
    vocab = {piece: position for position, piece in enumerate(PIECES)}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def reference_ids(text: str) -> list[int]:
    return [CLS, *reference().encode(text).ids, SEP]


def reference_words(text: str) -> list[str]:
    tokenizer = reference()
    return [
        word for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(text))
    ]


def agreed(text: str) -> bool:
    return words_of(text) == reference_words(text)


@cache
def disputed() -> frozenset[str]:
    """Characters younger than the reference's tables, or than Python's; they are in the first two planes."""
    inside = [f"a{chr(point)}b" for point in range(0x20000) if not 0xD800 <= point < 0xE000]
    rows = (inside[start : start + 256] for start in range(0, len(inside), 256))
    return frozenset(text[1] for row in rows if not agreed(" ".join(row)) for text in row if not agreed(text))


HAND_MADE = [
    "",
    "   \t\r\n ",
    "Hello, World!",
    "don't can't $5.00 + <b>x</b> ^_^ `code` ~/path|pipe = 3",
    "Crème brûlée, naïve, Ångström, ÆØÅ, İstanbul, ẞ, ǅ, ΌΣΟΣ",
    "e\u0301 vs \u00e9, a\u0308\u0323 vs a\u0323\u0308",
    "東京は日本の首都です。北京 欢迎你，ｆｕｌｌ　ｗｉｄｔｈ",
    "한국어 형태소, ไทย, हिन्दी में, தமிழ்",
    "שלום עולם، مرحبا بالعالم؟ \u202bרtl\u202c",
    "emoji 👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️ end",
    "nul\x00nul \x07bell \x1b[31mred \x7f del \x85 nel \x1c\x1d\x1e\x1f sep",
    "soft\u00adhyphen zero\u200bwidth \ufeffbom \ufffd replacement \u2028line\u2029par",
    "a" * 100 + " " + "b" * 101 + " " + "antidisestablishmentarianism" * 3,
    "[CLS] [SEP] [MASK] ##ing [unused5]",
    "def f(x: int) -> dict[str, Any]: return {'k': x ** 2}  # ok?",
    "\u1e9b\u0323 \ufb01 \u2126 \u212b \U0001d15f \U0002f800 \uf900",
    "\ue000private\U000f0000 \u0378unassigned",
]


@pytest.mark.parametrize("text", HAND_MADE)
def test_ids_of_hand_made_texts(text: str) -> None:
    assert OURS.ids(text, ENDLESS) == reference_ids(text)


@pytest.mark.parametrize(("first", "last"), IDEOGRAPHS)
def test_ideographs_are_words_of_their_own_and_their_neighbours_are_not(first: int, last: int) -> None:
    for point in (first - 1, first, last, last + 1):
        assert words_of(f"a{chr(point)}b") == reference_words(f"a{chr(point)}b")


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("\u1100\u1161\u11a8 \u302e\u0301")
def test_ids_of_any_unicode(text: str) -> None:
    settled = "".join(char for char in text if char not in disputed())
    assert OURS.ids(settled, ENDLESS) == reference_ids(settled)


@given(st.lists(st.sampled_from([*PIECES, "##s", "é", ".", " ", "\u0301", "中", "-", "xqz"]), max_size=30))
def test_ids_of_pieces_glued_together(pieces: list[str]) -> None:
    text = "".join(piece.removeprefix("##") for piece in pieces)
    assert OURS.ids(text, ENDLESS) == reference_ids(text)


def test_only_rare_young_characters_are_disputed() -> None:
    assert len(disputed()) < 1500
    assert not disputed() & set("".join(PIECES))


@pytest.mark.parametrize("limit", [2, 3, 4, 5, 8, 64])
def test_a_long_text_is_cut_to_the_limit(limit: int) -> None:
    text = "unbelievable antidisestablishmentarianism again"
    whole = reference_ids(text)
    assert OURS.ids(text, limit) == (whole if len(whole) <= limit else [*whole[: limit - 1], SEP])


def test_half_a_surrogate_pair_is_dropped() -> None:
    assert OURS.ids("good\ud83d morning\udc4d", ENDLESS) == OURS.ids("good morning", ENDLESS)


def test_a_word_beyond_a_hundred_characters_is_unknown() -> None:
    assert OURS.ids("a" * 101, ENDLESS) == [CLS, UNK, SEP]
    assert UNK not in OURS.ids("a" * 100, ENDLESS)
