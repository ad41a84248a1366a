"""Write the files that are made from the code: pages, queries that name every table, and the rows of bundled prices.

python docs/generate.py            write them
python docs/generate.py --check    say which are out of date, and exit with 1 when any is
"""

import inspect
import json
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.parquet as pq

from aix.cli.diagnostics import MEANINGS
from aix.cli.root import COMMANDS
from aix.cli.root import aix as root_command
from aix.derived.pricing import PRICES_DIGEST, bundled_rows, bundled_rows_path, rows_of_lines
from aix.ids import h63, ulid
from aix.merge.ledger_merge import compared_columns
from aix.prices.table import PriceTable
from aix.query.packs import find_query, own_query_names
from aix.query.query_file import Query, query_root
from aix.query.views import library_views
from aix.schema import SCHEMA_VERSION, TABLES, Column, Join, Table
from aix.schema.migrations import MIGRATIONS
from aix.store.manifest import PRICE_TABLES
from docs.generated_queries import coverage, unique_keys

_ROOT = Path(__file__).parent.parent
_ULID_VECTORS = (
    ("turn", "session-log", "5b1f"),
    ("msg", "session-log", "naïve 日本語 🚀"),
    ("req", "claude-code", "msg_01AbCdEfGhIjKlMnOpQrStUv"),
    ("turn", "cursor", ""),
)
_H63_VECTORS: tuple[tuple[str | int | None, ...], ...] = (
    ("session_history", "session-log:s-1", "6TEMHVVNDY07HMQR8S0TER69NJ", 1_700_000_000_123),
    ("message_files", "6TEMHVVNDY07HMQR8S0TER69NJ", "read", "src/a.py", 12),
    ("message_files", "6TEMHVVNDY07HMQR8S0TER69NJ", "read", "src/a.py", None),
    ("message_codeblocks", "6TEMHVVNDY07HMQR8S0TER69NJ", 0),
)


def main() -> int:
    """Write or check every generated page and query, and the generated rows."""
    pages = {
        "docs/ledger.md": _ledger_page(),
        "docs/cli.md": _command_line_page(),
        "queries/README.md": _queries_page(),
        "queries/health/coverage.sql": coverage(),
        "queries/health/unique_keys.sql": unique_keys(),
    }
    stale = []
    for name, lines in pages.items():
        path = _ROOT / name
        text = "\n".join(lines) + "\n"
        if not path.exists() or path.read_text("utf-8") != text:
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(text, "utf-8")
    for name in PRICE_TABLES:
        if not _are_bundled_rows_current(name):
            stale.append(str(bundled_rows_path(name).relative_to(_ROOT)))
            if "--check" not in sys.argv:
                _write_bundled_rows(name)
    verb = "out of date, run `make docs`" if "--check" in sys.argv else "written"
    for name in stale:
        print(f"{name}: {verb}")
    return 1 if stale and "--check" in sys.argv else 0


def _write_bundled_rows(name: str) -> None:
    """Write the rows that the bundled lines give, with the digest of these."""
    prices = PriceTable()
    rows = pa.Table.from_batches(rows_of_lines(prices)[name])
    table = rows.replace_schema_metadata({PRICES_DIGEST: prices.digest})
    pq.write_table(table, bundled_rows_path(name), compression="zstd", compression_level=19)


def _are_bundled_rows_current(name: str) -> bool:
    """Whether the file of the bundled rows has those that the bundled lines give."""
    prices = PriceTable()
    try:
        stored = bundled_rows(prices.digest)
    except OSError:
        return False
    made = rows_of_lines(prices)
    return stored is not None and pa.Table.from_batches(stored[name]) == pa.Table.from_batches(made[name])


def _ledger_page() -> Iterator[str]:
    canonical = [table for table in TABLES.values() if table.canonical]
    extensions = [table for table in TABLES.values() if not table.canonical]
    yield "# The ledger"
    yield ""
    yield "<!-- Made from aix/schema by docs/generate.py. Do not edit: change the schema and run `make docs`. -->"
    yield ""
    yield f"Schema version {SCHEMA_VERSION}: {len(canonical)} canonical tables and {len(extensions)} extension tables."
    yield "Unknown is NULL, never 0. Times are Unix milliseconds in UTC. Ids and JSON are VARCHAR."
    yield "The canonical tables are those of the ledger's definition, column for column; the extension tables hold"
    yield "what it has no column for. `aix schema TABLE` prints the same on the command line."
    yield ""
    yield from _contents("Canonical tables", canonical)
    yield from _contents("Extension tables", extensions)
    yield from _join_rules()
    yield from _joined_ledgers()
    yield from _row_ids()
    yield from _schema_versions()
    yield from _files()
    for title, tables in (("Canonical tables", canonical), ("Extension tables", extensions)):
        yield f"## {title}"
        yield ""
        for table in tables:
            yield from _table_section(table)


