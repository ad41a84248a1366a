"""`aix log`, `tree`, `fork-point`, `diff`, `head`, `blame` and `sessions --containing`, on screens of 80 columns."""

import io
import json
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import pytest
from rich.cells import cell_len

import aix
from aix.cli import command as command_module
from aix.errors import AmbiguousFileError, UnknownFileError, UnknownSessionError
from aix.output import Listing
from aix.output.tables import write_to_terminal
from aix.output.text import is_safe
from aix.pipeline.run import Settings, import_histories
from aix.reading.ledger import Ledger
from tests import ROOT
from tests.queries.agent_graphs import build_graph_ledger
from tests.queries.ledger import build_ledger
from tests.support.command_line import AIX, run_here, run_in_process, run_on_terminal
from tests.support.conversations import call, context, message, request, session, turn
from tests.support.row_batches import deliver

FIXTURES = ROOT / "fixtures"
SITUATIONS = (
    *(f"claude_code/{name}/input" for name in ("rewind", "compaction_then_rewind", "agents_of_agents", "late_links")),
    *(f"claude_code/{name}/input" for name in ("forked_copy", "files_of_calls")),
    "session_log/fork",
    "agent_dag/subagents",
)
HOSTILE = "\x1b[31m├─ </b>\u202e\n$(rm -rf ~) `x` " + "w" * 100

Screen = Callable[..., str]
Parents = dict[str, str | None]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tree") / "ledger"
    import_histories(folder, [FIXTURES / name for name in SITUATIONS], Settings(jobs=0))
    return folder


@pytest.fixture(scope="module")
def opened(ledger: Path) -> Iterator[Ledger]:
    with aix.open(ledger) as found:
        yield found


