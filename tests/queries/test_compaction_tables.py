"""The tables that docs/compaction.md has of real logs, made of the fixtures instead, whose figures are known."""

from aix.reading.ledger import Ledger
from benchmarks import compaction_table, summary_chance


def test_the_table_has_values_that_occur_and_the_number_of_cases(filled: Ledger) -> None:
    lines = list(compaction_table.table_lines(filled))
    assert lines[0].startswith("20 compactions: ")
    assert lines[1] == "paid back: 3 of 13 where that is known"
    assert "| whole context before, tokens | 19 | 74,863 | 120,000 | 162,000 |" in lines


def test_another_summary_names_less(filled: Ledger) -> None:
    lines = list(summary_chance.table_lines(filled))[2:]
    shares = [[float(cell) for cell in line.split("|")[3:5]] for line in lines]
    assert [line.split()[1] for line in lines] == ["file", "identifier", "instruction", "todo"]
    assert all(own > by_chance for own, by_chance in shares)
