"""`aix query`: what can be asked, what it means, and the answers."""

import csv
import json
import os
import re
import sys
from pathlib import Path

import pytest

from aix.query.packs import START, find_query, own_query_names
from aix.reading.ledger import Ledger
from tests.queries.other_packs import TURNS_BY_DAY, install
from tests.support.command_line import run_aix, run_in_process, run_on_terminal

QUERY = "acme/turns_by_day"


@pytest.fixture(scope="module")
def search_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The search path for Python modules with another distribution's pack on it."""
    folder = tmp_path_factory.mktemp("site-packages")
    install(folder, "acme-queries", "acme", {"turns_by_day.sql": TURNS_BY_DAY})
    return os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])


def succeed(*arguments: str | Path, **environment: str) -> str:
    process = run_in_process("query", *map(str, arguments), **environment)
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def fail(*arguments: str | Path, **environment: str) -> str:
    process = run_in_process("query", *map(str, arguments), **environment)
    assert (process.returncode, process.stdout) == (2, "")
    return process.stderr


def test_all_queries_are_listed_with_their_questions(search_path: str) -> None:
    listed = json.loads(run_aix("query", "--json", PYTHONPATH=search_path).stdout)
    assert [row["query"] for row in listed] == [*own_query_names(), QUERY]
    assert listed[-1]["question"] == "How many turns began on each day?"
    assert listed[-1]["parameters"] == ["since", "until", "status", "least", "timezone"]


def test_people_get_the_packs_with_the_best_first_and_the_checks_in_one_line(search_path: str) -> None:
    lines = succeed(PYTHONPATH=search_path).splitlines()
    titles = [line.split(" ──")[0].removeprefix("── ") for line in lines if line.startswith("── ")]
    own = ["Token economics", "Compaction impact", "Permission usage", "Programs", "Overview"]
    assert titles == ["Start with these", *own, "Tree of turns", "Agent graphs", "Acme", "Health checks"]
    best = [line.split()[0] for line in lines[3 : 3 + len(START)]]
    assert [find_query(name).name for name in best] == list(START)
    assert "turns_by_day                 How many turns began on each day?" in lines
    assert any(line.startswith("token/what_if ") for line in lines), "another pack has one of that name"
    assert lines[-1].endswith("43 checks: run `aix check`, list `aix query health`")
    assert all(len(line) <= 80 for line in lines), "each question is whole on a terminal of 80 columns"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cache savings", "token_economics/cache_savings"),
        ("COMPACTION paid", "compaction_impact/break_even"),
        ("is_running", "token_economics/budget"),
    ],
)
def test_queries_are_searched_by_name_question_and_columns(text: str, found: str) -> None:
    listed = [row["query"] for row in json.loads(succeed("--search", text, "--json"))]
    assert found in listed
    assert len(listed) < len(own_query_names()) / 3
    assert found.rpartition("/")[2] in succeed("--search", text)


def test_a_search_gives_matches_of_names_and_questions_before_those_of_columns() -> None:
    listed = [row["query"] for row in json.loads(succeed("--search", "cache", "--json"))]
    in_names = ["cache" in name for name in listed]
    assert in_names == sorted(in_names, reverse=True)
    assert listed.index("token_economics/model_switches") < listed.index("token_economics/cost_by_day")


def test_a_pack_can_be_shortened() -> None:
    assert succeed("token/what_if", "--sql") == succeed("token_economics/what_if", "--sql")
    assert "several packs" in fail("what_if")


def test_a_search_that_finds_nothing_says_so() -> None:
    process = run_in_process("query", "--search", "zebra")
    assert (process.returncode, process.stdout.splitlines()[2:]) == (0, [])
    assert process.stderr.startswith("aix: no query has 'zebra' in its name")
    assert "--search lists queries" in fail("table_rows", "--search", "rows")


def test_only_the_first_rows_are_given_when_asked(filled: Ledger) -> None:
    rows = csv.DictReader(succeed("cost_by_model", "--ledger", filled.path, "--format", "csv").splitlines())
    some = csv.DictReader(
        succeed("cost_by_model", "--ledger", filled.path, "--format", "csv", "--limit", "2").splitlines()
    )
    assert list(some) == list(rows)[:2]


