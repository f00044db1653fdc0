"""lazy: the one table of modules that are imported when first used, because importing them takes time.

`lazy.config.load()` imports `lore.config` and calls its `load`. Type checkers see the imports below. A module
that moves or is renamed changes its two lines here.
"""
# ruff: noqa: F401
# mypy: implicit-reexport

from importlib import import_module

TYPE_CHECKING = False  # the module `typing` is not imported for it: `lore-mcp` starts within milliseconds
if TYPE_CHECKING:
    from typing import Any

    import lore.config as config
    import lore.connecting as connecting
    import lore.doors.cli as cli
    import lore.doors.conversation as conversation
    import lore.doors.daemon as daemon
    import lore.doors.early as early
    import lore.doors.envelope as envelope
    import lore.doors.mcp as mcp
    import lore.doors.mcp_stream as mcp_stream
    import lore.doors.service as service
    import lore.doors.starting as starting
    import lore.doors.subscriptions as subscriptions
    import lore.doors.transcript_watcher as transcript_watcher
    import lore.embed as embed
    import lore.engine.consolidate.backlog as consolidation_backlog
    import lore.engine.consolidate.phases as consolidate
    import lore.engine.consolidation_run as consolidation_run
    import lore.engine.ingest as ingest
    import lore.engine.spending as spending
    import lore.errors as errors
    import lore.ranking.policy as policy
    import lore.store.sqlite.opening as store_opening
    import lore.store.sqlite.peek as store_peek
    import lore.surfaces as surfaces
    import lore.transcripts.ignore_rules as ignore_rules
    import lore.transcripts.import_formats as import_formats
    import lore.transcripts.sources as sources
    import lore.transcripts.untrusted_files as untrusted_files
else:
    MODULES = {
        "cli": "lore.doors.cli",
        "config": "lore.config",
        "connecting": "lore.connecting",
        "consolidate": "lore.engine.consolidate.phases",
        "consolidation_backlog": "lore.engine.consolidate.backlog",
        "consolidation_run": "lore.engine.consolidation_run",
        "conversation": "lore.doors.conversation",
        "daemon": "lore.doors.daemon",
        "early": "lore.doors.early",
        "embed": "lore.embed",
        "envelope": "lore.doors.envelope",
        "errors": "lore.errors",
        "ignore_rules": "lore.transcripts.ignore_rules",
        "import_formats": "lore.transcripts.import_formats",
        "ingest": "lore.engine.ingest",
        "mcp": "lore.doors.mcp",
        "mcp_stream": "lore.doors.mcp_stream",
        "policy": "lore.ranking.policy",
        "service": "lore.doors.service",
        "sources": "lore.transcripts.sources",
        "spending": "lore.engine.spending",
        "starting": "lore.doors.starting",
        "store_opening": "lore.store.sqlite.opening",
        "store_peek": "lore.store.sqlite.peek",
        "subscriptions": "lore.doors.subscriptions",
        "surfaces": "lore.surfaces",
        "transcript_watcher": "lore.doors.transcript_watcher",
        "untrusted_files": "lore.transcripts.untrusted_files",
    }

    def __getattr__(name: str) -> object:
        if name not in MODULES:
            raise AttributeError(f"module 'lore.lazy' has no attribute {name!r}")
        return import_module(MODULES[name])


def load(target: str) -> "Any":
    """The object that `module:attribute` names, as the tables of implementations do."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)
