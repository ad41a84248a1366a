"""The prices of requests that are counted straight from Claude Code logs, and how they are compared."""

import json
from decimal import Decimal
from pathlib import Path

from benchmarks.claude_code_cost import Cost, CountedRequests, differences
from benchmarks.list_prices import CountedRequest

MODEL = "claude-sonnet-4-5-20250929"


def costs(*figures: str | None) -> list[Cost]:
    return [("msg_1", MODEL, None if figure is None else Decimal(figure)) for figure in figures]


def test_a_difference_is_named_when_it_is_more_than_a_billionth_of_a_dollar() -> None:
    assert differences(costs("0.5"), costs("0.500000001")) == []
    assert differences(costs("0.5"), costs("0.500000002")) == ["msg_1: counted 0.5, ledger 0.500000002"]


def test_no_price_is_not_the_price_0() -> None:
    assert differences(costs(None), costs(None)) == []
    assert differences(costs(None), costs("0")) == ["msg_1: counted no price, ledger 0"]


def test_a_request_that_is_missing_on_either_side_is_named() -> None:
    assert differences(costs("1"), []) == ["msg_1: counted 1, ledger nothing"]
    assert differences([], costs("1")) == ["msg_1: counted nothing, ledger 1"]


def test_requests_of_one_id_are_compared_in_any_order() -> None:
    assert differences(costs("1", None, "2"), costs("2", "1", None)) == []
    assert differences(costs("1", "2"), costs("1")) == ["msg_1: counted 1, 2, ledger 1"]


def test_a_request_is_counted_over_its_lines_with_its_searches_and_its_advisor(tmp_path: Path) -> None:
    def line(uuid: str, second: int, usage: dict[str, object], **block: object) -> dict[str, object]:
        message = {"id": "msg_01" + "A" * 22, "model": MODEL, "content": [block], "usage": usage}
        at = f"2026-04-01T10:00:0{second}.000Z"
        return {"type": "assistant", "uuid": uuid, "timestamp": at, "message": message}

    advice = [{"type": "advisor_message", "model": "claude-opus-4-5", "input_tokens": 5, "output_tokens": 2}]
    found = {"type": "tool_result", "tool_use_id": "call"}
    lines = [
        line("2", 2, {"input_tokens": 3, "output_tokens": 40}, type="tool_use", id="call", name="WebSearch", input={}),
        line("1", 1, {"input_tokens": 3, "output_tokens": 1, "iterations": advice}, type="text", text="Hi"),
        {"type": "user", "message": {"content": [found]}, "toolUseResult": {"results": [{}, "text", {}]}},
    ]
    requests = CountedRequests()
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for _ in range(2):
        requests.add_file(tmp_path / "log.jsonl")
    counted = {request.model: request for request in requests}
    answer, advisor = counted[MODEL], counted["claude-opus-4-5"]
    assert (answer.requested_at, answer.input, answer.output) == (1775037601000, 3, 40)
    assert answer.tool_searches == {"call": 2}
    assert (advisor.input, advisor.output) == (5, 2)
    assert answer.cost() == Decimal("0.020609")
    assert advisor.cost() == Decimal("0.000075")


def test_fast_tokens_are_dearer_and_searches_are_not() -> None:
    slow, fast = (
        CountedRequest("claude-opus-4-6", "anthropic", 1_775_000_000_000, input=10**6, searches=1, variant=variant)
        for variant in ("standard", "fast")
    )
    assert (slow.cost(), fast.cost()) == (Decimal("5.01"), Decimal("30.01"))
