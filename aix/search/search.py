"""Search over a ledger: the best text of each turn that has what was asked for."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from decimal import Decimal
from math import log
from pathlib import Path
from typing import TYPE_CHECKING

from aix.errors import AixError, LedgerDamagedError, SearchTextError, SqlError, UsageError
from aix.search.expression import Expression, Term, read_expression, terms_of
from aix.search.index import Best, Conditions, TextIndex
from aix.search.snippets import Snippet, snippet
from aix.search.texts import (
    COLUMNS,
    KINDS,
    KINDS_OF_ROLES,
    TEXT_COLUMNS,
    TextKind,
    id_of,
    select_list,
    texts_of,
    tool_of,
)
from aix.store.cache_files import make_missing
from aix.store.views import file_literal
from aix.thread_pool import Beside, map_in_threads

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

ORDERS = ("best", "newest", "oldest")
DEFAULT_LIMIT = 10
_OF_CALLS = frozenset({TextKind.INPUT, TextKind.RESULT})
_LEAST_WEIGHT = 1e-6
"""Of a word that most texts have; FTS5 gives it no less."""
_TIMES = "select id, started_at from turns where id in (select unnest($turns))"
_FACTS = """
    select t.id, case when i.row_key is null then t.started_at end as started_at, o.session_label, n.title, s.origin,
      t.model
    from turns t
    left join v_turn_owner o on o.turn_id = t.id
    left join sessions s on s.label = o.session_label
    left join v_session_titles n on n.session_label = o.session_label
    left join inferred_values i
      on i.table_name = 'turns' and i.row_key = t.id and i.column_name = 'started_at' and i.basis = 'undated'
    where t.id in (select unnest($turns))
"""
_COSTS = """
    select turn_id, sum(cost_usd) as cost_usd, sum(cost_estimated_usd) as cost_estimated_usd,
      count(case when has_usage and cost_usd is null then 1 end) as unpriced_requests
    from v_requests
    where turn_id in (select unnest($turns))
    group by turn_id
"""
Change = Callable[[str], str]


@dataclass(frozen=True, kw_only=True)
class SearchRequest:
    """A search; a condition that is None or empty holds for all texts."""

    text: str
    """The words, as `aix.search.expression` describes them."""
    kinds: frozenset[TextKind] = frozenset()
    role: str | None = None
    """The role that wrote the text: user, assistant, tool or system."""
    tool: str | None = None
    """The name of the tool whose input or result it is."""
    is_failed: bool = False
    """Only calls that failed."""
    since_ms: int | None = None
    """Only turns that began at that moment or later."""
    until_ms: int | None = None
    """Only turns that began before that moment."""
    narrowed: dict[str, object] = field(default_factory=dict)
    """Parameters of `queries/views/v_counted_turns.sql`, such as project, origin, model, session and tag."""
    order: str = "best"

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise UsageError(f"the order {self.order!r} is not one of {', '.join(ORDERS)}")
        if self.role is not None and self.role not in KINDS_OF_ROLES:
            raise UsageError(f"the role {self.role!r} is not one of {', '.join(KINDS_OF_ROLES)}")
        if unknown := [kind for kind in self.kinds if kind not in KINDS]:
            raise UsageError(f"{unknown[0]!r} is no kind of text; these are: {', '.join(KINDS)}")
        if not self.searched_kinds:
            raise UsageError("no text is of all the kinds, roles and calls that are asked for; leave one out")

    @property
    def searched_kinds(self) -> frozenset[TextKind]:
        """The kinds of texts that meet all conditions."""
        kinds = frozenset(map(TextKind, self.kinds or TextKind))
        if self.role is not None:
            kinds &= frozenset(KINDS_OF_ROLES[self.role])
        return kinds & _OF_CALLS if self.tool is not None or self.is_failed else kinds


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A turn that was found, with its best text."""

    turn_id: str
    session_label: str | None
    """The session that the turn counts for."""
    title: str | None
    origin: str | None
    started_at: int | None
    """When the turn began, in Unix ms; None where its log has no time."""
    model: str | None
    kind: TextKind
    tool_name: str | None
    """The tool, of a text that a tool got or gave."""
    row_id: str
    """The id of the message or call that has the text; of a summary, that of the turn."""
    snippet: Snippet
    text: str
    """The whole text that the snippet is a part of."""
    texts: int
    """How many texts of the turn were found."""
    score: float
    """The rank: BM25 of the words, by the kind of the text."""
    cost_usd: Decimal | None
    cost_estimated_usd: Decimal | None
    unpriced_requests: int