_READING_FILES = """
## Reading the files without AIX

`ledger.duckdb` has a view of every table for any DuckDB client, and `aix export` writes plain files. The files of a
version are listed by table in its `versions/NUMBER.json`, under `tables`; the newest version has the highest number.

Some rows in these files may be dead: a session that has grown is written to new files, and its old rows stay in the old
ones until `aix vacuum` writes these again. A file with a `group` numbers the family of each row in its last column,
`component`. The manifest lists the numbers of dead families by group, under `dead`. No number is ever given twice, so
one list serves all files:

```py
import json
from pathlib import Path

ledger = Path("LEDGER")
newest = json.loads(max((ledger / "versions").glob("*.json")).read_text())
files = [str(ledger / segment["path"]) for segment in newest["tables"]["turns"]]
dead = [number for group in newest["dead"].values() for number in group["components"]]
```

DuckDB:

```py
import duckdb

turns = duckdb.sql(
    "select * exclude (component) from read_parquet($files) where not list_contains($dead, component)",
    params={"files": files, "dead": dead},
)
```

polars:

```py
import polars as pl

turns = pl.scan_parquet(files).filter(~pl.col("component").is_in(dead)).drop("component")
```

pyarrow:

```py
import pyarrow.dataset as ds

turns = ds.dataset(files).to_table(filter=~ds.field("component").isin(dead)).drop_columns("component")
```

Spark:

```py
rows = spark.read.parquet(*files)
turns = rows.where(~rows.component.isin(dead)).drop("component")
```

Prices lie in no group: their files have no `component`, and all rows count.
"""

_MANIFEST_RULES = """
## What a manifest may name

`versions/NUMBER.json` lists the files of a version. A ledger may come from somebody else, so nothing in it is believed
unchecked: where one of these rules is broken, the ledger is damaged, the exit code is 3, and nothing is changed.

- A path is `data/NAME`, `data/FOLDER/NAME` or `NAME.parquet`, and stands only once. A name has letters, digits, `_`,
  `-` and `.`, and begins with none of the last two. This holds for tables, kept views, indexes, fingerprints and ties.
- What it names is a regular file: no link, no named pipe, no folder. A segment has the size that the manifest says.
  `aix check` also compares its rows and columns, and so does every command that copies rows out of it.
- Indexes, fingerprints and ties have the SHA-256 that the manifest says. Earlier releases wrote none, and ignore it; an
  index without one must be in order.
- Every table is one of the schema, and every group has an index, and a name as files have. Counts are not negative, and
  `oldest` is at most the number of the version.
- Dead families are of a group that has files, have numbers from 1 to `components`, and no more rows than its files.

The folder of the ledger may be reached through a link; `versions`, `staging`, `raw` and `cache` may not be links. With
a link as `data`, the ledger is read and not changed: nothing is written or removed through a link. What AIX does not
make, such as links and folders in `data`, is never removed.
"""


def _files() -> Iterator[str]:
    for section in (_READING_FILES, _MANIFEST_RULES):
        yield from section.strip().split("\n")
        yield ""


def _contents(title: str, tables: Iterable[Table]) -> Iterator[str]:
    yield f"**{title}**: " + ", ".join(f"[{table.name}](#{table.name})" for table in tables)
    yield ""


def _join_rules() -> Iterator[str]:
    yield "## How two rows become one"
    yield ""
    yield "The ledger is a function of the set of what was imported. When two rows have the same key, each column is"
    yield "joined: a value that was read beats one that was inferred, that beats a placeholder, and that beats NULL."
    yield "Between values of the same standing the column's rule decides; a default counts as a placeholder. Joining is"
    yield "commutative, associative and idempotent, except by `latest`, where the later value that is not NULL stays."
    yield ""
    yield from _markdown_table(("rule", "meaning"), ((f"`{rule}`", rule.meaning) for rule in Join))


