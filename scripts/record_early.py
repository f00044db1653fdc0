"""Write src/lore/doors/early.json, the answers that `lore-mcp` gives without a daemon:

python -m scripts.record_early
"""

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from socket import socketpair
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from anyio.abc import SocketStream
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from lore.config import Config
from lore.connecting import wire
from lore.doors.early import HANDSHAKE, META_CAPABILITIES, META_VERSION, RECORDED, STATELESS
from lore.doors.mcp_stream import McpStream
from lore.doors.offer import Offer, to_one_client
from lore.doors.principal import Principal
from lore.doors.subscriptions import Audience
from lore.doors.workers import Workers
from lore.embed.hashing import HashEmbedder
from lore.engine import Lore
from lore.surfaces import SURFACES
from lore.surfaces.surface import TOGETHER, Surface, line_of

FILE = Path(__file__).parent.parent / "src" / "lore" / "doors" / RECORDED
VERSIONS = {HANDSHAKE: list(HANDSHAKE_PROTOCOL_VERSIONS), STATELESS: list(MODERN_PROTOCOL_VERSIONS)}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
METHODS = {HANDSHAKE: ("initialize", "ping", *LISTS), STATELESS: ("server/discover", "ping", *LISTS)}
SHAPES = {"own": "graph", "drop-in": "official"}
"""Kinds of surfaces that differ in their answers beyond their texts and lists, with an example of each."""
FILLED = {"instructions": "", "protocolVersion": "", "prompts": [], "resources": [], "tools": []}
"""Parts of an answer that depend on the client; `lore.doors.early` fills them in."""


def main() -> None:
    FILE.write_text(recorded(), encoding="utf-8")


def recorded() -> str:
    """The file as it should be."""
    with (
        TemporaryDirectory() as folder,
        closing(wire(Config(data_dir=Path(folder)), embedder=HashEmbedder())) as lore,
    ):
        answers = {name: anyio.run(_answers, lore, surface) for name, surface in SURFACES.items()}
    data = {
        "default": Config().surfaces,
        "versions": VERSIONS,
        "together": TOGETHER,
        "surfaces": {name: _parts(surface, answers[name]) for name, surface in SURFACES.items()},
        "answers": {shape: _emptied(answers[name]) for shape, name in SHAPES.items()},
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"


def _parts(surface: Surface, answers: dict[str, Any]) -> dict[str, Any]:
    """The parts of the answers that belong to one surface; the eras order schema keys differently."""
    return {
        "alone": surface.alone,
        "drop_in": surface.drop_in,
        "calls": list(surface.names()),
        "instructions": surface.instructions,
        "line": line_of(surface),
        "tools": {era: bodies["tools/list"]["result"]["tools"] for era, bodies in answers.items()},
        "prompts": answers[HANDSHAKE]["prompts/list"].get("result", {}).get("prompts", []),
        "resources": answers[HANDSHAKE]["resources/list"]["result"]["resources"],
    }


def _emptied(answers: dict[str, Any]) -> dict[str, Any]:
    """The answers of each era, without the parts that are filled in."""
    return {
        era: {method: _without_parts(body) for method, body in bodies.items()}
        for era, bodies in answers.items()
    }


def _without_parts(body: dict[str, Any]) -> dict[str, Any]:
    if "result" not in body:
        return body
    return {"result": {key: FILLED.get(key, value) for key, value in body["result"].items()}}


async def _answers(lore: Lore, surface: Surface) -> dict[str, Any]:
    """The bodies with which a server of this surface answers, by era and method."""
    return {era: await _bodies(lore, surface, era) for era in VERSIONS}


async def _bodies(lore: Lore, surface: Surface, era: str) -> dict[str, Any]:
    near, far = socketpair()
    bodies: dict[str, Any] = {}
    async with (
        await SocketStream.from_socket(near) as agent,
        await SocketStream.from_socket(far) as served,
        anyio.create_task_group() as tasks,
    ):
        client = to_one_client(Principal(lore=lore, workers=Workers()))
        with Offer([surface], client, Audience()) as offer:
            tasks.start_soon(McpStream(served).run, offer.server, anyio.Event())
            for method, request in _requests(era):
                await agent.send(request)
                answer = b""
                while not answer.endswith(b"\n"):
                    answer += await agent.receive()
                bodies[method] = {
                    key: value for key, value in json.loads(answer).items() if key not in ("jsonrpc", "id")
                }
            await agent.aclose()
    return bodies


def _requests(era: str) -> Iterable[tuple[str, bytes]]:
    about = {"name": "record_early", "version": "1"}
    greeting = {"protocolVersion": VERSIONS[HANDSHAKE][-1], "capabilities": {}, "clientInfo": about}
    meta = {"_meta": {META_VERSION: VERSIONS[STATELESS][-1], META_CAPABILITIES: {}}}
    for method in METHODS[era]:
        parameters = meta if era == STATELESS else greeting if method == "initialize" else {}
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        yield method, json.dumps(message).encode() + b"\n"


if __name__ == "__main__":
    main()