@dataclass(frozen=True)
class Found:
    """The first hits of a search, and how many turns it found in all."""

    hits: list[Hit]
    turns: int
    terms: list[Term]
    """The words that were searched for, those of NOT left out."""


def search(
    ledger: "Ledger",
    request: SearchRequest,
    limit: int | None = DEFAULT_LIMIT,
    *,
    change: Change = str,
) -> Found:
    """Search a ledger, and make its indexes first where they are missing.

    `change` is applied to every text before a part of it is taken, so that a redactor sees it whole.
    """
    expression = read_expression(request.text)
    terms = list(dict.fromkeys(terms_of(expression)))
    with _opening(ledger):
        make_missing(TextIndex.all_of(ledger.path, ledger.manifest))
        conditions = _conditions(ledger, request)
        best, turns = _best(ledger, expression, terms, conditions, limit if request.order == "best" else None)
    if request.order == "best":
        best = sorted(best, key=lambda each: (-each.score, each.turn_id))
    else:
        times = dict(ledger.own_sql(_TIMES, {"turns": [each.turn_id for each in best]}).rows())
        sign = -1 if request.order == "newest" else 1
        best.sort(key=lambda each: (sign * times.get(each.turn_id, 0), each.turn_id))
    return Found(_hits(ledger, best[:limit], terms, change), turns, terms)


@contextmanager
def _opening(ledger: "Ledger") -> Iterator[None]:
    """Make ready what hits are described from beside the work of a block: that takes as long as many a search."""

    def run() -> None:
        with suppress(AixError):  # which is raised again by the statements that follow
            ledger.own_sql(_FACTS + _COSTS)

    opening = Beside(run)
    opening.start()
    try:
        yield
    finally:
        opening.wait()


def _conditions(ledger: "Ledger", request: SearchRequest) -> Conditions:
    kinds = request.searched_kinds
    turns = None
    if request.narrowed or request.since_ms is not None or request.until_ms is not None:
        counted = ledger.turns_counted(request.since_ms, request.until_ms, **request.narrowed)
        turns = {turn for (turn,) in counted}
    return Conditions(None if len(kinds) == len(TextKind) else kinds, request.tool, request.is_failed, turns)


def _best(
    ledger: "Ledger", expression: Expression, terms: Sequence[Term], conditions: Conditions, limit: int | None
) -> tuple[list[Best], int]:
    """Return the best texts of each group of files, with scores that compare, and how many turns were found."""
    largest_first = sorted(TextIndex.all_of(ledger.path, ledger.manifest), key=lambda index: -index.size_bytes)
    found = map_in_threads(lambda index: _best_of_group(index, expression, terms, conditions, limit), largest_first)
    texts = sum(of_group for _, _, of_group, _ in found)
    having = [sum(each) for each in zip(*(of_group for *_, of_group in found), strict=True)]
    weight = _weight(texts, having)
    best = [
        each.weighted(weight / _weight(of_group, having_of_group))
        for best_of_group, _, of_group, having_of_group in found
        for each in best_of_group
    ]
    return best, sum(turns for _, turns, _, _ in found)


