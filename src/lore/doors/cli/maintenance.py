"""doctor, scrub: check and repair the store, and remove secrets from it."""

from collections.abc import Sequence
from contextlib import ExitStack

import click

from lore.doors.cli.connect import endpoint_of, missing_store, open_lore, open_store, require_store
from lore.doors.cli.group import Flags, command
from lore.doors.cli.progress import embed_pending, progress
from lore.doors.cli.render import hanging, note, plain, plural, show_document
from lore.doors.daemon_status import query_status
from lore.doors.rpc import Remote
from lore.errors import Unavailable
from lore.health import Finding

ROWS = {  # table -> words for one of its rows, words for several; others are called like their table
    "memory": ("memory", "memories"),
    "journal": ("history entry", "history entries"),
    "digest_progress": ("failed digest", "failed digests"),
    "session_answers": ("answer of a language model", "answers of a language model"),
    "phase_mark": ("phase mark", "phase marks"),
    "consolidation_run": ("consolidation report", "consolidation reports"),
}


# --- doctor
@command()
@click.option("--fix", is_flag=True, help="Rebuild the text index, depths, counters and lost embeddings.")
def doctor(flags: Flags, fix: bool, as_json: bool) -> int:
    """Check the store and repair its indexes.

    The exit code is 1 if anything is wrong.
    """
    before, after = _examine(flags, fix)
    broken = {finding.check for finding in before if not finding.passed}
    repaired = [finding.check for finding in after if finding.passed and finding.check in broken]
    healthy = all(finding.passed for finding in after)
    if as_json:
        show_document({"healthy": healthy, "repaired": repaired, "findings": after})
    else:
        _show_findings(after, repaired)
        if not fix and any(finding.repairable and not finding.passed for finding in after):
            note("lore doctor --fix can repair this.")
    return 0 if healthy else 1


def _examine(flags: Flags, fix: bool) -> tuple[Sequence[Finding], Sequence[Finding]]:
    """The findings before and after the repair. A store that cannot be opened is a finding too."""
    with ExitStack() as stack:
        try:
            lore = stack.enter_context(open_lore(flags))
        except Unavailable as error:
            return ([Finding("opening", False, str(error))],) * 2
        if not isinstance(lore, Remote) and (config := missing_store(flags)):
            return ([Finding("store", True, f"{config.database} does not exist yet; nothing to check")],) * 2
        before = after = [*lore.check(), *_daemon_findings(flags)]
        if fix:
            lore.rebuild()
            embed_pending(lore)
            status = lore.status()
            if status.pending:
                reason = status.error or "they were added during the repair"
                note(f"{status.pending:,} memories are not embedded: {reason}")
            after = [*lore.check(), *_daemon_findings(flags)]
        return before, after


def _daemon_findings(flags: Flags) -> list[Finding]:
    """Services of the daemon that fail, and files that it cannot read."""
    troubles = query_status(endpoint_of(flags))["troubles"] or {}
    return [Finding("daemon", False, f"{service}: {error}") for service, error in troubles.items()]


def _show_findings(findings: Sequence[Finding], repaired: Sequence[str]) -> None:
    longest = max(len(finding.check) for finding in findings)
    for finding in findings:
        mark = click.style("✓", fg="green") if finding.passed else click.style("✗", fg="red")
        state = "repaired: " if finding.check in repaired else ""
        lines = hanging(f"{mark} {finding.check.ljust(longest)}  ", f"{state}{finding.detail}")
        click.echo("\n".join(lines))


# --- scrub
@command()
@click.option("--dry-run", is_flag=True, help="Only count the secrets.")
def scrub(flags: Flags, dry_run: bool, as_json: bool) -> None:
    """Remove secrets that an older version stored, for good.

    New memories are checked before they are stored. This command checks everything stored earlier, in all
    namespaces, with the rules of this version: memories, links, history and bookmarks. It replaces each
    secret by its kind and rewrites the file, so that no page of it holds the secret. This cannot be undone.
    Backups are not changed; those beside the store are listed.
    """
    require_store(flags, "scrub")
    with open_store(flags) as lore, progress() as report:
        scrubbed = lore.store.scrub(dry_run, report)
    if as_json:
        show_document(plain(scrubbed))
        return
    words = {table: ROWS.get(table, (table.replace("_", " "),)) for table in scrubbed.rows}
    rows = ", ".join(plural(count, *words[table]) for table, count in scrubbed.rows.items())
    cleaned = "Would clean" if scrubbed.dry_run else "Cleaned"
    click.echo(f"{cleaned} {rows}." if rows else "No secrets found.")
    for kind, count in sorted(scrubbed.kinds.items()):
        click.echo(f"  {count:>6,}  {kind}")
    if scrubbed.backups:
        note("Earlier copies are unchanged and may still hold secrets; delete those you do not need:")
        for path in scrubbed.backups:
            note(f"  {path}", whole=True)
