"""protocol: the bytes between a client and the daemon: handshake messages, and lines of limited length.

A handshake message is `lore/1 WORD`, then fields `name=value`, each behind a NUL, and a NUL and a newline at
the end; reading it needs no parser. A client sends its request (`mcp`, `verbs`, `activity`, `hook`,
`explorer`, `ping`, `status`, `stop`) with its version, its folder, the session it serves and the settings of
its environment; the daemon answers `welcome` or `refused`. A `hook` also has the event and the input of a
client's hook, and its welcome the output; the welcome of `explorer` has a link. An `activity` has the state
that the status shows until its client hangs up. Between the lines of MCP, which never begin with `lore/1`,
the daemon sends `begun` before it works on a request: a request that had not begun when a daemon died can be
given to the next one.
"""

PROTOCOL = "lore/1"
OPENING = PROTOCOL.encode()
END = b"\0\n"
LONGEST_MESSAGE = 1 << 20
"""Bytes of one handshake message."""
LONGEST_LINE = 16 << 20
"""Bytes of one line that a client may send."""
EXCERPT = 512
"""Bytes kept of either end of a longer line: enough to find the id of its request."""
UNLIMITED = 1 << 62


def encode(word: str, fields: dict[str, str]) -> bytes:
    """The handshake message as bytes."""
    parts = [f"{PROTOCOL} {word}", *(f"{name}={value}" for name, value in fields.items())]
    return b"\0".join(part.encode("utf-8", "surrogateescape") for part in parts) + END


def decode(message: bytes) -> tuple[str, dict[str, str]]:
    """The word and the fields of a handshake message; ValueError if it is none."""
    opening, *parts = message.removesuffix(END).decode("utf-8", "surrogateescape").split("\0")
    protocol, _, word = opening.partition(" ")
    if protocol != PROTOCOL:
        raise ValueError(f"this is not {PROTOCOL}: {opening[:40]!r}")
    fields = {name: value for name, _, value in (part.partition("=") for part in parts)}
    return word, fields


class Cut(bytes):
    """The first and last bytes of a line that was longer than LONGEST_LINE."""


class Lines:
    """Splits one stream of bytes into lines. The cost is linear, however the bytes arrive."""

    def __init__(self, longest: int = UNLIMITED) -> None:
        """longest: bytes after which a line is cut."""
        self._longest = longest
        self._half = bytearray()
        self._size = 0

    @property
    def pending(self) -> bool:
        """Whether a line has begun and not ended."""
        return self._size > 0

    def feed(self, data: bytes) -> tuple[bytes, list[Cut]]:
        """The whole lines that `data` completes, with their ends; and the lines that were cut.

        data: fewer bytes than a line may have.
        """
        first, last = data.find(b"\n") + 1, data.rfind(b"\n") + 1
        if not first:
            self._keep(data)
            return b"", []
        self._keep(data[:first])
        whole, cut = bytes(self._half), self._size > self._longest
        self._half, self._size = bytearray(), 0
        self._keep(data[last:])
        return (data[first:last], [Cut(whole)]) if cut else (whole + data[first:last], [])

    def _keep(self, data: bytes) -> None:
        self._half += data
        self._size += len(data)
        if self._size > self._longest:
            del self._half[EXCERPT:-EXCERPT]
