"""`ledger.sessions()`, `.turns()`, `.messages()` and `aix sessions`."""

import json
import os
import re
import shutil
from pathlib import Path

import duckdb
import pytest

import aix
from aix.derived.catalog import CATALOG, refresh_catalog
from aix.query.packs import find_query
from aix.schema import SCHEMA_VERSION
from tests.store.test_ledgers_of_all_versions import FIXTURES
from tests.support.command_line import AIX, run_here, run_in_process, run_on_terminal
from tests.support.conversations import context, message, request, session, turn
from tests.support.priced_ledger import make_priced_ledger
from tests.support.row_batches import deliver
from tests.support.sample_conversation import ABANDONED, AFTER, COMPACTION, FIRST, MAIN, SECOND, SUBAGENT
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

DAY = 86_400_000
NOTHING = "aix: no session in the ledger matches that\n"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    write_ledger(folder, SAMPLE_ROWS)
    return folder


def listed(ledger: Path, *arguments: str) -> list[dict[str, object]]:
    process = run_in_process("sessions", "--json", "--ledger", str(ledger), *arguments)
    rows: list[dict[str, object]] = json.loads(process.stdout)
    assert (process.returncode, process.stderr) == (0, "" if rows else NOTHING)
    return rows


def labels(ledger: Path, *arguments: str) -> list[object]:
    return [row["label"] for row in listed(ledger, *arguments)]


def test_a_session_is_counted_with_every_turn_that_leads_to_its_head(sample: Path) -> None:
    rows = {row["label"]: row for row in listed(sample)}
    assert {label: row["turns"] for label, row in rows.items()} == {MAIN: 4, ABANDONED: 2, SUBAGENT: 1}
    assert rows[MAIN] == {
        "label": MAIN,
        "title": "Rename a function",
        "origin": "session-log",
        "project": "näve",
        "workspace_path": "/home/ada/näve",
        "persona_id": "ada",
        "is_subagent": 0,
        "parent_session_label": None,
        "created_at": 1_000,
        "updated_at": 4_100,
        "status": "active",
        "turns": 4,
        "failed_turns": 0,
        "messages": 6,
        "tool_calls": 2,
        "models": "model-x",
        "input_tokens": 15,
        "output_tokens": 33,
        "cached_input_tokens": 300,
        "cache_write_tokens": 40,
        "total_tokens": 388,
        "cost_usd": None,
        "cost_estimated_usd": None,
        "unpriced_requests": 3,
    }
    assert rows[ABANDONED]["failed_turns"] == 1
    assert rows[SUBAGENT]["title"] == "Look for callers"


@pytest.mark.long
def test_notes_count_subagents_and_the_turns_that_sessions_share(sample: Path) -> None:
    shared = (
        "aix: 1 turn of the sessions above is shared with others and counts in each of them;"
        " `aix cost` counts every turn once"
    )
    for arguments in ([], ["--no-subagents", "--limit", "1"]):
        assert run_in_process("sessions", *arguments, "--ledger", str(sample)).stderr == f"{shared}\n"
    assert run_in_process("sessions", "--subagents", "--ledger", str(sample)).stderr == ""
    shown, _ = run_on_terminal(AIX, "sessions", "--ledger", str(sample), columns=140)
    assert shown.replace("\r", "").splitlines()[-3:] == [
        shared,
        "aix: 2 sessions and 1 subagent (↳)",
        "aix: next: `aix show SESSION`, with a name of the column session",
    ]


def test_unknown_tokens_are_null_and_never_zero(sample: Path) -> None:
    [subagent] = listed(sample, "--subagents")
    assert (subagent["input_tokens"], subagent["output_tokens"]) == (None, 50)


def test_models_of_requests_are_named_beside_those_of_turns(tmp_path: Path) -> None:
    requests = [request("r-1", "t", 1, model="small"), request("r-2", "t", 2, model="large")]
    deliver(tmp_path, {"turns": [turn("t")], "sessions": [session("s", "t")], "requests": requests})
    assert [row["models"] for row in listed(tmp_path)] == ["large, small"]


def test_tokens_that_no_column_can_hold_are_null(tmp_path: Path) -> None:
    requests = [request(f"r-{n}", f"t-{n}", input_tokens=2**62) for n in (1, 2)]
    turns = [turn("t-1"), turn("t-2", "t-1", 2)]
    deliver(tmp_path, {"turns": turns, "sessions": [session("s", "t-2")], "requests": requests})
    assert [row["input_tokens"] for row in listed(tmp_path)] == [None]


