"""`aix version`."""

import platform
from importlib.metadata import version

import click

import aix
from aix.cli.command import Command
from aix.cli.options import listing_output
from aix.output import Listing, ListingColumn
from aix.schema import SCHEMA_VERSION

_LIBRARIES = ("duckdb", "polars", "pyarrow", "tree-sitter", "tree-sitter-bash")


@click.command(cls=Command)
@listing_output
def command() -> Listing:
    """Print the versions of AIX, its ledger schema, and the libraries it stands on.

    Name them all when you report a defect.

    \b
      aix version
      aix version --json
    """
    versions = [
        ("aix", aix.__version__),
        ("ledger schema", str(SCHEMA_VERSION)),
        ("python", platform.python_version()),
        *((library, version(library)) for library in _LIBRARIES),
    ]
    return Listing((ListingColumn("component"), ListingColumn("version")), versions)
