"""status: what is there and where, on one screen."""

from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.opening import missing_store, opened
from lore.doors.cli.placing import endpoint_of
from lore.doors.cli.report_text import amount, models_named, took
from lore.doors.cli.terminal import BEGIN, note, plural, show_rows, visible, warn
from lore.doors.cli.times import embedding_left, told
from lore.doors.daemon_status import query_status, read_status
from lore.doors.verbs import Remote
from lore.health import Status

if TYPE_CHECKING:
    from lore.engine import Lore

UNITS = ("bytes", "KB", "MB", "GB", "TB")


@click.command()
@json_option
@click.pass_obj
def status(flags: Flags, as_json: bool) -> None:
    """Say where the data is and how much there is."""
    with opened(flags) as lore:
        seen = lore.status()
        now = lore.clock()
        models = _language_models(lore, flags)
        if not isinstance(lore, Remote) and (unmade := missing_store(flags)):
            model = import_module("lore.embed").open_embedder(unmade.embedding_model).model
            seen = replace(seen, location=str(unmade.database), size_bytes=0, model=model)
    daemon = read_status(endpoint_of(flags))
    if as_json:
        show_document(plain(seen) | {"language_model": models, "daemon": daemon})
        return
    click.secho(f"Lore {seen.version}", bold=True)
    model = {"language model": visible(models_named(models))}
    show_rows(_rows(seen, now) | model | {"daemon": _presence(daemon)})
    warn(seen.warnings)
    if not seen.counts.memories:
        note(BEGIN)


def _language_models(lore: "Lore", flags: Flags) -> Mapping[str, str] | None:
    """Of the daemon, if it is the one who answers: then it is the one who consolidates."""
    if isinstance(lore, Remote):
        told: Mapping[str, str] | None = query_status(endpoint_of(flags)).get("language_model")
        return told
    ours: Mapping[str, str] | None = import_module("lore.doors.consolidation_run").language_models(lore)
    return ours


def _rows(seen: Status, now: float) -> dict[str, str]:
    counts = seen.counts
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.kinds.items())
    waiting = f", {seen.pending:,} waiting" if seen.pending else ""
    size = size_of(seen.size_bytes) if seen.size_bytes else "does not exist yet"
    return {
        "store": visible(f"{seen.location} ({size})"),
        "namespace": visible(seen.namespace),
        "memories": visible(f"{counts.memories:,}{f' ({kinds})' if kinds else ''}"),
        "trees": f"{counts.roots:,}",
        "links": f"{counts.links:,}",
        "hidden": f"{counts.forgotten:,} forgotten, {counts.superseded:,} superseded",
        "meaning": f"{plural(seen.embedded, 'memory', 'memories')} embedded{waiting} ({seen.model})",
        "trouble": visible(seen.trouble),
        "last write": told(seen.last_write_at, now) if seen.last_write_at is not None else "never",
        "to digest": plural(seen.staged_turns, "turn") if seen.staged_turns else "nothing",
        **_run(seen.last_run, now),
    }


def _run(run: Mapping[str, Any] | None, now: float) -> dict[str, str]:
    """When Lore last consolidated, how long that took, and what came of it."""
    if run is None:
        return {"consolidated": "never"}
    when = f"{told(run['began_at'], now)}, in {took(run['seconds'])}"
    fallback = visible(run.get("fallback", ""))
    return {
        "consolidated": when,
        "which brought": amount(run["counts"], routine=False),
        "by rules, because": fallback,
    }


def _presence(daemon: Mapping[str, Any]) -> str:
    if not daemon["running"]:
        return "not running"
    return f"running (PID: {daemon['pid']}, {daemon['state']}{embedding_left(daemon['embedding'])})"


def size_of(size_bytes: int) -> str:
    """A number of bytes for people, in the largest unit that fits."""
    size = float(size_bytes)
    for unit in UNITS:
        if size < 1000 or unit == UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
