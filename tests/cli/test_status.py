"""`aix status`: right in every time zone, from a file that is made again whenever it is not that of the ledger."""

import io
import json
import subprocess
import sys
import time
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import click
import msgspec
import pytest

import aix
from aix.cli.status import filled, status_line
from aix.errors import LedgerNotFoundError, ParameterError
from aix.merge.forget import forget
from aix.merge.selection import Selection
from aix.output.humanise import short_duration
from aix.pipeline.run import Settings, import_histories
from aix.reading.summary import SessionUse, Summary, Use, read_summary, running_block, totals
from aix.store.manifest import STATUS_FILE, read_latest
from tests.importers.session_log.logs import entry, usage, write_log
from tests.merge.test_groups import conversation
from tests.project.test_import_hygiene import RUN_MAIN, SHOW_HEAVY
from tests.support.command_line import run_here
from tests.support.priced_ledger import APRIL_1, MARCH_1, MARCH_2, make_priced_ledger
from tests.support.row_batches import deliver

QUARTER = 900_000


@pytest.fixture(scope="module")
def priced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_priced_ledger(tmp_path_factory.mktemp("status") / "ledger")


def moment(zone: str, *clock: int) -> int:
    return int(datetime(*clock, tzinfo=ZoneInfo(zone)).timestamp() * 1000)  # type: ignore[arg-type,misc]


