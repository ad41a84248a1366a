"""The options of redaction, and how much was hidden, in words."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from aix.cli.diagnostics import say
from aix.config import load_config

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger
    from aix.redaction.ledger_redactor import LedgerRedactor

_F = TypeVar("_F", bound=Callable[..., object])


def redact_options(command: _F) -> _F:
    """Add `--redact` and `--redact-names`."""
    names = click.option(
        "--redact-names",
        "names_file",
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Hide the names in FILE too, one to a line; implies --redact. Default: the file that `aix config` shows.",
    )
    flag = click.option(
        "--redact",
        "is_redacted",
        is_flag=True,
        help="Hide secrets, e-mail addresses, home folders, user and host names; see docs/redaction.md.",
    )
    return flag(names(command))


def chosen_redactor(
    ctx: click.Context, ledger: "Ledger", names_file: Path | None, *, is_redacted: bool
) -> "LedgerRedactor | None":
    """Return the redactor that the options ask for."""
    if not is_redacted and names_file is None:
        return None
    from aix.redaction.ledger_redactor import open_redactor

    return open_redactor(ledger, names_file or load_config(ctx.obj).redact_names)


def report_redaction(redactor: "LedgerRedactor | None") -> None:
    """Say how much of each kind was hidden."""
    if redactor is None:
        return
    from aix.redaction.redactor import counts_in_words

    say(f"hidden: {counts_in_words(redactor.counts)}")
    if redactor.unkept_reason:
        say(f"the ledger cannot keep a key ({redactor.unkept_reason}), so these marks agree only with each other")
