"""connection: an HTTP connection that ends when its client does not send a request in time."""

import asyncio

import h11
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 30.0
"""Longest time from the first byte of a request, or from the beginning of a connection, to the end of the
request's head; and from an answer to the end of a body that nobody waited for."""


class Connection(H11Protocol):
    """Closes a connection whose client sends nothing, a head without an end, or a refused body for too long.

    A request for another protocol is answered as if it did not ask for that.
    """

    _limit: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    @override
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    @override
    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._watch()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unwatch()

    @override
    def _should_upgrade(self) -> bool:
        return False

    @property
    def _waits(self) -> bool:
        """Whether the client owes the head of a request, or the rest of a body that was answered already."""
        state = self.conn.their_state
        return state is h11.IDLE or (
            state is h11.SEND_BODY and self.cycle is not None and self.cycle.response_complete
        )

    def _watch(self) -> None:
        """Limit the time while the client owes something; the limit stays as it was set first."""
        if not self._waits:
            self._unwatch()
        elif self._limit is None and not self.transport.is_closing():
            self._limit = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _unwatch(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
