"""Commands whose help goes out as all other output does."""

import click

from aix.cli.stdout import emit_text


def print_and_exit(ctx: click.Context, text: str) -> None:
    """Answer an option that asks for a text instead of the command."""
    if not ctx.resilient_parsing:
        emit_text(text)
        ctx.exit()


def _show_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001, FBT001 - click's
    if value:
        print_and_exit(ctx, ctx.get_help())


class Command(click.Command):
    """A command; left to itself, click would write its help to stdout past the owner of stdout."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return click's help option with our way of writing."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option


class CommandGroup(Command, click.Group):
    """A command with commands of its own; called without one, it shows its help."""

    command_class = Command
