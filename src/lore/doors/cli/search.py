"""search: flags → a query → the hits and what there is to say about them."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from lore.doors.cli.completing import from_table, ids, sources
from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.hits import show_hits
from lore.doors.cli.ids import resolve, resolve_all
from lore.doors.cli.opening import opened
from lore.doors.cli.projects import Scope, project_options, scope
from lore.doors.cli.terminal import BEGIN, note
from lore.doors.cli.times import moment
from lore.model import FORMATS, Answer, Filter, Hit, Query
from lore.text import label_of

if TYPE_CHECKING:
    from lore.engine import Lore


@click.command()
@click.argument("text", nargs=-1)
@click.option(
    "-l",
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="At most so many.",
)
@click.option("--under", metavar="ID", shell_complete=ids(), help="Only below this memory.")
@click.option("--deep", is_flag=True, help="Follow names and links from what was found.")
@click.option(
    "--among",
    metavar="ID,...",
    shell_complete=ids(),
    help="Only these; without TEXT they are simply shown.",
)
@click.option(
    "--policy",
    default="lore",
    show_default=True,
    shell_complete=from_table("lore.ranking.policy:POLICIES"),
    help="How to rank: lore, scored or tree.",
)
@click.option("--kind", multiple=True, help="Only this kind; may be repeated, as the next two.")
@click.option("--type", multiple=True, help="Only this type, such as fact or decision.")
@click.option(
    "--source", multiple=True, shell_complete=sources, help="Only from this client, such as codex or import."
)
@click.option("--since", metavar="WHEN", help="Kept since 2026-01-31, or 30m, 3h, 7d, 2w ago.")
@click.option("--until", metavar="WHEN", help="Kept until then; a date counts to its end.")
@click.option("--format", type=click.Choice(FORMATS), help="How much of each; without it the best passage.")
@click.option("--budget", metavar="TOKENS", type=int, help="Only the best that fit.")
@click.option("--min-score", type=float, default=0.0, help="Hide what scores less.")
@click.option("--history", is_flag=True, help="Also what something newer has replaced.")
@click.option("--why", is_flag=True, help="Say why each was found, the strongest reason first.")
@project_options
@json_option
@click.pass_obj
def search(flags: Flags, /, *, why: bool, as_json: bool, **asked: Any) -> None:
    """Find memories by meaning and words.

    Ask as you would ask a person: lore search why did we choose SQLite

    In a repository this finds what belongs to it, and what belongs to none.
    """
    with opened(flags) as lore:
        within = _scope(lore, asked)
        query = _query(lore, asked, within)
        answer = lore.search(query)
        elsewhere = _elsewhere(lore, query) if within.assumed else 0
        if elsewhere and not answer.stored:  # the project is empty, the store is not
            answer = replace(answer, stored=None)
        if as_json:
            scope_document = {"projects": within.document, "in_other_projects": elsewhere}
            show_document(scope_document | _document(answer, asked["format"]))
            return
        show_hits(lore, answer.hits, query, asked["format"], why)
        if within.assumed:
            note(within.told("searches", elsewhere))
    for said in answer.notes():
        note(said)
    if answer.stored == 0:
        note(BEGIN)


def _scope(lore: "Lore", asked: dict[str, Any]) -> Scope:
    """Memories that were named are meant wherever they belong."""
    named = asked["under"] is not None or asked["among"] is not None
    return scope(lore, asked["projects"], asked["everywhere"], assume=not named)


def _elsewhere(lore: "Lore", query: Query) -> int:
    """Count the memories of other projects among the best hits of a search in all of them."""
    everywhere = replace(query.where, projects=frozenset())
    answer = lore.search(replace(query, where=everywhere, format="ids", budget_tokens=None, counted=False))
    return sum(hit.memory.project not in query.where.projects | {""} for hit in answer.hits)


def _query(lore: "Lore", asked: dict[str, Any], within: Scope) -> Query:
    return Query(
        text=" ".join(asked["text"]),
        where=_filter(lore, asked, within),
        limit=asked["limit"],
        policy=asked["policy"],
        deep=asked["deep"],
        min_score=asked["min_score"],
        format=asked["format"] or "full",
        budget_tokens=asked["budget"],
    )


def _filter(lore: "Lore", asked: dict[str, Any], within: Scope) -> Filter:
    now = lore.clock()
    since, until, under, among = (asked[name] for name in ("since", "until", "under", "among"))
    return Filter(
        kinds=frozenset(asked["kind"]),
        types=frozenset(asked["type"]),
        sources=frozenset(asked["source"]),
        projects=within.keys,
        created_after=None if since is None else moment(since, now, "--since"),
        created_before=None if until is None else moment(until, now, "--until", whole_day=True),
        under=None if under is None else resolve(lore, under, "--under"),
        ids=None if among is None else tuple(resolve_all(lore, among.split(","), "--among")),
        superseded=asked["history"],
    )


def _document(answer: Answer, format: str | None) -> dict[str, Any]:
    hits = [plain(hit) | {"memory": _memory(hit, format)} for hit in answer.hits]
    return {**plain(answer), "hits": hits, "notes": list(answer.notes())}


def _memory(hit: Hit, format: str | None) -> dict[str, Any]:
    """As much of a found memory as was asked for."""
    memory = hit.memory
    replaced = {} if memory.superseded_by is None else {"superseded_by": memory.superseded_by}
    if format == "ids":
        return {"id": memory.id} | replaced
    if format == "title":
        return {"id": memory.id, "title": label_of(memory.title, memory.content)} | replaced
    return dict(plain(memory))
