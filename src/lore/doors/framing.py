"""framing: a stream of bytes as lines of limited length. The cost is linear, however the bytes arrive."""

LONGEST_LINE = 16 << 20
"""Bytes of one line that a client may send."""
EXCERPT = 512
"""Bytes kept of either end of a longer line: enough to find the id of its request."""
UNLIMITED = 1 << 62


class Cut(bytes):
    """The first and last bytes of a line that was longer than LONGEST_LINE."""


class Lines:
    """The lines of one stream. longest: bytes after which a line is cut."""

    def __init__(self, longest: int = UNLIMITED) -> None:
        self._longest = longest
        self._half = bytearray()
        self._size = 0

    @property
    def pending(self) -> bool:
        """Whether a line has begun and not ended."""
        return self._size > 0

    def feed(self, data: bytes) -> tuple[bytes, list[Cut]]:
        """The whole lines that `data` completes, with their ends; and those that were cut.

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
