"""The help of `aix query NAME --help`."""

import click

from aix.cli.options import SHARED_PARAMETERS
from aix.query.query_file import Parameter, Query

_EXAMPLES = {"since": "--since 2026-11-01", "project": "--project website"}


def explain(query: Query, formatter: click.HelpFormatter) -> str:
    """Tell all that the header of a query says, and how the query is called."""
    formatter.write_usage("aix query", f"{query.name} [OPTIONS]")
    formatter.write_paragraph()
    formatter.write_text(f"{query.title}. {query.question}")
    formatter.write_paragraph()
    formatter.write_text(query.why)
    formatter.write_paragraph()
    formatter.write_text(f"One row per {query.grain}.")
    if query.parameters:
        with formatter.section("Parameters"):
            formatter.write_dl([(_written(each), _explained(each)) for each in query.parameters])
    with formatter.section("Columns"):
        formatter.write_dl([(f"{each.name} {each.type}", each.meaning) for each in query.columns])
    if query.caveats:
        with formatter.section("Caveats"):
            for caveat in query.caveats:
                formatter.write_text(caveat)
    with formatter.section("Examples"):
        options = [text for name, text in _EXAMPLES.items() if query.parameter(name)]
        formatter.write_text(" ".join(["aix query", query.name, *options, "--format csv"]))
        formatter.write_text(f"aix query {query.name} --sql")
    return formatter.getvalue().rstrip("\n")


def _written(parameter: Parameter) -> str:
    if parameter.name in SHARED_PARAMETERS:
        return f"--{parameter.name} {parameter.type.upper()}"
    return f"--param {parameter.name}={parameter.type.upper()}"


def _explained(parameter: Parameter) -> str:
    default = "none" if parameter.default is None else parameter.default
    return f"{parameter.meaning}. Default: {default}."
