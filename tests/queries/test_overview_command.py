"""`aix overview`: its figures are those of the commands that it names, and its screen fits every terminal."""

import json
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import aix
from aix.cli.overview_figures import last_period
from aix.output.humanise import counted
from aix.query import dates
from aix.reading.costs import BY
from aix.reading.ledger import Ledger
from aix.store.manifest import FINDINGS_FILE
from tests.support.command_line import AIX, run_here, run_in_process, run_on_terminal

COMMAND = re.compile(r"aix (?:cost|sessions|audit|import|problems|query \w+)(?: --\w+ \S+)?$")
COLOUR = re.compile("\x1b\\[[0-9;]*m")


def told(command: str, ledger: Path, *arguments: str) -> Any:  # noqa: ANN401 - as the JSON has it
    done = run_in_process(*command.split(), *arguments, "--ledger", str(ledger))
    assert done.returncode in (0, 1), done.stderr
    return json.loads(done.stdout, parse_float=Decimal)


def figures(ledger: Path, *arguments: str) -> dict[str, Any]:
    [row] = told("overview", ledger, "--json", *arguments)
    assert isinstance(row, dict)
    return row


def total(rows: list[dict[str, Any]], *columns: str) -> Any:  # noqa: ANN401 - a count or an amount
    return sum(row[column] for row in rows for column in columns if row[column] is not None)


def set_clock(monkeypatch: pytest.MonkeyPatch, today: date) -> None:
    monkeypatch.setattr(dates, "present", lambda: datetime(today.year, today.month, today.day, 12, tzinfo=UTC))


@pytest.mark.long
def test_totals_are_those_of_the_cost_to_the_token(filled: Ledger) -> None:
    found = figures(filled.path)
    kinds = ("input", "output", "cache_read", "cache_write")
    assert found["total_tokens"] == sum(found[f"{kind}_tokens"] for kind in kinds) > 0
    for by in (each for each in BY if each not in ("tag", "block")):
        rows = filled.query(f"token_economics/cost_by_{by}").polars().to_dicts()
        for name in (
            "requests",
            "input_tokens",
            "output_tokens",
            "cache_read_tokens",
            "cost_usd",
            "cost_estimated_usd",
        ):
            assert found[name] == total(rows, name), (by, name)
        assert found["cache_write_tokens"] == total(rows, "cache_write_5m_tokens", "cache_write_1h_tokens")
        assert found["unpriced_requests"] == total(rows, "unpriced_requests") > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("today", "filters", "period"),
    [
        (date(2026, 10, 31), [], 30),
        (date(2026, 3, 19), ["--project", "press"], None),
        (date(2026, 3, 20), ["--since", "2026-03-02", "--until", "2026-03-20"], 7),
    ],
)
def test_each_figure_is_that_of_the_query_behind_its_line(
    filled: Ledger, monkeypatch: pytest.MonkeyPatch, today: date, filters: list[str], period: int | None
) -> None:
    set_clock(monkeypatch, today)
    found = figures(filled.path, *filters)

    def rows(name: str) -> list[dict[str, Any]]:
        return list(told(f"query {name} --json", filled.path, *filters))

    waste = {row["class"]: row for row in rows("waste")}
    compactions, savings, origins = rows("break_even"), rows("cache_savings"), rows("by_origin")
    failed = [waste["failed_turn"], waste["interrupted_turn"]]
    assert (found["cache_saved_usd"] or 0) == total(savings, "saved_usd")
    assert found["cache_lost_usd"] == waste["cache_loss"]["cost_usd"]
    assert ((found["wasted_usd"] or 0), found["wasted_turns"]) == (total(failed, "cost_usd"), total(failed, "turns"))
    assert found["compactions"] == len(compactions)
    assert found["compactions_paid_back"] == sum(row["is_paid_back"] is True for row in compactions)
    assert (found["compactions_net_usd"] or 0) == total(compactions, "net_usd")
    [costs] = rows("cost_total")
    for name in ("sessions", "subagents"):
        assert found[name] == total(origins, name) == costs[name]
    assert found["turns"] == total(origins, "turns")
    everything = [row["is_subagent"] for row in filled.sessions().polars().to_dicts()]
    assert 0 < found["sessions"] <= everything.count(0)
    assert bool(filters) == (found["sessions"] + found["subagents"] < len(everything))
    days = {row["day"]: row["cost_usd"] or 0 for row in rows("cost_by_day") if row["day"] is not None}
    ages = {(today - date.fromisoformat(day)).days: cost for day, cost in days.items()}
    assert found["future_requests"] == 0
    recent = None if period is None else sum(cost for age, cost in ages.items() if age < period)
    assert (found["period_days"], found["period_cost_usd"]) == (period, recent)
    assert (found["first_day"], found["last_day"], found["active_days"]) == (min(days), max(days), len(days))


