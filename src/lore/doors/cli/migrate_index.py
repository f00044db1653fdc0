"""migrate-index: build the vector index in another vector store, and use that from now on."""

import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lore import lazy
from lore.clients.toml import put
from lore.doors.cli.connect import endpoint_of, require_store, settings
from lore.doors.cli.group import Flags, command
from lore.doors.cli.progress import progress
from lore.doors.cli.render import note, plural, show_document, visible
from lore.doors.cli.times import stopwatch
from lore.doors.daemon_status import read_status
from lore.durable import write_durably
from lore.errors import Invalid
from lore.text import listed

if TYPE_CHECKING:
    from lore.config import Config

SETTING = "vector_store"


@command("migrate-index")
@click.argument("name", metavar="STORE")
def migrate_index(flags: Flags, name: str, as_json: bool) -> None:
    """Move the vector index to another vector store.

    STORE is builtin, lancedb, chroma or sqlite-vec. The index is built there from the stored vectors, the
    setting vector_store in config.toml is changed, and the old index is deleted. Memories stay where they
    are, and nothing is embedded again. With the name of the vector store in use, its index is built again.
    """
    require_store(flags, "move")
    config = settings(flags)
    stores = lazy.config.CHOICES[SETTING]
    if name not in stores:
        raise Invalid(f"unknown vector store {name!r}; known: {listed(stores)}")
    began = time.monotonic()
    vectors, index = _build(replace(config, vector_store=name))
    file = _use(name, config)
    report = {
        "from": config.vector_store,
        "to": name,
        "vectors": vectors,
        "seconds": round(time.monotonic() - began, 3),
        "index": index,
        "settings": str(file),
    }
    overruled = settings(flags).vector_store
    if as_json:
        show_document(report | {"in_force": overruled})
    else:
        taken = stopwatch(time.monotonic() - began)
        click.echo(f"Built the index of {plural(vectors, 'vector')} in {taken}: {index}.")
        click.echo(visible(f"{SETTING} is {name} in {file}."))
    if overruled != name:
        note(f"The environment variable LORE_VECTOR_STORE says {overruled}, and counts more: change it too.")
    elif name != config.vector_store and read_status(endpoint_of(flags))["running"]:
        note("The daemon still uses the old one: lore daemon restart")


def _build(config: "Config") -> tuple[int, str]:
    """Build the index of these settings; the number of vectors, and the index in a few words."""
    with closing(lazy.connecting.wire(config)) as lore, progress() as shown:
        vectors = lore.build_index(lambda done, total: shown("index", done, total))
        return vectors, lore.store.report().index


def _use(name: str, config: "Config") -> Path:
    """Set the vector store in the file of settings."""
    file = config.data_dir / lazy.config.FILE_NAME
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    keys = tuple(lazy.config.SETTINGS[SETTING].key.split("."))
    write_durably(file, put(text, keys, name))
    return file
