"""Commands whose help goes out as all other output does."""

import click

from aix.cli.stdout import emit_text
from aix.errors import nearest_names


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


class Group(Command, click.Group):
    """A command that has commands, and names the nearest when it has none of that name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that a line begins with."""
        known = self.list_commands(ctx)
        if args[0] not in known and not ctx.resilient_parsing:
            nearest = nearest_names(args[0], known, 1)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)
