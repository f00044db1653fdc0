"""doctor: check the store → repair on request → check again; what is wrong is the answer, not an error."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.opening import missing_store, opened
from lore.doors.cli.placing import endpoint_of
from lore.doors.cli.progress import embed_pending
from lore.doors.cli.terminal import note, wrapped
from lore.doors.daemon_status import query_status
from lore.doors.verbs import Remote
from lore.errors import Unavailable
from lore.health import Finding

if TYPE_CHECKING:
    from lore.engine import Lore


@click.command()
@click.option("--fix", is_flag=True, help="Make words, depths, counters and lost vectors anew.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, fix: bool, as_json: bool) -> None:
    """Check the store, and repair what can be repaired.

    The exit code is 1 if anything is wrong.
    """
    before, after = _examined(ctx.obj, fix)
    broken = {finding.check for finding in before if not finding.passed}
    repaired = [finding.check for finding in after if finding.passed and finding.check in broken]
    healthy = all(finding.passed for finding in after)
    if as_json:
        show_document({"healthy": healthy, "repaired": repaired, "findings": plain(after)})
    else:
        _show(after, repaired, fix)
    ctx.exit(0 if healthy else 1)


def _examined(flags: Flags, fix: bool) -> tuple[Sequence[Finding], Sequence[Finding]]:
    """What was found at first, and at last. A store that cannot be opened is a finding too."""
    with ExitStack() as stack:
        try:
            lore = stack.enter_context(opened(flags))
        except Unavailable as error:
            closed = [Finding("opening", False, str(error))]
            return closed, closed
        if not isinstance(lore, Remote) and (unmade := missing_store(flags)):
            nothing = [Finding("store", True, f"{unmade.database} does not exist yet; nothing to check")]
            return nothing, nothing
        before = [*lore.check(), *_troubles(flags)]
        if not fix:
            return before, before
        lore.rebuild()
        _settle(lore)
        return before, [*lore.check(), *_troubles(flags)]


def _troubles(flags: Flags) -> list[Finding]:
    """Services of the daemon that fail, and files that it passes over."""
    troubles = query_status(endpoint_of(flags))["troubles"] or {}
    return [Finding("daemon", False, f"{what}: {why}") for what, why in troubles.items()]


def _settle(lore: "Lore") -> None:
    """Have lost vectors made anew."""
    embed_pending(lore)
    status = lore.status()
    if status.pending:
        note(f"{status.pending:,} memories are not embedded: {status.trouble or 'they came meanwhile'}")


def _show(findings: Sequence[Finding], repaired: Sequence[str], fix: bool) -> None:
    longest = max(len(finding.check) for finding in findings)
    for finding in findings:
        mark = click.style("✓", fg="green") if finding.passed else click.style("✗", fg="red")
        mended = "repaired: " if finding.check in repaired else ""
        first, *rest = wrapped(f"{mended}{finding.detail}", longest + 4)
        click.echo(f"{mark} {finding.check.ljust(longest)}  {first}")
        for text in rest:
            click.echo(" " * (longest + 4) + text)
    if not fix and any(finding.repairable and not finding.passed for finding in findings):
        note("lore doctor --fix can repair this.")
