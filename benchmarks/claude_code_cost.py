"""Price every request of Claude Code logs with the package genai-prices, and put the costs of a ledger beside that.

    python benchmarks/claude_code_cost.py FOLDER LEDGER

Requests are counted straight from the lines as by `claude_code_count.py`: a message of the API once by its id, over all
files, with the greatest value of each figure of its usage. LEDGER holds FOLDER and nothing else. Prints sums by model;
the exit code is 1 when the cost of any request differs by more than 1e-9 dollars, or a request is missing on one side.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from benchmarks.claude_code_count import Record, blocks, message_key, records
from benchmarks.list_prices import CountedRequest

TOLERANCE = Decimal("1e-9")
LEDGER_COSTS = """
    select coalesce(origin_message_id, model || '@' || requested_at), coalesce(model, '?'), cost_usd
    from v_requests_cost where has_usage"""

Cost = tuple[str, str, Decimal | None]
"""Key that a request is found by, its model, and its cost."""


class CountedRequests:
    """The requests of some files, which may come in any order and their lines in any number of copies."""

    def __init__(self) -> None:
        self._by_key: dict[str, CountedRequest] = {}

    def __iter__(self) -> Iterator[CountedRequest]:
        """Go through the requests, each once."""
        return iter(self._by_key.values())

    def add_file(self, path: Path) -> None:
        """Count the lines of one file."""
        first: dict[tuple[str, object], str] = {}
        searching: dict[str, str] = {}
        for agent, record in records(path):
            message = record.get("message")
            if not isinstance(message, dict):
                continue
            if record.get("type") == "assistant" and message.get("id"):
                key = message_key(record, message, agent, first)
                self._add(key, record, message)
                searching |= {b["id"]: key for b in blocks(message, "tool_use") if b.get("name") == "WebSearch"}
            for block in blocks(message, "tool_result"):
                request = self._by_key.get(searching.get(block["tool_use_id"], ""))
                if request is not None and isinstance(record.get("toolUseResult"), dict):
                    request.tool_searches[block["tool_use_id"]] = _searches(record["toolUseResult"])

    def _add(self, key: str, record: Record, message: Record) -> None:
        usage, model, timestamp = message.get("usage"), message.get("model"), record.get("timestamp")
        if model == "<synthetic>" or not (usage and model and timestamp):
            return
        time = round(datetime.fromisoformat(timestamp).timestamp() * 1000)
        request = self._by_key.setdefault(key, CountedRequest(model, _provider(model), time, message["id"]))
        request.requested_at = min(request.requested_at, time)
        request.is_final = request.is_final or message.get("stop_reason") is not None
        request.characters[str(record.get("uuid"))] = _characters(message)
        if "costUSD" in record:
            request.reported_cost = max(request.reported_cost or Decimal(0), Decimal(str(record["costUSD"])))
        _add_usage(request, usage)
        for place, each in enumerate(usage.get("iterations") or ()):
            if each.get("type") == "advisor_message":
                advisor = CountedRequest(each["model"], _provider(each["model"]), time, message["id"])
                _add_usage(advisor, each.get("usage") or each)
                self._by_key[f"{key} advisor {place}"] = advisor


def _add_usage(request: CountedRequest, usage: Record) -> None:
    split, server = usage.get("cache_creation") or {}, usage.get("server_tool_use") or {}
    figures = {
        "input": usage.get("input_tokens"),
        "output": usage.get("output_tokens"),
        "cache_read": usage.get("cache_read_input_tokens"),
        "cache_write": usage.get("cache_creation_input_tokens"),
        "cache_write_5m": split.get("ephemeral_5m_input_tokens"),
        "cache_write_1h": split.get("ephemeral_1h_input_tokens"),
        "searches": server.get("web_search_requests"),
    }
    for name, value in figures.items():
        setattr(request, name, max(getattr(request, name), value or 0))
    if usage.get("speed") == "fast":
        request.variant = "fast"
    elif usage.get("service_tier") in ("batch", "priority", "flex"):
        request.variant = usage["service_tier"]


def _provider(model: str) -> str | None:
    if "anthropic." in model:
        return "bedrock"
    if not model.startswith("claude"):
        return None
    return "vertex" if "@" in model else "anthropic"


def _searches(result: Record) -> int:
    count = result.get("searchCount")
    return count if isinstance(count, int) else sum(isinstance(each, dict) for each in result.get("results", ()))


def _characters(message: Record) -> int:
    texts = [block.get("text") or "" for block in blocks(message, "text")]
    thoughts = [block.get("thinking") or "" for block in blocks(message, "thinking")]
    calls = [json.dumps(block.get("input"), separators=(",", ":")) for block in blocks(message, "tool_use")]
    return sum(map(len, (*texts, *thoughts, *calls)))


def counted_costs(requests: Iterable[CountedRequest]) -> list[Cost]:
    """Return what each request cost by genai-prices."""
    return [(request.name, request.model, request.cost()) for request in requests]


def differences(counted: Sequence[Cost], of_ledger: Sequence[Cost]) -> list[str]:
    """Return a sentence for each message whose requests cost something else, or are missing on one side."""
    found = []
    ours, theirs = _by_name(counted), _by_name(of_ledger)
    for name in dict.fromkeys([*ours, *theirs]):
        pairs = [ours.get(name, []), theirs.get(name, [])]
        same = len(pairs[0]) == len(pairs[1]) and all(map(_are_equal, *pairs))
        if not same:
            found.append(f"{name}: counted {_shown(pairs[0])}, ledger {_shown(pairs[1])}")
    return found


def _by_name(costs: Iterable[Cost]) -> dict[str, list[Decimal | None]]:
    """Return the costs by what requests are found by; an id that a proxy used twice has two."""
    found = defaultdict(list)
    for name, _, cost in costs:
        found[name].append(cost)
    return {name: sorted(costs, key=lambda cost: (cost is None, cost or 0)) for name, costs in found.items()}


def _are_equal(one: Decimal | None, other: Decimal | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= TOLERANCE


def _shown(costs: Iterable[Decimal | None]) -> str:
    return ", ".join("no price" if cost is None else f"{cost:f}" for cost in costs) or "nothing"


def ledger_costs(ledger: Path) -> list[Cost]:
    """Return what each request of a ledger cost."""
    import aix

    with aix.open(ledger) as opened:
        return [(name, model, cost) for name, model, cost in opened.sql(LEDGER_COSTS)]


def sums(costs: Iterable[Cost]) -> dict[str, tuple[int, int, Decimal]]:
    """Return by model how many requests there are, how many have no price, and what all of them cost."""
    requests, unpriced, money = Counter[str](), Counter[str](), defaultdict[str, Decimal](Decimal)
    for _, model, cost in costs:
        requests[model] += 1
        unpriced[model] += cost is None
        money[model] += cost or 0
    return {model: (requests[model], unpriced[model], money[model]) for model in sorted(requests)}


def main() -> int:
    """Print the sums and what differs; return 1 when anything does."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("ledger", type=Path)
    arguments = parser.parse_args()
    requests = CountedRequests()
    for path in sorted(arguments.folder.rglob("*.jsonl")):
        requests.add_file(path)
    counted, of_ledger = counted_costs(requests), ledger_costs(arguments.ledger)
    print(f"{'model':40}{'requests':>10}{'unpriced':>10}{'USD':>24}")
    ours, theirs = sums(counted), sums(of_ledger)
    for model in dict.fromkeys([*ours, *theirs]):
        print(_line(model, ours.get(model, (0, 0, Decimal()))))
        print(_line("    ledger", theirs.get(model, (0, 0, Decimal()))))
    print(_line("all", _total(ours)), _line("    ledger", _total(theirs)), sep="\n")
    found = differences(counted, of_ledger)
    print(*found[:20], f"{len(found)} of {len(counted)} requests differ by more than {TOLERANCE:f} USD", sep="\n")
    return int(bool(found))


def _total(figures: dict[str, tuple[int, int, Decimal]]) -> tuple[int, int, Decimal]:
    requests, unpriced, money = zip(*figures.values(), strict=True) if figures else ((), (), ())
    return sum(requests), sum(unpriced), sum(money, Decimal())


def _line(name: str, figures: tuple[int, int, Decimal]) -> str:
    return f"{name:40}{figures[0]:10,}{figures[1]:10,}{figures[2]:24.12f}"


if __name__ == "__main__":
    sys.exit(main())