def _joined_ledgers() -> Iterator[str]:
    yield "## Joining someone else's ledger"
    yield ""
    yield "`aix import OTHER_LEDGER` joins all rows of another ledger by the rules above. To join a ledger is to"
    yield "trust it: its rows become yours, nothing marks them afterwards, and no command takes them out again but"
    yield "`aix forget`, session by session. Where both ledgers have a row of the same key, the rules decide"
    yield "between the values, not whose they are: a longer text, an earlier time or a greater name of the other"
    yield "ledger takes the place of yours."
    yield ""
    yield "Rows that contradict your own are therefore counted and shown before anything is joined: how many of"
    yield "which table, in which columns, and an example. `--dry-run` stops there, `--strict` joins no ledger that"
    yield "contradicts a row, and `aix import --json` and `report.contradictions` of `aix.import_histories` have"
    yield "the same for programs. Two rows of one key contradict each other when both state a value in one of these"
    yield "columns, neither inferred it, and the values differ:"
    yield ""
    listed = ((table, [column.name for column in compared_columns(table)]) for table in TABLES.values())
    rows = ((f"`{table.name}`", ", ".join(f"`{name}`" for name in names)) for table, names in listed if names)
    yield from _markdown_table(("table", "columns compared"), rows)
    yield "These are columns by `known`, and times by `min`, of what logs record once and for all. Ledgers that"
    yield "read the same log at different times do not contradict each other: a text, a path or JSON that goes on"
    yield "where the other ends counts as grown, and columns by `max`, `furthest`, `union`, `set` and the like are"
    yield "not compared. Neither are columns of ids, which say where a row belongs: that depends on the logs that"
    yield "were read together. So a ledger without contradictions can still add text at the end of yours, raise"
    yield "counts of tokens, and add rows. Some tools copy records into new logs with new times; of two ledgers of"
    yield "which one has only the copy, the times contradict each other although both are honest, and the earlier"
    yield "one stays."
    yield ""


def _row_ids() -> Iterator[str]:
    yield "## Row ids"
    yield ""
    yield "An id is a pure function of what the row stands for: the same record has the same id in every import and on"
    yield "every machine. Ids hold no time; order by `started_at` and `sequence`."
    yield ""
    yield "`ulid(part, …)`: SHA-256 over `aix` and the parts, joined by the unit separator (U+001F), as UTF-8; its"
    yield "first 128 bits as 26 characters of `0123456789ABCDEFGHJKMNPQRSTVWXYZ`."
    yield ""
    yield from _markdown_table(
        ("parts", "ulid"), ((f"`{_json(parts)}`", f"`{ulid(*parts)}`") for parts in _ULID_VECTORS)
    )
    yield "`h63(part, …)`: SHA-256 over the parts, joined in the same way; its first 8 bytes as a number, shifted"
    yield "right by one bit. A number counts as its decimal digits, NULL as the empty text."
    yield ""
    yield from _markdown_table(("parts", "h63"), ((f"`{_json(parts)}`", f"`{h63(*parts)}`") for parts in _H63_VECTORS))
    yield from _markdown_table(
        ("row", "id"),
        (
            ("`turns.id`", '`ulid("turn", origin, turn key)`'),
            ("`messages.id`", '`ulid("msg", origin, message key)`'),
            ("`requests.id`", '`ulid("req", origin, message key)`'),
            ("`session_history.id`", '`h63("session_history", session_label, thread_id, changed_at)`'),
            ("`message_files.id`", '`h63("message_files", message_id, kind, file_path, line_start)`'),
            ("`message_lints.id`", '`h63("message_lints", message_id, place in the message)`'),
            ("`message_codeblocks.id`", '`h63("message_codeblocks", message_id, idx)`'),
            ("`dag_edges.id`", '`h63("dag_edges", type, src, dst, attrs_json, valid_from)`'),
            (
                "`prices.id`",
                '`h63("prices", provider, model, match_rule, valid_from, tier_start_tokens, variant, unit,'
                " precedence)`",
            ),
        ),
    )


def _schema_versions() -> Iterator[str]:
    yield "## Schema versions"
    yield ""
    yield "A ledger written by an earlier release opens for ever: its tables are read as if they were written today."
    yield ""
    versions = [(1, "the canonical tables"), *((step.version, step.reason) for step in MIGRATIONS)]
    yield from _markdown_table(("version", "what changed"), ((str(version), reason) for version, reason in versions))


def _table_section(table: Table) -> Iterator[str]:
    yield f"### {table.name}"
    yield ""
    yield table.description
    yield f"Key: {_names(table.key)}." + "".join(f" Unique: {_names(group)}." for group in table.unique)
    yield ""
    yield from _markdown_table(
        ("column", "type", "NULL", "unit", "join", "meaning"), (_column_cells(column) for column in table)
    )


