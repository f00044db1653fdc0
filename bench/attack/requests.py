"""requests: call every route of a server on loopback with credentials that must not be accepted, or none."""

import random
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from bench.attack.fortress import MARK, Fortress

REFUSED = (400, 401, 403, 404, 405, 413, 415, 421, 429)
"""Answers that give nothing away. A route that answers otherwise has let somebody in."""
HOSTS = ("127.0.0.1", "localhost", "evil.example", "127.0.0.1.evil.example", "[::1]", "0.0.0.0", "lore.local")
ORIGINS = ("", "null", "http://evil.example", "http://127.0.0.1:1", "https://localhost")


def credentials(tokens: dict[str, str], chance: random.Random) -> Iterator[dict[str, str]]:
    """Yield the headers of callers whom no route may accept."""
    valid = tokens["default-web"]
    id, secret = valid[:18], valid[18:]
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
    wrong = "".join(chance.choice(letters) for _ in range(43))
    unsigned = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJpbmVzIiwic2NvcGUiOiJsb3JlOmFkbWluIn0."
    yield {}
    for value in (
        f"Bearer {id}{wrong}",
        f"Bearer lore_{chance.randbytes(6).hex()}_{secret.lstrip('_')}",
        f"Bearer {valid[:-1]}",
        f"Bearer {valid}A",
        f"Bearer {valid.swapcase()}",
        f"Bearer {tokens['revoked']}",
        f"Bearer {tokens['expired']}",
        f"Bearer {unsigned}",
        "Bearer null",
        f"Basic {b64encode(f'admin:{valid}'.encode()).decode()}",
        f"Digest {valid}",
        f"Token {valid}",
        valid,
        f"Bearer {'A' * 4_000}",
        "Bearer ' OR 1=1 --",
    ):
        yield {"Authorization": value}
    for cookie in ("lore_session=1", f"lore_session={valid}", f"session={wrong}", f"lore={wrong}"):
        yield {"Cookie": cookie}
    for name in ("X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Original-URL", "X-Remote-User"):
        yield {name: "127.0.0.1"}


def attempts(
    place: Fortress, rounds: int, chance: random.Random
) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield the method, address and headers of each request."""
    closed = [route for route in place.routes if route.right is not None]
    for _ in range(rounds):
        for route in closed:
            path = re.sub(r"\{[^}]*\}", "x", route.path)
            yield route.method, path, {}  # as any account of the machine can
            for sent in credentials(place.tokens, chance):
                headers = sent | {"Host": chance.choice(HOSTS)}
                if origin := chance.choice(ORIGINS):
                    headers["Origin"] = origin
                yield route.method, path, headers


def run(place: Fortress, rounds: int, every: int = 1) -> dict[str, int]:
    """Send one in `every` requests; count them, and those that got an answer or a word they must not get."""
    counts: Counter[str] = Counter(requests=0, without_credentials=0, answered=0, leaked=0, failed=0)
    with place.client() as client:
        for method, path, headers in islice(attempts(place, rounds, random.Random(1)), 0, None, every):
            answer = client.request(method, path, headers=headers, content=b"{}")
            counts["requests"] += 1
            counts["without_credentials"] += not {"Authorization", "Cookie"} & headers.keys()
            counts["answered"] += answer.status_code < 400
            counts["failed"] += answer.status_code not in REFUSED
            counts["leaked"] += MARK in answer.text.lower()
    return {**counts, "changed": len(place.changed())}
