"""Runs the queries of a pack and gathers what they say."""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec

import aix
from aix.errors import QueryFileError, SqlError, UsageError
from aix.health import Status
from aix.output import ListingColumn
from aix.permissions.audit.audited_packs import audits_with_rows, queries_to_run
from aix.permissions.audit.evidence import with_places
from aix.permissions.audit.findings import (
    Finding,
    Row,
    finding_of,
    is_audit,
    shortened,
    shortened_value,
    status_of,
    text_of,
)
from aix.permissions.audit.report import Check, Inventory, LedgerState, Notice, Report
from aix.query.query_file import Query
from aix.query.values import TIMEZONE, takes_timezone
from aix.reading.ledger import Ledger, open_ledger
from aix.reading.search import names_to_type, require_project, short_calls

_REASONS_SHOWN = 5
_LONGEST_INVENTORY = 1_000
_NUMBER = re.compile(r"\d+")
_LAST_RUN = "select id, started_at from import_runs order by started_at desc, id limit 1"
_SCOPE = "permission_usage/scope"
"""The query that counts the sessions an audit looks at, whatever its pack is."""
_WORST_FIRST = (Status.ALARM, Status.INFO, Status.OK, Status.SKIP)


def open_for_audit(
    ledger: Path, settings: Sequence[Path], risks: Path | None = None, origin: str | None = None
) -> Ledger:
    """Open a ledger, its calls held against the rules of these settings files instead of those in force."""
    return open_ledger(ledger).under(*settings, risks=risks, origin=origin)


def audit(
    ledger: Ledger,
    pack: str,
    filters: Mapping[str, object],
    zone: str,
    settings: Sequence[Path] = (),
    risks: Path | None = None,
    *,
    with_inventories: bool = True,
) -> Report:
    """Run all queries of a pack, each with those of the filters that it has."""
    queries = queries_to_run(pack)
    pack = queries[0].pack
    for name in filters:
        if all(query.parameter(name) is None for query in queries):
            raise UsageError(f"no query of the pack {pack} can be asked for one {name}")
    require_project(ledger, filters)
    asked = {query.name: query for query in queries if with_inventories or is_audit(query)}
    gathered = _Gathered()
    gathered.notes.extend(ledger.settings_problems)
    for query in asked.values():
        unfiltered = [name for name in filters if query.parameter(name) is None]
        if unfiltered:
            missing = " or ".join(unfiltered)
            gathered.notes.append(f"{query.name} has no filter for {missing}: it is about all that the ledger holds.")
    answers = _answers(asked.values(), partial(_answer, ledger, filters=filters, zone=zone))
    for name, query in asked.items():
        if is_audit(query):
            gathered.judge(query, answers[name])
        else:
            gathered.list(query, answers[name])
    [(run_id, run_at)] = ledger.sql(_LAST_RUN).rows() or [(None, None)]
    sessions, data_until, subagents = _scope(ledger, filters)
    audits = audits_with_rows(ledger)
    findings = with_places(ledger, sorted(gathered.findings.values(), key=lambda finding: finding.order))
    return Report(
        aix_version=aix.__version__,
        ledger=LedgerState(ledger.version, run_id, run_at, sessions, data_until, subagents),
        pack=pack,
        filters=_written(ledger, filters, zone),
        settings=tuple(map(str, settings)),
        risks=None if risks is None else str(risks),
        checks=tuple(gathered.checks),
        findings=tuple(findings),
        notices=tuple(gathered.notices),
        inventories=tuple(gathered.inventories),
        skipped=frozenset(gathered.skipped),
        notes=tuple(gathered.notes),
        names=_names(ledger, findings),
        other_packs=tuple(name for name in audits if name != pack),
        missing_tables=() if pack in audits else _tables_of(filter(is_audit, queries)),
    )


def _tables_of(audits: Iterable[Query]) -> tuple[str, ...]:
    return tuple(sorted({table for query in audits for table in query.only_with}))


def find_findings(ledger: Ledger, audits: Iterable[Query], filters: Mapping[str, object], zone: str) -> list[Finding]:
    """Return the findings of queries that judge, the worst first, without the files that show them: those take long."""
    queries = {query.name: query for query in audits}
    answers = _answers(queries.values(), partial(_answer, ledger, filters=filters, zone=zone))
    gathered = _Gathered()
    for name, query in queries.items():
        gathered.judge(query, answers[name])
    return sorted(gathered.findings.values(), key=lambda finding: finding.order)


