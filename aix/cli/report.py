"""`aix report`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command, ledger_option, output_option, parameter_options
from aix.cli.completion import complete_session
from aix.cli.diagnostics import say
from aix.cli.freshness import import_first
from aix.cli.redact import chosen_redactor, redact_options, report_redaction
from aix.cli.stdout import chosen_format, emit, emit_lines, explained, is_terminal
from aix.errors import ReportDefinitionError
from aix.store.manifest import REPORTS_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator
    from zoneinfo import ZoneInfo

    from aix.reports.report import Report

_FORMS = ("html", "markdown", "json")
_SUFFIXES = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}


def _complete_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001
    from aix.reports.library import report_files

    return [name for name in report_files() if name.startswith(incomplete)]


@click.command(cls=Command)
@click.argument("name", required=False, shell_complete=_complete_name)
@click.argument("about", required=False, metavar="[SESSION]", shell_complete=complete_session)
@parameter_options
@click.option(
    "--format",
    "form",
    type=click.Choice(_FORMS),
    help="How to write it. Default: by the suffix of FILE (.html, .md, .json), else html.",
)
@output_option
@click.option("--open", "is_opened", is_flag=True, help="Open the page in the browser.")
@click.option("--list", "is_listed", is_flag=True, help="List the reports there are.")
@click.option("--new", metavar="NAME", help="Write a report of your own to begin with, as a file to edit.")
@redact_options
@ledger_option
@import_first
@click.pass_context
def command(
    ctx: click.Context,
    name: str | None,
    about: str | None,
    parameters: dict[str, object],
    form: str | None,
    path: Path | None,
    is_opened: bool,
    is_listed: bool,
    new: str | None,
    is_redacted: bool,
    names_file: Path | None,
    ledger: Path,
) -> None:
    """Make a page with figures, charts and tables, to look at or to hand on.

    NAME is one of the reports that --list shows, by default `overview`, or the path of a TOML file. The page is one
    file that works offline: it loads nothing and sends nothing. Its filters narrow down time, project, model and origin
    without the ledger; what they cannot narrow down is marked "all data". Every chart has its table and its SQL below.

    The report `session` is about one SESSION; others are narrowed down to it.

    Without -o, a terminal gets the page as a file in the folder of the ledger, a pipe as text. The page shows titles,
    paths and commands of logs: --redact hides secrets and names before you hand it on.

    \b
      aix report --open
      aix report --since 30d --project website -o website.html
      aix report session 4f0bf891 --open
      aix report --redact -o overview.html
      aix report --format markdown
      aix report --list
      aix report --new our-models
      aix report our-models.toml -o our-models.html
    """
    from aix.config import load_config
    from aix.query.values import TIMEZONE, find_zone
    from aix.reading.ledger import open_ledger
    from aix.reports.library import DEFAULT, find_report, write_template
    from aix.reports.report import make_report

    if new is not None:
        written = write_template(new)
        say(f"wrote {written}; edit it, then: aix report {new} --open")
        return
    if is_listed:
        _list()
        return
    chosen = name or DEFAULT
    definition = find_report(chosen)
    asked_for = parameters if about is None else {**parameters, "session": about}
    if definition.about == "session" and "session" not in asked_for:
        raise click.UsageError(f"Name a session: `aix report {chosen} SESSION`; `aix sessions` lists them.")
    zone = find_zone(parameters.get(TIMEZONE, load_config(ctx.obj).timezone.key))
    kind = chosen_format(form, path, _SUFFIXES, "html")
    if is_opened and kind != "html":
        raise click.UsageError("--open shows a page: leave out --format, or name a file that ends in .html.")
    with open_ledger(ledger) as opened:
        redactor = chosen_redactor(ctx, opened, names_file, is_redacted=is_redacted)
        hide = str if redactor is None else redactor.text
        report = make_report(chosen, definition, opened, asked_for, zone.key, hide)
        lines = _lines(report, kind, zone)
    if path is None and kind == "html" and (is_opened or is_terminal()):
        # It shows texts of logs, and the current folder is often a repository.
        path = ledger / REPORTS_FOLDER / f"{Path(chosen).stem}.html"
        with explained(str(path)):
            path.parent.mkdir(mode=0o700, exist_ok=True)
    emit_lines(lines, path)
    report_redaction(redactor)
    if path is None:
        return
    is_shown = is_opened and click.launch(str(path)) == 0
    step = "open it in a browser" if is_opened else "open it in a browser, or add --open"
    say(f"wrote {path}" + ("" if is_shown or kind != "html" else f"; {step}"))


def _lines(report: "Report", kind: str, zone: "ZoneInfo") -> "Iterator[str]":
    if kind == "html":
        from aix.reports.html import html_lines

        return html_lines(report, zone)
    from aix.reports.forms import json_lines, markdown_lines

    return json_lines(report) if kind == "json" else markdown_lines(report, zone)


def _list() -> None:
    from aix.output import Listing, listing_columns
    from aix.reports.definition import read_definition
    from aix.reports.library import report_files

    rows: list[tuple[str, str | None, str]] = []
    for name, path in report_files().items():
        try:
            definition = read_definition(path)
        except ReportDefinitionError as error:
            say(f"{error}; {error.remedy}")
        else:
            rows.append((name, definition.title, definition.words))
    emit(Listing(listing_columns("report", "title", "about"), rows), output_format=None, path=None)
