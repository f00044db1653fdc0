"""search: options → a query → the hits, and notes about the answer."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from lore.doors.cli.complete import complete_ids, complete_policies, complete_sources
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags, command, limit_option
from lore.doors.cli.hits import show_hits
from lore.doors.cli.ids import resolve, resolve_all
from lore.doors.cli.projects import project_options, scope
from lore.doors.cli.render import BEGIN, note, plain, show_document
from lore.doors.cli.times import iso, minute, moment
from lore.model import FORMATS, Answer, Filter, Hit, Query
from lore.text import label_of

if TYPE_CHECKING:
    from lore.engine import Lore


@command()
@click.argument("text", nargs=-1)
@limit_option(10)
@click.option("--under", metavar="ID", shell_complete=complete_ids(), help="Only below this memory.")
@click.option("--deep", is_flag=True, help="Follow names and links from the first hits.")
@click.option(
    "--among", metavar="ID,...", shell_complete=complete_ids(), help="Only these; without TEXT, show all."
)
@click.option(
    "--policy",
    default="lore",
    shell_complete=complete_policies,
    help="Ranking: lore (default), graph, scored, tree, tree-first or typed.",
)
@click.option("--kind", multiple=True, help="Only this kind; may be repeated, like --type and --source.")
@click.option("--type", multiple=True, help="Only this type, such as fact or decision.")
@click.option(
    "--source", multiple=True, shell_complete=complete_sources, help="Only this client, like codex."
)
@click.option("--author", multiple=True, help="Only by this person, in a store of several.")
@click.option("--since", metavar="WHEN", help="Created since 2026-01-31, or 30m, 3h, 7d, 2w ago.")
@click.option("--until", metavar="WHEN", help="Created until then; a date includes its whole day.")
@click.option("--as-of", metavar="WHEN", help="Search what was known then, in the words of that time.")
@click.option("--format", type=click.Choice(FORMATS), help="How much of each hit (default: a passage).")
@click.option("--budget", metavar="TOKENS", type=int, help="Only the best hits that fit into TOKENS.")
@click.option("--min-score", type=float, default=0.0, help="Hide hits with a lower score.")
@click.option("--history", is_flag=True, help="Include memories that newer ones have replaced.")
@click.option("--why", is_flag=True, help="Explain why each hit was found, strongest reason first.")
@project_options
def search(flags: Flags, /, *, why: bool, as_json: bool, **options: Any) -> None:
    """Find memories by meaning and words.

    Ask as you would ask a person: lore search why did we choose SQLite

    Inside a repository, this searches the memories of that project and the global ones.

    --as-of takes a date (its end) or an age, such as 3d: memories stored since are left out, those replaced
    or forgotten since are found, and each has the text that it had then.
    """
    with open_lore(flags) as lore:
        # memories named by their id are meant wherever they belong
        named = options["under"] is not None or options["among"] is not None
        within = scope(lore, options["projects"], options["everywhere"], assume=not named)
        query = Query(
            text=" ".join(options["text"]),
            where=replace(_filter(lore, options), projects=within.keys),
            limit=options["limit"],
            policy=options["policy"],
            deep=options["deep"],
            min_score=options["min_score"],
            format=options["format"] or "full",
            budget_tokens=options["budget"],
            as_of=_as_of(lore, options["as_of"]),
        )
        answer = lore.search(query)
        elsewhere = _count_elsewhere(lore, query) if within.assumed else 0
        if elsewhere and not answer.stored:  # the project is empty, the store is not
            answer = replace(answer, stored=None)
        if as_json:
            covered: dict[str, Any] = {"projects": within.document, "in_other_projects": elsewhere}
            covered |= {} if query.as_of is None else {"as_of": iso(query.as_of)}
            show_document(covered | _document(answer, options["format"]))
            return
        show_hits(lore, answer.hits, query, options["format"], why)
        if query.as_of is not None:
            note(f"as it was known on {minute(query.as_of)}")
        if within.assumed:
            note(within.description("searches", elsewhere))
    for text in answer.notes():
        note(text)
    if answer.stored == 0:
        note(BEGIN)


def _filter(lore: "Lore", options: dict[str, Any]) -> Filter:
    now = lore.clock()
    since, until, under, among = (options[name] for name in ("since", "until", "under", "among"))
    return Filter(
        kinds=frozenset(options["kind"]),
        types=frozenset(options["type"]),
        sources=frozenset(options["source"]),
        authors=frozenset(options["author"]),
        created_after=None if since is None else moment(since, now, "--since"),
        created_before=None if until is None else moment(until, now, "--until", whole_day=True),
        under=None if under is None else resolve(lore, under, "--under"),
        ids=None if among is None else tuple(resolve_all(lore, among.split(","), "--among")),
        superseded=options["history"],
    )


def _as_of(lore: "Lore", when: str | None) -> float | None:
    """The time of --as-of, at most now; the last moment of a date."""
    if when is None:
        return None
    now = lore.clock()
    at = moment(when, now, "--as-of", whole_day=True)
    return min(math.nextafter(at, 0.0), now)


def _count_elsewhere(lore: "Lore", query: Query) -> int:
    """Count the memories of other projects among the best hits of a search in all of them."""
    everywhere = replace(query.where, projects=frozenset())
    answer = lore.search(replace(query, where=everywhere, format="ids", budget_tokens=None, counted=False))
    return sum(hit.memory.project not in query.where.projects | {""} for hit in answer.hits)


def _document(answer: Answer, format: str | None) -> dict[str, Any]:
    hits = [plain(hit) | {"memory": _memory(hit, format)} for hit in answer.hits]
    return {**plain(answer), "hits": hits, "notes": list(answer.notes())}


def _memory(hit: Hit, format: str | None) -> dict[str, Any]:
    """The fields of a found memory that `format` asks for."""
    memory = hit.memory
    if format not in ("ids", "title"):
        return dict(plain(memory))
    title = {"title": label_of(memory.title, memory.content)} if format == "title" else {}
    replaced = {} if memory.superseded_by is None else {"superseded_by": memory.superseded_by}
    return {"id": memory.id} | title | replaced
