"""Check that an exact identifier is the first hit through every surface, also after other memories were read.

python -m bench.identifiers [--incidents 160] [--asked 20] [--read 12] [--model gte-small]

Saves incidents that differ in number, service and cause through `memory_save`, asks for some of them by their
id alone, reads others, and asks again. Shows how many links were made without a request.
"""

import argparse
import tempfile
from pathlib import Path

from bench.retrieval.surfaces import CALLS, ask
from lore import Lore
from lore.config import Config
from lore.connecting import wire
from lore.settings import LlmSettings
from lore.surfaces import SURFACES

SERVICES = ("billing", "login", "search", "export", "mail", "catalogue", "checkout", "reports")
CAUSES = (
    "the connection pool was exhausted",
    "a certificate had expired",
    "the disk of the replica was full",
    "a deploy removed an index",
    "the cache served stale prices",
)
STEP = 7
"""The incidents that are asked for are this far apart."""


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="lore-bench-") as folder:
        settings = Config(
            data_dir=Path(folder), embedding_model=options.model, llm=LlmSettings(backend="none")
        )
        lore = wire(settings)
        ids = [_saved(number, lore) for number in range(options.incidents)]
        lore.embed_pending()
        wanted = [number * STEP % options.incidents for number in range(options.asked)]
        links = len({link.id for link in lore.links(ids) if link.created_by != "link"})
        print(f"{options.incidents} incidents, {links} links made without being asked for")
        before = {surface: _first(surface, wanted, lore) for surface in CALLS}
        others = [id for number, id in enumerate(ids) if number not in wanted]
        for id in others[: options.read]:
            SURFACES["tree"].tools["read"](lore, {"id": id})
        print(f"first of {options.asked} by id:{'':6}at once   after reading {options.read} others")
        for surface, count in before.items():
            print(f"{surface:26}{count:3}{_first(surface, wanted, lore):20}")
        lore.close()


def _name(number: int) -> str:
    return f"INC-{4700 + number}"


def _saved(number: int, lore: Lore) -> str:
    service, cause = SERVICES[number % len(SERVICES)], CAUSES[number % len(CAUSES)]
    content = (
        f"{_name(number)}: the {service} service was down because {cause}; fixed in {number % 50 + 5} minutes"
    )
    reply = SURFACES["typed"].tools["memory_save"](lore, {"content": content, "memory_type": "event"})
    return str(reply.data["memory_id"])


def _first(surface: str, wanted: list[int], lore: Lore) -> int:
    found = [ask(surface, _name(number), lore) for number in wanted]
    return sum(
        bool(memories) and memories[0].content.startswith(f"{_name(number)}:")
        for number, memories in zip(wanted, found, strict=True)
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--incidents", type=int, default=160)
    parser.add_argument("--asked", type=int, default=20)
    parser.add_argument("--read", type=int, default=12)
    parser.add_argument("--model", default="gte-small")
    return parser.parse_args()


if __name__ == "__main__":
    main()
