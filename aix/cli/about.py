"""`aix config`, `aix version` and `aix completion`: commands about AIX itself."""

import platform
from importlib import metadata
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from aix.cli.command import Command, listing_output
from aix.cli.stdout import emit_text
from aix.config import load_config
from aix.output import Listing, listing_columns
from aix.schema import SCHEMA_VERSION
from aix.version import __version__

_LIBRARIES = ("duckdb", "polars", "pyarrow", "tree-sitter", "tree-sitter-bash")
_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command)
@click.pass_obj
@listing_output
def config(config_file: Path | None) -> Listing:
    """Show the settings in force and where each comes from.

    A setting is taken from the environment variable AIX_<SETTING>, else from config.toml, else from its default.
    The file is the one that --config or AIX_CONFIG names, else config.toml in the user's configuration folder; the
    first row says which, and whether it exists. It looks like this:

    \b
      ledger = "~/histories/ledger"
      timezone = "Europe/Berlin"
    """
    current = load_config(config_file)
    columns = listing_columns("setting", "value", "origin", "description")
    file_row = (
        "config",
        str(current.file),
        "exists" if current.file.exists() else "absent",
        "The file settings are read from.",
    )
    rows = [(setting.name, setting.value, setting.origin, setting.description) for setting in current.settings.values()]
    return Listing(columns, [file_row, *rows])


@click.command(cls=Command)
@listing_output
def version() -> Listing:
    """Print the versions of AIX, its ledger schema, and the libraries it stands on.

    Name them all when you report a defect.

    \b
      aix version
      aix version --json
    """
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
