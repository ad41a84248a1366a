"""Problems on their way into the ledger."""

from collections import Counter
from collections.abc import Sequence

from aix.merge.row_batches import Delivery, statement_name
from aix.pipeline.contract import Problem
from aix.pipeline.plan import source_name
from aix.pipeline.worker_messages import Order
from aix.schema import TABLES
from aix.schema.arrow import batch_from_columns

_MOST_AT_ONCE = 1_000
_SAMPLE_CHARACTERS = 200


class ProblemNotes:
    """Takes the problems of a group and writes them, numbered by source."""

    def __init__(self, order: Order, notes: Delivery) -> None:
        self._order = order
        self._notes = notes
        self._held: list[Problem] = []
        self._numbers: Counter[str] = Counter()

    def add(self, problem: Problem) -> None:
        """Take a problem; raise TypeError for anything else."""
        _check(problem)
        self._held.append(problem)
        if len(self._held) >= _MOST_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what was taken."""
        if not self._held:
            return
        columns = problem_columns(self._order.run_id, self._order.machine, self._held, self._numbers)
        table = TABLES["import_problems"]
        statements = [statement_name(str(name), "problems") for name in columns["source_key"]]
        self._notes.add(statements, table, batch_from_columns(table, columns))
        self._held.clear()


def _check(problem: Problem) -> None:
    texts = (problem.kind, problem.reason, problem.sample or "")
    numbers = (problem.line or 0, problem.byte_offset or 0)
    if not all(type(text) is str for text in texts) or not all(type(n) is int and 0 <= n < 2**63 for n in numbers):
        raise TypeError(f"it gave a problem that is none: {problem!r}")


def problem_columns(
    run_id: str, machine: str | None, problems: Sequence[Problem], numbers: Counter[str]
) -> dict[str, list[object]]:
    """Return problems as columns of `import_problems`; `numbers` counts those of each source."""
    columns: dict[str, list[object]] = {name: [] for name in TABLES["import_problems"].column_names}
    for problem in problems:
        name = source_name(problem.source, machine)
        row = {
            "run_id": run_id,
            "source_key": name,
            "seq": numbers[name],
            "line": problem.line,
            "byte_offset": problem.byte_offset,
            "kind": problem.kind,
            "reason": problem.reason,
            "sample": problem.sample and problem.sample[:_SAMPLE_CHARACTERS],
        }
        numbers[name] += 1
        for column, value in row.items():
            columns[column].append(value)
    return columns
