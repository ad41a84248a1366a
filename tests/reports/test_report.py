"""A report has the figures of its queries, whatever is asked for and however it is written."""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import UTC
from decimal import Decimal

import pytest
from markdown_it import MarkdownIt

from aix.output import ListingColumn
from aix.reading.ledger import Ledger
from aix.reports.definition import Definition, Section
from aix.reports.forms import json_lines, markdown_lines
from aix.reports.html import html_lines
from aix.reports.library import find_report
from aix.reports.report import Report, Rows, make_report
from tests import ROOT
from tests.support.browsing import ACTING

FILTERS: list[Mapping[str, object]] = [
    {},
    {"origin": "cursor"},
    {"model": "sonnet"},
    {"project": "tide-charts"},
    {"since": "2026-11-01"},
]


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_figures_and_groups_are_those_of_the_queries_behind_them(
    report_ledger: Ledger, filters: Mapping[str, object]
) -> None:
    report = make_report("overview", find_report("overview"), report_ledger, filters, "UTC")
    figures = {each.definition.label: each.value for each in report.figures}
    [total] = report_ledger.query("token_economics/cost_total", **filters).dicts()
    savings = report_ledger.query("token_economics/cache_savings", **filters).dicts()
    compactions = report_ledger.query("compaction_impact/break_even", **filters).dicts()
    kinds = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens")
    assert figures["Cost at list price"] == total["cost_usd"]
    assert figures["Requests"] == total["requests"]
    assert figures["Tokens"] == sum(total[kind] or 0 for kind in kinds)
    assert figures["Saved by the cache"] == sum(row["saved_usd"] or 0 for row in savings)
    nets = [row["net_usd"] for row in compactions if row["net_usd"] is not None]
    assert figures["Compactions, net"] == (sum(nets) if nets else None)
    by_section = {each.definition.title: each.rows for each in report.sections}
    for title, name in (("Cost by model", "model"), ("Cost by project", "project")):
        rows = by_section[title].taken([name, "cost_usd", "requests"]).values
        asked = report_ledger.query(f"token_economics/cost_by_{name}", **filters).dicts()
        assert {*rows} == {(row[name], row["cost_usd"], row["requests"]) for row in asked}
    days = {row[0]: row[1:] for row in by_section["Calendar"].values}
    asked = report_ledger.query("token_economics/cost_by_day", **filters).dicts()
    assert days == {row["day"]: (row["cost_usd"], row["requests"]) for row in asked}


def test_rows_of_a_group_come_largest_first_and_unknown_ones_last(overview: Report) -> None:
    [section] = [each for each in overview.sections if each.definition.title == "Cost by model"]
    costs = [row[1] for row in section.rows.values]
    known = [cost for cost in costs if cost is not None]
    assert known == sorted(known, reverse=True)
    assert len(known) < len(costs)
    assert costs[: len(known)] == known


def test_conditions_keep_rows_with_one_of_their_values() -> None:
    rows = Rows((ListingColumn("kind"), ListingColumn("n", "BIGINT")), [("a", 1), ("b", 2), (None, 3)])
    assert rows.where({"kind": ("a", "b")}).values == [("a", 1), ("b", 2)]
    assert rows.where({"kind": "a", "n": 2}).values == []


def test_json_has_exact_values(overview: Report) -> None:
    written = json.loads("\n".join(json_lines(overview)), parse_float=Decimal)
    assert [each["value"] for each in written["figures"]] == [each.value for each in overview.figures]
    for given, section in zip(written["sections"], overview.sections, strict=True):
        assert len(given["rows"]) == len(section.rows.values)
    assert written["report_version"] == 1


def test_markdown_has_a_table_for_each_section_that_markup_of_logs_cannot_leave(overview: Report) -> None:
    text = "\n".join(markdown_lines(overview, UTC))
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    assert page.count("<table>") == len(overview.sections)
    assert page.count("<h2>") == len(overview.sections)
    assert not [element for element in ("<script", "<img", "<svg", "<link", "<iframe", "<meta") if element in page]
    assert "window.ran" in page


def test_markup_of_logs_is_escaped_wherever_it_stands(overview: Report) -> None:
    page = "\n".join(html_lines(overview, UTC))
    assert not [text for text in ACTING if text in page]
    assert page.count("</script>") == 3


def test_a_ledger_without_rows_gives_a_page(report_ledger: Ledger) -> None:
    report = make_report("overview", find_report("overview"), report_ledger, {"since": "2036-01-01"}, "UTC")
    assert {each.value for each in report.figures} <= {None, 0}
    page = "\n".join(html_lines(report, UTC))
    assert "No requests yet." in page
    assert "No finding" in page or "Nothing to show." in page


def test_the_library_of_charts_is_the_one_that_its_script_made() -> None:
    page = ROOT / "aix" / "reports" / "page"
    digest, name = (page / "plot.min.js.sha256").read_text().split()
    assert hashlib.sha256((page / name).read_bytes()).hexdigest() == digest
    version = re.search(r"^PLOT=(.*)$", (page / "fetch_plot.sh").read_text(), re.MULTILINE)
    assert version is not None
    assert f"Observable Plot {version[1]} " in (page / name).read_text("utf-8")[:200]
    assert f"== @observablehq/plot {version[1]} (ISC)" in (page / "plot.licences.txt").read_text("utf-8")


def test_too_many_rows_are_not_given_to_the_page(report_ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aix.reports.report.MOST_CELLS", 3)
    section = Section(title="By day", query="token_economics/cost_cells", group=("day",), add=("cost_usd",))
    report = make_report("mine", Definition(title="Mine", sections=(section,)), report_ledger, {}, "UTC")
    assert not report.has_filters
    assert report.sections[0].rows.values
