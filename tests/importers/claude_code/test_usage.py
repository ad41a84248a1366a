"""Tokens of requests, gathered from lines that repeat each other."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from aix.importing import Source
from aix_importers.claude_code.discovery import SourceFile, source_file
from aix_importers.claude_code.records import Message, Record, decode_usage
from aix_importers.claude_code.usage import Request, Requests
from tests.importers.claude_code.odd_json import odd_json

MAIN = source_file(Source("/p/s.jsonl"))
SIDE = source_file(Source("/p/s/subagents/agent-aside_question-1.jsonl"))
FIELDS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")


def message(usage: object, stop_reason: str | None = None, model: str | None = "m") -> Message:
    raw = Raw(b"") if usage is None else Raw(json.dumps(usage).encode())
    return Message(id="msg_1", model=model, usage=raw, stop_reason=stop_reason)


def gathered(*lines: Message, record: Record | None = None, file: SourceFile = MAIN) -> Request:
    requests = Requests()
    for line in lines:
        requests.add("k", record or Record(), line, 5, file)
    found = requests.get("k")
    assert found is not None
    return found


def test_each_field_counts_with_the_greatest_value_of_any_line() -> None:
    found = gathered(
        message({"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 90}),
        message({"input_tokens": 0, "output_tokens": 700, "cache_creation_input_tokens": 8}),
        message({"input_tokens": 2, "output_tokens": 600, "cache_read_input_tokens": 80}),
    )
    assert (found.input_tokens, found.output_tokens) == (3, 700)
    assert (found.cache_read_tokens, found.cache_write_tokens, found.context_tokens) == (90, 8, 101)


@given(st.permutations([{"input_tokens": 1, "speed": "fast"}, {"output_tokens": 9}, {"input_tokens": 4}, None]))
def test_the_order_of_lines_does_not_matter(usages: list[dict[str, object] | None]) -> None:
    known = [{"input_tokens": 0}, *usages]
    found = gathered(*map(message, known))
    assert (found.input_tokens, found.output_tokens, found.speed) == (4, 9, "fast")


def test_what_no_line_says_is_unknown_and_not_zero() -> None:
    found = gathered(message({"output_tokens": 4}))
    assert (found.input_tokens, found.cache_read_tokens, found.context_tokens) == (None, None, None)
    assert (found.cache_write_5m_tokens, found.web_search_count, found.reported_cost) == (None, None, None)
    assert gathered(message({"input_tokens": 0})).context_tokens == 0


def test_a_message_without_usage_is_no_request() -> None:
    requests = Requests()
    requests.add("k", Record(), message(None), 5, MAIN)
    assert requests.get("k") is None
    assert list(requests) == []


def test_usage_is_final_when_some_line_says_why_the_model_stopped() -> None:
    usage = {"output_tokens": 1}
    assert not gathered(message(usage), message(usage)).is_final
    found = gathered(message(usage, "end_turn"), message(usage))
    assert (found.is_final, found.stop_reason) == (True, "end_turn")


def test_lifetimes_tiers_and_searches_are_kept() -> None:
    usage = {
        "cache_creation_input_tokens": 30,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
        "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 1},
        "service_tier": "priority",
        "speed": "fast",
    }
    found = gathered(message({"output_tokens": 1}), message(usage))
    assert (found.cache_write_tokens, found.cache_write_5m_tokens, found.cache_write_1h_tokens) == (30, 10, 20)
    assert (found.web_search_count, found.service_tier, found.speed) == (2, "priority", "fast")


def test_advice_is_apart_from_what_the_request_used() -> None:
    advice = {"type": "advisor_message", "model": "other", "usage": {"input_tokens": 9, "cache_read_input_tokens": 1}}
    found = gathered(message({"input_tokens": 1, "iterations": [{"type": "message"}, advice]}))
    assert found.input_tokens == 1
    [given] = found.advice
    assert (given.model, given.input_tokens, given.context_tokens) == ("other", 9, 10)
    assert gathered(message({"input_tokens": 1, "iterations": "none"})).advice == ()


def test_cost_counts_once_and_is_exact() -> None:
    record = Record(cost_usd=0.1, duration_ms=1999.5, request_id="req_1", git_branch="main", cwd="/w")
    found = gathered(message({"input_tokens": 1}), message({"input_tokens": 1}), record=record)
    assert found.reported_cost == Decimal("0.1")
    assert (found.latency_ms, found.request_id, found.git_branch, found.cwd) == (2000, "req_1", "main", "/w")


def test_the_earliest_time_counts() -> None:
    requests = Requests()
    for time in (9, None, 7, 8):
        requests.add("k", Record(), message({"input_tokens": 1}), time, MAIN)
    found = requests.get("k")
    assert found is not None
    assert found.time == 7


def test_a_conversation_owns_what_a_side_call_repeats() -> None:
    requests = Requests()
    requests.add("k", Record(), message({"output_tokens": 5}), 5, SIDE)
    requests.add("k", Record(), message({"output_tokens": 3}), 5, MAIN)
    requests.add("own", Record(), message({"output_tokens": 1}), 6, SIDE)
    shared, own = requests.take("k"), requests.get("own")
    assert shared is not None
    assert own is not None
    assert (shared.file, shared.output_tokens) == (MAIN, 5)
    assert own.file == SIDE
    assert list(requests) == [own]
    assert requests.get(None) is None


@pytest.mark.parametrize("value", [-1, 2**63, 10**30, "9", True, None, [], 1.5])
def test_numbers_that_cannot_be_tokens_are_unknown(value: object) -> None:
    found = gathered(message({"input_tokens": value, "output_tokens": 6}))
    assert (found.input_tokens, found.output_tokens) == (None, 6)


def test_sums_and_costs_that_no_column_can_hold_are_unknown() -> None:
    largest = 2**63 - 2
    found = gathered(message({"input_tokens": largest, "cache_read_input_tokens": 5}))
    assert (found.input_tokens, found.context_tokens) == (largest, None)
    for cost in (1e300, -0.5):
        assert gathered(message({"input_tokens": 1}), record=Record(cost_usd=cost)).reported_cost is None


def test_advice_with_numbers_that_cannot_be_tokens_is_kept_without_them() -> None:
    advice = {"type": "advisor_message", "model": "other", "usage": {"input_tokens": 10**30, "output_tokens": 3}}
    [given] = gathered(message({"input_tokens": 1, "iterations": [advice]})).advice
    assert (given.input_tokens, given.output_tokens, given.context_tokens) == (None, 3, None)


@given(odd_json(*FIELDS, "cache_creation", "server_tool_use", "service_tier", "speed", "iterations"))
def test_usage_may_be_anything(raw: bytes) -> None:
    usage = decode_usage(Raw(raw))
    assert usage is None or gathered(message({"output_tokens": 1})).output_tokens == 1
    requests = Requests()
    requests.add("k", Record(), Message(id="m", usage=Raw(raw)), None, MAIN)
    for request in requests:
        for value in (request.input_tokens, request.output_tokens, request.context_tokens):
            assert value is None or value >= 0
