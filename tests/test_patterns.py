"""Regular expressions that are compiled when first used."""

import re

import pytest

from lore.patterns import METHODS, regex


def test_a_regex_behaves_as_the_compiled_pattern() -> None:
    lazy, compiled = regex(r"(\w)(\d)", re.IGNORECASE), re.compile(r"(\w)(\d)", re.IGNORECASE)
    text = "a1 B2"
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert lazy.findall(text) == compiled.findall(text)
    assert lazy.sub(r"\2\1", text) == compiled.sub(r"\2\1", text)
    assert all(getattr(lazy, name).__self__ == compiled for name in METHODS)


def test_a_regex_is_compiled_when_it_is_first_used() -> None:
    broken = regex("(")
    with pytest.raises(re.error, match="missing"):
        broken.search("text")
