"""The parts that commands are made of: their classes, the options that several share, and the output of listings."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, tzinfo
from functools import wraps
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, ParamSpec, TypeVar

import click
from msgspec.structs import replace

from aix.cli.completion import complete_session
from aix.cli.diagnostics import report_file, say
from aix.cli.stdout import chosen_format, emit, emit_text
from aix.errors import LedgerNotFoundError, nearest_names
from aix.output import FORMATS, Listing

if TYPE_CHECKING:
    from aix.query.dates import Span

_P = ParamSpec("_P")
_R = TypeVar("_R")
LEDGER = "aix.ledger"
"""The key of the ledger that was named before the command, in what the contexts of click share."""
_DATES = "a day (2026-11-01, yesterday, monday, 7d, 2w), a month (2026-11), or a moment (2026-11-01T10:00:00)"
SHARED_PARAMETERS = {
    "since": ("DATE", f"Count from DATE on: {_DATES}."),
    "until": ("DATE", "Count up to DATE; a day or month is included, a moment is not."),
    "project": ("TEXT", "Only projects with TEXT in their name or path."),
    "origin": ("NAME", "Only what came from NAME; `aix overview` shows which there are."),
    "model": ("TEXT", "Only models with TEXT in their name."),
    "session": ("SESSION", "Only this session, named as for `aix show`."),
    "tag": ("TAG", "Only what carries this tag."),
    "timezone": ("ZONE", "Zone in which days begin. Default: the one that `aix config` shows."),
}
"""The parameters that most queries have and that mean the same in all, as options."""
_NAMED_COLUMNS = 4
"""How many columns that had no room are named."""


def print_and_exit(ctx: click.Context, text: str) -> None:
    """Answer an option that asks for a text instead of the command."""
    if not ctx.resilient_parsing:
        emit_text(text)
        ctx.exit()


def _show_help(ctx: click.Context, param: click.Parameter, value: bool) -> None:  # noqa: ARG001 - click's
    if value:
        print_and_exit(ctx, ctx.get_help())


class Command(click.Command):
    """A command whose help is written by the owner of stdout; click would write it itself."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        """Return click's help option, with another callback."""
        option = super().get_help_option(ctx)
        if option is not None:
            option.callback = _show_help
        return option

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; where no ledger is there yet, say how to make one, and offer it on a terminal."""
        try:
            return super().invoke(ctx)
        except LedgerNotFoundError as error:
            if type(error) is not LedgerNotFoundError or ctx.invoked_subcommand is not None:
                raise
            from aix.cli.first_run import make_ledger

            make_ledger(ctx, error)
        return super().invoke(ctx)


class Group(Command, click.Group):
    """A command that has commands, and names the nearest when it has none of that name."""

    aliases: ClassVar[Mapping[str, str]] = {}
    """Other names of commands, which no help lists."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that a line begins with."""
        args = [self.aliases.get(args[0], args[0]), *args[1:]]
        known = self.list_commands(ctx)
        if args[0] not in known and not ctx.resilient_parsing:
            nearest = nearest_names(args[0], known, 1)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
    """A group whose commands are imported when they run: its help takes no longer with fifty than with five."""

    package: ClassVar[str]
    members: ClassVar[Mapping[str, str]]
    """The help of each command, on one line."""
    sections: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """The names of commands by the section of the help that shows them; another section shows the rest."""
    places: ClassVar[Mapping[str, str]] = {}
    """The module and the name in it of each command that is not `command` in the module of its name."""
    unlisted: ClassVar[frozenset[str]] = frozenset()
    """Commands that the help does not list, because few people need them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of all commands."""
        return list(self.members)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in self.members:
            return None
        module, _, name = self.places.get(cmd_name, f"{cmd_name}:command").partition(":")
        command: click.Command = getattr(import_module(f"{self.package}.{module}"), name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """List the commands with their help, by section where there are sections."""
        shown = [*self.unlisted, *(name for names in self.sections.values() for name in names)]
        others = tuple(name for name in self.members if name not in shown)
        width = max(map(len, self.members))
        for title, names in {**self.sections, "Commands": others}.items():
            if names:
                with formatter.section(title):
                    formatter.write_dl([(name.ljust(width), self.members[name]) for name in names])


class DateType(click.ParamType):  # type: ignore[type-arg]  # generic for type checkers only
    """A date as `aix.query.dates` reads it, as a span in a time zone; the default is the configured one."""

    name = "date"

    def __init__(self, zone: tzinfo | None = None) -> None:
        self._zone = zone

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> "Span":
        """Read a text; a span is returned as it is."""
        from aix.query.dates import Span, read_date

        if isinstance(value, Span):
            return value
        try:
            return read_date(str(value), self._zone or _configured_zone(ctx))
        except ValueError as error:
            self.fail(str(error), param, ctx)


DATE = DateType()


def _configured_zone(ctx: click.Context | None) -> tzinfo:
    if ctx is None or ctx.resilient_parsing:
        return UTC
    from aix.config import load_config

    return load_config(ctx.obj).timezone


def exact_dates(parameters: Mapping[str, object], *, is_zone_known: bool) -> dict[str, object]:
    """Return the parameters of a command line with `since` and `until` as bounds: `until` is the first moment left out.

    They are written as days and times of the zone in force, which is that of the parameters or the configured one;
    where the reader of the parameters does not know it, with their distance from UTC.
    """
    if not parameters.keys() & {"since", "until"}:
        return dict(parameters)
    from aix.query.values import TIMEZONE, exact_bounds, find_zone

    given = parameters.get(TIMEZONE)
    zone = _configured_zone(click.get_current_context()) if given is None else find_zone(given)
    return exact_bounds(parameters, zone, is_zone_known=is_zone_known)


def _ledger_in_force(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:  # noqa: ARG001
    if ctx.resilient_parsing:
        return value
    from aix.config import load_config
    from aix.paths import check_ledger_path

    return check_ledger_path(value or ctx.meta.get(LEDGER) or load_config(ctx.obj).ledger)


ledger_option = click.option(
    "--ledger",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    callback=_ledger_in_force,
    help="Use the ledger in FOLDER. Default: the one that `aix config` shows.",
)
"""Gives a command the folder of the ledger it works on, as `ledger`."""


def _file_in_force(ctx: click.Context, param: click.Parameter, value: Path | None) -> Path | None:
    """Return the file that is given, else the one that the setting of the option's name names."""
    if value or ctx.resilient_parsing or param.name is None:
        return value
    from aix.config import load_config

    file: Path | None = getattr(load_config(ctx.obj), param.name)
    return file


prices_option = click.option(
    "--prices",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=_file_in_force,
    help="Take the prices in FILE before those that come with AIX. Default: the file that `aix config` shows.",
)
"""Gives a command the user's own file of prices, as `prices`."""

personas_option = click.option(
    "--personas",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    callback=_file_in_force,
    help="Apply the personas in FILE. Default: the file that `aix config` shows.",
)
"""Gives a command the user's file of personas, as `personas`."""

risks_option = click.option(
    "--risks",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Add the rules on risks in FILE to those that come with AIX; docs/permissions.md says how to write them.",
)
"""Gives a command the user's own file of rules on risks, as `risks`."""

output_option = click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to FILE instead of stdout; FILE is replaced once the output is whole.",
)
"""Gives a command the file that its output goes to, as `path`."""

version_option = click.option(
    "--at",
    "version",
    type=click.IntRange(min=1),
    metavar="VERSION",
    help="Ask an earlier version of the ledger. Default: the newest.",
)
"""Gives a command the version of the ledger that it reads, as `version`."""


def _parse_options(
    ctx: click.Context,  # noqa: ARG001 - click's signature
    param: click.Parameter,  # noqa: ARG001
    values: tuple[str, ...],
) -> dict[str, dict[str, str]]:
    options: dict[str, dict[str, str]] = {}
    for value in values:
        name, has_value, text = value.partition("=")
        importer, has_option, option = name.partition(".")
        if not has_value or not has_option:
            raise click.BadParameter(f"{value!r} is not of the form IMPORTER.OPTION=VALUE.")
        options.setdefault(_registered_name(importer), {})[option] = text
    return options


def _registered_name(name: str) -> str:
    from aix.pipeline.registry import registered_name

    return registered_name(name)


def importer_options(command: Callable[_P, _R]) -> Callable[_P, _R]:
    """Give a command the choice of an importer, as `importer`, and the importers' own options, as `options`."""
    only = click.option(
        "--importer",
        metavar="NAME",
        callback=lambda ctx, param, value: value and _registered_name(value),  # noqa: ARG005 - click's signature
        help="Use only this importer; `aix importers` lists them.",
    )
    option = click.option(
        "--option",
        "options",
        multiple=True,
        metavar="IMPORTER.OPTION=VALUE",
        callback=_parse_options,
        help="Set an option of an importer; `aix importers NAME` explains them. Can be repeated.",
    )
    return only(option(command))


def project_end(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:  # noqa: ARG001
    """Return a project as it is searched for: tables mark with … that they show only the end of a path."""
    return value and value.lstrip("…")


def chosen_parameter_options(*names: str) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Give a command these of the shared parameters, as `parameters`: by name, those that were given."""

    def add_options(command: Callable[..., _R]) -> Callable[..., _R]:
        @wraps(command)
        def collect(*args: object, **kwargs: object) -> _R:
            given = {name: value for name in names if (value := kwargs.pop(name)) is not None}
            return command(*args, parameters=exact_dates(given, is_zone_known="timezone" in names), **kwargs)

        collected: Callable[..., _R] = collect
        for name in reversed(names):
            metavar, meaning = SHARED_PARAMETERS[name]
            callback = project_end if name == "project" else None
            complete = complete_session if name == "session" else None
            collected = click.option(
                f"--{name}", metavar=metavar, help=meaning, callback=callback, shell_complete=complete
            )(collected)
        return collected

    return add_options


parameter_options = chosen_parameter_options(*SHARED_PARAMETERS)
"""Gives a command all shared parameters."""


class _RowCounter:
    """Counts rows while they are written."""

    def __init__(self) -> None:
        self.count = 0
        self._first: list[Sequence[object]] = []
        self._rows: Iterator[Sequence[object]] | None = None

    def has_rows(self, listing: Listing) -> bool:
        """Whether the table of a listing has rows; the first one is kept for `counting`."""
        self._rows = iter((listing.for_people or listing).rows)
        self._first = list(islice(self._rows, 1))
        return bool(self._first)

    def counting(self, listing: Listing) -> Listing:
        """Return the listing with rows that are counted when they are gone through."""
        shown = listing.for_people
        if self._rows is None:
            people = shown and replace(shown, rows=self._each(shown.rows))
            return replace(listing, rows=self._each(listing.rows), for_people=people)
        rows = self._each(chain(self._first, self._rows))
        return replace(listing, rows=rows) if shown is None else replace(listing, for_people=replace(shown, rows=rows))

    def _each(self, rows: Iterable[Sequence[object]]) -> Iterator[Sequence[object]]:
        for row in rows:
            self.count += 1
            yield row


def _parquet_rows(path: Path) -> int:
    from aix.output.parquet import count_rows

    return count_rows(path)


def listing_output(make_listing: Callable[..., Listing]) -> Callable[..., bool]:
    """Turn a function that returns a listing into a command that writes it as the user asks."""

    @click.option(
        "--format",
        "output_format",
        type=click.Choice(FORMATS),
        help="How to write the rows. Default: by the suffix of FILE, else table.",
    )
    @click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
    @click.option("--expanded", is_flag=True, help="Show each row as a record, with all columns and whole texts.")
    @output_option
    @wraps(make_listing)
    def write_listing(
        *args: object,
        output_format: str | None,
        as_json: bool,
        expanded: bool,
        path: Path | None,
        **kwargs: object,
    ) -> bool:
        if as_json and output_format not in (None, "json"):
            raise click.UsageError(f"--json and --format {output_format} contradict each other.")
        chosen = chosen_format("json" if as_json else output_format, path)
        if expanded and chosen != "table":
            raise click.UsageError(f"--expanded is for tables, and contradicts the format {chosen}.")
        listing = make_listing(*args, **kwargs)
        counter = _RowCounter()
        hidden = []
        is_text = bool(listing.text) or listing.dashboard is not None
        if path is not None or chosen != "table" or is_text or counter.has_rows(listing):
            hidden = emit(counter.counting(listing), output_format=chosen, path=path, is_expanded=expanded)
        elif not listing.notes:
            say(listing.empty)
        if path is not None and path.is_file():
            report_file(path, counter.count if chosen != "parquet" else _parquet_rows(path))
        if hidden:
            others = f" and {len(hidden) - _NAMED_COLUMNS} more" if len(hidden) > _NAMED_COLUMNS else ""
            say(f"no room for {', '.join(hidden[:_NAMED_COLUMNS])}{others}; --expanded shows all columns")
        people = listing.for_people if chosen == "table" else None
        for note in [*listing.notes, *(people.notes if people else ())]:
            say(note)
        return listing.has_findings if isinstance(listing.has_findings, bool) else listing.has_findings()

    return write_listing
