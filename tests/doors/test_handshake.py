"""hello: what is said is heard."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.doors import protocol
from lore.doors.protocol import END, OPENING

NAMES = st.text(st.characters(codec="ascii", categories=["L"]), min_size=1)
VALUES = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))


@given(NAMES, st.dictionaries(NAMES, VALUES))
def test_a_handshake_survives_encoding_and_decoding(word: str, fields: dict[str, str]) -> None:
    message = protocol.encode(word, fields)
    assert message.startswith(OPENING)
    assert message.endswith(END)
    assert message.count(END) == 1
    assert protocol.decode(message) == (word, fields)


def test_a_variable_that_is_no_text_survives() -> None:
    odd = b"/tmp/\xff".decode("utf-8", "surrogateescape")
    assert protocol.decode(protocol.encode("mcp", {"folder": odd})) == ("mcp", {"folder": odd})


@pytest.mark.parametrize("message", [b"", b"GET / HTTP/1.1\r\n", b"lore/2 mcp\0\n", b"\0\n"])
def test_anything_else_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match="this is not lore/1"):
        protocol.decode(message)
