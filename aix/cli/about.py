"""`aix schema`, `aix config`, `aix version` and `aix completion`: commands about AIX itself."""

import platform
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem, get_completion_class
from msgspec.structs import replace

from aix.cli.command import Command, listing_output
from aix.cli.stdout import emit_text
from aix.output import Listing, ListingColumn, listing_columns
from aix.schema import SCHEMA_VERSION, TABLES, Table, find_table
from aix.version import __version__

if TYPE_CHECKING:
    from aix.query.query_file import Query

_LIBRARIES = ("duckdb", "polars", "pyarrow", "tree-sitter", "tree-sitter-bash")
_SHELLS = ("bash", "zsh", "fish")
_LEAST_DESCRIPTION = 44


@click.command(cls=Command)
@click.pass_obj
@listing_output
def config(config_file: Path | None) -> Listing:
    """Show the settings in use and where each comes from.

    A setting is taken from the environment variable AIX_<SETTING>, else from config.toml, else from its default.
    The file is the one that --config or AIX_CONFIG names, else config.toml in the user's configuration folder; the
    first row says which, and whether it exists. It looks like this:

    \b
      ledger = "~/histories/ledger"
      timezone = "Europe/Berlin"
    """
    from aix.config import load_config

    current = load_config(config_file)
    columns = listing_columns("setting", "value", "origin", "description")
    file_row = (
        "config",
        str(current.file),
        "exists" if current.file.exists() else "absent",
        "File of settings.",
    )
    rows = [(setting.name, setting.value, setting.origin, setting.description) for setting in current.settings.values()]
    short = [
        (name, value.replace(str(Path.home()), "~", 1) or None, description, Path(origin).name)
        for name, value, origin, description in (file_row, *rows)
    ]
    people = listing_columns("setting", "value", "description", ListingColumn("origin", priority=2))
    return Listing(columns, [file_row, *rows], for_people=Listing(people, short))


@click.command(cls=Command)
@listing_output
def version() -> Listing:
    """Print the versions of AIX, its ledger schema, and its libraries.

    Include them when you report a defect.

    \b
      aix version
      aix version --json
    """
    from importlib import metadata

    versions = [
        ("aix", __version__),
        ("ledger schema", str(SCHEMA_VERSION)),
        ("python", platform.python_version()),
        *((library, metadata.version(library)) for library in _LIBRARIES),
    ]
    return Listing(listing_columns("component", "version"), versions)


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(_SHELLS), metavar="SHELL")
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete aix commands, options and names.

    \b
      bash: aix completion bash > ~/.local/share/bash-completion/completions/aix
      zsh:  aix completion zsh > ~/.zfunc/_aix    (with ~/.zfunc in fpath)
      fish: aix completion fish > ~/.config/fish/completions/aix.fish
    """
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101 - click has a class for every shell of the choice
    emit_text(found(ctx.find_root().command, {}, "aix", "_AIX_COMPLETE").source())


def _complete_table(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
    return [
        CompletionItem(table.name, help=table.description)
        for table in TABLES.values()
        if table.name.startswith(incomplete)
    ]


@click.command(cls=Command)
@click.argument("table", required=False, shell_complete=_complete_table)
@listing_output
def schema(table: str | None) -> Listing:
    """List the tables of the ledger, or the columns of TABLE, which may be a view.

    Shows for every column its meaning, unit and allowed words, and how two rows about the same thing are joined.
    docs/ledger.md has the same on one page.

    \b
      aix schema
      aix schema turns
      aix schema requests --format markdown -o requests.md
    """
    if not table:
        return _all_tables()
    from aix.query.views import library_views

    view = None if table in TABLES else library_views().get(table)
    return _columns_of(find_table(table)) if view is None else _columns_of_view(view)


def _all_tables() -> Listing:
    columns = listing_columns("table", "kind", ("columns", "BIGINT"), "description")
    rows = [
        (table.name, "canonical" if table.canonical else "extension", len(table.columns), table.description)
        for table in TABLES.values()
    ]
    kinds = f"{sum(table.canonical for table in TABLES.values())} canonical tables, then extensions"
    people = Listing(
        listing_columns("table", "description"),
        [(name, description) for name, _, _, description in rows],
        notes=[f"{kinds}; next: `aix schema TABLE` lists the columns of one"],
    )
    return Listing(columns, rows, for_people=people)


def _columns_of_view(view: "Query") -> Listing:
    return Listing(
        listing_columns("column", "type", "description"),
        [(column.name, column.type, column.meaning) for column in view.columns],
        notes=[f"{view.name} is a view, made of tables when `aix sql` or a query reads it"],
    )


def _columns_of(table: Table) -> Listing:
    columns = listing_columns(
        "column",
        "type",
        ListingColumn("nullable", "BOOLEAN", priority=4),
        ListingColumn("unit", priority=3),
        ListingColumn("join", priority=6),
        ListingColumn("words", "VARCHAR[]", priority=5),
        ListingColumn("references", priority=7),
        "description",
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
    # The description comes early, since a narrow terminal shows the first three columns at least.
    order = [0, 1, 7, 3, 2, 5, 4, 6]
    people = Listing(
        tuple(replace(columns[place], least=_LEAST_DESCRIPTION if place == 7 else 0) for place in order),
        [tuple(row[place] for place in order) for row in rows],
    )
    return Listing(columns, rows, for_people=people)
