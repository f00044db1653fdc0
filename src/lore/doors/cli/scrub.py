"""scrub: today's rules for secrets on everything that is stored → gone for good, and which copies keep it."""

import click

from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.opening import directly, missing_store
from lore.doors.cli.progress import progress
from lore.doors.cli.terminal import note, plural, visible
from lore.errors import NotFound
from lore.health import Scrubbed

NOUNS = {
    "memory": ("memory", "memories"),
    "full_text": ("whole text", "whole texts"),
    "link": ("link", "links"),
    "journal": ("entry of the history", "entries of the history"),
    "suggestion": ("suggestion", "suggestions"),
    "bookmark": ("bookmark", "bookmarks"),
    "noted": ("note of consolidation", "notes of consolidation"),
}
"""What the tables are called."""


@click.command()
@click.option("--dry-run", is_flag=True, help="Only count what would be removed.")
@json_option
@click.pass_obj
def scrub(flags: Flags, dry_run: bool, as_json: bool) -> None:
    """Remove secrets that an older Lore has stored, for good.

    New memories are checked before they are stored. This checks everything that is stored already, in all
    namespaces, with the rules of this version: memories, links, history and bookmarks. Secrets are replaced
    by their kind, and the file is written anew, so that no page of it holds them. This cannot be undone:
    removing a secret is meant to be final. Backups are not changed; those beside the store are listed.
    """
    if unmade := missing_store(flags):
        raise NotFound(f"there is nothing to scrub: {unmade.database} does not exist yet")
    with directly(flags) as lore, progress() as told:
        scrubbed = lore.store.scrub(dry_run, told)
    if as_json:
        show_document(plain(scrubbed))
    else:
        _show(scrubbed)


def _show(scrubbed: Scrubbed) -> None:
    if not scrubbed.rows:
        click.echo("No secrets found.")
    else:
        places = ", ".join(plural(count, *NOUNS[table]) for table, count in scrubbed.rows.items())
        click.echo(f"{'Would clean' if scrubbed.dry_run else 'Cleaned'} {places}.")
    for kind, count in sorted(scrubbed.kinds.items()):
        click.echo(f"  {count:>6,}  {kind}")
    if scrubbed.backups:
        note("Copies made earlier are not changed and may still hold secrets; delete those you do not need:")
        for path in scrubbed.backups:
            note(f"  {visible(path)}", broken_to_fit=False)
