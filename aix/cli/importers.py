"""`aix importers`."""

import click

from aix.cli.command import Command
from aix.cli.options import listing_output
from aix.output import Listing, ListingColumn


@click.command(cls=Command)
@click.argument("name", required=False)
@listing_output
def command(name: str | None) -> Listing:
    """List the importers that are installed, or the options of one.

    The columns from `usage` on say what an importer finds in its logs: `yes`, `no` where it does not read it yet, and
    `not applicable` where the logs do not have it. An importer of another distribution appears here once that is
    installed; one that cannot be used says why.

    \b
      aix importers
      aix importers session_log
    """
    return _options_of(name) if name else _all()


def _all() -> Listing:
    from aix.importing import Capabilities
    from aix.pipeline.registry import registrations

    facts = [fact for fact, _ in Capabilities()]
    known = registrations()
    rows = [
        (
            each.name,
            each.kind.version if each.kind else None,
            each.distribution,
            each.kind.description if each.kind else each.problem,
            *(str(answer) for _, answer in (each.kind.capabilities if each.kind else ())),
            *([None] * len(facts) if not each.kind else []),
        )
        for each in known
    ]
    names = ("importer", "version", "distribution", "description", *facts)
    return Listing(tuple(map(ListingColumn, names)), rows, has_findings=any(not each.kind for each in known))


def _options_of(name: str) -> Listing:
    from aix.pipeline.registry import load_importer

    importer = load_importer(name, {})
    rows = [(f"{name}.{option}", help_text) for option, help_text in importer.option_help.items()]
    return Listing((ListingColumn("option"), ListingColumn("description")), rows)