def _answers(queries: Iterable[Query], ask: Callable[[Query], Sequence[Row]]) -> dict[str, Sequence[Row]]:
    """Ask two queries at a time: most are short, and planning one and fetching its rows is work for one processor."""
    waiting = iter(list(queries))
    answers: dict[str, Sequence[Row]] = {}

    def work() -> None:
        for query in waiting:
            answers[query.name] = ask(query)

    with ThreadPoolExecutor(1) as beside:
        other = beside.submit(work)
        try:
            work()
        finally:
            deque(waiting, maxlen=0)  # after an error, or Ctrl-C, no more is begun
        other.result()
    return answers


def _answer(ledger: Ledger, query: Query, *, filters: Mapping[str, object], zone: str) -> Sequence[Row]:
    """Return the rows of a query, asked with those of the filters that it has."""
    given = {name: value for name, value in filters.items() if query.parameter(name) is not None}
    given |= {TIMEZONE: zone} if takes_timezone(query) else {}
    return _rows(ledger, query, given, None if is_audit(query) else _LONGEST_INVENTORY + 1)


class _Gathered:
    """Answers of the queries so far."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.findings: dict[str, Finding] = {}
        self.notices: list[Notice] = []
        self.inventories: list[Inventory] = []
        self.skipped: set[tuple[str, str]] = set()
        self.notes: list[str] = []

    def judge(self, query: Query, rows: Sequence[Row]) -> None:
        """Add what an audit query says."""
        counts: Counter[str] = Counter()
        reasons: dict[str, str] = {}
        for row in rows:
            status = status_of(query, row)
            counts[status] += 1
            if status is Status.ALARM:
                self._add(finding_of(query, row))
                continue
            resource, reason = shortened(text_of(row["resource"])), shortened(text_of(row["reason"]))
            if status is Status.SKIP:
                self.skipped.add((query.name, resource))
                reasons.setdefault(_NUMBER.sub("0", reason), reason)
            elif status is Status.INFO:
                self.notices.append(Notice(query.name, query.title, resource, reason))
        worst = next((status for status in _WORST_FIRST if counts[status]), Status.OK)
        self.checks.append(
            Check(
                name=query.name,
                title=query.title,
                question=query.question,
                why=query.why,
                caveats=query.caveats,
                remedy=query.remedy,
                status=worst,
                rows={str(status): counts[status] for status in Status},
                skipped=tuple(reasons.values())[:_REASONS_SHOWN],
            )
        )

    def list(self, query: Query, rows: Sequence[Row]) -> None:
        """Add what an inventory holds."""
        columns = tuple(ListingColumn(column.name, column.type) for column in query.columns)
        shown = [tuple(shortened_value(row[column.name]) for column in columns) for row in rows[:_LONGEST_INVENTORY]]
        is_whole = len(rows) <= _LONGEST_INVENTORY
        self.inventories.append(Inventory(query.name, query.title, query.question, columns, shown, is_whole))

    def _add(self, finding: Finding) -> None:
        before = self.findings.get(finding.id)
        if before is not None:
            worst = min(before, finding, key=lambda each: each.severity.rank)
            finding = msgspec.structs.replace(worst, rows=before.rows + 1)
        self.findings[finding.id] = finding


def _rows(ledger: Ledger, query: Query, parameters: Mapping[str, object], most: int | None = None) -> Sequence[Row]:
    try:
        result = ledger.query(query, **parameters)
        if most is not None:
            result = result.part(0, most)
        missing = [column.name for column in query.columns if column.name not in result.columns]
        if missing:
            raise QueryFileError(query.path, 1, f"its result lacks {', '.join(missing)}")
        return result.dicts()
    except SqlError as error:
        raise QueryFileError(query.path, 1, f"DuckDB cannot run it: {error}") from error


def _scope(ledger: Ledger, filters: Mapping[str, object]) -> tuple[int, int | None, int]:
    """Return the number of sessions that an audit looks at, the time of their newest turn, and their subagents."""
    [row] = ledger.query(_SCOPE, **filters).dicts()
    return row["sessions"], row["last_turn_at"], row["subagents"]


def _names(ledger: Ledger, findings: Iterable[Finding]) -> dict[str, str]:
    """Return short names of the sessions and calls that findings show."""
    shown = [finding.evidence for finding in findings]
    sessions = names_to_type(ledger)
    calls = short_calls(ledger, {each.call_id for each in shown if each.call_id})
    return {label: sessions[label] for each in shown if (label := each.session_label) in sessions} | calls


def _written(ledger: Ledger, filters: Mapping[str, object], zone: str) -> dict[str, str]:
    """Write down what was asked for, so that a later run can tell whether it asks for the same."""
    written = {name: str(value) for name, value in filters.items()}
    if "session" in written:
        written["session"] = ledger.find_session(written["session"])
    if written.keys() & {"since", "until"}:
        written[TIMEZONE] = zone
    return written
