"""tokens: forged tokens of an OAuth issuer, which runs as a process of its own on loopback."""

import json
import random
import time
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from bench.attack.fortress import MARK, Fortress
from tests.doors.http.issuer import IssuerProcess

AUDIENCE = "https://lore.example"
ROUTES = ("/status", "/changes", "/api/v1/export", "/api/v1/settings")


def forged(issuer: IssuerProcess, chance: random.Random) -> Iterator[str]:
    """Yield tokens that this server must refuse, though each has something of a good one."""
    claims = {
        "iss": issuer.address, "aud": AUDIENCE, "sub": "ines", "scope": "lore:admin", "exp": time.time() + 600
    }  # fmt: skip
    good = issuer.token(aud=AUDIENCE, scope="lore:admin", exp=time.time() + 600)
    header, payload, signature = good.split(".")
    id = jwt.get_unverified_header(good)["kid"]
    own = rsa.generate_private_key(65537, 2048)
    published = jwt.algorithms.RSAAlgorithm.to_jwk(own.public_key(), as_dict=True)
    yield jwt.encode(claims, own, "RS256", {"kid": id, "typ": "at+jwt"})
    yield jwt.encode(claims, own, "RS256", {"kid": id, "jwk": published})
    yield jwt.encode(claims, own, "RS256", {"kid": id, "jku": "http://127.0.0.1:1/jwks"})
    yield jwt.encode(claims, own, "PS512", {"kid": id})
    for algorithm in ("HS256", "HS384", "HS512"):
        yield jwt.encode(claims, "k" * 64, algorithm, {"kid": id})
    for name in ("none", "None", "NONE", "nOnE", "RS256", ""):
        head = _part({"alg": name, "kid": id, "typ": "at+jwt"})
        yield f"{head}.{payload}."
        yield f"{head}.{_part(claims | {'sub': '*'})}.{signature}"
    changes: list[dict[str, Any]] = [
        {"aud": "https://other.example"},
        {"aud": None},
        {"aud": []},
        {"aud": {"a": AUDIENCE}},
        {"exp": time.time() - 3600},
        {"exp": None},
        {"exp": "tomorrow"},
        {"nbf": time.time() + 3600},
        {"sub": None},
        {"sub": "*"},
        {"iss": "https://issuer.example"},
        {"lore_namespaces": [""]},
        {"lore_tenant": 7},
    ]
    for change in changes:
        yield issuer.token(**({"aud": AUDIENCE, "scope": "lore:admin"} | change))
    for kid in ("../../etc/passwd", "' OR 1=1 --", "unknown", "\u0000", "x" * 2_000):
        yield issuer.token(aud=AUDIENCE, scope="lore:admin", header={"kid": kid})
    for _ in range(20):
        at = chance.randrange(len(signature) - 2)
        other = "A" if signature[at] != "A" else "B"
        yield f"{header}.{payload}.{signature[:at]}{other}{signature[at + 1 :]}"


def _part(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def run(place: Fortress, issuer: IssuerProcess, rounds: int, every: int = 1) -> dict[str, int]:
    """Try one in `every` tokens on each route; count the tries, and those that were accepted."""
    chance = random.Random(1)
    counts: Counter[str] = Counter(tokens=0, accepted=0, leaked=0)
    with place.client() as client:
        for _ in range(rounds):
            for token in islice(forged(issuer, chance), 0, None, every):
                for path in ROUTES:
                    answer = client.get(path, headers={"Authorization": f"Bearer {token}"})
                    counts["tokens"] += 1
                    counts["accepted"] += answer.status_code not in (400, 401, 403)
                    counts["leaked"] += MARK in answer.text.lower()
        good = issuer.token(aud=AUDIENCE, scope="lore:read")
        accepted = client.get("/status", headers={"Authorization": f"Bearer {good}"})
    return {**counts, "good_refused": int(accepted.status_code != 200)}
