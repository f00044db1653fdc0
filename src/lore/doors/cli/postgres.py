"""postgres: help for the administrator of a store in PostgreSQL."""

import textwrap

import click

from lore import lazy

WIDTH = 100


@click.group()
def postgres() -> None:
    """Prepare a PostgreSQL database for Lore."""


@postgres.command()
@click.option("--citus", is_flag=True, help="Also the statements that distribute the tables by Citus.")
def plan(citus: bool) -> None:
    """Print the statements that an administrator runs.

    Roles, the extension pgvector, rights, and with --citus the distribution of the tables over many nodes.
    Nothing is changed; docs/postgres.md explains each part.
    """
    for part in lazy.store_postgres_plan.plan(citus):
        reason = textwrap.wrap(f"{part.title}: {part.reason}", WIDTH)
        click.echo("\n".join([*(f"-- {line}" for line in reason), *part.statements, ""]))
