"""`aix config`."""

from pathlib import Path

import click

from aix.cli.command import Command
from aix.cli.options import listing_output
from aix.config import load_config
from aix.output import Listing, ListingColumn


@click.command(cls=Command)
@click.pass_obj
@listing_output
def command(config_file: Path | None) -> Listing:
    """Show the settings in force and where each comes from.

    A setting is taken from the environment variable AIX_<SETTING>, else from config.toml, else from its default.
    The file is the one that --config or AIX_CONFIG names, else config.toml in the user's configuration folder; the
    first row says which, and whether it exists. It looks like this:

    \b
      ledger = "~/histories/ledger"
      timezone = "Europe/Berlin"
    """
    config = load_config(config_file)
    columns = (
        ListingColumn("setting"),
        ListingColumn("value"),
        ListingColumn("origin"),
        ListingColumn("description"),
    )
    file_row = (
        "config",
        str(config.file),
        "exists" if config.file.exists() else "absent",
        "The file settings are read from.",
    )
    rows = [(setting.name, setting.value, setting.origin, setting.description) for setting in config.settings.values()]
    return Listing(columns, [file_row, *rows])