def test_blanks_in_an_ancestry_make_no_difference(tmp_path: Path) -> None:
    threads = [row | {"ancestry": row["ancestry"].replace(",", ", ")} for row in SAMPLE_ROWS["threads"]]
    write_ledger(tmp_path, {**SAMPLE_ROWS, "threads": threads})
    assert [row["turns"] for row in listed(tmp_path)] == [4, 2, 1]
    assert len(aix.open(tmp_path).turns(MAIN).rows()) == 4


@pytest.mark.parametrize("name", ["overview/sessions", "overview/problems"])
def test_the_file_runs_as_it_is_in_a_plain_client(sample: Path, name: str) -> None:
    refresh_catalog(sample)
    with duckdb.connect(str(sample / CATALOG), read_only=True) as connection:
        found = connection.execute(find_query(name).sql).fetchall()
    assert found == aix.open(sample).sql(find_query(name).sql).rows()


def test_turns_come_from_the_root_to_the_head(sample: Path) -> None:
    ledger = aix.open(sample)
    for name in (MAIN, "s-1"):
        assert [row[0] for row in ledger.turns(name)] == [FIRST, SECOND, COMPACTION, AFTER]
    assert ledger.turns(MAIN).columns == ledger.sql("from turns").columns


def test_messages_come_turn_by_turn_in_their_order(sample: Path) -> None:
    ledger = aix.open(sample)
    messages = ledger.messages("s-1").polars().to_dicts()
    assert [(row["turn_id"], row["sequence"]) for row in messages] == [
        (FIRST, 0),
        (FIRST, 1),
        (SECOND, 0),
        (SECOND, 1),
        (COMPACTION, 0),
        (AFTER, 0),
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], [MAIN, ABANDONED, SUBAGENT]),
        (["--limit", "2"], [MAIN, ABANDONED]),
        (["--reverse"], [SUBAGENT, ABANDONED, MAIN]),
        (["--sort", "tokens"], [MAIN, ABANDONED, SUBAGENT]),
        (["--sort", "turns", "--reverse"], [SUBAGENT, ABANDONED, MAIN]),
        (["--sort", "created"], [SUBAGENT, MAIN, ABANDONED]),
        (["--sort", "label"], [MAIN, SUBAGENT, ABANDONED]),
        (["--subagents"], [SUBAGENT]),
        (["--no-subagents"], [MAIN, ABANDONED]),
        (["--status", "archived"], [ABANDONED]),
        (["--origin", "session-log", "--limit", "1"], [MAIN]),
        (["--origin", "elsewhere"], []),
        (["--project", "NÄVE"], [MAIN, ABANDONED, SUBAGENT]),
        (["--model", "X", "--subagents"], [SUBAGENT]),
        (["--model", "y"], []),
        (["--search", "a FUNCTION"], [MAIN]),
        (["--search", "rename the function"], [MAIN, ABANDONED]),
        (["--search", "agent-a"], [SUBAGENT]),
        (["--search", "100%"], []),
        (["--since", "1970-01-02"], []),
        (["--since", "1970-01-01T00:00:03"], [MAIN, ABANDONED]),
        (["--until", "1970-01-01T00:00:02"], [MAIN, ABANDONED]),
    ],
)
def test_sessions_are_narrowed_down_and_ordered(sample: Path, arguments: list[str], expected: list[str]) -> None:
    assert labels(sample, *arguments) == expected


def test_sessions_of_unknown_size_come_last_in_either_order(tmp_path: Path) -> None:
    rows = {
        "turns": [turn("a"), turn("b")],
        "sessions": [session("small", "a"), session("unknown", "b")],
        "requests": [request("r", "a", input_tokens=1)],
    }
    deliver(tmp_path, rows)
    assert labels(tmp_path, "--sort", "tokens") == labels(tmp_path, "--sort", "tokens", "--reverse")


def test_sessions_say_what_the_turns_that_lead_to_their_head_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    priced = ["--ledger", str(make_priced_ledger(tmp_path / "ledger"))]
    run_here("sessions", "--sort", "cost", "--json", *priced)
    rows = json.loads(capsys.readouterr().out)
    figures = [(row["label"], row["cost_usd"], row["cost_estimated_usd"], row["unpriced_requests"]) for row in rows]
    assert figures == [("log:main", 3, 3.5, 0), ("log:helper", 2, 2, 0), ("log:other", None, None, 1)]
    run_here("sessions", "--sort", "cost", *priced)
    assert [line.split()[-1] for line in capsys.readouterr().out.splitlines()[2:]] == ["≥$3.00", "$2.00", "–"]
    run_here("sessions", "--tag", "billing", "--format", "jsonl", *priced)
    assert len(capsys.readouterr().out.splitlines()) == 1


