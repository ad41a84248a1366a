"""The sample of `aix demo`: an import gives the figures that its generator knows, on whatever day it ends."""

import hashlib
import json
import re
import shlex
from collections import Counter
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

import aix
from aix.pipeline.report import Report
from aix.pipeline.run import Settings, import_histories
from aix.reading.ledger import Ledger
from aix_importers.sample import Manifest, write_sample
from aix_importers.sample.figures import Usage
from tests import ROOT
from tests.support.command_line import run_in_process

END = date(2026, 11, 17)
MOST_BYTES = 2_000_000


class Imported(NamedTuple):
    logs: Path
    folder: Path
    manifest: Manifest
    report: Report
    ledger: Ledger


def import_sample(folder: Path, end: date) -> Imported:
    manifest = write_sample(folder / "logs", end)
    report = import_histories(folder / "ledger", [folder / "logs"], Settings(jobs=0))
    return Imported(folder / "logs", folder / "ledger", manifest, report, aix.open(folder / "ledger"))


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imported]:
    imported = import_sample(tmp_path_factory.mktemp("sample"), END)
    with imported.ledger:
        yield imported


def numbers(sample: Imported, sql: str) -> dict[str, int]:
    return {str(name): int(count) for name, count in sample.ledger.sql(sql).rows()}


def number(sample: Imported, sql: str) -> int:
    [(found,)] = sample.ledger.sql(sql).rows()
    return int(found)


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_every_file_is_imported_without_a_problem(sample: Imported) -> None:
    assert not sample.report.failures
    assert not sample.report.refusals
    assert sample.report.problems == 0
    assert sum(path.stat().st_size for path in sample.logs.rglob("*") if path.is_file()) < MOST_BYTES


def test_sessions_of_each_tool_are_those_of_the_story(sample: Imported) -> None:
    found = numbers(sample, "select origin, count(*) from sessions group by origin")
    assert found == dict(sample.manifest.sessions)


def test_the_overview_has_the_totals_of_the_manifest_and_of_the_cost(sample: Imported) -> None:
    told = {
        name: json.loads(run_in_process(name, "--json", "--ledger", str(sample.folder)).stdout, parse_float=Decimal)
        for name in ("overview", "cost", "sessions", "status")
    }
    audited = run_in_process("audit", "--format", "json", "--ledger", str(sample.folder))
    told["audit"] = json.loads(audited.stdout)
    [figures] = told["overview"]
    kinds = ("input", "output", "cache_read", "cache_write")
    assert Usage(*(figures[f"{kind}_tokens"] for kind in kinds)) == sample.manifest.usage
    assert figures["total_tokens"] == sum(sample.manifest.usage)
    costs = told["cost"]["rows"]
    assert figures["cost_usd"] == sum(row["cost_usd"] or 0 for row in costs) == sample.manifest.total_cost_usd
    counts = sample.manifest.counts
    people_sessions = sample.manifest.sessions.total() - counts["subagents"]
    totals = told["cost"]["totals"]
    for found in (figures, totals, told["status"], told["audit"]["ledger"]):
        assert (found["sessions"], found["subagents"]) == (people_sessions, counts["subagents"])
    listed = Counter(row["is_subagent"] for row in told["sessions"])
    assert listed == Counter({0: people_sessions, 1: counts["subagents"]})
    assert totals["turns"] + totals["turns_without_requests"] == counts["turns"]
    assert (figures["compactions"], figures["compactions_paid_back"]) == (
        counts["compactions"],
        counts["compactions paid back"],
    )
    assert (figures["turns"], figures["cache_losses"]) == (counts["turns"], counts["cache losses"])


def test_tokens_of_each_model_are_those_of_the_manifest(sample: Imported) -> None:
    rows = sample.ledger.sql(
        "select model, sum(input_tokens), sum(output_tokens), coalesce(sum(cache_read_tokens), 0),"
        " coalesce(sum(cache_write_tokens), 0) from requests group by model"
    ).rows()
    assert {model: Usage(*map(int, counts)) for model, *counts in rows} == sample.manifest.tokens


def test_costs_of_each_model_are_those_of_the_manifest(sample: Imported) -> None:
    rows = sample.ledger.sql("select model, sum(cost_usd) from v_requests_cost group by model").rows()
    expected = {model: sample.manifest.cost_usd(model) for model in sample.manifest.tokens}
    assert {model: Decimal(cost) for model, cost in rows} == expected


def test_the_overview_has_the_totals_of_the_manifest(sample: Imported) -> None:
    process = run_in_process("overview", "--ledger", str(sample.folder), "--json")
    [figures] = json.loads(process.stdout, parse_float=Decimal)
    usage = Usage(*(figures[f"{kind}_tokens"] for kind in Usage._fields))
    assert usage == sample.manifest.usage
    assert Decimal(figures["cost_usd"]) == sample.manifest.total_cost_usd
    assert figures["requests"] == sample.manifest.counts["requests"]


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("turns", "select count(*) from turns"),
        ("requests", "select count(*) from requests"),
        ("calls", "select count(*) from tool_calls"),
        ("failed calls", "select count(*) from permission_decisions where outcome = 'failed'"),
        ("denied calls", "select count(*) from permission_decisions where outcome like 'denied_%'"),
        ("subagents", "select count(*) from v_subagents"),
        ("compactions", "select count(*) from compactions"),
        ("compactions paid back", "select count(*) from v_compaction_costs where is_paid_back"),
        ("cache losses", "select count(*) from v_cache_breaks where cause = 'ttl'"),
        ("interrupted turns", "select count(*) from turn_context where is_interrupted"),
        ("abandoned turns", "select count(*) from v_abandoned_turns"),
        ("lints", "select count(*) from message_lints"),
    ],
)
def test_counts_are_those_of_the_manifest(sample: Imported, name: str, sql: str) -> None:
    assert sample.manifest.counts[name] > 0
    assert number(sample, sql) == sample.manifest.counts[name]


