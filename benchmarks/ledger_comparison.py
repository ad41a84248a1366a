"""Import logs with an earlier checkout and with this one: all tables, views and queries must give the same rows.

    python benchmarks/ledger_comparison.py EARLIER FOLDER [FOLDER ...] [--allow NAME ...]

EARLIER is a checkout of the code before a change, such as one of `git worktree add EARLIER REVISION`; both run in this
Python. Each folder of logs is imported into two new ledgers, which are read with the code that wrote them and compared
row by row, but for the columns that say when, by which run or by which version something was imported. A table, view or
query that is named with `--allow` may differ: its rows are shown, and do not count. The exit code is 1 if another
differs.
"""

import argparse
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

_OF_IMPORTS = {
    "run_id", "last_run_id", "first_seen_at", "last_seen_at", "started_at", "finished_at", "run_started_at",
    "splitter_version",
}  # fmt: skip
"""Columns that say when, by which run or by which version of AIX something was imported."""
_TABLE_OF_RUNS = "import_runs"
_ROWS_SHOWN = 3
_WIDEST = 300
_HERE = Path(__file__).resolve()


def write_rows(logs: Path, folder: Path) -> None:
    """Import logs, and write the rows of each table, view and query as sorted lines into a file of its name.

    This runs with the code of either checkout, so it keeps to names that both document.
    """
    import aix
    from aix.schema import TABLES

    if Path.cwd() not in Path(aix.__file__).parents:
        raise SystemExit(f"the code of {Path.cwd()} should run, and {aix.__file__} does")
    aix.import_histories([logs], folder / "ledger")
    with aix.open(folder / "ledger") as ledger:
        views = sorted(path.stem for path in Path("queries", "views").glob("*.sql"))
        for name in (*TABLES, *views):
            if name != _TABLE_OF_RUNS:
                result = ledger.sql(f"from {name}")
                _write(folder / f"{name}.rows", result.columns, result)
        for query in aix.queries():
            try:
                result = ledger.query(query.name)
            except Exception as error:  # a query that needs a parameter says so, and both must say the same
                _write(folder / f"{query.name}.rows", ["error"], [(str(error),)])
            else:
                _write(folder / f"{query.name}.rows", result.columns, result)


def _write(path: Path, columns: Iterable[str], rows: Iterable[tuple[object, ...]]) -> None:
    names = list(columns)
    kept = [place for place, name in enumerate(names) if name not in _OF_IMPORTS]
    lines = sorted(repr({names[place]: row[place] for place in kept}) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", errors="surrogatepass")


def _run_checkout(checkout: Path, logs: Path, folder: Path, home: Path) -> None:
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("AIX_", "XDG_", "CLAUDE_"))}
    code = os.pathsep.join([str(checkout), str(checkout / "importers")])
    # Without -P, Python would find the packages beside this script first.
    subprocess.run(
        [sys.executable, "-P", _HERE, "--write", logs, folder],
        check=True,
        cwd=checkout,
        env={**kept, "PYTHONPATH": code, "HOME": str(home)},
    )


def _row_files(folder: Path) -> dict[str, Path]:
    files = (path for path in folder.rglob("*.rows") if "ledger" not in path.relative_to(folder).parts[:1])
    return {str(path.relative_to(folder).with_suffix("")): path for path in files}


def differences(earlier: Path, later: Path) -> Iterator[tuple[str, list[str]]]:
    """Go through the tables and queries that differ, each with the rows that only one side has."""
    before, after = _row_files(earlier), _row_files(later)
    for name in sorted(before.keys() | after.keys()):
        rows = [_lines(files.get(name)) for files in (before, after)]
        gone, new = Counter(rows[0]), Counter(rows[1])
        shown = [f"- {line}" for line in (gone - new).elements()] + [f"+ {line}" for line in (new - gone).elements()]
        if shown or (name in before) != (name in after):
            yield name, shown


def _lines(path: Path | None) -> list[str]:
    return path.read_text(encoding="utf-8", errors="surrogatepass").split("\n") if path else []


def compare(checkout: Path, logs: Path, allowed: set[str]) -> int:
    """Import logs with both checkouts and print each difference; return how many tables and queries differ."""
    wrong = 0
    with TemporaryDirectory(prefix="aix-comparison-") as name:
        folder = Path(name)
        home = folder / "home"
        home.mkdir()
        _run_checkout(checkout, logs, folder / "earlier", home)
        _run_checkout(_HERE.parents[1], logs, folder / "later", home)
        files = _row_files(folder / "later")
        rows = sum(len(_lines(path)) - 1 for path in files.values())
        for name, shown in differences(folder / "earlier", folder / "later"):
            wrong += name not in allowed
            print(f"{'may differ' if name in allowed else 'DIFFERS'}: {name}, {len(shown):,} rows")
            for line in shown[:_ROWS_SHOWN]:
                print(f"    {line[:_WIDEST]}")
        print(f"{logs}: {len(files):,} tables, views and queries, {rows:,} rows; {wrong} differ", flush=True)
    return wrong


def main() -> int:
    """Compare the ledgers of each folder; return 1 when any table or query differs."""
    if sys.argv[1:2] == ["--write"]:
        write_rows(Path(sys.argv[2]), Path(sys.argv[3]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("earlier", type=Path, help="a checkout of the code before the change")
    parser.add_argument("folders", type=Path, nargs="+", help="folders of logs")
    parser.add_argument("--allow", nargs="*", default=[], help="tables and queries that may differ")
    arguments = parser.parse_args()
    wrong = [compare(arguments.earlier.resolve(), each.resolve(), set(arguments.allow)) for each in arguments.folders]
    return int(any(wrong))


if __name__ == "__main__":
    sys.exit(main())
