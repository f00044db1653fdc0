"""body: the body of a request, within limits of size and time, decompressed."""

import sys
import zlib
from collections.abc import Callable
from typing import Any, Protocol

import anyio
from pydantic_core import from_json
from starlette.requests import Request
from starlette.types import Message, Receive

from lore.errors import Invalid, LoreError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

JSON = "application/json"
BODY_SECONDS = 30.0
"""Longest time between two parts of a body; and for the whole of it, besides what its size allows."""
SLOWEST = 16_384
"""Bytes in a second: a body that comes more slowly for longer than that is given up."""
GZIP = 16 + zlib.MAX_WBITS


class TooLarge(LoreError):
    """The body has more bytes than the server accepts, as it is sent or when it is decompressed."""


class Unsupported(LoreError):
    """The body is of a type, or in a compression, that the server does not read."""


class TooSlow(LoreError):
    """The rest of the body did not come."""


class Decompressor(Protocol):
    """Decompresses one body, at most `max_length` bytes at a time."""

    @property
    def eof(self) -> bool: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


DECOMPRESSORS: dict[str, Callable[[], Decompressor]] = {
    "gzip": lambda: zlib.decompressobj(GZIP),
    "zstd": zstd.ZstdDecompressor,
}
"""Value of Content-Encoding -> what reads it."""


def limited(request: Request, most: int) -> Request:
    """The same request, whose body is refused from the byte on that is too much, or when it does not come."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > most:
        raise _too_large(most)
    return Request(request.scope, _limited(request.receive, most), request._send)


def _limited(receive: Receive, most: int) -> Receive:
    received, complete, began = 0, False, 0.0

    async def receive_part() -> Message:
        nonlocal received, complete, began
        if complete:
            return await receive()  # waits for the client to go
        now = anyio.current_time()
        began = began or now
        with anyio.CancelScope(deadline=min(now, began + received / SLOWEST) + BODY_SECONDS):
            message = await receive()
            received += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if received > most:
                raise _too_large(most)
            return message
        raise TooSlow(
            f"the rest of the body did not come within {BODY_SECONDS:g} seconds, or it comes more slowly than"
            f" {SLOWEST:,} bytes in a second"
        )

    return receive_part


async def read_body(request: Request, most: int) -> bytes:
    """The whole body, decompressed; TooLarge if that has more than `most` bytes."""
    encoding = request.headers.get("content-encoding", "identity").strip().lower()
    body = await request.body()
    if encoding == "identity":
        return body
    if encoding not in DECOMPRESSORS:
        raise Unsupported(f"unknown Content-Encoding {encoding[:40]!r}; known: {', '.join(DECOMPRESSORS)}")
    return await anyio.to_thread.run_sync(_decompress, encoding, body, most)


def _decompress(encoding: str, body: bytes, most: int) -> bytes:
    decompressor = DECOMPRESSORS[encoding]()
    try:
        whole = decompressor.decompress(body, most + 1)
    except (zlib.error, zstd.ZstdError, EOFError) as error:
        raise Invalid(f"the body is not {encoding}: {error}") from error
    if len(whole) > most:
        raise _too_large(most)
    if not decompressor.eof:
        raise Invalid(f"the body is not {encoding}: it ends too early")
    return whole


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"a body has at most {most:,} bytes, also when it is decompressed")


async def read_json(request: Request, most: int) -> dict[str, Any]:
    """The JSON object in a body; an empty one if there is no body."""
    body = await read_body(request, most)
    if not body.strip():
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Unsupported(f"the body is sent as JSON, with the header Content-Type: {JSON}")
    try:
        document = from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise Invalid(f"the body is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise Invalid('the body must be an object like {"name": value}')
    return document
