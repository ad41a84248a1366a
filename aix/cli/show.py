"""`aix show`."""

from pathlib import Path
from shlex import quote

import click

from aix.cli.command import Command, ledger_option, output_option
from aix.cli.completion import complete_session
from aix.cli.diagnostics import say
from aix.cli.redact import chosen_redactor, redact_options, report_redaction
from aix.cli.stdout import chosen_format, emit_lines, emit_paragraphs
from aix.config import load_config
from aix.errors import UnknownSessionError, UsageError
from aix.output.transcript.finding import Finder
from aix.output.transcript.forms import json_lines, markdown_lines, paragraphs
from aix.output.transcript.model import View
from aix.output.transcript.redaction import redacted
from aix.output.transcript.source import ALL, WHOLE, read_transcript
from aix.reading.ledger import open_ledger

_SUFFIXES = {".json": "json", ".md": "markdown"}
_FOLDED_CHARACTERS = 20_000
_PROGRAM = "select id from programs where id = $id"


@click.command(cls=Command)
@click.argument("name", metavar="SESSION|TURN", shell_complete=complete_session)
@click.option("--full", is_flag=True, help="Show parameters too, and all texts whole.")
@click.option("--thinking/--no-thinking", default=True, help="Show what the model thought. Default: yes.")
@click.option("--tools/--no-tools", default=True, help="Show calls of tools, and files they touched. Default: yes.")
@click.option(
    "--find", "text", metavar="TEXT", help="Only messages and calls that have TEXT, written as for `aix search`."
)
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the last N turns.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    help="How to write it. Default: by the suffix of FILE, else text.",
)
@redact_options
@output_option
@ledger_option
@click.pass_context
def command(
    ctx: click.Context,
    name: str,
    full: bool,
    thinking: bool,
    tools: bool,
    text: str | None,
    last: int | None,
    form: str | None,
    is_redacted: bool,
    names_file: Path | None,
    path: Path | None,
    ledger: Path,
) -> None:
    """Read a session from its first turn to its last, or a single turn.

    SESSION is a label, an alias, or the beginning of either that no other session has; `aix sessions` lists short
    ones. TURN is the id of a turn or its first four characters or more, its thread key, or the id of its answer.

    Prompts begin with >, thinking with ~, calls with • (✗ when they failed) and the parameter that says most about
    them; ↳ names the session of a subagent and ≡ marks a compaction of the context. Long texts are folded to their
    first lines, with a count of what is hidden. Times are those of the configured time zone. The cost of a session
    is its list price; where some logs omit final output counts it is a lower bound (≥ before the cost of a turn),
    and an estimate follows. The cost of its subagents is given apart, and requests without a price are counted.

    --find shows the turns, messages and calls that have TEXT, and of long texts the lines that have it.

    json is an array of turns with their messages and calls inside, every text whole.

    \b
      aix show 5b1f03ab
      aix show 5b1f03ab --last 3 --full
      aix show 5b1f03ab --find "token bucket"
      aix show 5b1f03ab --no-tools --no-thinking
      aix show 5b1f03ab -o session.md
      aix show 5b1f03ab --redact -o to-share.md
      aix show 5b1f03ab --format json | jq '.[].messages[].content'
    """
    chosen = chosen_format(form, path, _SUFFIXES, "text")
    finder = None if text is None else Finder(text)
    view = View(
        load_config(ctx.obj).timezone,
        is_full=full,
        with_thinking=thinking,
        with_tools=tools,
        spans=None if finder is None else finder.spans,
    )
    limit = WHOLE if full or finder or chosen == "json" else _FOLDED_CHARACTERS
    part = ALL if last is None else slice(-last, None)
    opened = open_ledger(ledger)
    try:
        redactor = chosen_redactor(ctx, opened, names_file, is_redacted=is_redacted)
        transcript = read_transcript(opened, name, limit=WHOLE if redactor else limit, part=part)
    except UnknownSessionError as error:
        if opened.sql(_PROGRAM, {"id": name}).rows():
            raise UsageError(f"{name} is a program; see `aix program show {quote(name)}`") from error
        raise
    if redactor is not None:
        transcript = redacted(transcript, redactor.text, limit)
    if finder is not None:
        transcript = finder.found_in(transcript, view)
    if chosen == "text":
        emit_paragraphs(paragraphs(transcript, view), path)
    else:
        emit_lines((json_lines if chosen == "json" else markdown_lines)(transcript, view), path)
    if finder is not None and not finder.turns:
        say(f"no text of {name} has that")
    report_redaction(redactor)
