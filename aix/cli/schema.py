"""`aix schema`."""

import click
from click.shell_completion import CompletionItem

from aix.cli.command import Command, listing_output
from aix.output import Listing, listing_columns
from aix.schema import TABLES, Table, find_table


def _complete_table(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    return [
        CompletionItem(table.name, help=table.description)
        for table in TABLES.values()
        if table.name.startswith(incomplete)
    ]


@click.command(cls=Command)
@click.argument("table", required=False, shell_complete=_complete_table)
@listing_output
def command(table: str | None) -> Listing:
    """List the tables of the ledger, or the columns of TABLE.

    Says of every column what it holds, in which unit, which words it allows, and how two rows about the same thing
    become one. docs/ledger.md is the same as one page.

    \b
      aix schema
      aix schema turns
      aix schema requests --format markdown -o requests.md
    """
    return _columns_of(find_table(table)) if table else _all_tables()


def _all_tables() -> Listing:
    columns = listing_columns("table", "kind", ("columns", "BIGINT"), "description")
    rows = [
        (table.name, "canonical" if table.canonical else "extension", len(table.columns), table.description)
        for table in TABLES.values()
    ]
    return Listing(columns, rows)


def _columns_of(table: Table) -> Listing:
    columns = listing_columns(
        "column", "type", ("nullable", "BOOLEAN"), "unit", "join", ("words", "VARCHAR[]"), "references", "description"
    )
    rows = [
        (
            column.name,
            str(column.type),
            column.nullable,
            str(column.unit),
            str(column.join),
            list(column.words) or None,
            column.references,
            column.description,
        )
        for column in table
    ]
    return Listing(columns, rows)
