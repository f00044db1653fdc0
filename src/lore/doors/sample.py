"""sample: a few memories to try Lore with, in a data folder of their own."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lore.config import FILE_NAME
from lore.engine import Lore
from lore.errors import Unavailable
from lore.model import Draft, Tie

FILE = Path(__file__).with_name("sample.json")
SOURCE = "sample"
FOLDER = "sample"
SETTINGS = """\
# Settings of the sample alone: no conversation of yours is read into it.
[ingestion]
paused = true
"""


def sample_folder(data_dir: Path) -> Path:
    """The sample's data folder, below the user's, with settings of its own; created if it does not exist."""
    folder = data_dir / FOLDER
    try:
        for one in (data_dir, folder):
            one.mkdir(mode=0o700, parents=True, exist_ok=True)
        settings = folder / FILE_NAME
        if not settings.exists():
            settings.write_text(SETTINGS, encoding="utf-8")
    except OSError as error:
        raise Unavailable(f"{folder} cannot be made: {error.strerror}") from error
    return folder


def load_sample(lore: Lore) -> int:
    """Store the sample in an empty store; the number of memories, 0 if the store was ever used."""
    counts = lore.status().counts
    if counts.memories or counts.forgotten or counts.superseded:
        return 0
    story = json.loads(FILE.read_text(encoding="utf-8"))
    ids: dict[str, str] = {}
    for level in _levels(story["trees"]):
        kept = lore.remember_all([_draft(item, ids.get(item.get("parent", ""))) for item in level])
        ids |= {item["title"]: one.memory.id for item, one in zip(level, kept, strict=True)}
    lore.link([Tie(source=ids[a], target=ids[b], weight=0.7, reason=why) for a, b, why in story["links"]])
    return len(ids)


def _levels(trees: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Parents before children, all of one depth together; each child knows its parent's title."""
    while trees:
        yield trees
        trees = [child | {"parent": item["title"]} for item in trees for child in item.get("children", ())]


def _draft(item: Mapping[str, Any], parent: str | None) -> Draft:
    return Draft(
        content=item["content"],
        title=item["title"],
        type=item["type"],
        kind="fragment",
        importance=item.get("importance", 0.5),
        parent=parent,
        source=SOURCE,
        project="",
        embed_now=True,
    )
