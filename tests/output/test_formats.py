"""Every format gives back exactly the rows that went in."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix.cli.stdout import emit
from aix.output import FORMATS, Listing, ListingColumn
from aix.output.formats import csv_lines, json_lines, jsonl_lines, markdown_lines
from aix.output.text import is_safe
from tests.support.format_readers import READERS

COLUMNS = (
    ListingColumn("text"),
    ListingColumn("count", "BIGINT"),
    ListingColumn("cost_usd", "DECIMAL(38,12)"),
    ListingColumn("ratio", "DOUBLE"),
    ListingColumn("is_final", "BOOLEAN"),
    ListingColumn("words", "VARCHAR[]"),
    ListingColumn("params_json"),
)
CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
BIDIRECTIONAL = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
INVISIBLE = [0x200B, 0x2028, 0x2029, *range(0x2060, 0x2065), 0xFEFF, *range(0xE0000, 0xE0080)]
ACTING = set(map(chr, [*CONTROLS, *BIDIRECTIONAL, *INVISIBLE]))
HARD_TEXTS = [
    None,
    "",
    "NULL",
    "–",
    "null",
    '"NULL"',
    '"–"',
    '"',
    " leading and trailing ",
    "\u00a0no-break\u3000",
    "two\nlines\r\nand\ra tab\t",
    "\x1b[31mred\x1b[0m\x1b]0;title\x07",
    "\x9b31m C1 \x85 \x7f \x00 NUL",
    "left\u202eright\u2066isolated\u2069 \ufeff \u200b \u2028 \U000e0041",
    "日本語 — façade e\u0301 👩‍🚀 🇩🇪",
    "C:\\new\\table\\",
    "a|b||c \\| `code` *bold* _it_ snake_case ~~x~~ $x$",
    "<script>alert(1)</script> &lt; &amp; [link](http://x) ![i](y) <http://z>",
    "# heading",
    "- item",
    "---",
    "a,b;c\td",
    "=cmd()",
    "│ ─ ┼",
    "x" * 3_000,
    "".join(sorted(ACTING)),
]
HARD_JSON = '{"a": [1, null, {"b": "\\u001b"}], "c": "täxt", "d": 1e400}'
HARD_ROWS = [
    (
        text,
        [None, 0, -1, 2**63 - 1, -(2**63)][index % 5],
        [None, Decimal("0.000000000001"), Decimal("-12345678901234567890123456.123456789012")][index % 3],
        [None, 0.1, 1e300, -5e-324][index % 4],
        [None, True, False][index % 3],
        [None, [], ["a", None, ""], ['q"|\\', "\x1b"]][index % 4],
        [None, HARD_JSON][index % 2],
    )
    for index, text in enumerate(HARD_TEXTS)
]


def written(listing: Listing, output_format: str, folder: Path) -> bytes:
    path = folder / "out"
    emit(listing, output_format=output_format, path=path)
    return path.read_bytes()


@pytest.mark.parametrize("output_format", FORMATS)
def test_hard_values_come_back(output_format: str, tmp_path: Path) -> None:
    listing = Listing(COLUMNS, HARD_ROWS)
    assert READERS[output_format](written(listing, output_format, tmp_path), listing) == HARD_ROWS


texts = st.none() | st.text() | st.text("\x1b\n\r\t |\\\"'`*_<>[]&$~#,NUL │─", max_size=12)
rows = st.lists(
    st.tuples(
        texts,
        st.none() | st.integers(-(2**63), 2**63 - 1),
        st.none() | st.decimals(-(10**25), 10**25, places=12),
        st.none() | st.floats(allow_nan=False, allow_infinity=False),
        st.none() | st.booleans(),
        st.none() | st.lists(texts, max_size=3),
        texts,
    ),
    max_size=6,
)


@pytest.mark.parametrize("output_format", FORMATS)
@given(rows=rows)
def test_any_values_come_back(
    output_format: str, rows: list[tuple[object, ...]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    listing = Listing(COLUMNS, rows)
    data = written(listing, output_format, tmp_path_factory.mktemp("out"))
    assert READERS[output_format](data, listing) == rows


@pytest.mark.parametrize("output_format", FORMATS)
def test_no_rows_come_back_as_no_rows(output_format: str, tmp_path: Path) -> None:
    listing = Listing(COLUMNS, [])
    assert READERS[output_format](written(listing, output_format, tmp_path), listing) == []


@pytest.mark.parametrize("output_format", FORMATS)
def test_a_column_of_nulls_comes_back(output_format: str, tmp_path: Path) -> None:
    listing = Listing((ListingColumn("only"),), [(None,), ("",), (None,)])
    assert READERS[output_format](written(listing, output_format, tmp_path), listing) == [(None,), ("",), (None,)]


def test_json_is_one_array_of_objects(tmp_path: Path) -> None:
    data = json.loads(written(Listing(COLUMNS, HARD_ROWS), "json", tmp_path))
    assert isinstance(data, list)
    assert all(isinstance(row, dict) for row in data)
    assert json.loads(written(Listing(COLUMNS, []), "json", tmp_path)) == []


def test_jsonl_is_one_object_per_line(tmp_path: Path) -> None:
    lines = written(Listing(COLUMNS, HARD_ROWS), "jsonl", tmp_path).decode().splitlines()
    assert len(lines) == len(HARD_ROWS)
    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert written(Listing(COLUMNS, []), "jsonl", tmp_path) == b""


@pytest.mark.parametrize("output_format", ["table", "json", "jsonl", "markdown"])
def test_nothing_that_could_act_is_left_in_text(output_format: str, tmp_path: Path) -> None:
    text = written(Listing(COLUMNS, HARD_ROWS), output_format, tmp_path).decode()
    assert not ACTING & set(text) - {"\n"}


def test_every_character_that_could_act_is_found() -> None:
    assert all(not is_safe(character) for character in ACTING)
    assert all(is_safe(character) for character in "aé日🚀—\u0301\u200d\u00a0")


def test_names_of_columns_are_made_harmless_too(tmp_path: Path) -> None:
    listing = Listing((ListingColumn('\x1b[2J|<b>"'),), [("x",)])
    for output_format in ("table", "json", "jsonl", "markdown"):
        assert b"\x1b" not in written(listing, output_format, tmp_path)


def test_numbers_that_json_lacks_are_words(tmp_path: Path) -> None:
    listing = Listing((ListingColumn("ratio", "DOUBLE"),), [(float("inf"),), (float("nan"),)])
    assert json.loads(written(listing, "json", tmp_path)) == [{"ratio": "Infinity"}, {"ratio": "NaN"}]


def test_lone_surrogates_can_be_written(tmp_path: Path) -> None:
    listing = Listing((ListingColumn("text"),), [("\ud800",)])
    assert json.loads(written(listing, "json", tmp_path)) == [{"text": "\ud800"}]
    for output_format in ("table", "markdown", "csv", "parquet"):
        assert b"ud800" in written(listing, output_format, tmp_path)


@pytest.mark.parametrize("output_format", FORMATS)
def test_a_row_of_another_length_is_an_error(output_format: str, tmp_path: Path) -> None:
    for row in (("a",), ("a", 1, "b")):
        listing = Listing((ListingColumn("text"), ListingColumn("count", "BIGINT")), [row])
        with pytest.raises((ValueError, IndexError)):
            written(listing, output_format, tmp_path)


def test_values_of_other_types_are_written_as_text(tmp_path: Path) -> None:
    listing = Listing((ListingColumn("day"), ListingColumn("raw")), [(date(2026, 2, 5), b"\x1b\x00")])
    assert written(listing, "csv", tmp_path) == b"day,raw\n2026-02-05,1b00\n"
    assert written(listing, "jsonl", tmp_path) == b'{"day":"2026-02-05","raw":"1b00"}\n'
    assert b"2026-02-05  1b00" in written(listing, "table", tmp_path)


def test_parquet_is_written_batch_by_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aix.output.parquet._ROWS_PER_BATCH", 2)
    rows = [(str(number),) for number in range(5)]
    listing = Listing((ListingColumn("text"),), rows)
    assert READERS["parquet"](written(listing, "parquet", tmp_path), listing) == rows


def test_rows_are_streamed_to_formats_that_need_no_look_ahead() -> None:
    for lines in (csv_lines, json_lines, jsonl_lines, markdown_lines):
        endless = ((str(number),) for number in iter(int, 1))
        stream = lines(Listing((ListingColumn("n"),), endless))
        assert [next(stream) for _ in range(4)]
