"""A large graph is joined in parts, and gives the rows that it gives as a whole; a run is read a few times only."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from aix.pipeline.run import Settings, import_histories
from aix_importers.agent_dag import extraction
from aix_importers.agent_dag.graph import Graph, Run
from aix_importers.agent_dag.records import Event
from tests.importers.agent_dag.histories import Row, extract, lines_of, write_graph
from tests.importers.agent_dag.test_histories import ledger_rows

CASES = ("every_event_kind", "every_edge_type", "fork", "subagents", "message_parts", "open_ends")


@pytest.mark.long
def test_parts_of_a_graph_give_the_rows_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write_graph(tmp_path / "graph.jsonl", [record for case in CASES for record in lines_of(case)])
    import_histories(tmp_path / "whole", [log], Settings(jobs=0))
    monkeypatch.setattr(extraction, "_PART_ROWS", 100)
    numbers: set[int] = set()
    numbered = extraction._Parts.end_if_large

    def end_if_large(self: extraction._Parts) -> None:
        numbered(self)
        numbers.add(self._part)

    monkeypatch.setattr(extraction._Parts, "end_if_large", end_if_large)
    import_histories(tmp_path / "parts", [log], Settings(jobs=0))
    assert max(numbers) >= 2
    assert ledger_rows(tmp_path / "parts") == ledger_rows(tmp_path / "whole")


def test_a_run_is_read_as_often_however_many_subagents_and_forks_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings: Counter[str] = Counter()
    events_of = Graph.events_of

    def counted(self: Graph, run: Run) -> Iterator[Event]:
        readings[run.run_id] += 1
        return events_of(self, run)

    monkeypatch.setattr(Graph, "events_of", counted)
    tables, _ = extract(tmp_path, list(_parent_of(5)))
    spawned = [row for row in tables["sessions"] if row["parent_turn_id"] is not None]
    forked = [row for row in tables["turns"] if row["parent_turn_id"] is not None]
    assert (len(spawned), len(forked)) == (5, 5)
    assert max(readings.values()) <= 6


def _parent_of(count: int) -> Iterator[Row]:
    """Go through a run with subagents and forks, which name its answers."""
    yield {"node": "Message", "id": "asked", "role": "user", "content": "Go."}
    for number in range(count):
        common = {"ts": f"2026-01-01T00:00:{number:02d}Z", "agent_id": "parent", "run_id": "parent"}
        yield {**common, "kind": "model_response", "event_id": f"e-{number}", "finish_reason": "tool_calls"}
        for agent, reason in ((f"child-{number}", "subagent"), ("parent", "user")):
            begin = {"ts": f"2026-01-01T00:01:{number:02d}Z", "agent_id": agent, "run_id": f"{reason}-{number}"}
            yield {**begin, "kind": "run_started", "reason": reason, "parent": f"e-{number}"}
            yield {**begin, "kind": "model_request"}