def one_session(ledger: Path, updated_at: int = 9) -> None:
    deliver(
        ledger,
        {
            "turns": [turn("t")],
            "turn_context": [context("t")],
            "messages": [message("m", "t", "user", content="Fix\n\x1b[2J the\u202e tests " + "x" * 10_000)],
            "sessions": [session("log:5b1f03ab-77", "t", updated_at)],
            "session_aliases": [{"alias": "5b1f03ab-77", "session_label": "log:5b1f03ab-77", "created_at": 1}],
        },
    )


def test_the_table_shows_times_of_the_configured_zone_and_names_to_type(tmp_path: Path) -> None:
    one_session(tmp_path, updated_at=DAY - 3_600_000)
    shown = run_in_process("sessions", "--ledger", str(tmp_path), AIX_TIMEZONE="Europe/Berlin").stdout
    assert "1970-01-02 00:00  5b1f03ab  " in shown
    until = ["sessions", "--since", "1970-01-02", "--format", "csv", "--ledger", str(tmp_path)]
    assert len(run_in_process(*until, AIX_TIMEZONE="Europe/Berlin").stdout.splitlines()) == 2
    assert len(run_in_process(*until).stdout.splitlines()) == 1


def test_a_session_without_title_is_shown_by_its_first_prompt_made_harmless(tmp_path: Path) -> None:
    one_session(tmp_path)
    for columns in (80, 120):
        shown, code = run_on_terminal(AIX, "sessions", "--ledger", str(tmp_path), columns=columns)
        assert code == 0
        assert "Fix" in shown
        assert len(shown) < 1_000
        assert not re.search("\x1b\\[2J|\u202e", shown)


@pytest.mark.long
def test_slash_commands_are_titles_and_prompts_without_their_markup(tmp_path: Path) -> None:
    aix.import_histories([Path("fixtures/claude_code/custom_command/input")], tmp_path)
    [row] = listed(tmp_path)
    assert str(row["title"]).startswith("<command-message>review is running…"), "machines get the text of the log"
    assert listed(tmp_path, "--search", "loader.py")
    for command in (["sessions"], ["cost", "--by", "session"], ["show", str(row["label"])]):
        shown = run_in_process(*command, "--ledger", str(tmp_path)).stdout
        assert "/review loader.py" in shown
        assert "command-" not in shown
    assert "> /review loader.py" in shown
    full = run_in_process("show", "--full", str(row["label"]), "--ledger", str(tmp_path)).stdout
    assert "> <command-name>/review</command-name>" in full


def test_the_first_prompt_that_people_typed_names_a_session(tmp_path: Path) -> None:
    prompts = [("event", "A task has ended"), ("human", "  "), ("human", "<open_file>a.py</open_file>\nFix the tests")]
    deliver(
        tmp_path,
        {
            "turns": [turn("t")],
            "turn_context": [context("t")],
            "messages": [
                message(f"m{place}", "t", "user", sequence=place, content=text, source=source)
                for place, (source, text) in enumerate(prompts)
            ],
            "sessions": [session("log:1", "t", 9)],
        },
    )
    [row] = listed(tmp_path)
    assert row["title"] == "<open_file>a.py</open_file> Fix the tests"
    shown = run_in_process("sessions", "--ledger", str(tmp_path)).stdout
    assert re.split("  +", shown.splitlines()[-1])[2] == "Fix the tests"


@pytest.mark.long
@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_ledgers_of_all_versions_are_listed(version: int, tmp_path: Path) -> None:
    assert labels(shutil.copytree(FIXTURES / f"schema_{version}", tmp_path / "ledger")) == [MAIN, ABANDONED, SUBAGENT]


@pytest.mark.parametrize("output_format", ["table", "csv", "json", "jsonl", "markdown"])
def test_an_empty_ledger_has_no_sessions(tmp_path: Path, output_format: str) -> None:
    write_ledger(tmp_path, {})
    process = run_in_process("sessions", "--format", output_format, "--ledger", str(tmp_path))
    said = "aix: the ledger has no sessions; `aix overview` shows what it has\n"
    assert (process.returncode, process.stderr) == (0, said)
    assert len(process.stdout.splitlines()) <= (0 if output_format == "table" else 2)


@pytest.mark.parametrize("command", [["sessions"], ["problems"]])
def test_a_missing_ledger_is_said_so(tmp_path: Path, command: list[str]) -> None:
    process = run_in_process(*command, "--ledger", str(tmp_path / "nowhere"))
    assert (process.returncode, process.stdout) == (3, "")
    assert "No ledger yet." in process.stderr


