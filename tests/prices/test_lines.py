"""A file of prices says what it means, or is refused with the line and what to do."""

from decimal import Decimal
from pathlib import Path

import pytest

from aix.errors import PriceFileError
from aix.prices.lines import COLUMNS, FOREVER, parse_lines
from aix.prices.table import PriceTable

FILE = Path("own.csv")


def test_a_model_and_one_price_are_enough() -> None:
    [line] = parse_lines("model,input\nmodel-x,2.5\n", FILE)
    assert (line.model, line.provider, line.match_rule, line.variant) == ("model-x", "", "equals", "standard")
    assert (line.valid_from, line.valid_to, line.tier_start_tokens) == (0, FOREVER, 0)
    assert line.prices == {"input": Decimal("0.0000025")}
    assert line.edition == "own.csv"


def test_prices_are_of_a_million_tokens_and_of_a_thousand_searches() -> None:
    text = "\ufeff" + ",".join(COLUMNS) + "\r\n"
    text += "Vendor,m,starts_with,2026-03-13,2026-04-01,0,fast,1,0,0.000001,4,5,10,a list,7,2026-11-16\r\n\r\n"
    [line] = parse_lines(text.removeprefix("\ufeff"), FILE)
    assert list(line.prices.values()) == [
        Decimal(price) for price in ("0.000001", "0", "0.000000000001", "0.000004", "0.000005", "0.01")
    ]
    assert (line.provider, line.valid_from, line.valid_to) == ("vendor", 1_773_360_000_000, 1_775_001_600_000)
    assert (line.edition, line.name) == ("a list 7", "vendor/m")


@pytest.mark.parametrize(("unit", "one"), [("input", 1), ("web_search", 1000)])
def test_the_highest_price_is_a_million_as_price_lists_have_it(unit: str, one: int) -> None:
    [line] = parse_lines(f"model,{unit}\nm,1000000\n", FILE)
    assert line.prices == {unit: Decimal(one)}


@pytest.mark.parametrize(
    ("base", "tier", "problem"),
    [
        ("2026-01-01,2026-02-01", "2026-01-01,2026-12-01", "valid_to is not that of line 3"),
        ("2026-01-01,2026-12-01", "2026-01-01,2026-02-01", "valid_to is not that of line 3"),
        ("2026-01-01,", "2026-01-01,2026-02-01", "valid_to is not that of line 3"),
        ("2026-01-01,2026-12-01", "2026-02-01,2026-12-01", "m has no price below its tier"),
    ],
)
def test_a_tier_holds_as_long_as_the_price_below_it(base: str, tier: str, problem: str) -> None:
    text = "model,input,tier_start_tokens,valid_from,valid_to\nm,9,0,,\nm,1,0,{}\nm,2,1000,{}\n"
    assert len(parse_lines(text.format(base, base), FILE)) == 3
    with pytest.raises(PriceFileError, match=problem) as caught:
        parse_lines(text.format(base, tier), FILE)
    assert caught.value.place == "own.csv:4"
    assert "same valid_from" in caught.value.remedy


@pytest.mark.parametrize(
    ("text", "place", "problem", "advice"),
    [
        ("", "own.csv:1", "no model", "model"),
        ("model\nm\n", "own.csv:1", "no price", "output"),
        ("model,inptu\nm,1\n", "own.csv:1", "no column 'inptu'", "did you mean input?"),
        ("model,price of it all\nm,1\n", "own.csv:1", "no column", "the columns are"),
        ("model,input,input\nm,1,1\n", "own.csv:1", "twice", ""),
        ("model,input\nm,-1\n", "own.csv:2", "-1 is negative", "per million tokens"),
        ("model,input\nok,1\n\nm,cheap\n", "own.csv:4", "'cheap' is not a number", ""),
        ("model,input\nm,NaN\n", "own.csv:2", "not a number", ""),
        ("model,input\nm,-Infinity\n", "own.csv:2", "not a number", ""),
        ("model,input\nm,1_000\n", "own.csv:2", "not a number", ""),
        ("model,input\nm,١\n", "own.csv:2", "not a number", ""),
        (f"model,input\nm,{'9' * 400}\n", "own.csv:2", "not a number", ""),
        ("model,input\nm,1000000.000001\n", "own.csv:2", "1000000.000001 is too large", "1000000 at most"),
        ("model,input\nm,1e999999\n", "own.csv:2", "too large", "per million tokens"),
        ("model,web_search\nm,1000001\n", "own.csv:2", "too large", "per thousand searches"),
        ("model,input\nm,0.0000001\n", "own.csv:2", "more than 6 decimals", ""),
        ("model,web_search\nm,1e-10\n", "own.csv:2", "more than 9 decimals", "thousand searches"),
        ("model,input\nm,\n", "own.csv:2", "m has no price", ""),
        ("model,input\n,1\n", "own.csv:2", "no name of a model", ""),
        (f"model,input\n{'m' * 201},1\n", "own.csv:2", "no name of a model", ""),
        ("model,input\nm\0x,1\n", "own.csv:2", r"'m\x00x' has a control character", ""),
        ('model,input\n"m\x1b[2Jx",1\n', "own.csv:2", "control character", ""),
        ("model,input,provider\nm,1,a\x85b\n", "own.csv:2", "control character", ""),
        ("model,input\nm,1,2\n", "own.csv:2", "3 cells, and 2 columns", ""),
        ('model,input\n"m,1\n', "own.csv:2", "not CSV", ""),
        ("model,input,valid_from\nm,1,13.03.2026\n", "own.csv:2", "'13.03.2026' is not a date", "2026-03-13"),
        ("model,input,checked_on\nm,1,2026-02-30\n", "own.csv:2", "not a date", ""),
        ("model,input,valid_from,valid_to\nm,1,2026-03-13,2026-03-13\n", "own.csv:2", "not after", ""),
        ("model,input,tier_start_tokens\nm,1,-5\n", "own.csv:2", "not a number of tokens", ""),
        ("model,input,tier_start_tokens\nm,1,200001\n", "own.csv:2", "no price below its tier", "0"),
        ("model,input,variant\nm,1,bacth\n", "own.csv:2", "no variant 'bacth'", "use batch"),
        ("model,input,match_rule\nm,1,start_with\n", "own.csv:2", "match_rule", "use starts_with"),
        ("model,input,match_rule\nm,1,regex:(a+)+$\n", "own.csv:2", "match_rule", "cannot be repeated"),
        ("model,input\nm,1\nm,2\n", "own.csv:3", "line 2 says the same", ""),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_place(text: str, place: str, problem: str, advice: str) -> None:
    with pytest.raises(PriceFileError) as caught:
        parse_lines(text, FILE)
    assert caught.value.place == place
    assert problem in str(caught.value)
    assert advice in caught.value.remedy


def test_a_file_that_is_missing_or_no_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(PriceFileError, match=r"absent\.csv"):
        PriceTable(tmp_path / "absent.csv")
    (tmp_path / "binary.csv").write_bytes(b"model,input\n\xff\xfe,1\n")
    with pytest.raises(PriceFileError, match=r"binary\.csv: this is not a text file"):
        PriceTable(tmp_path / "binary.csv").check()


def test_the_digest_tells_files_apart_and_nothing_else(tmp_path: Path) -> None:
    own = tmp_path / "own.csv"
    own.write_text("model,input\nm,1\n")
    first = PriceTable(own).digest
    assert first == PriceTable(own).digest
    assert first != PriceTable().digest
    own.write_text("model,input\nm,2\n")
    assert PriceTable(own).digest != first
