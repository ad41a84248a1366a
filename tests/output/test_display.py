"""Columns for people, by their names; what is no number stays as it is."""

from datetime import UTC
from decimal import Decimal

import pytest

from aix.output import ListingColumn
from aix.output.humanise import displayed


@pytest.mark.parametrize(
    ("name", "kind", "value", "shown"),
    [
        ("cost_usd", "DECIMAL(38,12)", Decimal("12.345678901234"), "$12.35"),
        ("cost_usd", "DECIMAL(38,12)", Decimal("0.000123456789"), "<$0.01"),
        ("cost_usd", "DECIMAL(38,12)", None, None),
        ("price_usd", "DOUBLE", 2.5, "$2.50"),
        ("cache_hit_ratio", "DOUBLE", 0.8765, "87.6 %"),
        ("final_share", "DOUBLE", 1.0, "100 %"),
        ("output_tokens", "BIGINT", 1_234_567, "1.2M"),
        ("tokens", "BIGINT", 999, "999"),
        ("started_at", "BIGINT", 1_700_000_000_000, "2023-11-14 22:13"),
        ("latency_ms", "BIGINT", 61_000, "1 min 1 s"),
        ("gap_s", "BIGINT", 8_576, "2 h 22 min"),
        ("minutes_to_next", "DOUBLE", 1.5, "1 min 30 s"),
        ("tokens_before", "BIGINT", 155_179, "155k"),
        ("delta_tokens", "BIGINT", -1_700, "-1.7k"),
        ("result_chars", "BIGINT", 78_054, "78k"),
        ("reduction", "DOUBLE", 0.157, "15.7 %"),
        ("failure_rate_change", "DOUBLE", -0.019, "-1.9 %"),
        ("share_of_limit", "DOUBLE", 0.5, "50.0 %"),
        ("usd_per_million_output_tokens", "DOUBLE", 486.74, "$486.74"),
        ("cost_per_turn_before", "DOUBLE", 0.32, "$0.32"),
        ("weekday", "BIGINT", 7, "Sunday"),
        ("hour", "BIGINT", 2, "02:00"),
        ("growth_per_request", "DOUBLE", 1498.2, "1,498"),
        ("tokens_per_second", "DOUBLE", 12.3456, "12.3"),
        ("turns", "BIGINT", 1_234_567, "1,234,567"),
        ("source_line", "BIGINT", 1_234_567, 1_234_567),
        ("model", "VARCHAR", "a_usd", "a_usd"),
        ("seen_at", "VARCHAR", "2023-11-14", "2023-11-14"),
        ("is_usd", "BOOLEAN", True, True),
    ],
)
def test_a_column_is_written_as_its_name_says(name: str, kind: str, value: object, shown: object) -> None:
    listing = displayed((ListingColumn(name, kind),), [(value,)], UTC)
    assert list(listing.rows) == [(shown,)]


def test_numbers_stay_flush_right_and_moments_do_not() -> None:
    columns = (ListingColumn("cost_usd", "DECIMAL(38,12)"), ListingColumn("started_at", "BIGINT"))
    assert [column.is_number for column in displayed(columns, [], UTC).columns] == [True, False]