def test_a_month_that_is_over_does_not_run(filled: Ledger) -> None:
    place = ("budget", "--ledger", filled.path, "--json")
    months = json.loads(succeed(*place))
    assert months
    assert not any(month["is_running"] for month in months)
    then = json.loads(succeed(*place, "--param", f"now={months[-1]['period_start']}"))
    assert [month["is_running"] for month in then[-2:]] == [False, True]


def test_a_terminal_gets_the_question_the_important_columns_and_a_next_step(filled: Ledger) -> None:
    command = (sys.executable, "-m", "aix", "query", "token_economics/what_if", "--ledger", str(filled.path))
    shown, code = run_on_terminal(*command, columns=80)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert code == 0
    assert lines[0] == "What would another model or cache lifetime cost?"
    [row] = [line for line in lines if line.startswith("claude-sonnet-4-5-20250929 ")]
    assert row.split()[1].startswith("claude-haiku")
    assert row.split()[2:4] == ["-$6.87", "$10.24"]
    assert any(line.startswith("aix: next: --param as_model=NAME prices all at one model") for line in lines)
    assert max(map(len, lines)) <= 80


def test_a_terminal_gets_a_sentence_for_an_empty_result(filled: Ledger) -> None:
    command = (sys.executable, "-m", "aix", "query", "spirals", "--ledger", str(filled.path), "--since", "2099-01-01")
    shown, code = run_on_terminal(*command, columns=80)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert code == 0
    assert lines[1:] == ["aix: no rows with since=2099-01-01", "aix: next: leave out --since or widen it to see all"]
    command = (sys.executable, "-m", "aix", "query", "run_history", "--ledger", str(filled.path), "--param", "run=nope")
    shown, _ = run_on_terminal(*command, columns=80)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
    assert lines[1:] == ["aix: no rows with run=nope", "aix: next: leave out --param run to see all"]


def test_packs_are_named_with_hyphens_too_and_a_search_lists_checks_last(filled: Ledger) -> None:
    place = ("--ledger", filled.path, "--json")
    assert succeed("agent-dag", "--json") == succeed("agent_dag", "--json")
    assert succeed("agent-dag/run-history", *place) == succeed("agent_dag/run_history", *place)
    found = [row["query"] for row in json.loads(succeed("--search", "agent-graphs", "--json"))]
    assert "agent_dag/run_history" in found
    packs = [row["query"].partition("/")[0] for row in json.loads(succeed("--search", "chat", "--json"))]
    assert packs == sorted(packs, key=lambda pack: pack == "health")
    assert {"health", "permission_usage"} <= {*packs}


def test_a_pack_alone_lists_its_queries(search_path: str) -> None:
    listed = json.loads(succeed("acme", "--json", PYTHONPATH=search_path))
    assert [row["query"] for row in listed] == [QUERY]


def test_a_broken_pack_is_named_beside_the_others(tmp_path: Path, search_path: str) -> None:
    install(tmp_path, "bolt-queries", "bolt", {}, module="nowhere_to_be_found")
    path = f"{tmp_path}{os.pathsep}{search_path}"
    process = run_in_process("query", "--json", PYTHONPATH=path)
    assert process.returncode == 1
    assert [row["query"] for row in json.loads(process.stdout)] == [*own_query_names(), QUERY]
    assert process.stderr.startswith("aix: pack bolt: nowhere_to_be_found cannot be found")
    assert "pack bolt" in fail("bolt/costs", PYTHONPATH=path)


@pytest.mark.parametrize("options", [["--since", "soon"], [], ["--param", "nonsense"]])
def test_help_explains_the_query_that_is_named(options: list[str], search_path: str) -> None:
    explained = succeed(*options, QUERY, "--help", PYTHONPATH=search_path)
    # In a process of its own: click keeps the help option of a command, with the names of the first context.
    assert run_aix("query", "-h", QUERY, *options, PYTHONPATH=search_path).stdout == explained
    for text in (
        "How many turns began on each day?",
        "One row per day.",
        "--since DATE",
        "--until DATE",
        "a day or month is included",
        "--param least=INTEGER",
        "Default: completed.",
        "output_tokens BIGINT",
        "A turn counts for the day on which it began.",
        f"aix query {QUERY} --since 2026-11-01",
    ):
        assert text in explained
    assert "NAME is a pack and a query" in succeed("--help")


