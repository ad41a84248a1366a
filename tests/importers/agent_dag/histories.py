"""Rows that graphs give, read without a ledger."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from aix.importing import Problem, Rows, Source, Ties
from aix_importers.agent_dag.importer import AgentDagImporter
from tests import ROOT

FIXTURES = ROOT / "fixtures" / "agent_dag"
Row = dict[str, object]
Tables = dict[str, list[Row]]


def lines_of(case: str) -> list[Row]:
    """Return the records of a situation, of lines that are whole objects."""
    text = (FIXTURES / case / "input" / "graph.jsonl").read_text("utf-8")
    found = []
    for line in text.splitlines():
        with suppress(ValueError):
            found.append(json.loads(line))
    return [record for record in found if isinstance(record, dict)]


def write_graph(path: Path, records: Iterable[Mapping[str, object]]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), "utf-8")
    return path


def extract(folder: Path, *files: Sequence[Mapping[str, object]]) -> tuple[Tables, list[Problem]]:
    """Return the rows of a graph that lies in these files, by table, and its problems."""
    paths = [write_graph(folder / f"{number}.jsonl", records) for number, records in enumerate(files)]
    tables: Tables = defaultdict(list)
    problems: list[Problem] = []
    for given in AgentDagImporter().extract([Source(str(path)) for path in paths]):
        if isinstance(given, Problem):
            problems.append(given)
        elif isinstance(given, Rows):
            names = list(given.columns)
            tables[given.table].extend(
                dict(zip(names, values, strict=True)) for values in zip(*given.columns.values(), strict=True)
            )
    return tables, problems


def ties(path: Path) -> tuple[set[int], set[int]]:
    """Return the ties of a file: those that reading it gives, and those that a glance at it shows."""
    importer, source = AgentDagImporter(), Source(str(path))
    read = (number for given in importer.extract([source]) if isinstance(given, Ties) for number in given.numbers)
    return set(read), set(importer.likely_ties(source))


def histories(tables: Tables) -> dict[str, list[str]]:
    """Return the rows of histories in a form that can be compared; where a graph lay does not matter."""
    return {
        name: sorted(json.dumps({k: v for k, v in row.items() if v is not None}, sort_keys=True) for row in rows)
        for name, rows in tables.items()
        if not name.startswith("dag_") and name != "session_context"
    }
