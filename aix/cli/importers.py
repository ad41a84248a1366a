"""`aix importers` and `aix golden`: the importers that are installed, and tests of one."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from aix.cli.command import Command, listing_output
from aix.output import Listing, ListingColumn, listing_columns


@click.command(cls=Command)
@click.argument("name", required=False)
@listing_output
def command(name: str | None) -> Listing:
    """List the tools whose histories can be imported, or the options of one importer.

    `not in its logs` names what an importer does not find there, of usage, cost, compaction, permissions, subagents,
    files, lints and codeblocks. All other formats have a column for each: `yes`, `no` where it is not read yet, and
    `not applicable` where the logs do not have it. Importers of other packages appear here once they are installed. An
    importer that cannot be used is listed with the reason.

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
    columns = listing_columns(
        "importer",
        ListingColumn("description", least=38),
        ListingColumn("not in its logs", least=28),
        ListingColumn("version", priority=2),
        ListingColumn("distribution", priority=3),
    )
    people = [
        (name, description, ", ".join(_missing(facts, answers)) or None, version, distribution)
        for name, version, distribution, description, *answers in rows
    ]
    notes = ["next: `aix sources` lists the histories on this machine, `aix importers NAME` the options of one"]
    return Listing(
        tuple(map(ListingColumn, names)),
        rows,
        has_findings=any(not each.kind for each in known),
        for_people=Listing(columns, people, notes=notes),
    )


def _missing(facts: Iterable[str], answers: Iterable[str | None]) -> Iterator[str]:
    """Give the facts that an importer does not find in its logs."""
    yield from (fact for fact, answer in zip(facts, answers, strict=True) if answer not in (None, "yes"))


def _options_of(name: str) -> Listing:
    from aix.pipeline.registry import load_importer

    importer = load_importer(name, {})
    rows = [(f"{importer.name}.{option}", help_text) for option, help_text in importer.option_help.items()]
    return Listing(listing_columns("option", "description"), rows, empty=f"the importer {importer.name} has no options")


@click.command(cls=Command)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("cases", nargs=-1, metavar="[CASE]...")
@click.option("--regenerate", is_flag=True, help="Write the expected files that are missing.")
@click.option("--force", is_flag=True, help="Write all expected files again.")
@listing_output
def golden(folder: Path, cases: tuple[str, ...], regenerate: bool, force: bool) -> Listing:
    """Compare the rows of an importer with expected ones.

    For authors of importers. FOLDER has the name of the importer and holds a folder per CASE, each with the logs in
    `input` and the rows they must give in `expected.json`. Each case is imported into a ledger of its own, which is
    checked as `aix check` does. The exit code is 1 when something differs; the difference goes to stderr.

    \b
      aix golden fixtures/session_log
      aix golden fixtures/session_log fork --force
    """
    from aix.errors import UnknownNameError
    from aix.testing import golden_cases

    found = {str(case): case for case in golden_cases(folder)}
    if not found:
        raise click.UsageError(f"There is no case in {folder}: no folder of it has a folder named input.")
    for name in cases:
        if name not in found:
            raise UnknownNameError("case", name, tuple(found))
    rows: list[tuple[str, str]] = []
    notes: list[str] = []
    for case in (found[name] for name in cases or found):
        if regenerate or force:
            rows.append((str(case), "written" if case.regenerate(force=force) else "as it was"))
        elif difference := case.diff():
            rows.append((str(case), "differs"))
            notes += difference.splitlines()
        else:
            rows.append((str(case), "as expected"))
    columns = listing_columns("case", "result")
    return Listing(columns, rows, has_findings=bool(notes), notes=notes)