def summary_of(*moments: int, cost: str | None = "1", likely: str | None = "1") -> Summary:
    """A summary with a request of that cost at each moment."""
    uses = tuple(Use(at // QUARTER, 1, int(cost is None), 10, cost, likely) for at in sorted(moments))
    return Summary(1, aix.__version__, 3, 1, 1_000, uses, None, ())


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Los_Angeles", "Asia/Kolkata", "Asia/Kathmandu"])
def test_days_weeks_and_months_are_those_of_the_time_zone(zone: str) -> None:
    last_year = moment(zone, 2025, 3, 30, 12)
    last_of_february = moment(zone, 2026, 2, 28, 23, 50)
    first_of_march = moment(zone, 2026, 3, 1, 0, 5)  # a Sunday
    yesterday, today = moment(zone, 2026, 3, 3, 23, 59), moment(zone, 2026, 3, 4, 0, 0)
    tomorrow, next_month = moment(zone, 2026, 3, 5, 0, 0), moment(zone, 2026, 4, 1, 0, 0)
    summary = summary_of(last_year, last_of_february, first_of_march, yesterday, today, tomorrow, next_month)
    found = totals(summary, moment(zone, 2026, 3, 4, 9), ZoneInfo(zone))
    assert {name: total.requests for name, total in found.items()} == {"today": 1, "week": 3, "month": 4}
    assert found["today"].from_ms == today


@pytest.mark.parametrize(("day", "quarters"), [((2026, 3, 29), 92), ((2026, 10, 25), 100), ((2026, 6, 1), 96)])
def test_a_day_on_which_clocks_are_changed_is_whole(day: tuple[int, int, int], quarters: int) -> None:
    start = moment("Europe/Berlin", *day)
    summary = summary_of(*(start + number * QUARTER for number in range(-10, 120)))
    found = totals(summary, moment("Europe/Berlin", *day, 12), ZoneInfo("Europe/Berlin"))
    assert (found["today"].requests, found["today"].cost_usd) == (quarters, Decimal(quarters))


@pytest.mark.parametrize(
    ("cost", "likely", "line"),
    [
        ("3.206", "3.206", "today $3.21 · week $3.21 · month $3.21 · imported 5 min ago"),
        ("3.206", "3.5", "today ≥$3.21 · week ≥$3.21 · month ≥$3.21 · imported 5 min ago"),
        (None, None, "today $? · week $? · month $? · 1 unpriced · imported 5 min ago"),
    ],
)
def test_the_line_says_how_sure_it_is(cost: str | None, likely: str | None, line: str) -> None:
    now = 301_000
    summary = summary_of(now, cost=cost, likely=likely)
    assert status_line(summary, totals(summary, now, ZoneInfo("UTC")), now) == line


def test_a_ledger_without_use_or_import_says_so() -> None:
    empty = Summary(1, aix.__version__, 0, 0, None, (), None, ())
    line = status_line(empty, totals(empty, 10**12, ZoneInfo("UTC")), 10**12)
    assert line == "today $0.00 · week $0.00 · month $0.00 · imported never"


def test_a_template_has_fields_and_leaves_other_braces_alone() -> None:
    assert filled("{a}/{ b } {a}", {"a": "1"}) == "1/{ b } 1"
    with pytest.raises(click.UsageError, match="no field 'cost'; it has a"):
        filled("{cost}", {"a": "1"})


def test_the_figures_are_those_of_the_cost_queries(priced: Path) -> None:
    uses = {use.quarter_hour * QUARTER: use for use in read_summary(priced).uses}
    assert {at: (use.requests, use.cost_usd, use.cost_estimated_usd) for at, use in uses.items()} == {
        MARCH_1: (1, "2.000000000000", "2.000000000000"),
        MARCH_2: (2, "3.000000000000", "3.500000000000"),
        APRIL_1: (1, None, None),
    }
    assert (uses[APRIL_1].unpriced_requests, uses[APRIL_1].tokens) == (1, 5_000)


def test_only_the_last_days_with_use_are_kept(tmp_path: Path) -> None:
    days = [*range(1_000, 1_065), 90_000]  # the last lies in the year 2216, as a clock that was wrong has it
    rows = conversation("a", len(days))
    requests = [row | {"requested_at": day * 86_400_000} for row, day in zip(rows["requests"], days, strict=True)]
    deliver(tmp_path, {**rows, "requests": requests})
    assert [use.quarter_hour // 96 for use in read_summary(tmp_path).uses] == days[-62:]


def test_an_import_leaves_a_private_summary_that_is_read_without_heavy_libraries(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [entry("u"), entry("a", parent="u", role="assistant", usage=usage(10, 5))])
    ledger = tmp_path / "ledger"
    import_histories(ledger, [log], Settings(jobs=0))
    stored = msgspec.json.decode((ledger / STATUS_FILE).read_bytes(), type=Summary)
    assert (stored.version, stored.sessions) == (read_latest(ledger).version, 1)
    assert stored.imported_at is not None
    assert (ledger / STATUS_FILE).stat().st_mode & 0o777 == 0o600
    code = f"import sys; sys.argv = {['aix', 'status', '--ledger', str(ledger)]}\n{RUN_MAIN}\n{SHOW_HEAVY}"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()
    assert shown[0].startswith("today $0.00 · week")
    assert shown[1] == "[]"


@pytest.mark.long
@pytest.mark.parametrize("content", [b"", b"{", b'{"version": 99}', None])
def test_a_summary_that_is_not_of_this_version_is_made_again(tmp_path: Path, content: bytes | None) -> None:
    deliver(tmp_path, conversation("a"))
    first = read_summary(tmp_path)
    if content is None:
        stored = msgspec.structs.replace(first, made_by="0.0.1", sessions=99)
        content = msgspec.json.encode(stored)
    (tmp_path / STATUS_FILE).write_bytes(content)
    assert read_summary(tmp_path) == first
    deliver(tmp_path, conversation("b"))
    assert (read_summary(tmp_path).version, read_summary(tmp_path).sessions) == (2, 2)


def test_what_is_forgotten_is_in_no_summary(tmp_path: Path) -> None:
    deliver(tmp_path, conversation("a"), conversation("b"))
    read_summary(tmp_path)
    forget(tmp_path, Selection(labels=["a"]))
    assert not (tmp_path / STATUS_FILE).exists()
    assert read_summary(tmp_path).sessions == 1


def test_a_summary_that_cannot_be_kept_is_still_told(tmp_path: Path) -> None:
    deliver(tmp_path, conversation("a"))
    (tmp_path / STATUS_FILE).mkdir()
    assert read_summary(tmp_path).sessions == 1
    assert {path.name for path in tmp_path.iterdir()} >= {STATUS_FILE}
    assert not list(tmp_path.glob(".*.part"))


def test_json_has_exact_values(priced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here("status", "--json", "--timezone", "Asia/Kolkata", "--ledger", str(priced))
    told = json.loads(capsys.readouterr().out)
    assert (told["version"], told["sessions"], told["imported_at"], told["timezone"]) == (3, 2, None, "Asia/Kolkata")
    names = ["from_ms", "requests", "unpriced_requests", "tokens", "cost_usd", "cost_estimated_usd"]
    assert [list(told[period]) for period in ("today", "week", "month")] == [names] * 3


def test_a_template_is_filled_on_the_command_line(priced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here("status", "--template", "{sessions} sessions, {subagents} subagents, {imported}", "--ledger", str(priced))
    assert capsys.readouterr().out == "2 sessions, 1 subagents, never\n"


def test_the_running_block_is_that_of_the_query(tmp_path: Path) -> None:
    hours = [0, 0.3, 4.2, 5.1, 9.9, 10.2, 20.5, 24.1, 25.6, 25.8]
    start = 1_700_000_000_000 // 3_600_000 * 3_600_000
    moments = [start + int(hour * 3_600_000) for hour in hours]
    rows = conversation("a", len(hours))
    requests = [row | {"requested_at": at} for row, at in zip(rows["requests"], moments, strict=True)]
    deliver(tmp_path, {**rows, "requests": requests})
    summary = read_summary(tmp_path)
    found = aix.open(tmp_path).query("token_economics/blocks", now=moments[-1] + 60_000)
    *_, last = [dict(zip(found.columns, row, strict=True)) for row in found]
    block = running_block(summary, moments[-1] + 60_000)
    assert block is not None
    assert last["is_running"]
    assert (block.total.from_ms, block.ends_at) == (last["started_at"], last["ends_at"])
    assert (block.total.requests, block.total.cost_usd) == (last["requests"], last["cost_usd"])
    assert summary.block_requests == (last["first_at"], last["last_at"])
    assert block.cost_per_hour_usd is None, "a minute has no pace"
    assert last["cost_per_hour_usd"] is None
    assert running_block(summary, block.ends_at) is None


def test_a_request_of_the_future_does_not_hide_the_running_block() -> None:
    now = 1_700_000_000_000
    uses = (Use(now // QUARTER, 2, 0, 10, "2", "2"), Use(now // QUARTER + 10**6, 1, 0, 10, "1", "1"))
    summary = Summary(1, aix.__version__, 2, 0, now, uses, (now + 10**12, now + 10**12), ())
    block = running_block(summary, now)
    assert block is not None
    assert (block.total.requests, block.cost_per_hour_usd) == (2, None)


def test_a_template_has_the_block_and_the_session(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    deliver(tmp_path, conversation("a"))
    version = read_summary(tmp_path).version
    now = time.time_ns() // 10**6  # from here on every second counts: the pace is that of half an hour
    began = (now - 60_000) // QUARTER
    session = SessionUse("tool:5e55-01ab", now, 7, 0, 91_000, "1.5", "1.5", 84_000)
    subagent = SessionUse("tool:5e55-01ab/agent-7", now - 1, 1, 0, None, None, None, None)
    other = SessionUse("tool:5e55-02", now - 1, 1, 0, None, None, None, None)
    first, last = now - 1_800_000, now
    uses = (Use(began, 3, 0, 10, "2", "3"),)
    stored = Summary(version, aix.__version__, 2, 0, now, uses, (first, last), (session, subagent, other))
    (tmp_path / STATUS_FILE).write_bytes(msgspec.json.encode(stored))

    def shown(*arguments: str) -> str:
        run_here("status", "--ledger", str(tmp_path), *arguments)
        return capsys.readouterr().out.rstrip("\n")

    assert shown("--template", "{block} {block_usd} {block_requests} {block_pace}") == "≥$2.00 2.00 3 $4.00/h"
    left = shown("--template", "{block_left}")
    ends_in_ms = (began // 4 + 5) * 3_600_000 - time.time_ns() // 10**6
    assert left in {short_duration((ends_in_ms // 60_000 + late) * 60_000) for late in (0, 1)}
    assert shown("--template", "{session} {session_tokens} {context}") == "$1.50 91k 84k"
    assert shown("--session", "5e55-02", "--template", "{session} {session_requests} {context}") == "$? 1 ?"
    run_here("status", "--ledger", str(tmp_path), "--session", "5e55-0")
    assert "no session named '5e55-0' is among the 3 latest" in capsys.readouterr().err
    assert shown("--session", "5e55-01", "--template", "{context}") == "84k"
    for name in ("5e55", "5e55-03", "other:5e55-01"):
        assert shown("--session", name, "--template", "{session} {context}") == "? ?"
    exact = json.loads(shown("--json"))
    assert (exact["session"]["cost_usd"], exact["block"]["total"]["requests"]) == (1.5, 3)
    assert exact["block"]["cost_per_hour_usd"] == pytest.approx(4, rel=0.01)


@pytest.mark.parametrize(
    ("given", "template", "expected"),
    [
        ('{"session_id": "main"}', "{session} {session_requests} {context}", "≥$5.00 3 1.0M"),
        ('{"session_id": "unknown"}', "{session}", "?"),
        ('{"model": {"display_name": "Large"}, "used": 8.5, "is_new": true}', "{model.display_name} {used} {is_new}",
         "Large 8.5 true"),
        ('{"used": null}', "{used} {other.name}", "? ?"),
        ('{"session": "theirs", "name": "\\u001b[31mred"}', "{session_requests} {name}", "1 \\u001b[31mred"),
        ('{"name": "\\u001b[31mred"}', "\x1b[32m{name}\x1b[0m", "\x1b[32m\\u001b[31mred\x1b[0m"),
    ],
)  # fmt: skip
def test_another_program_gives_fields_on_stdin(
    given: str, template: str, expected: str, priced: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
    run_here("status", "--ledger", str(priced), "--stdin", "--template", template)
    assert capsys.readouterr().out == f"{expected}\n"


@pytest.mark.parametrize("given", ["", "[]", "{", '{"a":' * 5_000 + "1" + "}" * 5_000, "\udcff"])
def test_stdin_without_an_object_is_refused(priced: Path, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = io.BytesIO(given.encode("utf-8", "surrogateescape"))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(data))
    with pytest.raises(click.UsageError, match="--stdin needs a JSON object on stdin"):
        run_here("status", "--ledger", str(priced), "--stdin", "--template", "x")


def test_what_cannot_be_said_is_refused(priced: Path, tmp_path: Path) -> None:
    with pytest.raises(LedgerNotFoundError):
        run_here("status", "--ledger", str(tmp_path))
    assert not list(tmp_path.iterdir())
    with pytest.raises(ParameterError):
        run_here("status", "--timezone", "Mars", "--ledger", str(priced))
    with pytest.raises(click.UsageError):
        run_here("status", "--json", "--template", "x", "--ledger", str(priced))


ODD_NOTES: dict[str, dict[str, object]] = {
    **{text: {"cost_usd": text} for text in ("a lot", "NaN", "sNaN", "Infinity", "1E+999999", "1E-999999", "9" * 70)},
    **{name: {name: 10**400} for name in ("tokens", "requests", "sessions", "imported_at")},
}


@pytest.mark.parametrize("name", ODD_NOTES)
def test_a_note_that_no_ledger_has_is_made_again(priced: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = priced / STATUS_FILE
    run_here("status", "--ledger", str(priced))
    expected, before = capsys.readouterr().out, path.read_bytes()
    note = json.loads(before)
    use = {"requests": 1, "tokens": 1, "cost_usd": "1", **ODD_NOTES[name]}
    quarter = time.time_ns() // 10**6 // QUARTER
    note["uses"] = [[quarter, use["requests"], 0, use["tokens"], use["cost_usd"], "1"]]
    note.update({key: value for key, value in ODD_NOTES[name].items() if key in note})
    path.write_text(json.dumps(note))
    run_here("status", "--ledger", str(priced))
    assert capsys.readouterr().out == expected
    assert path.read_bytes() == before
