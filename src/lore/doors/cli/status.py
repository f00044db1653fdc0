"""status: what is stored where, on one screen; and words for consolidations and language models."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from lore import lazy
from lore.distil.learnings import LEARNT_COUNTS
from lore.doors.cli.connect import endpoint_of, missing_store, open_lore
from lore.doors.cli.group import Flags, command
from lore.doors.cli.render import BEGIN, note, plain, plural, show_document, show_rows, size_text, warn
from lore.doors.cli.times import embedding_left, stopwatch, with_age
from lore.doors.daemon_status import query_status, read_status
from lore.doors.rpc import Remote
from lore.health import Status

if TYPE_CHECKING:
    from lore.engine import Lore

WORDS = {  # counter of a consolidation -> words for one, words for several
    "sessions_digested": ("conversation digested", "conversations digested"),
    "fragments_extracted": ("memory extracted", "memories extracted"),
    "contradictions_resolved": ("outdated memory replaced", "outdated memories replaced"),
    "relevance_updated": ("memory weighed", "memories weighed"),
    "twins_merged": ("duplicate merged", "duplicates merged"),
    "roots_merged": ("tree merged into another", "trees merged into others"),
    "links_created": ("link created", "links created"),
    "roots_resummarized": ("overview written", "overviews written"),
    "reflections_generated": ("insight gained", "insights gained"),
    "edges_pruned": ("faded link ended", "faded links ended"),
    "fragments_pruned": ("faded memory forgotten", "faded memories forgotten"),
}
ROUTINE = frozenset({"relevance_updated"})
"""Counters of work that changes nothing."""
NOTHING = "nothing to do"
RULES = "none: works by rules; [llm] backend in config.toml chooses one"
OFF = "`lore setup --model none` turns it off"
ROLES = ("extraction", "compression")
COUNTS = ("memories", "roots", "links", "forgotten", "superseded", "kinds")
"""The counts in JSON; those of embeddings stand beside them, those of projects have their own command."""


@command()
def status(flags: Flags, as_json: bool) -> None:
    """Show where the data is and how much there is."""
    with open_lore(flags) as lore:
        report = lore.status()
        now = lore.clock()
        models = _language_models(lore, flags)
        if not isinstance(lore, Remote) and (config := missing_store(flags)):
            model = lazy.embed.open_embedder(config.embedding_model).model
            report = replace(report, location=str(config.database), size_bytes=0, model=model)
    daemon = read_status(endpoint_of(flags))
    if as_json:
        document = plain(report)
        document["counts"] = {name: document["counts"][name] for name in COUNTS}
        show_document(document | {"language_model": models, "daemon": daemon})
        return
    click.secho(f"Lore {report.version}", bold=True)
    rows = _rows(report, now) | {"language model": models_text(models), **_today_rows(models)}
    show_rows(rows | {"daemon": _daemon_text(daemon)})
    warn(report.warnings)
    if not report.counts.memories:
        note(BEGIN)


def _language_models(lore: "Lore", flags: Flags) -> Mapping[str, str] | None:
    """Those of the daemon if it answers, because then it is the daemon that consolidates."""
    if isinstance(lore, Remote):
        models: Mapping[str, str] | None = query_status(endpoint_of(flags)).get("language_model")
        return models
    return lazy.consolidation_run.models_of_today(lore)


def _rows(report: Status, now: float) -> dict[str, str]:
    counts = report.counts
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.kinds.items())
    pending = f", {report.pending:,} waiting" if report.pending else ""
    size = size_text(report.size_bytes) if report.size_bytes else "does not exist yet"
    return {
        "store": f"{report.location} ({size})",
        "namespace": report.namespace,
        "memories": f"{counts.memories:,}{f' ({kinds})' if kinds else ''}",
        "notes of agents": ", ".join(f"{count:,} from {name}" for name, count in report.agent_notes.items()),
        "trees": f"{counts.roots:,}",
        "links": f"{counts.links:,}",
        "hidden": f"{counts.forgotten:,} forgotten, {counts.superseded:,} superseded",
        "embeddings": f"{plural(report.embedded, 'memory', 'memories')} embedded{pending} ({report.model})",
        "vector index": report.index,
        "trouble": report.error,
        "last write": with_age(report.last_write_at, now) if report.last_write_at is not None else "never",
        "to digest": plural(report.staged_turns, "turn") if report.staged_turns else "nothing",
        **_consolidation_rows(report.last_run, now),
    }


def _consolidation_rows(run: Mapping[str, Any] | None, now: float) -> dict[str, str]:
    """The time, duration and results of the last consolidation."""
    if run is None:
        return {"consolidated": "never"}
    return {
        "consolidated": f"{with_age(run['began_at'], now)}, in {stopwatch(run['seconds'])}",
        "learnt": run["learnt"],
        "results": counts_text(run["counts"], routine=False),
        "by rules, because": run.get("fallback", ""),
    }


def _today_rows(models: Mapping[str, str] | None) -> dict[str, str]:
    """What the language models took today, the limit that stopped them, and how to switch them off."""
    if not models or "trouble" in models:
        return {}
    return {
        "spent today": f"{models.get('today', 'nothing')}; {OFF}",
        "stopped, because": models.get("limit", ""),
    }


def _daemon_text(daemon: Mapping[str, Any]) -> str:
    if not daemon["running"]:
        return "not running"
    left = embedding_left(daemon["embedding"])
    return f"running (PID: {daemon['pid']}, {daemon['state']}{f': {left}' if left else ''})"


def counts_text(counts: Mapping[str, int], routine: bool = True) -> str:
    """The counters of a consolidation in words, but for those that `learnt_line` has. routine: include
    work that changed nothing."""
    ordered = sorted(counts, key=[*WORDS, *counts].index)
    hidden = LEARNT_COUNTS if routine else LEARNT_COUNTS | ROUTINE
    shown = [name for name in ordered if counts[name] and name not in hidden]
    words = {name: WORDS.get(name, (name.replace("_", " "),) * 2) for name in shown}
    return ", ".join(plural(counts[name], *words[name]) for name in shown) or NOTHING


def models_text(models: Mapping[str, str] | None) -> str:
    """The names of the language models, each once, and the address that gets the prompts."""
    if not models:
        return RULES
    if "trouble" in models:
        return f"cannot be asked: {models['trouble']}"
    names = dict.fromkeys(models[role] for role in ROLES if role in models)
    address = f" ({models['address']})" if "address" in models else ""  # daemons of older versions name none
    return ", ".join(names) + address
