"""`aix audit propose`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aix.cli.command import Command
from aix.cli.diagnostics import say
from aix.cli.options import chosen_parameter_options, ledger_option, output_option
from aix.cli.stdout import emit_lines
from aix.formats.people import one_line, per_cent
from aix.formats.text import to_json

if TYPE_CHECKING:
    from aix.permissions.proposal import Proposal, Use

_NOT_REFUSED = {"network"}
"""Every call to a host falls into this class; who asks for it by rule names the host."""
_FILTERS = ("project", "since", "until", "origin", "session", "tag")
_MOST_LISTED = 10
_TARGET_CHARACTERS = 100


def _share(ctx: click.Context, param: click.Parameter, value: str) -> float:  # noqa: ARG001 - click's signature
    number = value.strip().removesuffix("%")
    try:
        share = float(number) / 100 if value.strip().endswith("%") or float(number) > 1 else float(number)
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is no share such as 95%.") from error
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
    help="Allow at least this share of the calls that needed a permission, where that can be done.",
)
@click.option(
    "--allow-risk",
    "allowed_risks",
    multiple=True,
    metavar="CLASS",
    help="Do not refuse calls of this class of risk. Can be repeated.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Write one JSON object: settings, coverage, what asks, what is refused."
)
@output_option
@ledger_option
def command(
    parameters: dict[str, object],
    cover: float,
    allowed_risks: tuple[str, ...],
    as_json: bool,  # noqa: FBT001 - click's
    path: Path | None,
    ledger: Path,
) -> None:
    """Propose the least settings that would have sufficed for what was used.

    Writes a settings file with allow rules for the calls that ran, each rule as narrow as one program with its
    subcommand, one folder, one host or one server. Calls that the tool runs by itself need no rule. Calls of a class of
    risk are refused: no rule of the proposal allows any of them, and they go on asking. What the rules cover, what
    would still ask and what is refused is said on stderr, so that stdout is the file.

    The proposal looks at the calls of one origin. Your deny rules stay yours: merge the file with your settings.

    \b
      aix audit propose --project website -o settings.json
      aix audit propose --project website --cover 95%
      aix audit replay settings.json --project website
    """
    from aix.auditing.uses import observed_calls, only_dialect, uses_of
    from aix.permissions.proposal import propose
    from aix.permissions.risks import load_risks
    from aix.reading.ledger import open_ledger

    known = load_risks().names
    for risk in allowed_risks:
        if risk not in known:
            raise click.BadParameter(f"There is no class {risk!r}; there are {', '.join(sorted(known))}.")
    with open_ledger(ledger) as opened:
        dialect = only_dialect(opened, parameters)
        calls = observed_calls(opened, {**parameters, "origin": dialect.origin})
    refused = known.keys() - set(allowed_risks) - _NOT_REFUSED
    proposal = propose(dialect, uses_of(calls, dialect, refused), cover)
    settings = dialect.write_settings({"allow": proposal.rules})
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
    }


def _use(use: "Use") -> dict[str, object]:
    return {"tool": use.call.tool, "input": dict(use.call.input), "cwd": use.call.cwd, "calls": use.count}


def _said(proposal: "Proposal") -> Iterator[str]:
    """Go through what a person is told about a proposal."""
    share = per_cent(proposal.coverage)
    covered = f"{proposal.allowed} of {proposal.calls} calls that needed a permission ({share})"
    yield f"{len(proposal.rules)} rules allow {covered}"
    for name, found in (("would still ask", proposal.still_asked), ("refused for their risk", proposal.refused)):
        uses = [use for use in found if use.count]
        if uses:
            yield f"{sum(use.count for use in uses)} calls {name}:"
            yield from (f"  {use.count} x {use.call.tool} {_target(use)}" for use in uses[:_MOST_LISTED])
            if len(uses) > _MOST_LISTED:
                yield f"  and {len(uses) - _MOST_LISTED} more; --json lists all"


def _target(use: "Use") -> str:
    return one_line(" ".join(str(value) for value in use.call.input.values()), _TARGET_CHARACTERS)
