"""Which price a request has: by its model and provider, its time, its size and how it was served."""

from decimal import Decimal
from pathlib import Path

import pytest

from aix.prices.choice import Chooser, ModelPrice, parse_providers
from aix.prices.lines import FOREVER, UNITS, VARIANTS, ordered, parse_lines, parse_rule
from aix.prices.table import PriceTable, bundled_providers

PROVIDERS = parse_providers(
    "provider,named,serves,falls_back_to\nmaker,contains:maker,contains:modl,\ncloud,starts_with:cloud,,maker\n"
)
MARCH = 1_772_323_200_000


def chooser(*layers: str) -> Chooser:
    header = "provider,model,match_rule,valid_from,valid_to,tier_start_tokens,variant,input,output\n"
    return Chooser(ordered([parse_lines(header + lines, Path("list.csv")) for lines in layers]), PROVIDERS)


def inputs(found: list[ModelPrice], variant: str = "standard") -> list[tuple[int, int, int, str]]:
    return [
        (
            price.valid_from,
            price.valid_to,
            price.tier_start_tokens,
            f"{price.line.prices['input'] * 10**6:f}".rstrip("0."),
        )
        for price in found
        if price.variant == variant
    ]


def test_the_own_list_comes_before_the_overlay_and_that_before_the_table() -> None:
    own, overlay, table = "maker,modl-1,,,,,,1,\n", "maker,modl,starts_with,,,,,2,\n", "maker,modl,contains,,,,,3,\n"
    lists = chooser(own, overlay, table)
    assert inputs(lists.choose("maker", "modl-1")) == [(0, FOREVER, 0, "1")]
    assert inputs(lists.choose("maker", "modl-2")) == [(0, FOREVER, 0, "2")]
    assert inputs(lists.choose("maker", "a-modl-3")) == [(0, FOREVER, 0, "3")]
    assert lists.choose("maker", "other") == []


def test_before_and_after_an_own_price_the_listed_one_holds() -> None:
    lists = chooser("maker,modl,,2026-03-01,2026-04-01,,,1,\n", "maker,modl,,,,,,3,\n")
    april = MARCH + 31 * 86_400_000
    assert inputs(lists.choose("maker", "modl")) == [
        (0, MARCH, 0, "3"),
        (MARCH, april, 0, "1"),
        (april, FOREVER, 0, "3"),
    ]


def test_a_later_price_ends_an_earlier_one_and_tiers_follow_each_other() -> None:
    lines = "maker,modl,,,,0,,1,\nmaker,modl,,,,200001,,2,\nmaker,modl,,2026-03-01,,,,4,\n"
    found = chooser(lines).choose("maker", "modl")
    assert inputs(found) == [(0, MARCH, 0, "1"), (0, MARCH, 200_001, "2"), (MARCH, FOREVER, 0, "4")]
    assert [price.tier_end_tokens for price in found[:3]] == [200_001, FOREVER, FOREVER]


def test_a_variant_without_a_price_has_the_standard_one_and_says_so() -> None:
    lists = chooser("maker,modl,,2026-03-01,,,fast,9,\n", "maker,modl,,,,,,3,\n")
    found = lists.choose("maker", "modl")
    assert inputs(found, "fast") == [(0, MARCH, 0, "3"), (MARCH, FOREVER, 0, "9")]
    assert {price.variant for price in found} == set(VARIANTS)
    [batch] = [price for price in found if price.variant == "batch"]
    assert batch.basis == "list.csv maker/modl; no batch price, standard taken"
    assert [price.basis for price in found if price.variant == "fast"][1] == "list.csv maker/modl"


def test_the_provider_narrows() -> None:
    lists = chooser("maker,modl,contains,,,,,3,\nmaker,modl,contains,,,,batch,1,\ncloud,modl-1,,,,,,5,\n")
    assert inputs(lists.choose("cloud", "modl-1")) == [(0, FOREVER, 0, "5")]
    assert inputs(lists.choose("Cloud-EU", "modl-2")) == [(0, FOREVER, 0, "3")], "whose prices the cloud charges"
    assert inputs(lists.choose("Cloud-EU", "modl-2"), "batch") == [(0, FOREVER, 0, "3")], "but not for batches"
    assert inputs(lists.choose("", "modl-1")) == [(0, FOREVER, 0, "3")], "who serves it when nobody is named"
    assert lists.choose("somebody", "modl-1") == []


def test_an_own_line_without_a_provider_is_for_any() -> None:
    lists = chooser(",secret,,,,,,7,\nhouse,modl,,,,,,8,\n")
    assert inputs(lists.choose("somebody", "SECRET")) == [(0, FOREVER, 0, "7")]
    assert inputs(lists.choose("", "secret")) == [(0, FOREVER, 0, "7")]
    assert inputs(lists.choose("House", "modl")) == [(0, FOREVER, 0, "8")]


@pytest.mark.parametrize(
    ("provider", "model", "basis"),
    [
        ("anthropic", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"),
        ("", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5"),
        ("", "anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4-5"),
        ("", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4-5"),
        ("bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "aws/regional.anthropic.claude-sonnet-4-5"),
        ("bedrock", "global.anthropic.claude-sonnet-4-5-20250929-v1:0", "aws/global.anthropic.claude-sonnet-4-5"),
        ("vertex", "claude-sonnet-4-5@20250929", "google/claude-sonnet-4-5"),
        ("", "gpt-5.2-20251211", "openai/gpt-5.2"),
        ("", "composer-2.5", "cursor/composer-2.5"),
    ],
)
def test_names_as_logs_have_them_are_found(provider: str, model: str, basis: str) -> None:
    found = PriceTable().chooser.choose(provider, model)
    assert found
    assert found[0].basis.startswith(f"genai-prices {found[0].line.source_version} {basis}")


@pytest.mark.parametrize("model", ["", "<synthetic>", "no-such-model", "composer-1", "auto", "claude" * 40, "a/" * 90])
def test_what_is_not_known_has_no_price(model: str) -> None:
    assert PriceTable().chooser.choose("", model) == []


def test_the_fast_mode_of_a_model_has_its_own_cited_price() -> None:
    [price] = [each for each in PriceTable().chooser.choose("anthropic", "claude-opus-4-6") if each.variant == "fast"]
    assert price.line.prices["output"] == Decimal("0.00015")
    assert price.basis.startswith("https://")


def test_every_bundled_price_is_stored_as_it_is() -> None:
    lines = PriceTable().lines
    assert len(lines) > 500
    assert {line.source for line in lines if not line.source_version} <= {
        line.source for line in lines if line.source.startswith("https://")
    }
    for line in lines:
        assert set(line.prices) <= set(UNITS)
        assert all(price == round(price, 12) and 0 <= price < 10**6 for price in line.prices.values())


@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|a)*b", "a*a*a*b", "(a{1,9}){1,9}", "a?a?a?aaa", "(" + "a|" * 20 + "b)", "a" * 201, "("]
)
def test_a_pattern_that_could_take_for_ever_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        parse_rule(f"regex:{pattern}", "")


def test_a_pattern_that_is_allowed_ends_on_any_name() -> None:
    rule = parse_rule("regex:[a-z]+[a-z]+x$", "")
    assert not rule.fits("a" * 200)
    assert not rule.fits("a" * 199 + "!x" * 500), "longer than any name"


def test_vendors_that_come_along_can_all_be_asked() -> None:
    assert bundled_providers().asked("Amazon-Bedrock", "any")[0] == "aws"
    assert bundled_providers().asked("vertex_ai", "any") == ("google", "anthropic")
    assert bundled_providers().asked("", "nobody's") == ()
