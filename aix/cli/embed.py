"""`aix embed`: vectors of a user's own command, and the options that name the command."""

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from aix.cli.command import DATE, Command, chosen_parameter_options, ledger_option, listing_output
from aix.cli.diagnostics import console, say
from aix.cli.redact import chosen_redactor, redact_options, report_redaction
from aix.config import load_config
from aix.output import Listing, listing_columns
from aix.output.humanise import counted
from aix.reading.ledger import open_ledger
from aix.reading.search import require_project
from aix.similarity.embedding import EmbeddingRequest, embed, plan_embedding, texts_to_embed
from aix.similarity.embedding_command import DEFAULT_TIMEOUT, EmbeddingCommand
from aix.similarity.texts import PROGRAMS, TURNS

if TYPE_CHECKING:
    from aix.query.dates import Span
    from aix.similarity.embedding import Change

_F = TypeVar("_F", bound=Callable[..., object])
_COLUMNS = listing_columns("model", "table", ("dim", "BIGINT"), ("vectors", "BIGINT"))
_STORED = """
    select model, entity_type, dim, count(*) from embeddings where model = $model group by all order by all
"""


def command_options(command: _F) -> _F:
    """Add `--command` and `--timeout`."""
    named = click.option(
        "--command",
        "command_line",
        metavar="COMMAND",
        help="The program that makes vectors, with its arguments. Default: embedding_command of `aix config`.",
    )
    timeout = click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=DEFAULT_TIMEOUT,
        show_default=True,
        metavar="SECONDS",
        help="End the command when it is silent for so long.",
    )
    return named(timeout(command))


def chosen_command(ctx: click.Context, command_line: str | None, timeout: float) -> EmbeddingCommand | None:
    """Return the command that the options or the settings name."""
    chosen = load_config(ctx.obj).embedding_command if command_line is None else command_line
    try:
        words = shlex.split(chosen)
    except ValueError:
        raise click.UsageError("--command has a quote that is not closed.") from None
    return EmbeddingCommand(words, timeout) if words else None


@click.command(cls=Command)
@click.option(
    "--model",
    metavar="NAME",
    help="Store the vectors under NAME. Default: embedding_model of `aix config`.",
)
@command_options
@click.option(
    "--only",
    type=click.Choice([TURNS, PROGRAMS]),
    help="Only turns or only programs. Default: both; turns with a filter.",
)
@click.option("--again", "is_again", is_flag=True, help="Also what has a vector of that name, and replace it.")
@click.option("--since", type=DATE, metavar="DATE", help="Turns that began since DATE, such as 7d.")
@click.option("--until", type=DATE, metavar="DATE", help="Turns that began up to DATE; a day or month is included.")
@chosen_parameter_options("project", "origin", "session", "tag")
@click.option("--dry-run", is_flag=True, help="Count the texts that the command would get, and do not run it.")
@redact_options
@ledger_option
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    model: str | None,
    command_line: str | None,
    timeout: float,
    only: str | None,
    is_again: bool,
    since: "Span | None",
    until: "Span | None",
    parameters: dict[str, object],
    dry_run: bool,
    is_redacted: bool,
    names_file: Path | None,
    ledger: Path,
) -> Listing:
    """Store vectors of turns and programs that a command of your own makes.

    AIX has no model and asks no network: the command does what it does, with the texts that it gets. These are
    prompts, summaries, paths of files and answers, and settings of programs; --redact hides secrets and names in them.
    The command reads lines of JSON with id and text, and writes lines with id and vector; see docs/similar.md.

    Only what has no vector of that name yet is sent, so the next run adds what is new, and goes on where an error
    stopped the last one. Turns without a whole answer wait for the next run. `aix similar --embedding NAME` compares
    with these vectors.

    \b
      aix embed --model minilm --command "python3 embed.py" --dry-run
      aix embed --model minilm --command "python3 embed.py" --redact
      aix similar "slow queue" --embedding minilm --command "python3 embed.py"
    """
    config = load_config(ctx.obj)
    name = config.embedding_model if model is None else model
    if not name.strip() or not name.isprintable():
        raise click.UsageError("Name the vectors with --model NAME, or with embedding_model in the settings.")
    program = chosen_command(ctx, command_line, timeout)
    if program is None and not dry_run:
        raise click.UsageError("Name the program with --command, or with embedding_command in the settings.")
    is_filtered = bool(parameters) or since is not None or until is not None
    if is_filtered and only == PROGRAMS:
        raise click.UsageError("The filters are for turns, and --only is programs.")
    tables = frozenset([only] if only else [TURNS] if is_filtered else [TURNS, PROGRAMS])
    opened = open_ledger(ledger)
    require_project(opened, parameters)
    request = EmbeddingRequest(
        model=name,
        tables=tables,
        is_again=is_again,
        since_ms=since and since.since_ms,
        until_ms=until and until.end_ms,
        narrowed=parameters,
    )
    plan = plan_embedding(opened, request)
    redactor = chosen_redactor(ctx, opened, names_file, is_redacted=is_redacted)
    hide: Change = str if redactor is None else redactor.text
    if plan.unanswered:
        say(f"{counted(plan.unanswered, 'turn')} without a whole answer yet: left for a later run")
    if dry_run or program is None:
        sizes = [len(text) for _, text in texts_to_embed(opened, plan, hide)]
        report_redaction(redactor)
        say(f"{counted(len(sizes), 'text')} of {counted(sum(sizes), 'character')} would be sent (--dry-run)")
    else:
        with _progress(len(plan.wanted)) as progress:
            stored = embed(opened, plan, program, hide, progress)
        report_redaction(redactor)
        say(f"{counted(stored, 'vector')} stored")
    with open_ledger(ledger) as current:
        rows = current.sql(_STORED, {"model": name}).rows()
    return Listing(_COLUMNS, rows, empty=f"no vectors of {name} yet")


@contextmanager
def _progress(texts: int) -> Iterator[Callable[[int], None]]:
    """Give a function that is told of texts that got a vector, and draws a bar when stderr is a terminal."""
    terminal = console()
    if terminal is None:
        yield lambda _: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("Making vectors"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=terminal, transient=True) as bar:
        task = bar.add_task("", total=texts)
        yield lambda done: bar.update(task, advance=done)
