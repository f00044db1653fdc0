"""Text index: find memories by words and by names, and keep both indexes and whole texts up to date.

`words` holds the words of a memory as a tsvector: letters and digits without case and accents, stemmed by
Porter's rules, with the weights A (title), B (summary), C (content) and D (context). Text in scripts without
spaces is there as grams (see `lore.grams`). Each word begins with the letters of its tenant: the index of all
tenants then has lists of one tenant only, and the number of memories in a list says how rare a word is there.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

from lore.errors import NotFound
from lore.grams import indexed, phrase, unspaced
from lore.model import LORE_CALL, VERBATIM
from lore.names import subjects
from lore.store.columns import Rows
from lore.store.postgres.sql import IDS, Table, insert, sight
from lore.store.rows import packed_text

FIELDS = ("title", "summary", "content", "context")
"""The indexed fields of a memory."""
CONFIGURATION = "'lore_words'"
LONGEST_WORD = 200
MOST_WORDS = 40_000
"""Words of one field that are indexed; a tsvector has a limit."""
LONGEST_NAME = 500

_WORD = re.compile(r"[^\W_]+")
_DIGITS = "bcdfghjklmnprstv"
_END = "q"


def letters_of(tenant: int) -> str:
    """The beginning of every word of a tenant: no other tenant's letters begin like it.

    Consonants only, because the rules of stemming count the vowels of a word.
    """
    return "".join(_DIGITS[int(digit, 16)] for digit in f"{tenant:x}") + _END


# --- queries

ABOUT = """
    SELECT n.name, f.id FROM unnest(%(names)s::text[]) AS n (name) CROSS JOIN LATERAL (
        SELECT m.id, m.alias, count(*) OVER () AS count FROM (
            SELECT m.id, m.alias FROM subject s JOIN memory m ON m.tenant = s.tenant AND m.alias = s.memory
            WHERE s.tenant = %(tenant)s AND s.name = n.name AND {passing} LIMIT %(most)s + 1
        ) m
    ) f WHERE f.count <= %(most)s ORDER BY n.name, f.alias
"""
"""Memories introduced by each name, without names that introduce more than :most."""


def query_parts(term: str, letters: str) -> tuple[str, str]:
    """The words of a term that stand one after the other, and the beginning of the word behind them."""
    if not unspaced(term):
        return _lettered(_words(term), letters), ""
    found, beginning = phrase(term)
    *before, last = found.split()
    if beginning:
        return _lettered(before, letters), f"'{letters}{last}':*"
    return _lettered([*before, last], letters), ""


def _words(text: str) -> list[str]:
    """The words of a text without case and accents; those of scripts without spaces are left to grams."""
    if not text.isascii():
        text = "".join(
            character
            for character in unicodedata.normalize("NFKD", text)
            if unicodedata.category(character) != "Mn" or unspaced(character)
        )
        text = unicodedata.normalize("NFC", text)
    return [word[:LONGEST_WORD] for word in _WORD.findall(text.lower()) if not unspaced(word)]


def _lettered(words: Sequence[str], letters: str) -> str:
    return letters + f" {letters}".join(words) if words else ""


def document(text: str, letters: str) -> str:
    """A text as the text search configuration reads it."""
    found = [*_words(text), *indexed(text).split()] if text else []
    return _lettered(found[:MOST_WORDS], letters)


# --- upkeep: what the writer does with every new or changed text

Texts = Mapping[str, str]
"""The FIELDS of a memory by name."""
VECTORS = " || ".join(
    f"setweight(to_tsvector({CONFIGURATION}, v.{name}), '{weight}')"
    for name, weight in zip(FIELDS, "ABCD", strict=True)
)
PUT_WORDS = f"""
    INSERT INTO words (tenant, memory, words) SELECT %s, v.memory, {VECTORS}
    FROM unnest(%s::int[], {", ".join(["%s::text[]"] * len(FIELDS))}) AS v (memory, {", ".join(FIELDS)})
    ON CONFLICT (tenant, memory) DO UPDATE SET words = excluded.words
"""
SUBJECT = Table("subject", (("name", "text"), ("memory", "int")))
EMBEDDING = Table(
    "embedding",
    (
        ("memory", "int"), ("namespace", "text"), ("model", "text"), ("version", "int"), ("verbatim", "bool"),
        ("added_at", "float8"),
    ),
)  # fmt: skip
DROP_SUBJECTS = "DELETE FROM subject WHERE tenant = %s AND memory = %s"
UNEMBED = """
    UPDATE embedding SET model = '', version = version + 1, vector = NULL, claimed_until = 0
        WHERE tenant = %s AND memory = %s
"""


def add(tenant: int, texts: Mapping[int, Texts], rows: Rows) -> None:
    """Index the texts of new memories, by alias."""
    put_words(tenant, texts, rows)
    add_subjects(tenant, texts, rows)


def put_words(tenant: int, texts: Mapping[int, Texts], rows: Rows) -> None:
    """Index these texts, in place of the old ones where there are any."""
    letters = letters_of(tenant)
    made = [[document(fields[name], letters) for fields in texts.values()] for name in FIELDS]
    rows(PUT_WORDS, [tenant, list(texts), *made])


def add_subjects(tenant: int, texts: Mapping[int, Texts], rows: Rows) -> None:
    """List the names that introduce these memories."""
    found = [
        (name, alias)
        for alias, fields in texts.items()
        for name in subjects(fields["title"], fields["content"])
        if len(name) <= LONGEST_NAME
    ]
    insert(SUBJECT, tenant, found, rows)


def add_embeddings(
    tenant: int, memories: Iterable[tuple[int, str, str]], added_at: float, rows: Rows
) -> None:
    """New memories (alias, namespace, kind) wait for their vector; calls to Lore never get one."""
    waiting = [
        (alias, namespace, "", 0, kind in VERBATIM, added_at)
        for alias, namespace, kind in memories
        if kind != LORE_CALL
    ]
    insert(EMBEDDING, tenant, waiting, rows)


def change(tenant: int, alias: int, after: Texts, rows: Rows) -> None:
    """Index a changed text in place of the old one; its vector goes, to be embedded again."""
    rows(DROP_SUBJECTS, (tenant, alias))
    add(tenant, {alias: after}, rows)
    rows(UNEMBED, (tenant, alias))


# --- whole texts

FULL_TEXTS = f"""
    SELECT m.id, f.characters, f.data FROM memory m CROSS JOIN LATERAL (
        SELECT f.* FROM full_text f WHERE f.tenant = m.tenant AND f.memory = m.alias OFFSET 0) f
        WHERE m.id = {IDS} AND m.forgotten_at IS NULL AND {sight("m")}
"""
PUT_FULL_TEXT = """
    INSERT INTO full_text (tenant, memory, characters, data) VALUES (%s, %s, %s, %s)
        ON CONFLICT (tenant, memory) DO UPDATE SET characters = excluded.characters, data = excluded.data
"""
DROP_FULL_TEXT = "DELETE FROM full_text WHERE tenant = %s AND memory = %s"


def put_full_texts(tenant: int, texts: Mapping[str, str], aliases: Mapping[str, int], rows: Rows) -> None:
    """Keep each text, or drop the row of a memory whose text is empty. aliases: of the ids in sight."""
    for id, text in texts.items():
        if id not in aliases:
            raise NotFound(f"unknown memory {id}")
        if text:
            rows(PUT_FULL_TEXT, (tenant, aliases[id], *packed_text(text)))
        else:
            rows(DROP_FULL_TEXT, (tenant, aliases[id]))