def test_failed_turns_are_those_that_an_error_or_the_user_ended(sample: Imported) -> None:
    counts = sample.manifest.counts
    failed = number(sample, "select count(*) from turns where status = 'failed'")
    assert failed == counts["failed turns"] + counts["interrupted turns"]


def test_a_fork_shares_its_first_turn_with_the_session_it_came_from(sample: Imported) -> None:
    shared = "select turn_id from session_turns group by turn_id having count(distinct session_label) > 1"
    assert sample.manifest.counts["forks"] == 1
    assert number(sample, f"select count(*) from ({shared})") >= 1


def test_fenced_code_of_the_story_is_found(sample: Imported) -> None:
    sql = (
        "select count(*) from message_codeblocks b join messages m on m.id = b.message_id"
        " join v_turn_owner o on o.turn_id = m.turn_id join sessions s on s.label = o.session_label"
        " where s.origin <> 'claude-code'"
    )
    assert number(sample, sql) == sample.manifest.counts["code blocks"] > 0


def test_every_class_of_waste_has_something_to_show(sample: Imported) -> None:
    rows = sample.ledger.query("token_economics/waste").rows()
    assert [row[0] for row in rows if not row[3]] == []


def test_the_audit_finds_what_the_story_did_wrong(sample: Imported) -> None:
    process = run_in_process("audit", "--ledger", str(sample.folder), "--format", "json")
    findings = json.loads(process.stdout)["findings"]
    missing = {
        (rule, text)
        for rule, text in sample.manifest.findings
        if not any(finding["rule"] == rule and text in json.dumps(finding) for finding in findings)
    }
    assert len(sample.manifest.findings) >= 5
    assert not missing
    assert {"high", "medium", "low"} == {finding["severity"] for finding in findings}


def test_the_ledger_of_the_sample_is_sound(sample: Imported) -> None:
    process = run_in_process("check", "--ledger", str(sample.folder), "--json")
    assert process.returncode == 0
    assert {check["status"] for check in json.loads(process.stdout)} <= {"ok", "skip"}


def test_the_last_turn_is_on_the_last_day(sample: Imported) -> None:
    [(first, last)] = sample.ledger.sql(
        "select cast(epoch_ms(min(started_at)) as date), cast(epoch_ms(max(started_at)) as date) from turns"
    ).rows()
    assert (first, last) == (str(END - timedelta(days=20)), str(END))


def test_the_same_day_gives_the_same_bytes(sample: Imported, tmp_path: Path) -> None:
    write_sample(tmp_path, END)
    assert contents(tmp_path) == contents(sample.logs)


@pytest.mark.parametrize("end", [date(2024, 2, 29), date(2027, 1, 3)])
def test_another_day_shifts_all_times_and_no_figure(sample: Imported, end: date, tmp_path: Path) -> None:
    moved = write_sample(tmp_path, end)
    assert contents(tmp_path).keys() == contents(sample.logs).keys()
    for name in ("sessions", "counts", "tokens", "findings"):
        assert getattr(moved, name) == getattr(sample.manifest, name)
    days = Counter(json_days(tmp_path))
    assert days == Counter({day + (end - END): count for day, count in Counter(json_days(sample.logs)).items()})


def json_days(logs: Path) -> Iterator[date]:
    """The day of every line of a log."""
    for path in logs.rglob("*.jsonl"):
        for line in path.read_text("utf-8").splitlines():
            if stamp := json.loads(line).get("timestamp"):
                yield date.fromisoformat(stamp[:10])


def test_the_page_about_the_demo_names_the_figures(sample: Imported) -> None:
    page = (ROOT / "docs" / "demo.md").read_text("utf-8")
    manifest = sample.manifest
    claude_code, cursor, session_log = (manifest.sessions[tool] for tool in ("claude-code", "cursor", "session-log"))
    for words in (
        f"| Claude Code | {claude_code}, with {manifest.counts['subagents']} subagents",
        f"| Cursor | {cursor} |",
        f"assistant | {session_log} |",
        f"{manifest.counts['turns']} turns and {manifest.counts['requests']} requests",
        f"they cost ${manifest.total_cost_usd:.2f}.",
    ):
        assert words in page
    for command in re.findall(r"`(aix (?:query|show|sql) .*)`", page):
        process = run_in_process(*shlex.split(command)[1:], AIX_LEDGER=str(sample.folder))
        assert process.returncode == 0, process.stderr


@pytest.mark.parametrize(
    ("command", "sentences"),
    [
        (
            "audit",
            [
                "Permission audit · data up to 2026-11-",
                "45 sessions · 3 subagents",
                "Possible private key in a tool result",
            ],
        ),
        (
            "audit",
            ["Read credentials 1 time, not denied", "Inferred, not logged.", "Destructive command ran: `rm -rf "],
        ),
        ("audit propose --project harbour-api", ["risky calls left out (will still ask)"]),
        ("cost", ["estimated", "exact output %", "because some logs omit final output counts"]),
        ("cost --by role", ["main agent"]),
        ("compactions", ["auto", "interrupted a task", "3 of 4 paid back"]),
    ],
)
def test_screens_use_plain_words(sample: Imported, command: str, sentences: list[str]) -> None:
    process = run_in_process(*command.split(), AIX_LEDGER=str(sample.folder))
    shown = process.stdout + process.stderr
    assert [sentence for sentence in sentences if sentence not in shown] == []
    assert "NULL" not in shown