@pytest.fixture
def screen(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Run a command, and give what a terminal of 80 columns shows of its data."""

    def drawn(*arguments: str, columns: int = 80, folder: Path = ledger) -> str:
        out = io.StringIO()

        def draw(listing: Listing, **_: object) -> list[str]:
            if listing.text:
                out.writelines(f"{line}\n" for line in listing.text)
                return []
            return write_to_terminal(listing.for_people or listing, out)

        with monkeypatch.context() as patch:
            patch.setenv("COLUMNS", str(columns))
            patch.setenv("NO_COLOR", "1")
            patch.setattr(command_module, "emit", draw)
            run_here(*arguments, "--ledger", str(folder))
        return out.getvalue()

    return drawn


@pytest.fixture(scope="module")
def parents(opened: Ledger) -> Parents:
    return dict(opened.sql("select id, parent_turn_id from turns").rows())


@pytest.fixture(scope="module")
def heads(opened: Ledger) -> dict[str, str]:
    return dict(opened.sql("select label, thread_id from sessions").rows())


def run(ledger: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a ledger, and return its exit code and what it wrote."""
    return run_in_process(*arguments, "--ledger", str(ledger))


def rows(ledger: Path, *arguments: str) -> list[dict[str, Any]]:
    """Run a command and return its rows, as programs get them."""
    found: list[dict[str, Any]] = json.loads(run(ledger, *arguments, "--json").stdout, parse_float=Decimal)
    return found


def bad_lines(lines: list[str]) -> list[str]:
    """Lines that are wider than the screen, or hold what a terminal takes for more than text."""
    return [line for line in lines if cell_len(line) > 80 or not is_safe(line)]


def walked(parents: Parents, turn_id: str | None) -> list[str]:
    """The way from a turn up to its root."""
    way = []
    while turn_id is not None:
        way.append(turn_id)
        turn_id = parents.get(turn_id)
    return way


def test_a_tree_shows_rewinds_and_what_came_of_them(screen: Screen) -> None:
    assert screen("tree", "c5118573") == (
        "                                                                   turns    cost\n"
        "c5118573  Name the file                                                5  <$0.01\n"
        "├─ 5FAFAAC8  Name the file                                             1  <$0.01\n"
        "├─ fork e9969a82 (abandoned)  Make it shorter                          2  <$0.01\n"
        "├─ 2HRSSKNS  Make it longer                                            1  <$0.01\n"
        "└─ fork 60c0b902 (abandoned)  Longer still                             1       –\n"
    )


def test_the_branch_of_the_session_that_is_asked_for_goes_straight_down(screen: Screen) -> None:
    assert screen("tree", "e9969a82") == (
        "                                                                   turns    cost\n"
        "e9969a82  Name the file                                                5  <$0.01\n"
        "├─ 5FAFAAC8  Name the file                                             1  <$0.01\n"
        "├─ fork c5118573  Make it longer                                       2  <$0.01\n"
        "│  ├─ 2HRSSKNS  Make it longer                                         1  <$0.01\n"
        "│  └─ fork 60c0b902 (abandoned)  Longer still                          1       –\n"
        "└─ 5YYZJPAY…79PHB4VD  Make it shorter                                  2  <$0.01\n"
    )


def test_a_tree_shows_compactions_on_their_branches(screen: Screen) -> None:
    assert screen("tree", "9ccfd453", "--full") == (
        "                                                                   turns    cost\n"
        "9ccfd453  Splice the rope                                              6   $0.01\n"
        "├─ 139MFJGM  Splice the rope                                           1  <$0.01\n"
        "├─ fork d5513a41 (abandoned)                                           1       –\n"
        "│  └─ ≡ 5Z8C05G7 900 → –, manual                                       1       –\n"
        "├─ fork 6d873b21 (abandoned)  Or tie a knot                            1  <$0.01\n"
        "├─ 5G9FXW9F  Whip the end instead                                      1  <$0.01\n"
        "├─ ≡ 5Z16CXTJ 900 → 150, manual                                        1       –\n"
        "└─ 41X3Q52C  Go on with the whipping                                   1  <$0.01\n"
    )


def test_subagents_hang_from_the_turns_that_started_them_with_costs_apart(screen: Screen) -> None:
    assert screen("tree", "1ffd9d22") == (
        "                                                        turns    cost  subagents\n"
        "1ffd9d22  Delegate it twice                                 1  <$0.01     <$0.01\n"
        "└─ 4Y83Z683  Delegate it twice                              1  <$0.01     <$0.01\n"
        "   └─ ↳ aaaaaaaaaaaaaaaa1  Outer                                          <$0.01\n"
        "      └─ 6F44XP4Y  Outer work                                             <$0.01\n"
        "         └─ ↳ aaaaaaaaaaaaaaaa2  Inner                                    <$0.01\n"
    )
    # Nobody knows which turn started the first: its log says no more than whose it is.
    assert screen("tree", "ccb95fea") == (
        "                                                        turns    cost  subagents\n"
        "ccb95fea  Send three out                                    2  <$0.01     <$0.01\n"
        "├─ ↳ a3333333  Other words 3                                              <$0.01\n"
        "└─ 0FYNX27W…5CAYXJ9E  Send three out                        2  <$0.01     <$0.01\n"
        "   ├─ ↳ a1111111  First                                                   <$0.01\n"
        "   └─ ↳ a2222222  Second                                                  <$0.01\n"
    )


def test_a_subagent_of_a_graph_has_a_tree_of_its_own(screen: Screen) -> None:
    assert screen("tree", "run-research").splitlines()[1:] == [
        "run-research  Find three sources.                                      1  <$0.01",
        "└─ 5B7H4N6Z  Find three sources.                                       1  <$0.01",
    ]


def test_a_turn_stands_for_what_follows_it(screen: Screen) -> None:
    assert screen("tree", "2HRSSKNS") == (
        "                                                                   turns    cost\n"
        "2HRSSKNS  Make it longer                                               2  <$0.01\n"
        "├─ 2HRSSKNS  Make it longer                                            1  <$0.01\n"
        "├─ head of c5118573\n"
        "└─ fork 60c0b902 (abandoned)  Longer still                             1       –\n"
    )


def test_all_trees_stand_by_project_with_their_forks(screen: Screen) -> None:
    assert screen("tree", "--all", "--project", "ada/rewind") == (
        "                                                                   turns    cost\n"
        "…/ada/rewind                                                           5  <$0.01\n"
        "└─ c5118573  Name the file                                             5  <$0.01\n"
        "   ├─ fork e9969a82 (abandoned)  Make it shorter                       2  <$0.01\n"
        "   └─ fork 60c0b902 (abandoned)  Longer still                          1       –\n"
    )
    assert screen("tree", "--all", "-n", "1", "--origin", "claude-code").splitlines()[1:] == [
        "…/ada/files-of-calls                                                    1  $0.01",
        "└─ 2f15046f  Touch everything                                           1  $0.01",
    ]


def test_every_turn_is_in_one_row_of_all_trees(ledger: Path, opened: Ledger) -> None:
    found = rows(ledger, "tree", "--all")
    sums = [(sum(row["turns"] for row in found), sum(row["tool_calls"] for row in found))]
    assert opened.sql("select count(*), sum(tool_call_count) from turns").rows() == sums
    [(cost,)] = opened.sql("select sum(cost_usd) from v_requests where turn_id is not null").rows()
    assert sum(row["cost_usd"] or 0 for row in found) == cost
    assert len({row["first_turn_id"] for row in found}) == len(found)


def test_a_row_hangs_from_the_last_turn_of_another(ledger: Path) -> None:
    found = rows(ledger, "tree", "--all")
    ends = {row["last_turn_id"] for row in found}
    assert {row["after_turn_id"] for row in found} - {None} <= ends
    kinds = {(row["kind"], row["is_abandoned"], row["is_subagent"]) for row in found}
    assert {("compaction", True, False), ("compaction", False, False), ("stretch", False, True)} <= kinds


def test_a_log_has_a_line_for_each_turn_and_names_branches(screen: Screen) -> None:
    assert screen("log", "e9969a82") == (
        "turn      when              title              cost  branches            calls\n"
        "79PHB4VD  2026-02-10 09:00  Even shorter     <$0.01                          0\n"
        "5YYZJPAY  2026-02-10 09:00  Make it shorter  <$0.01                          1\n"
        "5FAFAAC8  2026-02-10 09:00  Name the file    <$0.01  c5118573, 60c0b902      0\n"
    )
    assert screen("log", "9ccfd453", "-n", "2") == (
        "turn      when              title                     cost  calls\n"
        "41X3Q52C  2026-02-10 09:00  Go on with the whipping  <$0.01      0\n"
        "5Z16CXTJ  2026-02-10 09:00  ≡ 900 → 150, manual           –      0\n"
    ).replace("title                     cost", "title                      cost")


def test_a_log_adds_up_what_it_lists(ledger: Path) -> None:
    assert run(ledger, "log", "1ffd9d22").stderr == "aix: 1 turn, <$0.01, <$0.01 more for subagents\n"
    of_branch = run(ledger, "log", "e9969a82").stderr
    assert of_branch == "aix: 3 turns, <$0.01\naix: 3 of these turns count for another session\n"


def test_a_log_is_the_way_to_the_head_backwards(
    ledger: Path, opened: Ledger, parents: Parents, heads: dict[str, str]
) -> None:
    logged: dict[str, list[str]] = {}
    for row in opened.query("tree/log").dicts():
        logged.setdefault(row["session_label"], []).append(row["turn_id"])
    assert logged == {label: walked(parents, head) for label, head in heads.items()}
    [of_turn] = rows(ledger, "log", "5FAFAAC8")
    assert (of_turn["position"], of_turn["children"], of_turn["sessions"], of_turn["heads"]) == (1, 2, 3, 0)


def test_a_log_keeps_to_its_dates(ledger: Path) -> None:
    assert [row["turn_id"] for row in rows(ledger, "log", "fork-session", "--until", "2026-01-05")] != []
    assert rows(ledger, "log", "fork-session", "--since", "2026-01-06") == []


def test_a_fork_point_counts_what_each_branch_has_after_it(screen: Screen) -> None:
    assert screen("fork-point", "c5118573", "e9969a82") == (
        "branch    turns    cost  last turn  when              title\n"
        "shared        1  <$0.01  5FAFAAC8   2026-02-10 09:00  Name the file\n"
        "c5118573      1  <$0.01  2HRSSKNS   2026-02-10 09:00  Make it longer\n"
        "e9969a82      2  <$0.01  79PHB4VD   2026-02-10 09:00  Even shorter\n"
    )


def test_a_branch_that_ends_at_the_fork_has_nothing_after_it(screen: Screen) -> None:
    assert screen("fork-point", "c5118573", "60c0b902") == (
        "branch    turns    cost  last turn  when              title\n"
        "shared        2  <$0.01  2HRSSKNS   2026-02-10 09:00  Make it longer\n"
        "c5118573      0          2HRSSKNS                     Make it longer\n"
        "60c0b902      1       –  5R4Z23Q7   2026-02-10 09:00  Longer still\n"
    )


def test_branches_that_share_no_turn_end_with_a_sentence_and_code_1(ledger: Path) -> None:
    process = run(ledger, "fork-point", "c5118573", "run-lead")
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr == "aix: c5118573 and run-lead share no turn\n"
    as_json = run(ledger, "fork-point", "c5118573", "run-lead", "--json")
    assert (as_json.returncode, json.loads(as_json.stdout)) == (1, [])


def test_a_branch_and_itself_need_no_diff(ledger: Path) -> None:
    for other, has_next in (("c5118573", False), ("60c0b902", True)):
        arguments = ("fork-point", "c5118573", other, "--no-import", "--ledger", str(ledger))
        out, code = run_on_terminal(AIX, *arguments, NO_COLOR="1")
        assert (code, "aix diff" in out) == (0, has_next)


def test_fork_points_are_those_that_a_walk_over_parents_finds(opened: Ledger, parents: Parents) -> None:
    sessions = opened.sql("select label, thread_id from sessions where not is_subagent = 1 order by label").rows()
    costs = dict(opened.sql("select turn_id, sum(cost_usd) from v_requests group by turn_id").rows())
    tried = 0
    for label, head in sessions:
        for other, other_head in sessions:
            one, two = walked(parents, head), walked(parents, other_head)
            shared = [each for each in one if each in two]
            if label >= other or not shared:
                continue
            compared = opened.query("tree/diff", a=label, b=other).dicts()
            found = {row["side"]: row for row in compared if row["kind"] == "all"}
            assert (found["shared"]["name"], found["shared"]["turns"]) == (shared[0], len(shared))
            for side, way in (("a", one), ("b", two)):
                after = [each for each in way if each not in shared]
                cost = sum(costs[each] for each in after if costs.get(each) is not None)
                row = found.get(side, {"turns": 0, "cost_usd": None})
                assert (row["turns"], row["cost_usd"] or 0) == (len(after), cost)
            tried += 1
    assert tried >= 9


def test_a_diff_compares_turns_costs_tools_and_files(screen: Screen) -> None:
    assert screen("diff", "c5118573", "e9969a82") == (
        "               c5118573  e9969a82\n"
        "turns                 1         2\n"
        "failed turns          0         0\n"
        "compactions           0         0\n"
        "cost             <$0.01    <$0.01\n"
        "tool calls            0         1\n"
        "calls of Bash                   1\n"
    )


def test_a_diff_of_unrelated_sessions_says_so_and_compares_all(ledger: Path, screen: Screen) -> None:
    assert "a.py  " in screen("diff", "2f15046f", "c5118573")
    process = run(ledger, "diff", "2f15046f", "c5118573")
    assert (process.returncode, process.stderr) == (0, "aix: 2f15046f and c5118573 share no turn\n")
    kinds = [(row["side"], row["kind"]) for row in rows(ledger, "diff", "2f15046f", "c5118573")]
    assert ("shared", "all") not in kinds
    assert {("a", "file"), ("a", "tool"), ("a", "turn"), ("b", "turn")} <= set(kinds)


def test_heads_move_as_the_history_says(screen: Screen, ledger: Path, opened: Ledger) -> None:
    assert [line.split()[0] for line in screen("head", "c5118573", "--all").splitlines()] == [
        *("turn", "2HRSSKNS", "5R4Z23Q7", "2HRSSKNS", "79PHB4VD", "5YYZJPAY", "5FAFAAC8")
    ]
    label = opened.find_session("c5118573")
    history = "select changed_at, thread_id from session_history where session_label = $1 order by changed_at"
    for changed_at, turn_id in opened.sql(history, [label]).rows()[-2:]:
        moment = datetime.fromtimestamp(changed_at / 1000, UTC)
        [row] = rows(ledger, "head", label, "--at", moment.isoformat())
        assert (row["turn_id"], row["changed_at"]) == (turn_id, changed_at)
        before = rows(ledger, "head", label, "--at", (moment - timedelta(milliseconds=1)).isoformat())
        assert [row["left_at"] for row in before] == [changed_at][: len(before)]


def test_a_day_stands_for_its_end_and_before_the_first_turn_there_is_no_head(ledger: Path) -> None:
    assert (
        rows(ledger, "head", "c5118573", "--at", "2026-02-10")[0]["turn_id"]
        == rows(ledger, "head", "c5118573")[0]["turn_id"]
    )
    process = run(ledger, "head", "c5118573", "--at", "2026-02-09")
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr == "aix: c5118573 had no turn yet: its first one began at 2026-02-10 09:00\n"


def test_sessions_containing_a_turn_are_those_with_it_on_their_way(
    ledger: Path, opened: Ledger, parents: Parents, heads: dict[str, str]
) -> None:
    whole = opened.find("2HRSSKNS").key
    expected = {label for label, head in heads.items() if whole in walked(parents, head)}
    assert len(expected) == 2
    assert {row["label"] for row in rows(ledger, "sessions", "--containing", "2HRSSKNS")} == expected


def test_blame_lists_uses_of_a_file_with_tools_and_lines(screen: Screen) -> None:
    assert screen("blame", "files-of-calls/a.py") == (
        "turn      when              use      title             tools  lines    session\n"
        "5HF70WDH  2026-02-10 09:00  read     Touch everything  Read   120–134  2f15046f\n"
        "5HF70WDH  2026-02-10 09:00  written  Touch everything  Edit   10–91    2f15046f\n"
    )
    assert [line.split()[3] for line in screen("blame", "a.py", "--written").splitlines()[1:]] == ["written"]


def test_blame_takes_an_end_from_its_slash_on(ledger: Path) -> None:
    assert rows(ledger, "blame", "/a.py") == rows(ledger, "blame", "a.py")
    assert rows(ledger, "blame", "/a.py", "--all") == rows(ledger, "blame", "a.py", "--all")
    with pytest.raises(UnknownFileError):
        run_here("blame", "/.py", "--ledger", str(ledger))


def test_blame_finds_what_the_tables_hold(opened: Ledger) -> None:
    held = "select distinct f.file_path, m.turn_id, f.kind from message_files f join messages m on m.id = f.message_id"
    found = opened.query("tree/blame").dicts()
    logged = {(row["file_path"], row["turn_id"], row["kind"]) for row in found if row["basis"] == "log"}
    assert set(opened.sql(held).rows()) == logged
    assert {row["tools"] for row in found if row["basis"] == "command"} == {"Bash"}


def test_names_of_nothing_are_errors_with_near_names(ledger: Path) -> None:
    with pytest.raises(UnknownFileError) as unknown:
        run_here("blame", "aa.py", "--ledger", str(ledger))
    assert "a.py" in unknown.value.remedy
    with pytest.raises(UnknownFileError):
        run_here("blame", "./", "--ledger", str(ledger))
    with pytest.raises(UnknownSessionError):
        run_here("log", "nothing-of-that-name", "--ledger", str(ledger))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions that fork, with texts, labels and paths that would like to be something else."""
    folder = tmp_path_factory.mktemp("hostile")
    ids = [f"turn-{number}" for number in range(4)]
    pairs = list(zip(ids, (None, ids[0], ids[1], ids[1]), strict=True))
    rows_of_tables = {
        "turns": [turn(each, parent, 1_000 * place) for place, (each, parent) in enumerate(pairs, start=1)],
        "turn_context": [context(each) for each in ids],
        "messages": [message(f"m-{each}", each, "user", content=HOSTILE) for each in ids]
        + [message(f"a-{each}", each, "assistant", sequence=1, content=HOSTILE) for each in ids],
        "tool_calls": [call(f"c-{each}", each, tool_name=HOSTILE, message_id=f"a-{each}") for each in ids],
        "message_files": [
            {"id": place, "message_id": f"a-{each}", "kind": "written", "file_path": f"/{folder}/{HOSTILE}/x.py"}
            for place, (each, folder) in enumerate(zip(ids, "aabb", strict=True))
        ],
        "requests": [request(f"r-{each}", each, input_tokens=3) for each in ids],
        "session_context": [{"label": f"one-{HOSTILE}", "project": f"/{HOSTILE}", "title": HOSTILE}],
        "sessions": [
            session(f"one-{HOSTILE}", ids[2]),
            session(f"two-{HOSTILE}", ids[3], status="archived"),
            session(
                f"sub-{HOSTILE}", "sub", is_subagent=1, parent_session_label=f"one-{HOSTILE}", parent_turn_id=ids[0]
            ),
        ],
    }
    rows_of_tables["turns"].append(turn("sub", None, 1_500))
    rows_of_tables["turn_context"].append(context("sub"))
    deliver(folder, rows_of_tables)
    return folder


HOSTILE_COMMANDS = (
    ["log", "one-"],
    ["tree", "--all", "--full"],
    *(
        pytest.param(words, marks=pytest.mark.long)
        for words in (
            ["tree", "one-"],
            ["fork-point", "one-", "two-"],
            ["diff", "one-", "two-"],
            ["head", "one-", "--all"],
            ["blame", "x.py", "--all"],
            ["sessions", "--containing", "turn-1"],
        )
    ),
)


@pytest.mark.parametrize("arguments", HOSTILE_COMMANDS, ids=" ".join)
def test_no_text_of_a_log_breaks_a_line_or_acts(arguments: list[str], hostile: Path, screen: Screen) -> None:
    lines = screen(*arguments, folder=hostile).splitlines()
    assert len(lines) >= 3
    assert not bad_lines(lines)
    exact = [value for row in rows(hostile, *arguments) for value in row.values() if isinstance(value, str)]
    assert [value for value in exact if HOSTILE in value or HOSTILE.replace("\n", " ") in value]


@pytest.mark.long
def test_every_command_takes_every_session_of_every_kind_of_log(tmp_path: Path, screen: Screen) -> None:
    folder = build_graph_ledger(build_ledger(tmp_path / "ledger"))
    import_histories(folder, [FIXTURES / "chat", FIXTURES / "session_log"], Settings(jobs=0))
    with aix.open(folder) as every:
        labels = [label for (label,) in every.sql("select label from sessions order by label").rows()]
    assert len({label.partition(":")[0] for label in labels}) >= 5
    for label in labels:
        for command, *options in (["log"], ["tree", "--full"], ["head", "--all"]):
            assert not bad_lines(screen(command, label, *options, folder=folder).splitlines()), (command, label)
    for label, other in pairwise(labels[::5]):
        screen("diff", label, other, folder=folder)


def test_files_with_one_ending_are_told_apart_or_taken_together(hostile: Path) -> None:
    with pytest.raises(AmbiguousFileError) as several:
        run_here("blame", "x.py", "--ledger", str(hostile))
    assert len(several.value.found) == 2
    assert {row["file_path"] for row in rows(hostile, "blame", "x.py", "--all")} == set(several.value.found)
    [path, _] = several.value.found
    assert {row["file_path"] for row in rows(hostile, "blame", path)} == {path}


def test_what_contradicts_itself_is_a_usage_error(ledger: Path) -> None:
    for arguments, said in (
        (["tree"], "Name a session or a turn, or say --all"),
        (["tree", "c5118573", "--all"], "--all draws the trees of all sessions: leave it out, or 'c5118573'"),
        (["tree", "c5118573", "-n", "1"], "--limit is for --all"),
    ):
        with pytest.raises(click.UsageError, match=said):
            run_here(*arguments, "--ledger", str(ledger))
    with pytest.raises(click.UsageError):
        run_here("head", "c5118573", "--all", "--at", "now", "--ledger", str(ledger))
