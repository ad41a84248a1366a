"""Tables that a program makes of the ledger's calls: what they touched, their risks, and what rules say about them.

Each is declared by a file in `queries/views` that says `derived`: its columns are there. They are made at commit,
group by group; where a ledger has none, whoever reads it makes them in memory.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import closing
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from aix.permissions.risks import Risks, load_risks
from aix.permissions.rule_book import RuleBook, in_force_rows, rule_book
from aix.permissions.rule_rows import RuleRows, remark_rows, text_or_none
from aix.permissions.shell import split
from aix.permissions.targets import parts_of
from aix.personas.persona_tables import FILE_TABLES, NOBODY, VERDICTS, PersonaTables
from aix.personas.verdicts import PersonaVerdicts
from aix.query.views import library_views, with_foundations, words_of
from aix.schema import TABLES
from aix.schema.sql import empty_select, quote_name
from aix.store.engine import duplicate, start_reader
from aix.store.manifest import COMPONENT
from aix.version import SPLITTER_VERSION

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from aix.query.query_file import Query

Row = tuple[object, ...]
_RowsByTable = Mapping[str, Sequence[Row]]
"""Rows by the table that they are of, without the call."""
_About = Callable[[Row], _RowsByTable]

RULES = "permission_rules"
RISKS = "call_risks"
TARGET_TABLES = frozenset({"call_parts", RISKS})
CALL_RULE_TABLES = frozenset({"rule_matches", "rule_verdicts"})
REMARKS = "rule_remarks"
IN_FORCE = "rules_in_force"
RULE_TABLES = CALL_RULE_TABLES | {REMARKS, IN_FORCE}
"""Those that follow from all rules that are known."""

_ROWS_AT_ONCE = 5_000
_RULE_KEY = TABLES[RULES].key
# What its file no longer held when it was last read is in force no more. A reading that gave no rule at all leaves its
# trace only among the sources; one with problems may have missed some, and says nothing. One file can hold the rules of
# several, each under the path with a name after `#`.
RULES_IN_FORCE = """
with held as (
  select origin, scope, file, max(last_seen_at) as last_seen_at from permission_rules group by origin, scope, file
),
placed as (
  select *, file as path from held
  union all
  select *, regexp_replace(file, '#[^#]*$', '') from held where contains(file, '#')
),
emptied as (
  select p.origin, p.scope, p.file
  from placed p
  join import_sources s on s.path = p.path and s.mtime_ns // 1000000 > p.last_seen_at
  where not exists (
    select 1 from import_problems w where w.source_key = s.source_key and w.run_id = s.last_run_id
  )
)
select r.origin, r.scope, r.file, r.position, r.kind, r.rule
from permission_rules r
join held h on h.origin = r.origin and h.scope = r.scope and h.file = r.file and h.last_seen_at = r.last_seen_at
anti join emptied e on e.origin = r.origin and e.scope = r.scope and e.file = r.file
"""
"""The rules of a whole ledger that its latest readings of their files show."""
_KNOWN_RULES = "select origin, scope, file, kind, rule{number} from permission_rules"
_CALLS = """
select d.call_id{number}, d.class, k.tool_name, d.raw_target, t.workspace_path, x.origin, {persona} as persona_id,
  case when k.tool_name in (select unnest($tools)) then k.params_json end as params_json
