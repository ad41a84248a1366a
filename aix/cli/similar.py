"""`aix similar`."""

import re
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from aix.cli.command import DATE, Command, chosen_parameter_options, ledger_option, listing_output
from aix.cli.completion import complete_session
from aix.cli.diagnostics import is_screen
from aix.cli.embed import chosen_command, command_options
from aix.cli.freshness import import_first
from aix.cli.redact import chosen_redactor, redact_options, report_redaction
from aix.cli.text_index import update_vectors
from aix.config import load_config
from aix.errors import AmbiguousNameError, UnknownNameError
from aix.output import DISPENSABLE, Listing, ListingColumn, listing_columns
from aix.output.humanise import local_time, one_line, short_turn
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.names import KINDS_OF_TABLES
from aix.reading.search import names_to_type, require_origin, require_project
from aix.search.words import words_of
from aix.similarity.embedding import EmbeddingComparison
from aix.similarity.similarity import (
    DEFAULT_LIMIT,
    Among,
    Comparison,
    Like,
    Similar,
    SimilarRequest,
    WordComparison,
    count_programs,
    find_similar,
)
from aix.similarity.texts import PROGRAMS, TURNS

if TYPE_CHECKING:
    from aix.query.dates import Span
    from aix.search.search import Change

_DATE_CHARACTERS = 10
_TEXT_CHARACTERS = 200
_SESSIONS = "sessions"
_PLACES = {TURNS: Among.TURNS, _SESSIONS: Among.SESSIONS, PROGRAMS: Among.PROGRAMS, None: Among.TURNS}
"""The things that one is compared with, unless --among says so."""
_SESSION_PREFIX = "session:"
_PROGRAM_PREFIXES = ("program:", "@(")
_OF_PROGRAMS = (Among.PROGRAMS, Among.INFORMATION)
_TURN_COLUMNS = listing_columns(
    ("similarity", "DOUBLE"),
    *("turn_id", "session", "title", "prompt", "origin", "project", "model"),
    ("started_at", "BIGINT"),
)
_SESSION_COLUMNS = listing_columns(
    ("similarity", "DOUBLE"), "session", "title", "origin", "project", ("turns", "BIGINT"), ("created_at", "BIGINT")
)
_PROGRAM_COLUMNS = listing_columns(
    ("similarity", "DOUBLE"), "program_id", "program_type", "state", "text", ("updated_at", "BIGINT")
)
_FACTS = {"session": "session_label", "prompt": "text", "started_at": "at", "created_at": "at", "updated_at": "at"}
"""Columns that are named otherwise where they are read."""
_HIDDEN_COLUMNS = ("session", "title", "prompt", "project", "model", "text")
"""The columns with texts and names of logs; the others are ids that commands must find, and words of AIX."""
_SIMILAR = ListingColumn("similar", "DOUBLE")
_DATE = ListingColumn("began", priority=DISPENSABLE)
_PEOPLES_TURNS = (_SIMILAR, _DATE, *listing_columns("session", "turn", ListingColumn("prompt", least=34)))
_PEOPLES_SESSIONS = (
    *(_SIMILAR, _DATE),
    *listing_columns("session", ListingColumn("title", least=34), ListingColumn("turns", "BIGINT", priority=2)),
)
_PEOPLES_PROGRAMS = (_SIMILAR, *listing_columns("program", "type", ListingColumn("text", least=30)))
_COLUMNS = {
    Among.TURNS: _TURN_COLUMNS,
    Among.SESSIONS: _SESSION_COLUMNS,
    Among.PROGRAMS: _PROGRAM_COLUMNS,
    Among.INFORMATION: _PROGRAM_COLUMNS,
}
_PEOPLES_COLUMNS = {
    Among.TURNS: _PEOPLES_TURNS,
    Among.SESSIONS: _PEOPLES_SESSIONS,
    Among.PROGRAMS: _PEOPLES_PROGRAMS,
    Among.INFORMATION: _PEOPLES_PROGRAMS,
}


