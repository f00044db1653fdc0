"""`python embedder.py FILE LOG VERB [wait]` calls `embed_pending` or `embed_batch` of a Lore.

LOG gets a line for each text that is embedded. wait: before the first one, say `embedding` and read a line.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.vectors import Vectors


class Logging(HashEmbedder):
    """Writes down each text that it embeds."""

    def __init__(self, log: Path, waits: bool) -> None:
        super().__init__()
        self._log = log
        self._waits = waits

    def embed(self, texts: Sequence[str]) -> Vectors:
        if self._waits:
            self._waits = False
            print("embedding", flush=True)
            sys.stdin.readline()
        with self._log.open("a") as log:
            log.writelines(f"{text}\n" for text in texts)
        return super().embed(texts)


def main(file: str, log: str, verb: str, *wait: str) -> None:
    lore = wire(Config(db_path=Path(file)), embedder=Logging(Path(log), bool(wait)))
    print(getattr(lore, verb)(), flush=True)
    lore.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