@pytest.mark.long
def test_requests_of_the_future_are_counted_and_stretch_no_range(
    filled: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = told("query cost_by_day --json", filled.path)
    later = [row for row in days if row["day"] is not None and row["day"] > "2026-03-12"]
    set_clock(monkeypatch, date(2026, 3, 12))
    found = figures(filled.path)
    assert found["future_requests"] == total(later, "requests") > 1
    assert found["last_day"] == max(row["day"] for row in days if row["day"] is not None and row not in later)
    assert (found["cost_usd"], found["requests"]) == (total(days, "cost_usd"), total(days, "requests"))
    recent = [row for row in days if row["day"] is not None and "2026-02-11" <= row["day"] <= "2026-03-12"]
    assert (found["period_days"], found["period_cost_usd"]) == (30, total(recent, "cost_usd"))
    shown = run_in_process("overview", "--ledger", str(filled.path)).stdout
    assert f"{found['future_requests']} requests are dated in the future" in shown
    assert "Last 30 days" in shown
    assert "aix cost --since 2026-02-11\n" in shown


@pytest.mark.parametrize(
    ("covered", "expected"), [(8, (7, 7, None)), (13, (7, 7, None)), (31, (7, 7, 7)), (60, (30, 30, 30))]
)
def test_a_period_before_that_the_ledger_does_not_cover_is_not_compared(
    covered: int, expected: tuple[object, ...]
) -> None:
    """A dollar on each day: with 31 days, thirty dollars would seem thirty times the one of the period before."""
    today = date(2026, 3, 20)
    days = {today - timedelta(days=age): Decimal(1) for age in range(covered)}
    assert tuple(last_period(days, today, None)) == expected
    assert last_period({}, today, None) == (None, None, None)


@pytest.mark.long
@pytest.mark.parametrize(
    ("since", "is_compared"), [("2026-03-07", True), ("2026-03-07T00:00:01", False), ("2026-03-08", False)]
)
def test_a_period_that_is_cut_is_no_base_of_a_comparison(
    filled: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    since: str,
    is_compared: bool,  # noqa: FBT001 - a case
) -> None:
    set_clock(monkeypatch, date(2026, 3, 20))
    found = figures(filled.path, "--since", since)
    assert (found["period_days"], found["previous_cost_usd"] is not None) == (7, is_compared)
    spent = told("cost --by day --format json", filled.path, "--since", "7d")["totals"]["cost_usd"] or 0
    later = told("cost --by day --format json", filled.path, "--since", "2026-03-21")["totals"]["cost_usd"] or 0
    assert found["period_cost_usd"] == spent - later


@pytest.mark.long
def test_lines_that_were_not_fully_read_are_those_of_problems(filled: Ledger) -> None:
    problems = told("problems --json", filled.path)
    assert figures(filled.path)["problems"] == len(problems) > 0
    assert figures(filled.path, "--project", "press")["problems"] is None
    line = run_in_process("overview", "--ledger", str(filled.path)).stdout.splitlines()[-1]
    assert f" · {counted(len(problems), 'line')} not fully read · imported " in line
    assert line.endswith(" aix problems")


@pytest.mark.long
def test_notes_about_records_that_were_read_are_counted_apart_from_lines_that_were_not(tmp_path: Path) -> None:
    logs = Path("fixtures/agent_dag/broken_lines"), Path("fixtures/session_log/two_turns")
    imported = run_in_process("import", *map(str, logs), "--ledger", str(tmp_path / "ledger")).stdout
    assert "6 notes about the data. 7 lines could not be fully read; see `aix problems`." in imported
    found = figures(tmp_path / "ledger")
    assert (found["problems"], found["problem_notes"]) == (13, 6)
    line = run_in_process("overview", "--ledger", str(tmp_path / "ledger")).stdout.splitlines()[-1]
    assert " · 7 lines not fully read · 6 notes · imported " in line


@pytest.mark.long
@pytest.mark.parametrize("filters", [[], ["--project", "drift"]])
def test_findings_are_those_of_the_audit(permission_ledger: Path, filters: list[str]) -> None:
    audited = told("audit --format json", permission_ledger, *filters)["counts"]
    found = figures(permission_ledger, *filters)
    for severity in ("high", "medium", "low"):
        assert found[f"findings_{severity}"] == audited[severity]
    assert found["findings_high"] > 0
    assert found["secrets"] == len(told("query secrets_seen --json", permission_ledger, *filters))


@pytest.mark.long
def test_counts_of_findings_are_kept_for_a_version(tmp_path: Path) -> None:
    log = tmp_path / "fixtures"
    log.symlink_to(Path("fixtures/session_log/two_turns").absolute())
    ledger = tmp_path / "ledger"
    run_here("import", str(log), "--ledger", str(ledger))
    assert figures(ledger)["findings_high"] == 0
    note = ledger / FINDINGS_FILE
    note.write_text(note.read_text().replace('"severities":{}', '"severities":{"high":7}'))
    assert figures(ledger)["findings_high"] == 7
    assert figures(ledger, "--since", "2020-01-01")["findings_high"] == 0, "a filter asks the queries"
    note.write_text(re.sub('"made_by":"[^"]*"', '"made_by":"other queries"', note.read_text()))
    assert figures(ledger)["findings_high"] == 0
    [(label, *_), *_] = aix.open(ledger).sessions().rows()
    run_here("forget", label, "--ledger", str(ledger))
    assert not note.exists()


@pytest.mark.long
def test_findings_of_other_packs_are_counted_and_lead_to_their_audit(program_ledger: Path) -> None:
    audited = told("audit --pack programs --format json", program_ledger)
    found = figures(program_ledger)
    counts = {severity: audited["counts"][severity] for severity in ("high", "medium", "low")}
    assert {severity: found[f"pack_findings_{severity}"] for severity in counts} == counts
    assert counts["high"] > 0 == found["findings_high"]
    screen = run_in_process("overview", "--ledger", str(program_ledger)).stdout
    assert "Projects" not in screen, "no session names one"
    shown = " · ".join(f"{count} {severity}" for severity, count in counts.items())
    assert re.search(rf"^ +in programs  {shown} +aix audit --pack programs$", screen, re.MULTILINE)
    assert figures(program_ledger, "--project", "none")["pack_findings_high"] == 0, "it cannot be narrowed down so"
    screen, _ = run_on_terminal(AIX, "audit", "--ledger", str(program_ledger), columns=80)
    assert "aix audit --pack programs  the audit of programs" in COLOUR.sub("", screen)
    screen, _ = run_on_terminal(AIX, "audit", "--pack", "programs", "--ledger", str(program_ledger), columns=80)
    assert "Audit of programs · " in screen
    assert "aix audit --pack programs -o audit.html" in screen
    [explained] = re.findall(r"aix audit explain (\w+)", COLOUR.sub("", screen))
    assert told(f"audit explain {explained} --json", program_ledger)["id"].startswith(explained)


@pytest.mark.parametrize("columns", [80, *(pytest.param(width, marks=pytest.mark.long) for width in (60, 100, 140))])
def test_the_screen_fits_and_names_a_command_on_each_line(filled: Ledger, columns: int) -> None:
    shown, code = run_on_terminal(AIX, "overview", "--ledger", str(filled.path), columns=columns)
    assert code == 0
    lines = COLOUR.sub("", shown).replace("\r", "").splitlines()
    headline, blank, *rest = lines[: next(place for place, line in enumerate(lines) if line.startswith("aix:"))]
    assert (blank, max(map(len, lines)) <= columns) == ("", True)
    assert headline == "64 sessions cost $23.18; the cache saved $24.76."
    labelled = [line for line in rest if not line.startswith(" ")]
    assert [label for line in labelled if (label := line.split("  ")[0]) != "Last 30 days"] == [
        *("Cost", "Tokens", "Days", "Trend", "Cache", "Waste", "Compactions", "Findings"),
        *("Projects", "Models", "Sessions", "Tools", "Data"),
    ]
    assert all(COMMAND.search(line) for line in labelled)
    [programs] = [line for line in rest if line.lstrip().startswith("in programs  ")]
    assert COMMAND.search(programs)
    assert len(lines) <= 30


def test_the_commands_get_the_filters_as_they_were_given(filled: Ledger) -> None:
    done = run_in_process("overview", "--until", "2026-03-02", "--project", "a b", AIX_LEDGER=str(filled.path))
    assert "aix: add --until 2026-03-02 --project 'a b' to these commands" in done.stderr


def test_a_pipe_gets_whole_lines_without_colours(filled: Ledger) -> None:
    done = run_in_process("overview", "--ledger", str(filled.path))
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    assert "Cost          at least $23.18 · about $23.20 (+0.1 %) · 6 requests unpriced" in lines[2]
    assert done.stderr == f"aix: add --ledger {filled.path} to these commands to ask about the same data\n"
    starts = {match.start() for line in lines if (match := COMMAND.search(line))}
    assert len(starts) == 1, "the commands form a column"


@pytest.mark.long
def test_commands_on_the_screen_work(filled: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, date(2026, 10, 20))  # the last day of the ledger
    screen = run_in_process("overview", "--ledger", str(filled.path)).stdout
    commands = {match[0] for line in screen.splitlines() if (match := COMMAND.search(line))} - {"aix import"}
    assert len(commands) > 8
    for command in commands:
        done = run_in_process(*command.split()[1:], "--ledger", str(filled.path))
        assert done.returncode in (0, 1), (command, done.stderr)
        assert len(done.stdout.splitlines()) > 1, command


def test_unknown_costs_are_never_shown_as_nothing(filled: Ledger) -> None:
    done = run_in_process("overview", "--origin", "cursor", "--ledger", str(filled.path))
    assert done.stdout.startswith("1 session of unknown cost.\n")
    assert "$0" not in done.stdout
    assert figures(filled.path, "--origin", "cursor")["period_cost_usd"] is None


def only_programs(folder: Path) -> Path:
    """Import a log of programs without a session."""
    run_here("import", "fixtures/programs/programs.jsonl", "--ledger", str(folder / "ledger"))
    return folder / "ledger"


@pytest.mark.long
def test_a_sentence_says_that_there_is_nothing(filled: Ledger, empty: Ledger, tmp_path: Path) -> None:
    nothing = run_in_process("overview", "--project", "no such project", "--ledger", str(filled.path))
    assert nothing.stdout == "No session of the ledger matches that.\n"
    assert run_in_process("overview", "--ledger", str(empty.path)).stdout == "The ledger is empty. Next: aix import\n"
    kept = run_in_process("overview", "--ledger", str(only_programs(tmp_path))).stdout
    assert re.match(r"No sessions yet; \d+ programs and \d+ program events\. Next: aix program list\n", kept)
    assert re.search(r"^Findings  in programs  .*aix audit --pack programs$", kept, re.MULTILINE)
    nodes = tmp_path / "nodes.jsonl"
    nodes.write_text('{"node": "Agent", "id": "a"}\n{"node": "Message", "id": "m"}\n', "utf-8")
    run_here("import", str(nodes), "--ledger", str(tmp_path / "graph"))
    graph = run_in_process("overview", "--ledger", str(tmp_path / "graph")).stdout
    assert graph.startswith("No sessions yet; 2 graph nodes. Next: aix sql")
    assert figures(empty.path)["cost_usd"] is None