@click.command(cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="TEXT|TURN|SESSION", shell_complete=complete_session)
@click.option("--text", "is_text", is_flag=True, help="Take the words as a text, also where something has that name.")
@click.option(
    "--among",
    type=click.Choice([str(among) for among in Among]),
    help="Kind of the answers. Default: sessions for a session, programs for a program, else turns.",
)
@click.option("--since", type=DATE, metavar="DATE", help="Turns that began since DATE, such as 7d.")
@click.option("--until", type=DATE, metavar="DATE", help="Turns that began up to DATE; a day or month is included.")
@chosen_parameter_options("project", "origin", "model", "tag")
@click.option(
    "--limit", type=click.IntRange(min=1), default=DEFAULT_LIMIT, show_default=True, metavar="N", help="Only N of them."
)
@click.option("--embedding", metavar="NAME", help="Use the vectors that `aix embed` stored under NAME.")
@command_options
@redact_options
@ledger_option
@import_first
@listing_output
@click.pass_context
def command(
    ctx: click.Context,
    words: tuple[str, ...],
    is_text: bool,
    among: str | None,
    since: "Span | None",
    until: "Span | None",
    parameters: dict[str, object],
    embedding: str | None,
    command_line: str | None,
    timeout: float,
    limit: int,
    is_redacted: bool,
    names_file: Path | None,
    ledger: Path,
) -> Listing:
    """Find turns, sessions and programs that are similar to a text or to each other.

    A session or turn is named as for `aix show`, or a session as session:NAME, a program as program:ID; anything else
    is a text. Similar means that the same words are used: rare ones count most, and other words for the same thing do
    not count. The number is the cosine of their vectors, from 0 to 1; it needs no network. docs/similar.md says how
    well that works, and how to use vectors of a model of your own.

    A turn is compared by its prompt, answer, thinking, summary, names of tools and paths of files, a session by the sum
    of its own turns, a program by its id and settings; `information` is the programs of that type. The filters hold
    for turns and for sessions with such a turn.

    \b
      aix similar "the token bucket refills too slowly"
      aix similar 4TM90H2W --project website
      aix similar 5b1f03ab
      aix similar 5b1f03ab --among turns --since 30d
      aix similar tide tables --among information
    """
    opened = open_ledger(ledger)
    require_project(opened, parameters)
    require_origin(opened, parameters)
    text = " ".join(words).encode("utf-8", "replace").decode()  # an argument may be no UTF-8
    like = Like(text=text) if is_text or len(words) > 1 else _named(opened, text)
    if like.text is not None and not words_of(like.text):
        raise click.UsageError(f"{text!r} cannot be compared: it has no letter and no digit.")
    chosen = Among(among) if among else _PLACES[like.table]
    request = SimilarRequest(
        like=like,
        among=chosen,
        since_ms=since and since.since_ms,
        until_ms=until and until.end_ms,
        narrowed=parameters,
    )
    if request.is_narrowed and chosen in _OF_PROGRAMS:
        raise click.UsageError(f"The filters are for turns and sessions, and --among is {chosen}.")
    zone = load_config(ctx.obj).timezone
    redactor = chosen_redactor(ctx, opened, names_file, is_redacted=is_redacted)
    hide: Change = str if redactor is None else redactor.text
    comparison: Comparison
    if embedding is None:
        update_vectors(opened.path, opened.manifest)
        comparison = WordComparison(opened)
    else:
        comparison = EmbeddingComparison(opened, embedding, chosen_command(ctx, command_line, timeout), hide)
    found = find_similar(opened, request, comparison, limit)
    rows = [_row(chosen, each, hide) for each in found]
    report_redaction(redactor)
    people = Listing(
        _PEOPLES_COLUMNS[chosen],
        _peoples_rows(opened, chosen, found, zone, hide),
        notes=[*_notes(opened, like, chosen, found[0], hide)] if found and is_screen() else [],
    )
    empty = "" if found else _nothing_similar(opened, like, chosen, comparison)
    return Listing(_COLUMNS[chosen], rows, empty=empty, for_people=people)


def _nothing_similar(ledger: Ledger, like: Like, among: Among, comparison: Comparison) -> str:
    """Return the sentence for an answer without rows."""
    thing = "program of the type information" if among is Among.INFORMATION else str(among).removesuffix("s")
    if among in _OF_PROGRAMS and not count_programs(ledger, among):
        return f"the ledger holds no {thing}"
    if like.text is not None and isinstance(comparison, WordComparison) and not comparison.has_words_of(like, among):
        return f"no {thing} has any of these words"
    return f"nothing similar among the {among} of the ledger"


def _named(ledger: Ledger, text: str) -> Like:
    """Return the session, turn or program that has that name, else the text."""
    if (session := text.removeprefix(_SESSION_PREFIX)) != text and not re.search(r"\s", session):
        return Like(None, _SESSIONS, ledger.find_session(session))
    is_program = text.startswith(_PROGRAM_PREFIXES)
    try:
        if is_program:
            return Like(None, *ledger.find_anything(text))
        found = ledger.find(text)
    except (UnknownNameError, AmbiguousNameError):
        if is_program:
            raise
        return Like(text=text)
    return Like(None, f"{found.kind}s", found.key)


def _row(among: Among, each: Similar, hide: "Change") -> tuple[object, ...]:
    names = [column.name for column in _COLUMNS[among][1:]]
    cells = [(name, each.facts[_FACTS.get(name, name)]) for name in names]
    hidden = (hide(cell) if isinstance(cell, str) and name in _HIDDEN_COLUMNS else cell for name, cell in cells)
    return (each.similarity, *hidden)


def _peoples_rows(
    ledger: Ledger, among: Among, found: Sequence[Similar], zone: tzinfo, hide: "Change"
) -> Iterator[tuple[object, ...]]:
    if among in _OF_PROGRAMS:
        for each in found:
            text = _beginning(each.facts["text"], hide)
            yield f"{each.similarity:.2f}", hide(each.key), each.facts["program_type"], text
        return
    names = names_to_type(ledger, {each.facts["session_label"] for each in found})
    for each in found:
        label = each.facts["session_label"]
        session = None if label is None else hide(names.get(label, label))
        began = local_time(each.facts["at"], zone)[:_DATE_CHARACTERS]
        if among is Among.SESSIONS:
            title = _beginning(each.facts["title"], hide)
            yield f"{each.similarity:.2f}", began, session, title, each.facts["turns"]
        else:
            prompt = _beginning(each.facts["text"] or each.facts["title"], hide)
            yield f"{each.similarity:.2f}", began, session, short_turn(each.key), prompt


def _beginning(text: str | None, hide: "Change") -> str | None:
    return one_line(hide(text), _TEXT_CHARACTERS) if text else None


def _notes(ledger: Ledger, like: Like, among: Among, best: Similar, hide: "Change") -> Iterator[str]:
    if like.key is not None and like.table != PROGRAMS:
        kind = KINDS_OF_TABLES[like.table or TURNS]
        yield f"similar to the {kind} {_name(ledger, like.table, like.key, hide)}; --text takes the word as a text"
    name = _name(ledger, str(among), best.key, hide)
    yield f"next: `aix {'program show' if among in _OF_PROGRAMS else 'show'} {quote(name)}`"


def _name(ledger: Ledger, table: str | None, key: str, hide: "Change") -> str:
    """Return the name by which `aix show` finds something, as the table shows it."""
    if table == _SESSIONS:
        return hide(names_to_type(ledger, {key}).get(key, key))
    return short_turn(key) if table == TURNS else hide(key)
