"""`aix search`."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from aix.cli.command import DATE, Command, chosen_parameter_options, ledger_option, listing_output
from aix.cli.diagnostics import is_screen
from aix.cli.freshness import import_first
from aix.cli.redact import chosen_redactor, redact_options, report_redaction
from aix.cli.text_index import update_index
from aix.config import load_config
from aix.output import DISPENSABLE, Listing, ListingColumn, listing_columns
from aix.output.humanise import TITLE_CHARACTERS, bounded_dollars, counted, local_time, one_line, short_turn
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.search import names_to_type, require_origin, require_project, require_tool
from aix.search.search import DEFAULT_LIMIT, ORDERS, Change, Found, Hit, SearchRequest, search
from aix.search.texts import KINDS, KINDS_OF_ROLES, TextKind

if TYPE_CHECKING:
    from aix.query.dates import Span

_DATE_CHARACTERS = 10
_BEFORE_WORD = 16
_HIDDEN_COLUMNS = ("session", "title", "model", "tool", "snippet")
"""The columns with texts and names of logs; the others are ids that `aix show` must find, and words of AIX."""
_COLUMNS = listing_columns(
    *("turn_id", "session", "title", "origin"),
    ("started_at", "BIGINT"),
    *("model", "kind", "tool", "row_id", "snippet"),
    ("texts", "BIGINT"),
    ("score", "DOUBLE"),
    ("cost_usd", "DECIMAL(38,12)"),
    ("cost_estimated_usd", "DECIMAL(38,12)"),
    ("unpriced_requests", "BIGINT"),
)
_PEOPLES_COLUMNS = listing_columns(
    ListingColumn("began", priority=DISPENSABLE),
    "session",
    "turn",
    ListingColumn("in", priority=3),
    ListingColumn("text", least=28),
    ListingColumn("cost", priority=2, tone="cost"),
)


@click.command(cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="TEXT")
@click.option(
    "--in",
    "kinds",
    multiple=True,
    type=click.Choice([str(kind) for kind in KINDS]),
    help="Only texts of that kind. Can be repeated.",
)
@click.option("--role", type=click.Choice(list(KINDS_OF_ROLES)), help="Only texts that this role wrote.")
@click.option("--tool", metavar="NAME", help="Only inputs and results of the tool of that name.")
@click.option("--failed", "is_failed", is_flag=True, help="Only calls of tools that failed.")
@click.option("--since", type=DATE, metavar="DATE", help="Turns that began since DATE, such as 7d.")
@click.option("--until", type=DATE, metavar="DATE", help="Turns that began up to DATE; a day or month is included.")
@chosen_parameter_options("project", "origin", "model", "session", "tag")
@click.option(
    "--sort", "order", type=click.Choice(ORDERS), default="best", show_default=True, help="Which turns come first."
)
@click.option(
    "--limit", type=click.IntRange(min=1), default=DEFAULT_LIMIT, show_default=True, metavar="N", help="Only N turns."
)
@redact_options
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    kinds: tuple[str, ...],
    role: str | None,
    tool: str | None,
    is_failed: bool,
    since: "Span | None",
    until: "Span | None",
    parameters: dict[str, object],
    order: str,
    limit: int,
    is_redacted: bool,
    names_file: Path | None,
    ledger: Path,
) -> Listing:
    """Find turns by the words in their texts.

    AIX looks in prompts, answers, thinking, notes (messages of the system), inputs and results of calls, summaries of
    compactions, and paths of files. Each row is a turn, with the text that fits best; `aix show TURN --find TEXT`
    opens it there. The cost is that of the turn; ≥ marks a lower bound.

    Words side by side must all be in one text, wherever they stand. A phrase needs quotes of its own, inside those of
    the shell; WORD* finds words that begin so. OR, NOT and brackets combine them; in capitals, so that "or" is a word.
    Capitals, accents of Latin letters and signs make no difference: max_tokens finds "max_tokens", "Max-Tokens" and
    "max tokens". Put a line that you paste in quotes of its own: '"NOT NULL failed"'.

    The first search makes an index in the ledger's folder, of about a third of the size of the texts; later ones add
    what is new, or `aix import --index` does. It has every word of the texts, and is private like the ledger.

    \b
      aix search token bucket
      aix search '"token bucket"' --in answer
      aix search 'retry OR backoff NOT http' --project website
      aix search 'TypeError: cannot read' --failed --since 30d
      aix search 'deploy*' --role user --sort newest --limit 50
      aix search Dockerfile --in path --json
    """
    request = SearchRequest(
        text=" ".join(words),
        kinds=frozenset(map(TextKind, kinds)),
        role=role,
        tool=tool,
        is_failed=is_failed,
        since_ms=since and since.since_ms,
        until_ms=until and until.end_ms,
        narrowed=parameters,
        order=order,
    )
    zone = load_config(ctx.obj).timezone
    opened = open_ledger(ledger)
    require_project(opened, parameters)
    require_origin(opened, parameters)
    if tool is not None:
        require_tool(opened, tool)
    redactor = chosen_redactor(ctx, opened, names_file, is_redacted=is_redacted)
    update_index(opened.path, opened.manifest)
    hide: Change = str if redactor is None else redactor.text
    found = search(opened, request, limit, change=hide)
    rows = [_hidden(_row(hit), hide) for hit in found.hits]
    report_redaction(redactor)
    return Listing(
        _COLUMNS,
        rows,
        empty=_nothing_found(request),
        for_people=Listing(
            _PEOPLES_COLUMNS,
            _peoples_rows(opened, found.hits, zone, hide, is_expanded=ctx.params["expanded"]),
            notes=[*_notes(request, found)],
        ),
    )


def _nothing_found(request: SearchRequest) -> str:
    if request != SearchRequest(text=request.text, order=request.order):
        return "no text that meets these conditions has that; leave one out to find more"
    return "no text in the ledger has that; `aix search --help` shows how words are combined"


def _hidden(row: tuple[object, ...], hide: Change) -> tuple[object, ...]:
    hidden = [
        hide(cell) if isinstance(cell, str) and column.name in _HIDDEN_COLUMNS else cell
        for column, cell in zip(_COLUMNS, row, strict=True)
    ]
    return tuple(
        one_line(cell, TITLE_CHARACTERS) if column.name == "title" and isinstance(cell, str) else cell
        for column, cell in zip(_COLUMNS, hidden, strict=True)
    )


def _row(hit: Hit) -> tuple[object, ...]:
    return (
        *(hit.turn_id, hit.session_label, hit.title, hit.origin, hit.started_at, hit.model),
        *(str(hit.kind), hit.tool_name, hit.row_id, hit.snippet.text, hit.texts, round(hit.score, 6)),
        *(hit.cost_usd, hit.cost_estimated_usd, hit.unpriced_requests),
    )


def _peoples_rows(
    ledger: Ledger, hits: Sequence[Hit], zone: tzinfo, hide: Change, *, is_expanded: bool
) -> Iterator[tuple[object, ...]]:
    names = names_to_type(ledger, {hit.session_label for hit in hits if hit.session_label})
    for hit in hits:
        began = local_time(hit.started_at, zone)
        yield (
            began if is_expanded else began[:_DATE_CHARACTERS],
            None if hit.session_label is None else hide(names.get(hit.session_label, hit.session_label)),
            short_turn(hit.turn_id),
            str(hit.kind),
            hit.text if is_expanded else hit.snippet.from_word(_BEFORE_WORD),
            bounded_dollars(hit.cost_usd, hit.cost_estimated_usd, hit.unpriced_requests),
        )


def _notes(request: SearchRequest, found: Found) -> Iterator[str]:
    if not found.hits or not is_screen():
        return
    if found.turns > len(found.hits):
        yield f"{len(found.hits)} of {counted(found.turns, 'turn')} that have it; --limit shows more"
    yield f"next: `aix show {short_turn(found.hits[0].turn_id)} --find {quote(request.text)}`"