def _column_cells(column: Column) -> tuple[str, ...]:
    meaning = column.description
    if column.words:
        meaning += f" One of {_names(column.words)}."
    if column.default is not None:
        meaning += f" Default `{column.default}`."
    if column.placeholder is not None:
        meaning += f" `{_json(column.placeholder)}` stands for not known."
    if column.references:
        meaning += f" → `{column.references}`"
    return (f"`{column.name}`", column.type, "yes" if column.nullable else "no", column.unit, column.join, meaning)


def _queries_page() -> Iterator[str]:
    queries = [find_query(name) for name in own_query_names()]
    views = library_views()
    yield "# Queries"
    yield ""
    yield "<!-- Made from the files' headers by docs/generate.py. Do not edit: change those and run `make docs`. -->"
    yield ""
    yield "One file, one question. `aix query NAME` runs one, `aix query NAME --help` explains it, and every file runs"
    yield "as it is in any client of DuckDB 1.4.1 or newer on `ledger.duckdb`. [docs/queries.md](../docs/queries.md)"
    yield "says how to change one and how to add your own. `NAME.expected.csv` has the rows of a query on the fixtures."
    yield "A header that says"
    yield "`-- params: filters` has the parameters in [params/filters.txt](params/filters.txt)."
    yield ""
    yield "The queries `cost_…` and `blocks` repeat one list of sums: a file has to run as it is, a view cannot sum by"
    yield "a column that its reader chooses, and DuckDB's macros do not run on Spark. A test compares their results."
    yield ""
    for pack, members in groupby(queries, key=lambda query: query.pack):
        yield f"## {pack}"
        yield ""
        yield from _markdown_table(("query", "question", "parameters"), map(_query_cells, members))
    if views:
        yield "## views"
        yield ""
        yield "What queries stand on: each is a view of that name in every connection and in `ledger.duckdb`."
        yield ""
        yield from _markdown_table(
            ("view", "question", "parameters"), (_query_cells(views[name]) for name in sorted(views))
        )


def _query_cells(query: Query) -> tuple[str, str, str]:
    link = f"[{query.path.stem}]({query.path.relative_to(query_root()).as_posix()})"
    return link, query.question, _names(each.name for each in query.parameters)


def _command_line_page() -> Iterator[str]:
    yield "# The command line"
    yield ""
    yield "<!-- Made from aix/cli by docs/generate.py. Do not edit: change the command and run `make docs`. -->"
    yield ""
    yield from _command_section("aix", root_command)
    yield "## Exit codes"
    yield ""
    yield from _markdown_table(("code", "meaning"), ((str(int(code)), meaning) for code, meaning in MEANINGS.items()))
    with click.Context(root_command, info_name="aix") as context:
        for name in COMMANDS:
            command = root_command.get_command(context, name)
            assert command is not None
            yield from _command_section(f"aix {name}", command)


def _command_section(path: str, command: click.Command) -> Iterator[str]:
    arguments = [_argument_text(parameter) for parameter in command.params if isinstance(parameter, click.Argument)]
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    if isinstance(command, click.Group):
        arguments.append("[COMMAND] [ARGS]...")
    yield f"## {path}"
    yield ""
    yield f"    {' '.join([path, '[OPTIONS]', *arguments])}"
    yield ""
    yield from _help_lines(command.help or "")
    if options:
        yield from _markdown_table(("option", "meaning"), (_option_cells(option) for option in options))
    if isinstance(command, click.Group) and command is not root_command:
        with click.Context(command, info_name=path) as context:
            for name in command.list_commands(context):
                member = command.get_command(context, name)
                assert member is not None
                yield from _command_section(f"{path} {name}", member)


def _help_lines(text: str) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b\n"):
            yield from ("```", *inspect.cleandoc(paragraph.removeprefix("\b\n")).splitlines(), "```", "")
        else:
            yield from (*paragraph.splitlines(), "")


def _argument_text(argument: click.Argument) -> str:
    name = str(argument.metavar or argument.name).upper()
    return name if argument.required else f"[{name}]"


def _option_cells(option: click.Option) -> tuple[str, str]:
    value = ""
    if isinstance(option.type, click.Choice):
        value = f" {'|'.join(map(str, option.type.choices))}"
    elif option.metavar:
        value = f" {option.metavar}"
    return f"`{', '.join(option.opts)}{value}`".replace("|", r"\|"), option.help or ""


def _markdown_table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'|'.join(' --- ' for _ in header)}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
