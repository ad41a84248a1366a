"""The reports there are: those that AIX brings along, and the user's own."""

import re
from pathlib import Path

import platformdirs

from aix.errors import OutputError, UnknownNameError, UsageError
from aix.query.query_file import query_root
from aix.reports.definition import Definition, read_definition

DEFAULT = "overview"
_NAME = re.compile(r"\w[\w-]*")

_TEMPLATE = """\
# A report of your own: `aix report {name}` makes it. docs/reports.md explains every key.
title = "{title}"
words = "One or two sentences about the question that this report answers."

# Figures stand at the top. `add` names the column that is added up; without it, rows are counted.
[[figures]]
label = "Cost at list price"
query = "token_economics/cost_cells"
add = "cost_usd"
next = "aix cost"

[[figures]]
label = "Failed and interrupted turns"
query = "token_economics/waste"
where = {{ class = ["failed_turn", "interrupted_turn"] }}
add = "cost_usd"
next = "aix query waste"

# A section has a query (`aix query` lists them, `aix query NAME --help` explains the columns), a chart and a table.
# With `group`, rows with equal values become one, and the section follows the filters of the page.
[[sections]]
title = "Cost per day"
words = "Each colour is a model."
query = "token_economics/cost_cells"
group = ["day", "model"]
add = ["cost_usd", "requests"]
chart = {{ kind = "bars", x = "day", y = "cost_usd", color = "model" }}

# Without `group`, a section shows the rows of its query as they are.
[[sections]]
title = "Waste"
query = "token_economics/waste"
columns = ["class", "cost_usd", "turns"]
chart = {{ kind = "ranking", x = "cost_usd", y = "class" }}
"""


def own_folder() -> Path:
    """Return the folder of the user's own reports."""
    return platformdirs.user_config_path("aix") / "reports"


def report_files() -> dict[str, Path]:
    """Return the file of each report by its name; one of the user's goes before one of AIX.

    >>> "overview" in report_files()
    True
    """
    folders = (query_root() / "reports", own_folder())
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.toml"))}


def find_report(name: str) -> Definition:
    """Read the report of that name, or the one in that file."""
    if name.endswith(".toml"):
        return read_definition(Path(name))
    files = report_files()
    if name not in files:
        raise UnknownNameError("report", name, tuple(files))
    return read_definition(files[name])


def write_template(name: str) -> Path:
    """Write a report to begin with into the user's folder, and return its path."""
    if not _NAME.fullmatch(name):
        raise UsageError(f"{name!r} cannot be the name of a report; use letters, digits and hyphens")
    path = own_folder() / f"{name}.toml"
    if name in report_files():
        raise UsageError(f"there is a report named {name!r} already, in {report_files()[name]}; choose another name")
    title = name.replace("-", " ").replace("_", " ").capitalize()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(_TEMPLATE.format(name=name, title=title))
    except OSError as error:
        raise OutputError(str(path), f"cannot be written: {error.strerror or error}", "check its folder") from error
    return path
