"""`aix audit propose`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command, chosen_parameter_options, ledger_option, output_option, risks_option
from aix.cli.diagnostics import say
from aix.cli.stdout import emit_lines
from aix.output.humanise import counted, one_line, per_cent
from aix.output.text import to_json

if TYPE_CHECKING:
    from aix.permissions.audit.proposal import Proposal, Use

_NOT_REFUSED = {"network"}
"""Every call to a host falls into this class; who asks for it by rule names the host."""
_FILTERS = ("project", "since", "until", "origin", "session", "tag")
_MOST_LISTED = 10
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
@output_option
@ledger_option
def command(
    parameters: dict[str, object],
    cover: float,
    allowed_risks: tuple[str, ...],
    risks: Path | None,
    as_json: bool,
    path: Path | None,
    ledger: Path,
) -> None:
    """Propose the least settings that would have sufficed for what was used.

    Writes a settings file with allow rules for the calls that ran, each rule as narrow as one program with its
    subcommand, one folder, one host or one server. Calls that the tool runs by itself need no rule. With --cover, the
    rules that allow most come first, and no more are taken than the share needs.

    Calls of a class of risk are refused: no rule of the proposal allows any of them. The tool goes on asking before
    them; where it would run them by itself, ask rules stop them, unless these would also stop other calls. The class
    network is not refused, since every call to a host falls into it.

    What the rules cover, what would still ask and what is refused is said on stderr, so that stdout is the file. The
    proposal looks at the calls of one origin. Your deny rules stay yours: merge the file with your settings.

    \b
      aix audit propose --project website -o settings.json
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
    proposal = propose(dialect, uses_of(calls, dialect, refused), cover)
    settings = dialect.write_settings({"allow": proposal.rules, "ask": proposal.asking})
    if as_json:
        emit_lines([to_json(_as_object(proposal, dialect.origin, json.loads(settings)))], path)
        return
    emit_lines(settings.splitlines(), path)
    for line in _said(proposal):
        say(line)


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
    }


def _use(use: "Use") -> dict[str, object]:
    call = use.call
    return {"tool": call.tool, "input": dict(call.input), "cwd": call.cwd, "calls": use.count, "free": use.free}


def _said(proposal: "Proposal") -> Iterator[str]:
    """Go through what a person is told about a proposal."""
    rules = counted(len(proposal.rules), "rule")
    share = per_cent(proposal.coverage)
    needing = f"{counted(proposal.calls, 'call')} that needed a permission"
    yield f"{proposal.allowed} of {needing} would pass by {rules} ({share})"
    yield from _listed([(use.count, use) for use in proposal.still_asked], "would still ask")
    yield from _listed([(use.count, use) for use in proposal.refused], "refused for their risk")
    if proposal.asking:
        yield f"{counted(len(proposal.asking), 'rule')} would ask before such calls where the tool runs them by itself"
    still_free = [(use.free, use) for use in proposal.still_free]
    yield from _listed(still_free, "of a refused class that the tool runs by itself; what stops them stops others, too")


def _listed(uses: list[tuple[int, "Use"]], name: str) -> Iterator[str]:
    found = [(count, use) for count, use in uses if count]
    if found:
        yield f"{counted(sum(count for count, _ in found), 'call')} {name}:"
        yield from (f"  {count} x {_shown(use)}" for count, use in found[:_MOST_LISTED])
        if len(found) > _MOST_LISTED:
            yield f"  and {len(found) - _MOST_LISTED} more; --json lists all"


def _shown(use: "Use") -> str:
    return one_line(" ".join(map(str, (use.call.tool, *use.call.input.values()))), _LINE_CHARACTERS)
