"""`aix cost`: exact for machines, short for people, and honest about what is not known."""

import json
from pathlib import Path

import polars as pl
import pytest

import aix
from aix.cli.cost import BY
from aix.errors import ParameterError, UnknownSessionError
from tests.support.command_line import AIX, run_here, run_on_terminal
from tests.support.priced_ledger import make_priced_ledger

NOTES = """\
aix: $5.00 is a lower bound: not all logs say how much the models wrote in the end; estimated from what they wrote, \
it is $5.50, 10.0 % more
aix: unpriced, and in no cost: 1 request with 5.0k tokens (mystery)
aix: $7.00 is what sources themselves report; it is no part of the other figures
aix: computed at the list prices of own list 7; `aix prices` shows them
"""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_priced_ledger(tmp_path_factory.mktemp("cost") / "ledger")


def table(ledger: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run_here("cost", *arguments, "--ledger", str(ledger))
    return capsys.readouterr().out


@pytest.mark.parametrize("by", BY)
def test_machines_get_exactly_what_the_query_returns(ledger: Path, capsys: pytest.CaptureFixture[str], by: str) -> None:
    run_here("cost", "--by", by, "--format", "jsonl", "--ledger", str(ledger))
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = aix.open(ledger).query(f"token_economics/cost_by_{by}")
    assert [list(row) for row in rows] == [list(found.columns)] * len(found.rows())
    assert sum(row["cost_usd"] or 0 for row in rows) == 5


def test_people_get_a_line_for_each_thing_a_bar_and_a_total(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here("cost", "--ledger", str(ledger))
    captured = capsys.readouterr()
    assert captured.out == (
        "model    turns  input  output  cache read  cache write   cost  likely  unpriced  share\n"
        "───────  ─────  ─────  ──────  ──────────  ───────────  ─────  ──────  ────────  ─────  ────────────\n"
        "model-x      3   4.0M    100k           –            –  $5.00   $5.50         –  100 %  ████████████\n"
        "mystery      1   5.0k       –           –            –      –       –         1      –  ·\n"
        "total        –   4.0M    100k           –            –  $5.00   $5.50         1  100 %  –\n"
    )
    assert captured.err == NOTES


def test_a_limit_keeps_what_cost_most_and_adds_the_others_up(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = table(ledger, capsys, "--by", "session", "--limit", "1").splitlines()
    assert lines[2].split()[:4] == ["log:main", "Build", "the", "site"]
    assert lines[3].startswith("2 others  –")
    assert lines[3].endswith("$2.00   $2.00         1  40.0 %  –")
    assert lines[4].startswith("total")


def test_a_limit_keeps_the_last_days(ledger: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = table(ledger, capsys, "--by", "month", "--limit", "1").splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["1", "2026-04", "total"]
    target = tmp_path / "days.parquet"
    table(ledger, capsys, "--by", "day", "--limit", "2", "-o", str(target))
    assert [str(day) for day in pl.read_parquet(target)["day"]] == ["2026-03-02", "2026-04-01"]


def test_projects_are_shown_by_the_end_of_their_path(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = table(ledger, capsys, "--by", "project")
    assert "\nweb/site" in shown
    assert "\nsrv/site" in shown


@pytest.mark.parametrize(
    ("arguments", "cost"),
    [
        (["--tag", "billing"], 3),
        (["--session", "log:h"], 2),
        (["--model", "MYST"], 0),
        (["--until", "2026-03-01"], 2),
        (["--since", "2026-03-02T11:00:00", "--until", "2026-03-02", "--timezone", "Europe/Berlin"], 3),
    ],
)
def test_figures_are_narrowed_down(
    ledger: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], cost: int
) -> None:
    run_here("cost", "--json", *arguments, "--ledger", str(ledger))
    assert sum(row["cost_usd"] or 0 for row in json.loads(capsys.readouterr().out)) == cost


def test_tags_that_may_overlap_have_no_total(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = table(ledger, capsys, "--by", "tag")
    assert "billing" in shown
    assert "total" not in shown
    assert "share" not in shown


def test_nothing_found_is_said(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here("cost", "--since", "2030-01-01", "--ledger", str(ledger))
    captured = capsys.readouterr()
    assert (len(captured.out.splitlines()), captured.err) == (2, "aix: no request in the ledger matches that\n")


def test_what_cannot_be_asked_is_refused(ledger: Path) -> None:
    with pytest.raises(UnknownSessionError):
        run_here("cost", "--session", "nobody", "--ledger", str(ledger))
    with pytest.raises(ParameterError):
        run_here("cost", "--since", "soon", "--ledger", str(ledger))


def test_the_table_fits_a_terminal(ledger: Path) -> None:
    shown, code = run_on_terminal(AIX, "cost", "--ledger", str(ledger), columns=110)
    assert code == 0
    assert "████████████" in shown
    assert "\x1b[1m" in shown
