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
    import lore.doors.agent_notes as agent_notes
    import lore.doors.cli as cli
    import lore.doors.cli.helper as cli_helper
    import lore.doors.conversation as conversation
    import lore.doors.daemon as daemon
    import lore.doors.early as early
    import lore.doors.envelope as envelope
    import lore.doors.http.beside as http_beside
    import lore.doors.http.server as http_server
    import lore.doors.http.settings as http_settings
    import lore.doors.mcp as mcp
    import lore.doors.mcp_stream as mcp_stream
    import lore.doors.offer as offer
    import lore.doors.principal as principal
    import lore.doors.remote as remote
    import lore.doors.remote_http as remote_http
    import lore.doors.remote_mode as remote_mode
    import lore.doors.service as service
    import lore.doors.starting as starting
    import lore.doors.subscriptions as subscriptions
    import lore.doors.switched_off as switched_off
    import lore.doors.sync as sync
    import lore.doors.sync_requests as sync_requests
    import lore.doors.transcript_watcher as transcript_watcher
    import lore.doors.tray_icon as tray_icon
    import lore.doors.worker as worker
    import lore.embed as embed
    import lore.engine.consolidate.backlog as consolidation_backlog
    import lore.engine.consolidate.phases as consolidate
    import lore.engine.consolidation_run as consolidation_run
    import lore.engine.ingest as ingest
    import lore.engine.spending as spending
    import lore.errors as errors
    import lore.llm.command as llm_command
    import lore.llm.loopback as loopback
    import lore.ranking.policy as policy
    import lore.store.moving as store_moving
    import lore.store.postgres.plan as store_postgres_plan
    import lore.store.sqlite.backups as store_backups
    import lore.store.sqlite.encryption as store_encryption
    import lore.store.sqlite.opening as store_opening
    import lore.store.sqlite.peek as store_peek
    import lore.surfaces as surfaces
    import lore.transcripts.ignore_rules as ignore_rules
    import lore.transcripts.import_formats as import_formats
    import lore.transcripts.sources as sources
    import lore.transcripts.untrusted_files as untrusted_files
    import lore.transfer.formats as memory_formats
    import lore.transfer.migrate as migrate
    import lore.transfer.streams as transfer_streams
else:
    MODULES = {
        "agent_notes": "lore.doors.agent_notes",
        "cli": "lore.doors.cli",
        "cli_helper": "lore.doors.cli.helper",
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
        "http_beside": "lore.doors.http.beside",
        "http_server": "lore.doors.http.server",
        "http_settings": "lore.doors.http.settings",
        "ignore_rules": "lore.transcripts.ignore_rules",
        "import_formats": "lore.transcripts.import_formats",
        "ingest": "lore.engine.ingest",
        "llm_command": "lore.llm.command",
        "loopback": "lore.llm.loopback",
        "mcp": "lore.doors.mcp",
        "mcp_stream": "lore.doors.mcp_stream",
        "migrate": "lore.transfer.migrate",
        "offer": "lore.doors.offer",
        "memory_formats": "lore.transfer.formats",
        "policy": "lore.ranking.policy",
        "remote": "lore.doors.remote",
        "principal": "lore.doors.principal",
        "remote_http": "lore.doors.remote_http",
        "remote_mode": "lore.doors.remote_mode",
        "service": "lore.doors.service",
        "sources": "lore.transcripts.sources",
        "spending": "lore.engine.spending",
        "starting": "lore.doors.starting",
        "store_backups": "lore.store.sqlite.backups",
        "store_encryption": "lore.store.sqlite.encryption",
        "store_moving": "lore.store.moving",
        "store_opening": "lore.store.sqlite.opening",
        "store_peek": "lore.store.sqlite.peek",
        "store_postgres_plan": "lore.store.postgres.plan",
        "subscriptions": "lore.doors.subscriptions",
        "surfaces": "lore.surfaces",
        "switched_off": "lore.doors.switched_off",
        "sync": "lore.doors.sync",
        "sync_requests": "lore.doors.sync_requests",
        "transcript_watcher": "lore.doors.transcript_watcher",
        "transfer_streams": "lore.transfer.streams",
        "tray_icon": "lore.doors.tray_icon",
        "worker": "lore.doors.worker",
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