def test_values_reach_the_query(filled: Ledger, search_path: str) -> None:
    place = ("--ledger", filled.path, "--json")
    days = json.loads(succeed(QUERY, *place, PYTHONPATH=search_path))
    assert len(days) > 1
    options = ("--since", days[1]["day"], "--param", "least=1", "--param", "status=completed")
    assert [row["day"] for row in json.loads(succeed("turns_by_day", *options, *place, PYTHONPATH=search_path))] == [
        row["day"] for row in days[1:]
    ]
    far = ("--timezone", "Pacific/Kiritimati")
    shifted = json.loads(succeed(QUERY, *far, *place, PYTHONPATH=search_path))
    assert shifted != days
    configured = succeed(QUERY, *place, PYTHONPATH=search_path, AIX_TIMEZONE="Pacific/Kiritimati")
    assert json.loads(configured) == shifted


def test_a_table_is_for_people_and_csv_is_exact(filled: Ledger, tmp_path: Path, search_path: str) -> None:
    written = tmp_path / "days.csv"
    options = (QUERY, "--ledger", filled.path, "--since", "2026-03-02", "--until", "2026-03-02")
    table = succeed(*options, PYTHONPATH=search_path)
    assert succeed(*options, "-o", written, PYTHONPATH=search_path) == ""
    [row] = csv.DictReader(written.read_text().splitlines())
    assert (row["day"], row["turn_share"]) == ("2026-03-02", "1.0")
    assert row["spent_usd"].endswith("000000000")
    assert row["first_started_at"] not in table
    assert "2026-03-02 08:00" in table
    assert "100 %" in table
    assert "$0.01" in table


def test_the_sql_is_printed_as_it_is(tmp_path: Path) -> None:
    assert succeed("overview/sessions", "--sql") == find_query("overview/sessions").sql
    assert succeed("sessions", "--sql", "-o", tmp_path / "a.sql") == ""
    assert (tmp_path / "a.sql").read_text() == find_query("overview/sessions").sql


def test_shared_parameters_are_printed_with_the_sql() -> None:
    printed = succeed("cost_by_model", "--sql")
    assert printed == find_query("token_economics/cost_by_model").sql
    assert "-- param since: timestamp = none; first moment counted\n" in printed
    assert "-- params: " not in printed


def test_help_names_where_definitions_come_from_and_the_next_step() -> None:
    explained = succeed("cache_hit", "--help")
    assert "Next:\n  --param by=project groups by project;" in explained
    assert "References:\n  docs/economics.md#the-other-figures; the hit ratio\n" in explained


def test_an_earlier_version_can_be_asked(filled: Ledger) -> None:
    place = ("--ledger", filled.path, "--json")
    assert succeed("table_rows", "--at", "1", *place) == succeed("table_rows", *place)
    assert "no version 99" in fail("table_rows", "--at", "99", *place)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["overview/sesions"], "did you mean overview/sessions or "),
        (["overview/sesions", "--help"], "did you mean overview/sessions or "),
        (["overview/sessions", "--since", "2026-11-01"], "has no parameter 'since'\n  it has none"),
        ([QUERY, "--project", "web"], "it has since, until, status, least, timezone"),
        ([QUERY, "--param", "leest=2"], "did you mean least?"),
        ([QUERY, "--since", "2026-11-31"], "since: Can't read '2026-11-31' as a date; try 2026-11-01 or 7d"),
        ([QUERY, "--since", "2026-11-02", "--until", "2026-11-01"], "until: the range would end"),
        ([QUERY, "--timezone", "Europe/Berln"], "Europe/Berlin"),
        ([QUERY, "--timezone", "localtime"], "is no time zone"),
        ([QUERY, "--param", "status=lost"], "use one of completed, failed, active"),
        ([QUERY, "--param", "least"], "NAME=VALUE"),
        ([QUERY, "--param", "least=1", "--param", "least=2"], "least is given twice"),
        ([QUERY, "--since", "2026-11-01", "--param", "since=2026-11-02"], "since is given twice"),
        (["acme", "--since", "2026-11-01"], "Name one query for --since"),
        (["token_economics", "--limit", "3"], "Name one query for --limit"),
        (["health/append_only"], "aix check"),
    ],
)
def test_bad_input_is_told_what_is_wrong(arguments: list[str], problem: str, filled: Ledger, search_path: str) -> None:
    message = fail(*arguments, "--ledger", filled.path, PYTHONPATH=search_path)
    assert message.startswith("aix: ")
    assert problem in message
