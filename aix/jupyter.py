"""Magics for Jupyter and IPython, which `%load_ext aix.jupyter` adds.

    %aix token_economics/waste since=7d        a query of the library, with its parameters
    %%aix                                      the SQL in the cell
    select model, count(*) from requests group by model
    %%aix requests                             the same, kept in the variable `requests`

Both ask the variable `ledger` where the notebook has one, else the ledger of the configuration.
"""

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING

from aix.errors import UsageError

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from aix.reading.ledger import Ledger
    from aix.reading.result import Result

_LEDGER = "ledger"


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """Register the magics, as `%load_ext aix.jupyter` asks for."""

    def magic(line: str, cell: str | None = None) -> "Result":
        return _ask_query(shell, line) if cell is None else _ask_sql(shell, line, cell)

    # IPython's decorator has a signature that type checkers misread.
    register: Callable[..., object] = shell.register_magic_function
    register(magic, magic_kind="line_cell", magic_name="aix")


def _ask_query(shell: "InteractiveShell", line: str) -> "Result":
    try:
        name, *values = shlex.split(line) or [""]
    except ValueError as error:
        raise UsageError(f"the line cannot be read: {error}") from error
    if not name:
        raise UsageError("name a query, such as `%aix token_economics/waste`; aix.queries() lists them")
    parameters: dict[str, object] = {}
    for value in values:
        parameter, has_value, text = value.partition("=")
        if not has_value:
            raise UsageError(f"{value!r} is not of the form NAME=VALUE, such as since=7d")
        parameters[parameter] = text
    return _ledger(shell).query(name, **parameters)


def _ask_sql(shell: "InteractiveShell", line: str, cell: str) -> "Result":
    variable = line.strip()
    if variable and not variable.isidentifier():
        raise UsageError(f"{variable!r} cannot be the name of a variable")
    result = _ledger(shell).sql(cell)
    if variable:
        shell.user_ns[variable] = result
    return result


def _ledger(shell: "InteractiveShell") -> "Ledger":
    from aix.reading.ledger import Ledger, open_ledger

    known = shell.user_ns.get(_LEDGER)
    if isinstance(known, Ledger):
        return known
    opened = open_ledger()
    shell.user_ns[_LEDGER] = opened
    return opened