from permission_decisions d
join tool_calls k on k.id = d.call_id
left join turns t on t.id = d.turn_id
left join turn_context x on x.turn_id = d.turn_id
"""
_OF_PERSONA = """
left join v_turn_owner o on o.turn_id = d.turn_id
left join v_session_personas p on p.session_label = o.session_label
"""
_TARGET_QUESTION = ("class", "tool_name", "raw_target", "workspace_path")
_RULE_QUESTION = ("origin", "tool_name", "raw_target", "workspace_path", "params_json")
_PERSONA_QUESTION = ("persona_id", *_RULE_QUESTION)
_MOST_KNOWN_ANSWERS = 20_000
SOURCES = (_CALLS, _KNOWN_RULES)
"""The statements that derivation reads a group with."""


def sources_with(personas: PersonaTables) -> tuple[str, ...]:
    """Return the same, and the views that say which persona made a call, where there are personas with rules."""
    return (*SOURCES, *(view.sql for view in _persona_views(personas)))


def _persona_views(personas: PersonaTables) -> "list[Query]":
    found = with_foundations(words_of(_OF_PERSONA), library_views(), FILE_TABLES)
    return [view for view in found if view.name not in FILE_TABLES] if personas.lists else []


def _persona_clauses(personas: PersonaTables) -> str:
    """Return the tables of a file of personas, and the views that read them, as parts of a WITH clause."""
    views = _persona_views(personas)
    named = {name for view in views for name in view.names & {*FILE_TABLES}}
    selects = {name: personas.select(name) for name in sorted(named)}
    selects |= {view.name: f"{view.statement}\n" for view in views}
    return ", ".join(f"{quote_name(name)} as ({select})" for name, select in selects.items())


class TargetRows:
    """Targets and risks of calls, as rows."""

    def __init__(self, risks: Risks | None = None) -> None:
        self._given = risks

    def about(self, question: Row) -> dict[str, Sequence[Row]]:
        """Return the targets and risks of calls `class, tool, target, cwd`."""
        access_class, tool, target, workspace = map(text_or_none, question)
        script = split(target) if access_class == "exec" and target else None
        parts = parts_of(access_class, str(tool), target, workspace, workspace, script=script)
        risks = self._risks.risks_of(parts, script, workspace)
        return {
            "call_parts": [(number, *part, SPLITTER_VERSION) for number, part in enumerate(parts)],
            "call_risks": [(risk.number, risk.risk, risk.severity, risk.rule_id, risk.basis) for risk in risks],
        }

    @cached_property
    def _risks(self) -> Risks:
        """The rules that were given, else those of AIX, which take a moment to read; many a change has no calls."""
        return self._given or load_risks()


def read_rule_book(connection: "duckdb.DuckDBPyConnection", tables: str = "") -> RuleBook:
    """Return the rules of the ledger that a connection has, or of tables that are given as a WITH clause."""
    return rule_book(connection.execute(f"{tables} from ({RULES_IN_FORCE})").fetchall())


def made_with(names: Collection[str]) -> frozenset[str]:
    """Return these tables and those that come of the same pass over all calls."""
    wanted = frozenset(names)
    return wanted.union(*(tables for tables in (TARGET_TABLES, CALL_RULE_TABLES) if tables & wanted))


def derive(
    connection: "duckdb.DuckDBPyConnection",
    names: Collection[str],
    book: RuleBook,
    risks: Risks | None = None,
    personas: PersonaTables = NOBODY,
) -> None:
    """Make these tables on a connection to a database in memory that has the ledger's."""
    for name in names:
        columns = ", ".join(f"{quote_name(column)} {type_}" for column, type_ in _columns(name))
        connection.execute(f"create or replace table {quote_name(name)} ({columns})")
        if name in FILE_TABLES and (rows := personas.batch(name)):
            _insert(connection, name, rows)
    # Another connection, because one can do nothing else while its rows are read.
    with closing(duplicate(connection)) as reading:
        for name, answers in derived_rows(reading, names, book, risks, personas=personas):
            _insert(connection, name, answers.rows())


def _insert(connection: "duckdb.DuckDBPyConnection", name: str, rows: "pa.RecordBatch") -> None:
    connection.register("derived_rows", rows)
    connection.execute(f"insert into {quote_name(name)} from derived_rows")
    connection.unregister("derived_rows")


class Answers(msgspec.Struct, frozen=True):
    """Rows of a derived table about some calls or rules; those that several calls share are there once."""

    own: "pa.RecordBatch"
    """The key of each call or rule, and the number of its family where it is known."""
    owners: list[int]
    """By row: the place of the call or rule that it is about."""
    shared: "pa.RecordBatch"
    places: list[int]
    """By row: the place of the rest of it among those that are shared."""

    def rows(self) -> "pa.RecordBatch":
        """Return the rows, each with its number in a last column."""
        import pyarrow as pa

        from aix.store.index import COMPONENT_FIELD

        own, rest = self.own.take(pa.array(self.owners)), self.shared.take(pa.array(self.places))
        columns = [*zip(own.schema, own.columns, strict=True), *zip(rest.schema, rest.columns, strict=True)]
        named = {field.name: (field, column) for field, column in columns}
        if COMPONENT in named:
            _, numbers = named.pop(COMPONENT)
            named[COMPONENT] = COMPONENT_FIELD, numbers
        return pa.record_batch(
            [column for _, column in named.values()], pa.schema([each for each, _ in named.values()])
        )


