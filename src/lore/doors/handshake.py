"""handshake: the messages that a client and the daemon exchange first, in a form that needs no parser.

A message is `lore/1 WORD`, then fields `name=value`, each behind a NUL, and a NUL and a newline at the end.
A client says what it wants (`mcp`, `verbs`, `ping`, `status`, `stop`) with its version, its folder, the
conversation it serves (`session`) and the settings of its environment; the daemon answers `welcome` or
`refused`. Between the lines of MCP, which never begin so, it says `begun` before it touches a request: what
it has not begun when it dies can be given to the next one.
"""

PROTOCOL = "lore/1"
OPENING = PROTOCOL.encode()
END = b"\0\n"
LONGEST = 1 << 20


def encode(word: str, fields: dict[str, str]) -> bytes:
    """The message as bytes."""
    parts = [f"{PROTOCOL} {word}", *(f"{name}={value}" for name, value in fields.items())]
    return b"\0".join(part.encode("utf-8", "surrogateescape") for part in parts) + END


def decode(message: bytes) -> tuple[str, dict[str, str]]:
    """The word and the fields; ValueError if this is none of our messages."""
    opening, *parts = message.removesuffix(END).decode("utf-8", "surrogateescape").split("\0")
    protocol, _, word = opening.partition(" ")
    if protocol != PROTOCOL:
        raise ValueError(f"this is not {PROTOCOL}: {opening[:40]!r}")
    fields = {name: value for name, _, value in (part.partition("=") for part in parts)}
    return word, fields
