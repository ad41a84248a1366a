"""Costs are what another package computes from requests that other code counts, however they are summed."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

import aix
from aix.reading.ledger import Ledger
from benchmarks.claude_code_cost import LEDGER_COSTS, TOLERANCE, counted_costs, differences, sums
from benchmarks.list_prices import CountedRequest
from tests import ROOT
from tests.queries.counted import LOGS, counted_requests
from tests.support.command_line import run_aix

PACK = ROOT / "queries" / "token_economics"
WAYS = ("day", "week", "month", "model", "project", "branch", "session", "origin", "provider", "role")
ZONES = ("UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata")
FORK = "claude-code:862bb062-5e55-4000-8000-000000000001"
FORK_COPY = "claude-code:862bb062-5e55-4000-8000-000000000002"
SUBAGENTS = "claude-code:76025b91-5e55-4000-8000-000000000001"

BY_HAND = {
    "exactly 200,000 tokens of input": ("8af5823b", 2, "7 at 3, 199000 at 0.3, 993 at 3.75, 901 at 15"),
    "one token more": ("8af5823b", 3, "7 at 6, 199000 at 0.6, 994 at 7.5, 901 at 22.5"),
    "writes for an hour": ("4529b776", 1, "4 at 5, 13862 at 10, 810 at 25"),
    "writes for both lifetimes": ("4529b776", 4, "4 at 5, 15134 at 0.5, 352 at 6.25, 60 at 10, 120 at 25"),
    "unsplit writes": ("23e306d8", 1, "4 at 3, 13862 at 3.75, 333 at 15"),
    "1 ms before a price changed": ("577f0017", 2, "9 at 10, 250000 at 1, 2000 at 12.5, 1001 at 37.5"),
    "when it changed": ("577f0017", 3, "9 at 5, 252000 at 0.5, 2000 at 6.25, 1001 at 25"),
    "fast mode": ("e4694cc1", 5, "4 at 10, 17469 at 12.5, 404 at 50"),
    "a batch": ("cf249dc6", 2, "4 at 1.5, 14395 at 1.875, 512 at 7.5"),
    "three searches": ("c28c5b38", 1, "4 at 3, 13865 at 3.75, 300 at 15, 3 at 10000"),
    "two searches of the tool": ("c28c5b38", 2, "4 at 3, 13865 at 0.3, 322 at 3.75, 88 at 15, 2 at 10000"),
    "no usage": ("554fac7e", 1, "0 at 3"),
    "an unpriced model": ("f353bffb", 1, None),
}
"""Sessions by the start of their id, the request in them, and what it used at which price for a million."""


@pytest.fixture(scope="session")
def library_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("library") / "ledger"
    aix.import_histories(LOGS, folder)
    with aix.open(folder) as ledger:
        yield ledger


@pytest.fixture(scope="module")
def counted() -> list[CountedRequest]:
    return counted_requests()


def rows_of(ledger: Ledger, query: str, **parameters: object) -> list[dict[str, Any]]:
    result = ledger.query(f"token_economics/{query}", **parameters)
    return [dict(zip(result.columns, row, strict=True)) for row in result]


def cost(requests: Sequence[CountedRequest]) -> Decimal:
    return sum((request.cost() or Decimal() for request in requests), Decimal())


def message_ids(session: str, numbers: Sequence[int]) -> list[str]:
    return [f"msg_01{session}{number:014d}" for number in numbers]


def of_messages(counted: Sequence[CountedRequest], session: str, numbers: Sequence[int]) -> list[CountedRequest]:
    found = [request for request in counted if request.message_id in message_ids(session, numbers)]
    assert len(found) == len(numbers)
    return found


def test_every_request_costs_what_genai_prices_computes(library_ledger: Ledger, counted: list[CountedRequest]) -> None:
    assert differences(counted_costs(counted), library_ledger.sql(LEDGER_COSTS).rows()) == []


@pytest.mark.parametrize(("session", "number", "parts"), BY_HAND.values(), ids=BY_HAND)
def test_a_request_costs_what_its_price_list_says(
    library_ledger: Ledger, session: str, number: int, parts: str | None
) -> None:
    (message,) = message_ids(session, [number])
    query = "select cost_usd, price_basis from v_requests_cost where origin_message_id = ?"
    ((found, basis),) = library_ledger.sql(query, [message])
    if parts is None:
        assert (found, basis) == (None, None)
        return
    numbers = [part.split(" at ") for part in parts.split(", ")]
    assert found == sum((Decimal(n) * Decimal(price) for n, price in numbers), Decimal()) / 10**6
    assert "genai-prices" in basis or session == "e4694cc1"


def test_estimates_take_the_longer_output_where_usage_is_not_final(
    library_ledger: Ledger, counted: list[CountedRequest]
) -> None:
    estimated = [(request.name, request.model, request.cost(request.likely_output)) for request in counted]
    found = library_ledger.sql(LEDGER_COSTS.replace("cost_usd", "cost_estimated_usd")).rows()
    assert differences(estimated, found) == []
    larger = [request.name for request in counted if request.likely_output > request.output]
    assert sorted(larger) == [*message_ids("095b1f9a", [1]), *message_ids("f7d50108", [2])]


def test_reported_costs_are_those_of_the_log(library_ledger: Ledger, counted: list[CountedRequest]) -> None:
    query = "select origin_message_id, reported_cost_usd from v_requests_cost where reported_cost_usd is not null"
    reported = {request.name: request.reported_cost for request in counted if request.reported_cost is not None}
    assert dict(library_ledger.sql(query).rows()) == reported
    assert len(reported) == 2


def test_the_command_gives_the_same_sums_by_model(library_ledger: Ledger, counted: list[CountedRequest]) -> None:
    process = run_aix("cost", "--by", "model", "--format", "json", "--ledger", str(library_ledger.path))
    assert process.returncode == 0, process.stderr
    found = {row["model"]: row for row in json.loads(process.stdout)["rows"]}
    expected = sums(counted_costs(counted))
    assert found.keys() == expected.keys()
    for model, (requests, unpriced, money) in expected.items():
        row, own = found[model], [request for request in counted if request.model == model]
        assert (row["requests"], row["unpriced_requests"]) == (requests, unpriced)
        assert abs(Decimal(str(row["cost_usd"] or 0)) - money) <= TOLERANCE * requests
        likely = sum((request.cost(request.likely_output) or Decimal() for request in own), Decimal())
        assert abs(Decimal(str(row["cost_estimated_usd"] or 0)) - likely) <= TOLERANCE * requests
        reported = sum((request.reported_cost or Decimal() for request in own), Decimal())
        assert Decimal(str(row["reported_cost_usd"] or 0)) == reported
        tokens = {
            "input_tokens": sum(request.input for request in own),
            "output_tokens": sum(request.output for request in own),
            "cache_read_tokens": sum(request.cache_read for request in own),
            "cache_write_5m_tokens": sum(request.written - request.cache_write_1h for request in own),
            "cache_write_1h_tokens": sum(request.cache_write_1h for request in own),
        }
        assert {name: row[name] or 0 for name in tokens} == tokens


@pytest.mark.parametrize("way", WAYS)
def test_cost_is_one_number_however_it_is_summed(
    library_ledger: Ledger, counted: list[CountedRequest], way: str
) -> None:
    rows = rows_of(library_ledger, f"cost_by_{way}")
    assert len(rows) > 1
    assert sum((row["cost_usd"] or 0 for row in rows), Decimal()) == cost(counted)
    assert sum(row["requests"] for row in rows) == len(counted)


def test_turns_that_a_fork_shares_count_once(library_ledger: Ledger, counted: list[CountedRequest]) -> None:
    by_session = {row["session_label"]: row["cost_usd"] for row in rows_of(library_ledger, "cost_by_session")}
    assert by_session[FORK] == cost(of_messages(counted, "862bb062", [1, 2, 3]))
    assert by_session[FORK_COPY] == cost(of_messages(counted, "862bb062", [4, 5]))
    inclusive = {row["session_label"]: row for row in rows_of(library_ledger, "cost_session_inclusive")}
    assert inclusive[FORK]["shared_cost_usd"] == 0
    assert inclusive[FORK_COPY]["own_cost_usd"] == by_session[FORK_COPY]
    assert inclusive[FORK_COPY]["shared_cost_usd"] == cost(of_messages(counted, "862bb062", [1, 2]))
    assert inclusive[FORK_COPY]["total_cost_usd"] == cost(of_messages(counted, "862bb062", [1, 2, 4, 5]))


def test_what_subagents_cost_counts_for_them_and_for_those_who_started_them(
    library_ledger: Ledger, counted: list[CountedRequest]
) -> None:
    own, explorer, reviewer, nested = ([1, 4, 9, 10], [2, 3], [5, 6, 8], [7])
    inclusive = {row["session_label"]: row for row in rows_of(library_ledger, "cost_session_inclusive")}
    by_session = {row["session_label"]: row["cost_usd"] for row in rows_of(library_ledger, "cost_by_session")}
    for label, numbers, below in (
        (SUBAGENTS, own, [*explorer, *reviewer, *nested]),
        (f"{SUBAGENTS}/agent-a1f0e2d3c4b5a6978", explorer, []),
        (f"{SUBAGENTS}/agent-a2f0e2d3c4b5a6978", reviewer, nested),
        (f"{SUBAGENTS}/agent-a3f0e2d3c4b5a6978", nested, []),
    ):
        row = inclusive[label]
        expected = [cost(of_messages(counted, "76025b91", part)) for part in (numbers, below, [*numbers, *below])]
        assert [row["own_cost_usd"], row["subagents_cost_usd"], row["total_cost_usd"]] == expected
        assert by_session[label] == row["own_cost_usd"]


@pytest.mark.parametrize("zone", ZONES)
def test_days_are_those_of_the_zone(library_ledger: Ledger, counted: list[CountedRequest], zone: str) -> None:
    expected: dict[str, Decimal] = defaultdict(Decimal)
    for request in counted:
        moment = datetime.fromtimestamp(request.requested_at // 1000, UTC).astimezone(ZoneInfo(zone))
        expected[moment.date().isoformat()] += request.cost() or 0
    rows = rows_of(library_ledger, "cost_by_day", timezone=zone)
    assert {str(row["day"]): row["cost_usd"] or 0 for row in rows} == expected


@pytest.mark.long
def test_no_count_is_so_large_that_it_ends_a_query(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    lines = [_hostile_line(number, model) for number, model in enumerate(["claude-opus-4-6"] * 12 + ["nimbus-9"] * 2)]
    (tmp_path / "logs" / "hostile.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    aix.import_histories([tmp_path / "logs"], tmp_path / "ledger")
    names = sorted(path.stem for path in PACK.glob("*.sql"))
    assert "cost_by_model" in names
    with aix.open(tmp_path / "ledger") as ledger:
        for name in names:
            ledger.query(f"token_economics/{name}").rows()
        assert ledger.sql("select count(*) from v_requests_cost where cost_usd > 1000000").rows() == [(12,)]


def _hostile_line(number: int, model: str) -> dict[str, object]:
    fields = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    # Beyond all sense, the largest that is still counted, and one that makes a part of a cost exceed a million dollars.
    count = (10**18, 10**12, 7 * 10**10)[number % 3]
    usage = {**dict.fromkeys(fields, count), "server_tool_use": {"web_search_requests": min(count, 10**9)}}
    content = [{"type": "tool_use", "id": f"toolu_{number}", "name": "Bash", "input": {}}]
    message = {"id": f"msg_01{number:022d}", "role": "assistant", "model": model, "content": content, "usage": usage}
    return {
        "type": "assistant",
        "uuid": f"h{number}",
        "parentUuid": f"h{number - 1}" if number else None,
        "sessionId": "hostile",
        "timestamp": f"2026-03-01T10:00:{number:02d}.000Z",
        "message": message,
    }
