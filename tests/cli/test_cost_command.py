"""`aix cost`: exact for machines, short for people, and honest about what is not known."""

import json
import re
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import click
import polars as pl
import pytest

import aix
from aix.cli.cost import command
from aix.derived.derived_data import renew
from aix.errors import ParameterError, UnknownSessionError
from aix.prices.table import PriceTable
from aix.query import dates
from aix.reading.costs import BY
from tests.support.command_line import AIX, run_here, run_on_terminal
from tests.support.conversations import message, request, session, turn
from tests.support.priced_ledger import MARCH_2, make_priced_ledger
from tests.support.row_batches import deliver

HOUR = 3_600_000
SUMS = ("requests", "input_tokens", "output_tokens", "cost_usd", "cost_estimated_usd", "unpriced_requests")
TABLE = """\
model     cost  tokens  share  unpriced  turns  output  cache read  input  cache write  estimated  exact output %
model-x  $5.00    4.1M  100 %         –      3    100k           –   4.0M            –      $5.50          66.7 %
mystery      –    5.0k      –         1      1       –           –   5.0k            –          –             0 %
total    $5.00    4.1M  100 %         1      4    100k           –   4.0M            –      $5.50          50.0 %
"""
BARS = ["", "  ████████████", "  ·", "  –"]
NOTES = """\
aix: At least $5.00; about $5.50 (+10.0 %) because some logs omit final output counts
aix: No price is known for 1 request with 5.0k tokens (mystery); not included above
aix: The logs themselves report $7.00 (not included above)
aix: Computed at the list prices of own list 7; see `aix prices`
"""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_priced_ledger(tmp_path_factory.mktemp("cost") / "ledger")