def derived_rows(
    connection: "duckdb.DuckDBPyConnection",
    names: Collection[str],
    book: RuleBook,
    risks: Risks | None = None,
    tables: str = "",
    *,
    personas: PersonaTables = NOBODY,
    is_numbered: bool = False,
) -> Iterator[tuple[str, Answers]]:
    """Go through the rows of these tables, which follow from those of the ledger that a connection has.

    Or from the rows of tables that are given as a WITH clause; if these are numbered, so are the rows that follow.
    """
    wanted = frozenset(names)
    number = f", {COMPONENT}" if is_numbered else ""
    asking: list[tuple[_About, Sequence[str]]] = []
    tools: set[str] = set()
    if not TARGET_TABLES.isdisjoint(wanted):
        asking.append((TargetRows(risks).about, _TARGET_QUESTION))
    if not CALL_RULE_TABLES.isdisjoint(wanted) and book.rules:
        asking.append((RuleRows(book).about, _RULE_QUESTION))
        tools |= book.whole_input_tools()
    calls, with_personas = _CALLS.format(number=number and f", d.{COMPONENT}", persona="null"), tables
    if personas.lists and VERDICTS in wanted:
        verdicts = PersonaVerdicts(personas.lists)
        asking.append((verdicts.about, _PERSONA_QUESTION))
        tools |= verdicts.whole_input_tools()
        calls = _CALLS.format(number=number and f", d.{COMPONENT}", persona="p.persona_id") + _OF_PERSONA
        with_personas = f"{tables}, " if tables else "with "
        with_personas += _persona_clauses(personas)
    if asking:
        select = with_personas + calls
        known = [(lru_cache(_MOST_KNOWN_ANSWERS)(about), question) for about, question in asking]
        for batch in start_reader(connection, select, _ROWS_AT_ONCE, {"tools": sorted(tools)}):
            own = batch.select([name for name in batch.schema.names if name in ("call_id", COMPONENT)])
            for about, question in known:
                yield from _about_calls(batch, own, about, question, wanted)
    if not wanted.isdisjoint({REMARKS, IN_FORCE}):
        yield from _about_rules(
            connection.sql(tables + _KNOWN_RULES.format(number=number)).to_arrow_table(), book, wanted
        )


def _about_calls(
    batch: "pa.RecordBatch", own: "pa.RecordBatch", about: "_About", question: Sequence[str], wanted: Set[str]
) -> Iterator[tuple[str, Answers]]:
    """Ask about calls; those that are alike have the same answer, and most are like others."""
    from aix.schema.arrow import batch_from_rows

    places: dict[Row, dict[str, range]] = {}
    shared: dict[str, list[Row]] = {name: [] for name in wanted}
    rows: dict[str, tuple[list[int], list[int]]] = {name: ([], []) for name in wanted}
    asked = zip(*(batch.column(name).to_pylist() for name in question), strict=True)
    for owner, each in enumerate(asked):
        if each not in places:
            places[each] = {}
            for name, answer in about(each).items():
                if name in wanted:
                    start = len(shared[name])
                    shared[name].extend(answer)
                    places[each][name] = range(start, len(shared[name]))
        for name, span in places[each].items():
            owners, of_rows = rows[name]
            owners.extend([owner] * len(span))
            of_rows.extend(span)
    for name, (owners, of_rows) in rows.items():
        if owners:
            yield name, Answers(own, owners, batch_from_rows(_columns(name)[1:], shared[name]), of_rows)


def _about_rules(known: "pa.Table", book: RuleBook, wanted: Set[str]) -> Iterator[tuple[str, Answers]]:
    """Say of rules what needs no call."""
    from aix.schema.arrow import batch_from_rows

    count = len(_RULE_KEY)
    keys = {
        key: place
        for place, key in enumerate(zip(*(known.column(name).to_pylist() for name in _RULE_KEY), strict=True))
    }
    for name, rows_about in ((REMARKS, remark_rows), (IN_FORCE, in_force_rows)):
        rows = list(rows_about(book, keys)) if name in wanted else []
        if rows:
            [own] = known.combine_chunks().to_batches()
            rest = batch_from_rows(_columns(name)[count:], [row[count:] for row in rows])
            yield name, Answers(own, [keys[row[:count]] for row in rows], rest, list(range(len(rows))))


def lay_rules(connection: "duckdb.DuckDBPyConnection", book: RuleBook) -> None:
    """Put the rules of a book in the place of the ledger's."""
    from aix.schema.arrow import batch_from_columns

    table = TABLES[RULES]
    written_at = {file: _written_at(file) for file in {rule.file for rules in book.rules.values() for rule in rules}}
    rows = [
        (origin, rule.scope, rule.file, rule.position, rule.kind, rule.text, *[written_at[rule.file]] * 2)
        for origin, rules in book.rules.items()
        for rule in rules
    ]
    connection.execute(f"create table {table.name} as {empty_select(table)}")
    if rows:
        columns = dict(zip(table.column_names, zip(*rows, strict=True), strict=True))
        connection.register("laid_rules", batch_from_columns(table, columns))
        connection.execute(f"insert into {table.name} from laid_rules")
        connection.unregister("laid_rules")


def _written_at(file: str) -> int:
    try:
        return Path(file).stat().st_mtime_ns // 10**6
    except OSError:
        return 0


def _columns(name: str) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in library_views()[name].columns]
