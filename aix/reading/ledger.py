"""A ledger as a Python object."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from aix.config import load_config
from aix.derived.catalog import refresh_catalog
from aix.errors import SqlError, UnknownVersionError, UsageError
from aix.paths import check_ledger_path
from aix.query.views import (
    looks_around,
)
from aix.reading.database import NOTHING_REPLACED, LedgerDatabase, Replaced, can_have_rows
from aix.schema import find_table
from aix.schema.migrations import changed_tables
from aix.schema.sql import empty_select, quote_name
from aix.store.manifest import (
    COMPONENT,
    Manifest,
    manifest_path,
    read_latest,
    read_manifest,
    version_numbers,
)
from aix.store.views import stored_rows

if TYPE_CHECKING:
    import polars as pl

    from aix.permissions.risks import Risks
    from aix.permissions.rule_book import RuleBook
    from aix.query.query_file import Query
    from aix.query.values import Variable
    from aix.reading.connection import Statement
    from aix.reading.names import Named
    from aix.reading.result import Result
    from aix.search.search import Hit
    from aix.store.engine import Parameters

_COMMENT_OR_TEXT = re.compile("--.*|'[^']*'")
"""In SQL: words in a comment, or in a text such as the name of a file, name no view."""


class Ledger:
    """One version of a ledger: what is committed after it was opened does not show. Several threads can ask it at once.

    >>> with aix.open(folder) as opened:
    ...     len(opened.sessions().rows())
    3
    """

    def __init__(
        self,
        path: Path,
        manifest: Manifest,
        replaced: Replaced = NOTHING_REPLACED,
    ) -> None:
        self.path = path
        self.manifest = manifest
        self._replaced = replaced
        self._database = LedgerDatabase(path, manifest, replaced)

    def __repr__(self) -> str:
        return f"<aix ledger {self.path}, version {self.version}>"

    @property
    def version(self) -> int:
        """The number of the version that is read.

        >>> ledger.version
        1
        """
        return self.manifest.version

    def versions(self) -> tuple[int, ...]:
        """Return the numbers of all versions there are, the newest last.

        >>> ledger.versions()
        (1,)
        """
        oldest = read_latest(self.path).oldest
        return tuple(number for number in version_numbers(self.path) if number >= oldest)

    def at(self, version: int) -> "Ledger":
        """Return the same ledger at another of its versions.

        >>> ledger.at(1).version
        1
        """
        known = self.versions()
        if version not in known:
            raise UnknownVersionError(version, known)
        return Ledger(self.path, read_manifest(manifest_path(self.path, version)), self._replaced)

    @property
    def settings_problems(self) -> tuple[str, ...]:
        """Entries that were ignored in the settings files that it is `under`, in sentences.

        >>> ledger.settings_problems
        ()
        """
        return () if self._replaced.rules is None else tuple(self._replaced.rules.problems)

    @property
    def rule_book(self) -> "RuleBook":
        """The permission rules that calls are held against: those that it is `under`, else those of its imports.

        >>> ledger.rule_book.in_force("nobody", "/work")
        """
        return self._database.rule_book

    @property
    def risks(self) -> "Risks":
        """The rules that say which calls are risky: those that AIX knows, with those that it is `under`.

        >>> ledger.risks.names["privilege"]
        'Runs as another user, or gives more rights.'
        """
        from aix.permissions.risks import load_risks

        return self._replaced.risks or load_risks()

    def under(self, *settings: Path | str, risks: Path | str | None = None, origin: str | None = None) -> "Ledger":
        """Return the same version with the permission rules of these files in place of those that imports found.

        All that is asked about rules is then asked about these, in every project. Each file is of the given origin,
        else of the one that it looks like. A file of risks adds to those that AIX knows.

        >>> settings = folder.with_name("settings.json")
        >>> _ = settings.write_text('{"permissions": {"deny": ["Bash(rm *)"]}}')
        >>> with ledger.under(settings) as ruled:
        ...     ruled.sql("select kind, rule from permission_rules").rows()
        [('deny', 'Bash(rm *)')]
        """
        from aix.permissions.risks import load_risks
        from aix.permissions.rule_book import read_rules_for_all

        rules = read_rules_for_all(map(Path, settings), origin) if settings else self._replaced.rules
        own = load_risks(Path(risks)) if risks else self._replaced.risks
        return Ledger(self.path, self.manifest, replace(self._replaced, rules=rules, risks=own))

    def hiding(self, hide: Callable[[str], str]) -> "Ledger":
        """Return the same version with texts that a function has changed before any SQL sees them.

        These are the texts, paths and names of logs, and JSON; ids stay. Statements then read no file by its name, and
        views are made of changed texts each time. A statement that reads all texts lasts as long as the function does.

        >>> with ledger.hiding(lambda text: text.replace("Who", "[name]")) as hidden:
        ...     hidden.sql("select left(content, 8) from messages where content like '%calls it%'").rows()
        [('[name] c',)]
        """
        return Ledger(self.path, self.manifest, replace(self._replaced, hide=hide))

    def sql(self, query: str, parameters: "Parameters | None" = None) -> "Result":
        """Run one SELECT, or the EXPLAIN of one; the tables are those of `aix schema`.

        Parameters stand for `$1`, `$2` and so on, or for `$name` when they are a mapping.

        >>> ledger.sql("select content from messages where role = $role order by id limit 1", {"role": "user"}).rows()
        [('Who calls it?',)]
        """
        return self._run(query, parameters)

    def own_sql(self, query: str, parameters: "Parameters | None" = None) -> "Result":
        """Run a SELECT that a program has as a constant, and never one of a user, without the checks of `sql`.

        These take longer than many an answer. Nor are values cast: their types are such as Python has.

        >>> ledger.own_sql("select count(*) as turns from turns").dicts()
        [{'turns': 6}]
        """
        from aix.reading.connection import Statement

        self._database.create_views_named(_COMMENT_OR_TEXT.sub("", query))
        return self._result(Statement(query, is_explain=False, is_own=True), parameters)

    def query(self, name: "str | Query", /, **parameters: object) -> "Result":
        """Run a query of the library; `aix query` lists them, and `aix query NAME --help` says what each takes.

        In place of its name it can be one of `aix.queries()`.

        Moments are a datetime, a date, its text or Unix milliseconds. Days are those of `timezone`, by default UTC. A
        session is named as for `turns`.

        >>> ledger.query("overview/table_rows").rows()[-1]
        ('turns', 6)
        """
        from aix.query.packs import find_query, is_own

        found = find_query(name) if isinstance(name, str) else name
        if found.needs:
            raise UsageError(f"{found.name} is run by `aix check`: it needs more than one version of the ledger")
        variables = self._bind(found, parameters)
        return self._run_own(found, variables) if is_own(found) else self._run(found.sql, None, variables)

    def table(self, name: str) -> "pl.LazyFrame":
        """Return a table for polars: a scan of the version's files.

        A table that this release has in another form than the ledger is read at once, until a commit brings the
        ledger up to date.

        >>> ledger.table("turns").collect().height
        6
        """
        import polars as pl

        from aix.schema.arrow import arrow_schema

        table = find_table(name)
        files = stored_rows(self.path, self.manifest, self.manifest.tables.get(name, ()))
        if not files:
            return pl.DataFrame(arrow_schema(table).empty_table()).lazy()
        if self._replaced.hide is not None or name in changed_tables(self.manifest.schema_version):
            return self.sql(f"from {quote_name(name)}").polars().lazy()
        plain = [path for path, dead in files if not dead]
        thinned = [path for path, dead in files if dead]
        numbers = {number for _, dead in files for number in dead}
        scans = [pl.scan_parquet(plain, glob=False, hive_partitioning=False)] if plain else []
        if thinned:
            rows = pl.scan_parquet(thinned, glob=False, hive_partitioning=False)
            scans.append(rows.filter(~pl.col(COMPONENT).is_in(numbers)))
        return pl.concat([scan.select(table.column_names) for scan in scans])

    def sessions(self) -> "Result":
        """Return one row per session, the latest first: what `queries/overview/sessions.sql` gives.

        >>> ledger.sessions().columns[:3]
        ('label', 'title', 'origin')
        >>> [(label, title) for label, title, *_ in ledger.sessions()][0]
        ('session-log:s-1', 'Rename a function')
        """
        return self.query("overview/sessions")

    def turns(self, session: str) -> "Result":
        """Return the turns that lead to the head of a session, from the first to that one.

        The session is named by its label, an alias, or the beginning of either that no other session has.

        >>> [turn["turn_type"] for turn in ledger.turns("s-1").polars().to_dicts()]
        ['normal', 'normal', 'compaction', 'normal']
        """
        from aix.reading.conversation import TURNS_OF_SESSION

        return self.sql(TURNS_OF_SESSION, [self.find_session(session)])

    def messages(self, session: str) -> "Result":
        """Return the messages of these turns, in order; the session is named as for `turns`.

        >>> [message["content"] for message in ledger.messages("session-log:s-1/").polars().to_dicts()]
        ['Look for callers', 'None.']
        """
        from aix.reading.conversation import MESSAGES_OF_SESSION

        return self.sql(MESSAGES_OF_SESSION, [self.find_session(session)])

    def compactions(self, *, trigger: str | None = None, **parameters: object) -> "Result":
        """Return one row per compaction, the latest first: what `queries/views/v_counted_compactions.sql` gives.

        It takes the parameters of that view, as `query` does, and the trigger: `unknown` where no log says it.

        >>> ledger.compactions(session="s-1").polars()["trigger"].to_list()
        ['context_limit']
        """
        from aix.reading.search import COMPACTIONS, COUNTED

        return self._run(COMPACTIONS, [trigger], self._bind(self._database.library_views[COUNTED], parameters))

    def turns_counted(
        self, since_ms: int | None = None, until_ms: int | None = None, /, **parameters: object
    ) -> "Result":
        """Return the ids of the turns that began in a span of time and that `queries/views/v_counted_turns.sql` counts.

        It takes the parameters of that view, as `query` does; moments are Unix milliseconds.

        >>> len(ledger.turns_counted(session="s-1").rows())
        5
        """
        from aix.reading.search import TURNS, TURNS_COUNTED

        times = {"since_ms": since_ms, "until_ms": until_ms}
        return self._run(TURNS, times, self._bind(self._database.library_views[TURNS_COUNTED], parameters))

    def search(self, text: str, limit: int | None = 10, **conditions: object) -> "list[Hit]":
        """Return the turns whose texts have these words, the best first; see docs/search.md for what text can be.

        Conditions are fields of `aix.search.search.SearchRequest`, such as `role`, `tool` and `order`, and parameters
        of `queries/views/v_counted_turns.sql`, such as `project` and `session`.

        >>> [hit.snippet.text for hit in ledger.search("who calls", role="user")]
        ['Who calls it?']
        """
        from aix.search.search import SearchRequest, search

        own = {name: value for name, value in conditions.items() if name in SearchRequest.__dataclass_fields__}
        narrowed = {name: value for name, value in conditions.items() if name not in own}
        request = SearchRequest(text=text, **{"narrowed": narrowed, **own})  # type: ignore[arg-type]
        return search(self, request, limit).hits

    def context(self, turn: str) -> "Result":
        """Return what the model saw when a turn began, a row for each part: summary, kept turns, later ones, this one.

        The turn is named as for `find`; a session stands for its last turn. `tokens` is what a part took, `basis` says
        whether that is reported, measured or estimated, and the last row is what no log shows.

        >>> ledger.context("s-1").polars()["part"].to_list()
        ['summary', 'this', 'unlogged']
        """
        from aix.reading.conversation import CONTEXT_OF_TURN, HEAD_OF_SESSION
        from aix.reading.names import Kind

        named = self.find(turn)
        if named.kind is Kind.TURN:
            return self.sql(CONTEXT_OF_TURN, {"turn": named.key})
        [(head,)] = self.sql(HEAD_OF_SESSION, [named.key])
        return self.sql(CONTEXT_OF_TURN, {"turn": head})

    def find_session(self, name: str) -> str:
        """Return the label of a session by its label, an alias, or the beginning of either that no other session has.

        >>> ledger.find_session("s-1")
        'session-log:s-1'
        """
        from aix.reading.connection import damage_to
        from aix.reading.names import TABLES_OF_SESSIONS, find_session

        with self._database.lock, damage_to(self.path):
            return find_session(self._database.tables(TABLES_OF_SESSIONS), name)

    def find(self, name: str) -> "Named":
        """Return the session of that name, else the turn.

        A turn is found by its id, its thread key, the id of the message that answers it, or the first characters of
        its id, four at least.

        >>> ledger.find("session-log:u-5")
        Named(kind=<Kind.TURN: 'turn'>, key='...')
        """
        from aix.reading.connection import damage_to
        from aix.reading.names import TABLES_OF_NAMES, find_session_or_turn

        with self._database.lock, damage_to(self.path):
            return find_session_or_turn(self._database.tables(TABLES_OF_NAMES), name)

    def find_anything(self, name: str) -> tuple[str, str]:
        """Return the table and the key of the session or turn of that name, else of anything that has it as its id.

        `KIND:ID` says of which kind it is, such as message, call, program, event or user; `node:KIND/ID` names a node.

        >>> ledger.find_anything("s-1")
        ('sessions', 'session-log:s-1')
        """
        from aix.reading.connection import damage_to
        from aix.reading.names import TABLES_OF_IDS, find_anything

        with self._database.lock, damage_to(self.path):
            return find_anything(self._database.tables(TABLES_OF_IDS), name)

    def _bind(self, query: "Query", parameters: Mapping[str, object]) -> "list[Variable]":
        from aix.query.values import bind

        return [
            replace(each, value=self.find_session(str(each.value))) if each.name == "session" else each
            for each in bind(query, parameters)
        ]

    def _run_own(self, query: "Query", variables: "Sequence[Variable]") -> "Result":
        """Run a query that AIX brings along: it only reads, and has the columns that its header names."""
        from aix.reading.connection import Statement

        sql = query.statement if can_have_rows(query, self.manifest) else empty_select(query.columns)
        self._database.create_views_named(sql)
        described = [(column.name, column.type) for column in query.columns]
        return self._result(Statement(sql, is_explain=False), None, variables, described)

    def _run(
        self,
        sql: str,
        parameters: "Parameters | None" = None,
        variables: "Sequence[Variable]" = (),
    ) -> "Result":
        from aix.reading.connection import accept

        database = self._database
        with database.lock:
            statement = accept(database.connection, sql, reads_files=self._replaced.hide is None)
            if statement.is_explain or looks_around(sql):
                database.tables()
            database.create_views_named(sql)
        try:
            return self._result(statement, parameters, variables)
        except SqlError:
            if database.has_all_tables:
                raise
        database.tables()  # with all there, DuckDB can say which names are near to one that is wrong
        return self._result(statement, parameters, variables)

    def _result(
        self,
        statement: "Statement",
        parameters: "Parameters | None" = None,
        variables: "Sequence[Variable]" = (),
        described: "Sequence[tuple[str, str]] | None" = None,
    ) -> "Result":
        from aix.reading.result import Result

        database = self._database
        return Result(database.connection, database.check_files, statement, parameters, variables, described)

    def close(self) -> None:
        """Let go of the database in memory; results that were not converted cannot be any more.

        >>> opened = aix.open(folder)
        >>> opened.close()
        """
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_ledger(path: Path | str | None = None) -> Ledger:
    """Open the newest version of the ledger in a folder, by default of the one in the configuration.

    >>> open_ledger(folder).version
    1
    """
    folder = load_config().ledger if path is None else Path(path)
    absolute = check_ledger_path(folder.expanduser().absolute())
    manifest = read_latest(absolute)
    refresh_catalog(absolute)
    return Ledger(absolute, manifest)
