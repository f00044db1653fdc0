"""crossings: callers with valid tokens reach for the memories of other namespaces and tenants."""

import json
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import httpx2

from bench.attack.fortress import MARK, PLACES, Fortress
from lore.doors.http.examples import EXAMPLES, TEA, WATER
from lore.verbs import OVER_HTTP

Place = tuple[str, str]


class Request(NamedTuple):
    method: str
    address: str
    query: dict[str, str]
    body: bytes


def addressing(tenant: str, namespace: str) -> Iterator[dict[str, str]]:
    """Yield the parameters by which a caller may try to act in another place."""
    yield {}
    yield {"namespace": namespace}
    yield {"namespace": "*"}
    yield {"tenant": tenant or "default"}
    yield {"namespace": f"{tenant}/{namespace}"}


def attempts(place: Fortress, rounds: int) -> Iterator[tuple[Place, Place, Request]]:
    """Yield the caller, the place it reaches for, and the request."""
    for _ in range(rounds):
        for caller in PLACES:
            for target in PLACES:
                if not _may_see(caller, target):
                    for method, path, body in _calls(place.hidden[target]):
                        for query in addressing(*target):
                            yield caller, target, Request(method, f"{place.address}{path}", query, body)


def run(place: Fortress, rounds: int, every: int = 1) -> dict[str, int]:
    """Make one in `every` attempts; count them, and those that showed or changed something elsewhere.

    Nobody here has the right for the whole store: an answer with its path is a leak, too.
    """
    counts: Counter[str] = Counter(crossings=0, leaked=0, failed=0)
    with place.client() as client:
        for caller, target, request in islice(attempts(place, rounds), 0, None, every):
            answer = client.request(
                request.method,
                request.address,
                params=request.query,
                content=request.body,
                headers=place.bearer(caller),
            )
            counts["crossings"] += 1
            counts["leaked"] += _word(target) in answer.text.lower() or str(place.data) in answer.text
            counts["failed"] += answer.status_code >= 500
        blind = [own for own in PLACES if not _sees_own(place, client, own)]
    return {**counts, "harmed": len(place.harmed()), "own_not_found": len(blind)}


def _may_see(caller: Place, target: Place) -> bool:
    """A caller sees its own namespace, and `shared` of its tenant."""
    return caller[0] == target[0] and target[1] in (caller[1], "shared")


def _calls(hidden: str) -> Iterator[tuple[str, str, bytes]]:
    for verb in OVER_HTTP:
        body = json.dumps(EXAMPLES.get(verb, {})).replace(TEA, hidden).replace(WATER, hidden)
        yield "POST", f"/api/v1/{verb}", body.encode()
    for path in ("/api/v1/export", "/changes", "/metrics", "/api/v1/settings"):
        yield "GET", path, b""


def _word(place: Place) -> str:
    return f"{MARK} {place[0] or 'default'}-{place[1]}"


def _sees_own(place: Fortress, client: httpx2.Client, own: Place) -> bool:
    """Whether the hidden memory can be found at all: otherwise no leak would show."""
    return _word(own) in client.get("/changes", headers=place.bearer(own)).text.lower()