def table(ledger: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    run_here("cost", *arguments, "--ledger", str(ledger))
    return capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("by", BY)
def test_machines_get_exactly_what_the_query_returns(ledger: Path, capsys: pytest.CaptureFixture[str], by: str) -> None:
    run_here("cost", "--by", by, "--format", "jsonl", "--ledger", str(ledger))
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = aix.open(ledger).query("token_economics/blocks" if by == "block" else f"token_economics/cost_by_{by}")
    assert [list(row) for row in rows] == [list(found.columns)] * len(found.rows())
    assert sum(row["cost_usd"] or 0 for row in rows) == 5


@pytest.mark.long
def test_pairs_of_things_add_up_to_the_total(ledger: Path) -> None:
    things = [each for each in BY if each != "tag"]
    with aix.open(ledger) as opened:
        [total] = opened.query("token_economics/cost_total", timezone="UTC").polars().to_dicts()
        for first, second in pairwise([*things, things[0]]):
            pairs = opened.query("token_economics/cost_by_two", first=first, second=second, timezone="UTC").polars()
            assert [pairs[name].sum() for name in SUMS] == [total[name] for name in SUMS], (first, second)
            one = pairs.group_by("first_value").agg(pl.col("cost_usd").sum()).height
            name = "blocks" if first == "block" else f"cost_by_{first}"
            assert one == len(opened.query(f"token_economics/{name}", timezone="UTC").rows()), first


def test_two_things_have_columns_with_their_names(
    ledger: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    shown = table(ledger, capsys, "--by", "days, models", "--until", "2026-03").splitlines()
    assert [line.split()[:4] for line in shown[2:]] == [
        ["2026-03-01", "model-x", "$2.00", "1.1M"],
        ["2026-03-02", "model-x", "$3.00", "3.0M"],
        ["total", "–", "$5.00", "4.1M"],
    ]
    table(ledger, capsys, "--by", "session,block", "--limit", "2", "-o", str(tmp_path / "rows.parquet"))
    rows = pl.read_parquet(tmp_path / "rows.parquet")
    assert rows.columns[:3] == ["session_label", "started_at", "turns"]
    assert rows["session_label"].to_list() == ["log:main", "log:main"]


def test_json_has_the_totals_of_all_rows(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here("cost", "--by", "project", "--limit", "1", "--json", "--ledger", str(ledger))
    written = json.loads(capsys.readouterr().out)
    assert [row["project"] for row in written["rows"]] == ["/web/site"]
    totals = written["totals"]
    assert [totals[name] for name in ("turns", "requests", "sessions", "subagents", "cost_usd")] == [4, 4, 2, 1, 5]
    assert totals["first_at"] < totals["last_at"]


def test_blocks_begin_at_a_number_alone_and_in_pairs(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for by in ("block", "block,project", "project,block"):
        run_here("cost", "--by", by, "--json", "--ledger", str(ledger))
        found.append({row["started_at"] for row in json.loads(capsys.readouterr().out)["rows"]})
    assert found[0] == found[1] == found[2]
    assert {type(moment) for moment in found[0]} == {int}


def test_rows_have_a_name_a_title_and_cents(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = "word " * 40
    deliver(
        tmp_path / "ledger",
        {
            "turns": [turn("t-1", None, MARCH_2), turn("t-2", "t-1", MARCH_2 + 1)],
            "messages": [
                message("q-1", "t-1", "user", MARCH_2, content=f"<go-name>/go</go-name><go-args>{words}</go-args>")
            ],
            "requests": [
                request(f"r-{number}", f"t-{number}", MARCH_2, model="model-x", input_tokens=number * 2_000)
                for number in (1, 2)
            ],
        },
    )
    prices = tmp_path / "prices.csv"
    prices.write_text("model,input,output,source,source_version\nmodel-x,1,10,own list,7\n")
    renew(tmp_path / "ledger", PriceTable(prices))
    rows = table(tmp_path / "ledger", capsys, "--by", "turn").splitlines()[2:]
    assert [row.split()[0] for row in rows] == ["t-2", "t-1", "total"]
    assert ["<$0.01" in row for row in rows] == [True, True, False]
    assert "$0.01" in rows[-1]
    assert " –  " in rows[0], "neither the turn nor a session has a title"
    assert "  /go word word" in rows[1]
    assert "word …  <$0.01" in rows[1]
    assert f"/go {words.strip()}\n" in table(tmp_path / "ledger", capsys, "--by", "turn", "--expanded")
    for by in ("project", "branch", "session"):
        assert table(tmp_path / "ledger", capsys, "--by", by).splitlines()[2].startswith("unknown ")


def test_the_running_block_has_a_pace_and_a_projection(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(dates, "present", lambda: datetime(2026, 3, 2, 12, tzinfo=UTC))
    requests = [
        request(f"r-{hour}", "t-1", MARCH_2 + hour * HOUR, model="model-x", input_tokens=1_000_000)
        for hour in (-9, 0, 2)
    ]
    deliver(tmp_path / "ledger", {"turns": [turn("t-1", None, MARCH_2)], "requests": requests})
    prices = tmp_path / "prices.csv"
    prices.write_text("model,input,output,source,source_version\nmodel-x,1,10,own list,7\n")
    renew(tmp_path / "ledger", PriceTable(prices))
    run_here("cost", "--by", "block", "--timezone", "Europe/Berlin", "--ledger", str(tmp_path / "ledger"))
    captured = capsys.readouterr()
    lines = [re.split("  +", line)[:6] for line in captured.out.splitlines()]
    assert lines[0] == ["block", "cost", "tokens", "share", "projected", "per hour"]
    assert lines[2:4] == [
        ["2026-03-02 02:00", "$1.00", "1.0M", "33.3 %", "–", "–"],
        ["2026-03-02 11:00", "$2.00", "2.0M", "66.7 %", "$5.00", "$1.00"],
    ]
    assert (
        "aix: The block of 11:00 to 16:00 is running: $1.00 and 1.0M tokens an hour; about $5.00 and 5.0M tokens at its"
        " end\n"
    ) in captured.err


def test_people_get_a_line_for_each_thing_a_bar_and_a_total(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here("cost", "--ledger", str(ledger))
    captured = capsys.readouterr()
    heading, _, *rows = captured.out.splitlines()
    assert [heading, *rows] == [f"{line}{drawn}" for line, drawn in zip(TABLE.splitlines(), BARS, strict=True)]
    assert captured.err == NOTES


def test_a_limit_keeps_what_cost_most_and_adds_the_others_up(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = table(ledger, capsys, "--by", "session", "--limit", "1").splitlines()
    assert lines[2].split()[:4] == ["log:main", "Build", "the", "site"]
    assert lines[3].split() == ["2", "others", "–", "$2.00", "2.0M", "40.0", "%", "1", "–", "–", "$2.00", "–"]
    assert lines[4].startswith("total")


def test_a_limit_keeps_the_last_days(ledger: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = table(ledger, capsys, "--by", "month", "--limit", "1").splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["1", "2026-04", "total"]
    target = tmp_path / "days.parquet"
    table(ledger, capsys, "--by", "day", "--limit", "2", "-o", str(target))
    assert [str(day) for day in pl.read_parquet(target)["day"]] == ["2026-03-02", "2026-04-01"]


def test_projects_are_shown_by_the_end_of_their_path(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = table(ledger, capsys, "--by", "project")
    assert "\n/web/site" in shown
    assert table(ledger, capsys, "--by", "project", "--project", "…b/site").splitlines()[2].startswith("/web/site")
    assert "\n/srv/site" in shown


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
    written = json.loads(capsys.readouterr().out)
    assert sum(row["cost_usd"] or 0 for row in written["rows"]) == cost == (written["totals"]["cost_usd"] or 0)


def test_tags_that_may_overlap_have_no_total(ledger: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = table(ledger, capsys, "--by", "tag")
    assert {line.split("  ")[0] for line in shown.splitlines()[2:]} == {"billing", "(no tag)"}
    assert "total" not in shown
    assert "share" not in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--since", "2030-01-01"], "No requests since 2030-01-01"),
        (["--until", "2020-01"], "No requests up to 2020-01-31"),
        (
            ["--since", "2026-03", "--until", "2026-03", "--model", "y"],
            "No requests between 2026-03-01 and 2026-03-31 with model 'y'",
        ),
        (["--since", "20260303", "--until", "20260303"], "No requests on 2026-03-03"),
        (["--project", "p", "--tag", "billing"], "No requests with project 'p' and tag 'billing'"),
    ],
)
def test_nothing_found_is_said(
    ledger: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], sentence: str
) -> None:
    run_here("cost", *arguments, "--ledger", str(ledger))
    captured = capsys.readouterr()
    expected = f"aix: {sentence}; the ledger covers 2026-03-01 to 2026-04-01\n"
    assert (captured.out, captured.err) == ("", expected)


def test_turns_that_count_for_another_session_are_named_with_that_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`left` is an earlier state of `main`, `fork` goes on from its first turn."""
    deliver(
        tmp_path,
        {
            "turns": [turn("t-1"), turn("t-2", "t-1", 1), turn("t-3", "t-1", 2), turn("t-4", "t-1", 3)],
            "requests": [
                request(f"r-{each}", f"t-{each}", MARCH_2, model="model-x", input_tokens=1) for each in (1, 2, 3)
            ],
            "sessions": [
                session("main-one", "t-2", 0),
                session("left-one", "t-3", 1, status="archived"),
                session("fork-one", "t-4", 2),
            ],
            "session_turns": [
                {"session_label": "main-one" if each != "t-4" else "fork-one", "turn_id": each}
                for each in ("t-1", "t-2", "t-3", "t-4")
            ],
        },
    )
    renew(tmp_path, PriceTable())

    def notes(*arguments: str) -> list[str]:
        run_here("cost", *arguments, "--ledger", str(tmp_path))
        return capsys.readouterr().err.splitlines()

    left = "All 2 turns of left-one also belong to main-one and are counted there: `aix cost --session main-one`"
    fork = "1 of 2 turns of fork-one also belongs to main-one and is counted there: `aix cost --session main-one`"
    assert notes("--session", "left-one") == [f"aix: {left}"]
    assert f"aix: {fork}" in notes("--session", "fork-one")
    assert not any("belong" in note for note in notes("--session", "main-one"))
    own = "aix: 1 session has no turn of its own: its turns are counted under another session"
    assert own in notes("--by", "session")
    assert own not in notes("--by", "day")
    assert "aix: 1 of 4 turns made no request, and is not counted above" in notes("--by", "day")
    run_here("sessions", "--ledger", str(tmp_path))
    assert [line.split()[2:5] for line in capsys.readouterr().out.splitlines() if "left-one" in line] == [
        ["left-one", "(earlier", "state)"]
    ]


def test_what_cannot_be_asked_is_refused(ledger: Path) -> None:
    with pytest.raises(UnknownSessionError):
        run_here("cost", "--session", "nobody", "--ledger", str(ledger))
    with pytest.raises(ParameterError):
        run_here("cost", "--since", "soon", "--ledger", str(ledger))
    for wrong in ("colour", "day,day", "day,model,tool", ""):
        with pytest.raises(click.BadParameter):
            run_here("cost", "--by", wrong, "--ledger", str(ledger))


def test_names_of_a_pair_are_completed() -> None:
    [option] = [each for each in command.params if each.name == "dimensions"]
    completed = option.shell_complete(click.Context(command), "day,mo")
    assert [item.value for item in completed] == ["day,model", "day,month"]


def test_the_table_fits_a_terminal(ledger: Path) -> None:
    shown, code = run_on_terminal(AIX, "cost", "--ledger", str(ledger), columns=110)
    assert code == 0
    assert "████████████" in shown
    assert "\x1b[1m" in shown
