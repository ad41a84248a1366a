"""`aix audit propose`."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command, chosen_parameter_options, ledger_option, risks_option
from aix.cli.diagnostics import say
from aix.cli.stdout import emit_lines
from aix.output.humanise import counted, one_line, per_cent
from aix.output.text import to_json

if TYPE_CHECKING:
    from aix.permissions import Dialect
    from aix.permissions.audit.proposal import Proposal, Use

_NOT_REFUSED = {"network"}
"""Every call to a host falls into this class; who asks for it by rule names the host."""
_FILTERS = ("project", "since", "until", "origin", "session", "tag")
_MOST_LISTED = 5
_LEFT_OUT = "left out (will still ask)"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")
_LINE_CHARACTERS = 120


def _share(ctx: click.Context, param: click.Parameter, value: str) -> float:  # noqa: ARG001 - click's signature
    written = value.strip()
    try:
        number = float(written.removesuffix("%"))
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no share such as 95%.") from error
    if number == 1 and not written.endswith("%"):
        raise click.BadParameter(f"{value!r} can mean 1% or 100%: write which.")
    share = number / 100 if written.endswith("%") or number > 1 else number
    if not 0 < share <= 1:
        raise click.BadParameter(f"{value!r} is not above 0% and at most 100%.")
    return share


@click.command(cls=Command)
@chosen_parameter_options(*_FILTERS)
@click.option(
    "--cover",
    default="100%",
    show_default=True,
    metavar="SHARE",
    callback=_share,
    help="Allow at least this share of the calls that needed a permission, where that can be done: 95%, 95 or 0.95.",
)
@click.option(
    "--allow-risk",
    "allowed_risks",
    multiple=True,
    metavar="CLASS",
    help="Do not refuse calls of this class of risk, such as package_install. Can be repeated.",
)
@risks_option
@click.option(
    "--json", "as_json", is_flag=True, help="Write one JSON object: settings, coverage, what asks, what is refused."
)
@click.option(
    "-o",
    "--output",
    "output",
    metavar="FILE|FOLDER/",
    help="Write to FILE instead of stdout, or a file for each project into FOLDER/.",
)
@ledger_option
def command(
    parameters: dict[str, object],
    cover: float,
    allowed_risks: tuple[str, ...],
    risks: Path | None,
    as_json: bool,
    output: str | None,
    ledger: Path,
) -> None:
    """Propose a settings file that allows what was used, and no more.

    Writes a settings file with allow rules for the calls that ran, each rule as narrow as one program with its
    subcommand, one folder, one host or one server. Calls that the tool runs by itself need no rule. With --cover, the
    rules that allow most come first, and no more are taken than the share needs. No rule is made for a path outside the
    project, for a script or a long command that ran once, or for commands of several lines.

    Risky calls are left out: no rule of the proposal allows any of them. The tool goes on asking before them; where it
    would run them by itself, ask rules stop them, unless these would also stop other calls. The class network is not
    left out, since every call to a host falls into it.

    Settings belong to one project: name it with --project, or give a FOLDER/ that gets one file for each. The whole
    path of a project names that project alone, without those below it. Where the calls are of several projects, or one
    of the files in FOLDER/ exists already, nothing is written. Notes on stderr say which share of calls would still
    ask, what was left out, and which rules are broad. The proposal looks at the calls of one origin. Your deny rules
    stay yours: merge the file with your settings.

    \b
      aix audit propose --project website -o settings.json
      aix audit propose -o proposals/
      aix audit propose --project website --cover 95%
      aix audit replay settings.json --project website
    """
    from aix.errors import UnknownNameError
    from aix.permissions.audit.proposal import observed_calls, only_dialect, propose, uses_of
    from aix.permissions.risks import load_risks
    from aix.reading.ledger import open_ledger

    known = load_risks(risks).names
    for risk in allowed_risks:
        if risk not in known:
            raise UnknownNameError("class of risk", risk, tuple(sorted(known)))
    with open_ledger(ledger) as opened, opened.under(risks=risks) as ruled:
        calls = observed_calls(ruled, parameters)
    dialect = only_dialect(calls)
    refused = known.keys() - set(allowed_risks) - _NOT_REFUSED
    projects = sorted({call.project for call in calls if call.project and call.origin == dialect.origin})
    folder = Path(output) if output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir()) else None
    if folder is not None:
        if as_json:
            raise click.UsageError("--json writes one object: name a file or a --project with it.")
        files: dict[Path, tuple[list[str], str]] = {}
        for project, name in file_names(projects).items():
            own = [call for call in calls if call.project == project]
            proposal = propose(dialect, uses_of(own, dialect, refused), cover)
            if proposal.rules:
                files[folder / name] = (_settings(dialect, proposal).splitlines(), _coverage(proposal))
            else:
                say(f"{one_line(project, _LINE_CHARACTERS)}: no call there needs a rule; no file")
        _refuse_existing(files)
        for file, (lines, coverage) in files.items():
            folder.mkdir(parents=True, exist_ok=True)
            emit_lines(lines, file)
            say(f"{file}: {coverage}")
        return
    path = None if output is None else Path(output)
    is_mixed = len(projects) > 1 and not as_json
    several = f"The calls are of {len(projects)} projects, and settings belong to one"
    named = f"--project {one_line(quote(projects[0]), _LINE_CHARACTERS)}" if is_mixed else ""
    ways = f"name one, such as {named}, or write a file for each with -o FOLDER/"
    if is_mixed and path is not None:
        raise click.UsageError(f"{several}. Nothing was written: {ways}.")
    proposal = propose(dialect, uses_of(calls, dialect, refused), cover)
    settings = _settings(dialect, proposal)
    if as_json:
        emit_lines([to_json(_as_object(proposal, dialect.origin, json.loads(settings)))], path)
        return
    if is_mixed:
        say(f"{several}: {ways}")
    emit_lines(settings.splitlines(), path)
    for line in _said(proposal):
        say(line)
    if path is not None:
        given = f" --project {quote(str(parameters['project']))}" if "project" in parameters else ""
        say(f"wrote {path}; try it on past calls: aix audit replay {quote(str(path))}{given}")


def _refuse_existing(files: Iterable[Path]) -> None:
    """Stop before anything is written when a file is there: it may hold rules of the user, or something else."""
    there = [str(file) for file in files if os.path.lexists(file)]
    if there:
        many = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise click.UsageError(f"{there[0]}{many} exists; nothing was written. Name a new folder with -o.")


def _settings(dialect: "Dialect", proposal: "Proposal") -> str:
    return dialect.write_settings({"allow": proposal.rules, "ask": proposal.asking})


def file_names(projects: list[str]) -> dict[str, str]:
    """Return a file name for each project: its last folder, with as many before it as tell the projects apart.

    >>> file_names(["/srv/a/cli", "/srv/b/cli", "/srv/mill"])
    {'/srv/a/cli': 'a-cli.json', '/srv/b/cli': 'b-cli.json', '/srv/mill': 'mill.json'}
    """
    folders = {project: [part for part in re.split(r"[/\\]+", project) if part] or ["root"] for project in projects}
    names: dict[str, str] = {}
    for depth in range(1, max(map(len, folders.values()), default=0) + 1):
        left = [project for project in projects if project not in names]
        found = {project: _NOT_IN_NAMES.sub("-", "-".join(folders[project][-depth:])) for project in left}
        counts = Counter([*found.values(), *names.values()])
        names |= {project: name for project, name in found.items() if counts[name] == 1}
    for number, project in enumerate(sorted(folders.keys() - names.keys()), start=1):
        names[project] = f"{_NOT_IN_NAMES.sub('-', folders[project][-1])}-{number}"
    return {project: f"{names[project]}.json" for project in projects}


def _as_object(proposal: "Proposal", origin: str, settings: object) -> dict[str, object]:
    return {
        "origin": origin,
        "settings": settings,
        "calls": proposal.calls,
        "allowed": proposal.allowed,
        "coverage": proposal.coverage,
        "still_asked": [_use(use) for use in proposal.still_asked],
        "refused": [_use(use) for use in proposal.refused],
        "still_free": [_use(use) for use in proposal.still_free],
        "left_out": {
            "risky": _total(proposal.refused),
            "outside": _total(proposal.outside),
            "one_off": _total(proposal.one_offs),
        },
        "broad": [{"rule": rule, "why": why} for rule, why in proposal.broad],
    }


def _use(use: "Use") -> dict[str, object]:
    call = use.call
    return {"tool": call.tool, "input": dict(call.input), "cwd": call.cwd, "calls": use.count, "free": use.free}


def _said(proposal: "Proposal") -> Iterator[str]:
    """Go through what a person is told about a proposal."""
    yield _coverage(proposal)
    yield from _listed([(use.count, use) for use in proposal.refused], "risky call", _LEFT_OUT)
    yield from _listed([(use.count, use) for use in proposal.outside], "call", f"outside the project {_LEFT_OUT}")
    yield from _listed([(use.count, use) for use in proposal.one_offs], "one-off command", _LEFT_OUT)
    explained = {id(use) for use in (*proposal.outside, *proposal.one_offs)}
    rest = [(use.count, use) for use in proposal.still_asked if id(use) not in explained]
    yield from _listed(rest, "other call", "would still ask")
    for why in dict.fromkeys(why for _, why in proposal.broad):
        rules = [rule for rule, reason in proposal.broad if reason == why]
        verb = "is" if len(rules) == 1 else "are"
        yield f"{counted(len(rules), 'rule')} {verb} broad ({why}): {one_line(', '.join(rules), _LINE_CHARACTERS)}"
    if proposal.asking:
        verb = "stops" if len(proposal.asking) == 1 else "stop"
        asking = counted(len(proposal.asking), "ask rule")
        yield f"{asking} {verb} risky calls that the tool runs without asking today"
    still_free = [(use.free, use) for use in proposal.still_free]
    yield from _listed(still_free, "risky call", "would still run without asking: rules against them stop others, too")


def _coverage(proposal: "Proposal") -> str:
    """Say which share of the calls would pass, and which would still ask."""
    needing = f"{counted(proposal.calls, 'call')} that needed a permission"
    share, rest = per_cent(proposal.coverage), per_cent(1 - proposal.coverage)
    rules = counted(len(proposal.rules), "rule")
    return f"{proposal.allowed} of {needing} would pass by {rules} ({share}); {rest} would still ask"


def _total(uses: Iterable["Use"]) -> int:
    return sum(use.count for use in uses)


def _listed(uses: list[tuple[int, "Use"]], thing: str, name: str) -> Iterator[str]:
    found = [(count, use) for count, use in uses if count]
    if found:
        yield f"{counted(sum(count for count, _ in found), thing)} {name}:"
        yield from (f"  {count} x {_shown(use)}" for count, use in found[:_MOST_LISTED])
        if len(found) > _MOST_LISTED:
            yield f"  and {len(found) - _MOST_LISTED} more; --json lists all"


def _shown(use: "Use") -> str:
    return one_line(" ".join(map(str, (use.call.tool, *use.call.input.values()))), _LINE_CHARACTERS)
