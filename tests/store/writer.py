"""A process that writes: `python writer.py FILE NAME COUNT` prints each id once it is acknowledged.

COUNT 0 means: until somebody kills it.
"""

import sys
from itertools import count
from pathlib import Path

from lore import Draft
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder


def main(file: str, name: str, limit: int) -> None:
    lore = wire(Config(db_path=Path(file)), embedder=HashEmbedder())
    print("ready", flush=True)
    for number in range(limit) if limit else count():
        memory = lore.remember(Draft(content=f"{name} writes number {number}"))
        print(memory.id, flush=True)
        if number % 5 == 0:
            lore.embed_pending()
    lore.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