def _best_of_group(
    index: TextIndex, expression: Expression, terms: Sequence[Term], conditions: Conditions, limit: int | None
) -> tuple[list[Best], int, int, list[int]]:
    """Search one group; an index that cannot be read is made again."""

    def ask(database: sqlite3.Connection) -> tuple[list[Best], int, int, list[int]]:
        with closing(database):
            best, turns = index.best(database, expression.match, conditions, limit)
            return best, turns, *index.count(database, [term.match for term in terms])

    try:
        return ask(index.open())
    except sqlite3.DatabaseError as error:
        # Of an expression that FTS5 cannot read it says so; of a damaged index, that the database is malformed.
        if isinstance(error, sqlite3.OperationalError) and str(error).startswith("fts5: "):
            raise SearchTextError(expression.match, f"FTS5 cannot read it ({error})") from error
        index.discard()
        return ask(index.make_for_once())


def _weight(texts: int, having: Iterable[int]) -> float:
    """Return how much words say that so many of the texts have: the rarer, the more, as BM25 counts it.

    The index of a group knows the frequencies of its own texts only. Its scores are multiplied by this weight in the
    ledger and divided by that in the group, so that those of all groups compare.
    """
    return sum(max(log((texts - each + 0.5) / (each + 0.5)), _LEAST_WEIGHT) for each in having if each)


def _hits(ledger: "Ledger", best: Sequence[Best], terms: list[Term], change: Change) -> list[Hit]:
    if not best:
        return []
    wanted = {"turns": [each.turn_id for each in best]}
    with ThreadPoolExecutor(1) as thread:
        reading = thread.submit(_rows, ledger, best)
        facts = {row["id"]: row for row in ledger.own_sql(_FACTS, wanted).dicts()}
        costs = {row["turn_id"]: row for row in ledger.own_sql(_COSTS, wanted).dicts()}
        rows = reading.result()
    hits = []
    for each in best:
        fact, cost, row = facts.get(each.turn_id, {}), costs.get(each.turn_id, {}), rows.get((each.path, each.row))
        if row is None:  # the index of another ledger was put there, or it is damaged
            continue
        tool, _ = tool_of(each.table, row)
        text = dict(texts_of(each.table, _changed(each.table, row, change))).get(each.kind, "")
        hits.append(
            Hit(
                turn_id=each.turn_id,
                **{name: fact.get(name) for name in ("session_label", "title", "origin", "started_at", "model")},
                kind=each.kind,
                tool_name=tool,
                row_id=id_of(each.table, row),
                snippet=snippet(text, terms),
                text=text,
                texts=each.texts,
                score=each.score,
                cost_usd=cost.get("cost_usd"),
                cost_estimated_usd=cost.get("cost_estimated_usd"),
                unpriced_requests=cost.get("unpriced_requests", 0),
            )
        )
    return hits


def _changed(table: str, row: tuple[object, ...], change: Change) -> tuple[object, ...]:
    """Return a row with other texts; JSON is changed as such, since names in it say what their values are."""
    values = zip(COLUMNS[table], row, strict=True)
    return tuple(change(value) if name in TEXT_COLUMNS and isinstance(value, str) else value for name, value in values)


def _rows(ledger: "Ledger", best: Sequence[Best]) -> dict[tuple[Path, int], tuple[object, ...]]:
    """Return the rows that have the texts, by their file and their place in it, without their texts of other kinds."""
    places: dict[tuple[str, TextKind, Path], set[int]] = {}
    for each in best:
        places.setdefault((each.table, each.kind, each.path), set()).add(each.row)
    rows = {}
    for (table, kind, path), numbers in places.items():
        select = (
            f"select file_row_number, {select_list(table, kind)}"  # noqa: S608 - names of the schema, and numbers
            f" from read_parquet({file_literal(path)}, file_row_number = true, hive_partitioning = false)"
            f" where file_row_number in ({', '.join(map(str, sorted(numbers)))})"
        )
        try:
            found = ledger.own_sql(select).rows()
        except SqlError as error:
            raise LedgerDamagedError(path, f"it cannot be read: {error}") from error
        for number, *values in found:
            rows[path, number] = tuple(values)
    return rows
