"""`aix completion`."""

import click
from click.shell_completion import get_completion_class

from aix.cli.command import Command
from aix.cli.stdout import emit_text

_SHELLS = ("bash", "zsh", "fish")


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(_SHELLS), metavar="SHELL")
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script that makes SHELL complete aix commands, options and names.

    \b
      bash: aix completion bash > ~/.local/share/bash-completion/completions/aix
      zsh:  aix completion zsh > ~/.zfunc/_aix    (with ~/.zfunc in fpath)
      fish: aix completion fish > ~/.config/fish/completions/aix.fish
    """
    completion = get_completion_class(shell)
    assert completion is not None  # noqa: S101 - click has a class for every shell of the choice
    emit_text(completion(ctx.find_root().command, {}, "aix", "_AIX_COMPLETE").source())