UNDATED = (
    {"type": "user", "uuid": "u1", "sessionId": "s-undated", "cwd": "/w", "message": {"role": "user", "content": "Hi"}},
    {
        "type": "assistant",
        "uuid": "a1",
        "parentUuid": "u1",
        "sessionId": "s-undated",
        "message": {
            "id": "msg_1",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [{"type": "text", "text": "Hello"}],
            "usage": {"input_tokens": 7, "output_tokens": 3},
        },
    },
)


@pytest.fixture(scope="module")
def undated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger of two sessions with times, and of two whose logs have none and were written later."""
    folder = tmp_path_factory.mktemp("undated")
    dated = [{**line, "sessionId": "s-dated", "uuid": f"d{line['uuid']}"} for line in UNDATED]
    for hour, line in enumerate(dated):
        line["timestamp"] = f"2026-01-02T0{hour}:00:00Z"
    dated[1].update(parentUuid="du1", message={**UNDATED[1]["message"], "id": "msg_2"})  # type: ignore[dict-item]
    for name, lines in (("undated", UNDATED), ("dated", dated)):
        log = folder / "logs" / "projects" / "w" / f"s-{name}.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    chat = folder / "logs" / ".cursor" / "projects" / "w" / "agent-transcripts" / "chat.txt"
    chat.parent.mkdir(parents=True)
    chat.write_text("user:\nhello\n\nassistant:\nhi\n")
    for log in folder.rglob("*.*"):
        if log.is_file():
            os.utime(log, (1_900_000_000, 1_900_000_000))
    aix.import_histories([folder / "logs"], folder / "ledger")
    return folder / "ledger"


def test_sessions_without_any_time_come_last_and_have_none(undated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with aix.open(undated) as ledger:
        rows = ledger.sql("select updated_at from sessions order by 1").rows()
        assert rows[1:] == [(1_900_000_000_000,)] * 2, "the ledger keeps the date of the file"
    for order in (["--sort", "updated"], ["--sort", "created"], ["--sort", "updated", "--reverse"]):
        run_here("sessions", *order, "--json", "--ledger", str(undated))
        times = [(row["origin"], row["created_at"]) for row in json.loads(capsys.readouterr().out)]
        assert times == [("claude-code", 1_767_312_000_000), ("claude-code", None), ("cursor", None)]
    run_here("sessions", "--ledger", str(undated))
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[2:]] == ["2026-01-02", "–", "–"]
    run_here("sessions", "--since", "2029-01-01", "--json", "--ledger", str(undated))
    assert json.loads(capsys.readouterr().out) == []


@pytest.mark.long
def test_the_date_of_a_file_is_in_no_range_and_on_no_day(undated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here("query", "overview/by_origin", "--json", "--ledger", str(undated))
    ranges = {row["origin"]: (row["first_turn_at"], row["last_turn_at"]) for row in json.loads(capsys.readouterr().out)}
    assert ranges == {"claude-code": (1_767_312_000_000, 1_767_312_000_000), "cursor": (None, None)}
    run_here("overview", "--json", "--ledger", str(undated))
    [figures] = json.loads(capsys.readouterr().out)
    assert (figures["first_day"], figures["last_day"], figures["active_days"]) == ("2026-01-02", "2026-01-02", 1)
    assert figures["last_turn_at"] == 1_767_312_000_000
    run_here("show", "s-undated", "--ledger", str(undated))
    assert "2030-" not in capsys.readouterr().out
    with aix.open(undated) as ledger:
        days = ledger.query("token_economics/cost_by_day")
        assert [(str(row[0]), row[2], row[3]) for row in days.rows()] == [("2026-01-02", 1, 7), ("None", 1, 7)]
        assert len(ledger.query("overview/recent_use").rows()) == 1
        assert [row[-1] for row in ledger.sql("select count(*) from v_counted_requests").rows()] == [2]
        since = ledger.query("token_economics/cost_by_day", since="2029-01-01")
        assert since.rows() == []
        scopes = [ledger.query("permission_usage/scope", **given).rows() for given in ({}, {"since": "2029-01-01"})]
        assert [row[:3] for [row] in scopes] == [(3, 0, 3), (0, 0, 0)]


def test_no_session_is_forgotten_by_the_date_of_its_file(undated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here("forget", "--before", "2035-01-01", "--dry-run", "--json", "--ledger", str(undated))
    assert len(json.loads(capsys.readouterr().out)) == 1
