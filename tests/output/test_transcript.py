"""`aix show`: a session as people read it, whatever its logs hold."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from rich.cells import cell_len
from rich.text import Text

from aix.schema import SCHEMA_VERSION
from tests.store.test_ledgers_of_all_versions import FIXTURES
from tests.support.command_line import AIX, run_here, run_in_process, run_on_terminal
from tests.support.conversations import call, context, message, session, turn
from tests.support.priced_ledger import make_priced_ledger
from tests.support.row_batches import Rows, deliver
from tests.support.sample_conversation import ABANDONED, MAIN, SECOND, SUBAGENT
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger
from tests.test_scale import measure

SAMPLE_TEXT = """\
Rename a function
session-log:s-1 · /home/ada/näve
1970-01-01 00:00 · 4 turns · model-x
388 tokens: 15 in, 33 out, 300 from cache, 40 to cache
3 requests without a price · subagents 1 request without a price

── 1 · 1970-01-01 00:00 · model-x · 370 tokens · unpriced · 500 ms · 09MZPVPS

> Rename the function. 日本語 🚀

  ~ Simple.

  ```python
  def new(): ...
  ```

  • Edit src/a.py (50 ms)
    │ {"ok": true}
    written src/a.py:1–2

── 2 · 1970-01-01 00:00 · model-x · 11 tokens · unpriced · 600 ms · 0WD4C5AR

> Who calls it, @[Helper](agent:agent-1)?

  ✗ Task Look for callers (failed, 550 ms)
    │ the agent gave up
    ↳ session-log:s-1/agent-a: Look for callers

── 3 · 1970-01-01 00:00 · model-x · 500 ms · 33M5MWTC

≡ context compacted: 9.0P → 32k tokens · 2 turns summarised · auto
  A function was renamed.

── 4 · 1970-01-01 00:00 · model-x · 7 tokens · unpriced · 500 ms · 13SEYQ1X

  Done.
"""
HOSTILE = "\x1b]0;owned\x07 \x1b[2J \u202e # <script>x</script> ![i](http://evil/) plain"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ledger")
    write_ledger(folder, SAMPLE_ROWS)
    return folder


def show(ledger: Path, *arguments: str) -> str:
    process = run_in_process("show", *arguments, "--ledger", str(ledger))
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def one_turn(ledger: Path, **rows: list[dict[str, object]]) -> Path:
    """Join a session `s` with one turn `turn-1` that holds these rows."""
    base: Rows = {"turns": [turn("turn-1")], "turn_context": [context("turn-1")], "sessions": [session("s", "turn-1")]}
    deliver(ledger, {**base, **rows})
    return ledger


@pytest.fixture(scope="module")
def whole_by_form(sample: Path) -> dict[str, str]:
    return {form: show(sample, MAIN, "--format", form) for form in ("text", "markdown", "json")}


def test_a_session_reads_from_its_first_turn_to_its_last(sample: Path) -> None:
    assert show(sample, MAIN) == show(sample, "s-1") == SAMPLE_TEXT


def test_a_session_says_its_cost_and_that_of_its_subagents_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    priced = ["--ledger", str(make_priced_ledger(tmp_path / "ledger"))]
    run_here("show", "log:main", *priced)
    shown = capsys.readouterr().out
    assert "\nat least $3.00, estimated $3.50 · subagents $2.00\n" in shown
    assert "· model-x · 1.1M tokens · $2.00 ·" in shown
    assert "· model-x · 1.0M tokens · ≥$1.00 ·" in shown
    run_here("show", "log:other", "--format", "markdown", *priced)
    assert "- 1 request without a price\n" in capsys.readouterr().out
    run_here("show", "h-1", *priced)
    assert "· $2.00 ·" in capsys.readouterr().out


def test_a_failed_turn_and_an_abandoned_session_are_said_so(sample: Path) -> None:
    shown = show(sample, ABANDONED)
    assert "2 turns, 1 failed · model-x · archived" in shown
    assert "interrupted, failed" in shown
    assert "> Stop \\u001b[31mnow\\u001b[0m" in shown


def test_a_subagent_names_the_session_that_spawned_it(sample: Path) -> None:
    shown = show(sample, SUBAGENT)
    assert f"spawned by {MAIN}" in shown
    assert "  agent:\n> Look for callers" in shown


@pytest.mark.parametrize("name", [SECOND, SECOND[:5], "session-log:u-2"])
def test_a_single_turn_is_shown_with_its_number(sample: Path, name: str) -> None:
    shown = show(sample, name)
    assert shown.startswith("\n── 2 · ")
    assert shown.count("── ") == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("flags", "missing"),
    [
        (["--no-thinking"], ["Simple."]),
        (["--no-tools"], ["Edit", "the agent gave up", "written", "↳"]),
        (["--last", "1"], ["── 3", "Rename the function"]),
    ],
)
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_what_is_not_wanted_is_left_out(
    sample: Path, whole_by_form: dict[str, str], form: str, flags: list[str], missing: list[str]
) -> None:
    whole, less = whole_by_form[form], show(sample, MAIN, "--format", form, *flags)
    assert "Done." in less
    for text in missing:
        if text in whole:
            assert text not in less


def test_json_is_a_list_of_turns_with_everything_inside(sample: Path) -> None:
    turns = json.loads(show(sample, MAIN, "--format", "json"))
    assert [one["number"] for one in turns] == [1, 2, 3, 4]
    first = turns[0]
    assert [one["role"] for one in first["messages"]] == ["user", "assistant"]
    [made] = first["messages"][1]["calls"]
    assert (made["tool_name"], made["params"]) == ("Edit", '{"file":"src/a.py","new":"def new(): ..."}')
    assert first["tokens"] == {"input": 10, "output": 20, "cached_input": 300, "cache_write": 40, "total": 370}
    assert first["cost"] == {"usd": None, "estimated_usd": None, "unpriced_requests": 1}
    assert turns[2]["compaction"]["tokens_before"] == 9_007_199_254_740_993
    assert turns[1]["messages"][1]["calls"][0]["subagent"]["label"] == SUBAGENT


def test_long_results_are_folded_with_a_count_and_unfolded_in_full(tmp_path: Path) -> None:
    lines = "\n".join(f"line {number}" for number in range(100))
    ledger = one_turn(tmp_path, tool_calls=[call("c", "turn-1", params_json="[]", result_json=json.dumps(lines))])
    folded, full = show(ledger, "s"), show(ledger, "s", "--full")
    assert "│ line 3\n    │ … 96 more lines\n" in folded
    assert "line 4" not in folded
    assert "│ line 99\n" in full
    assert "more" not in full


HUGE = {
    "text": json.dumps("x" * 3_000_000),
    "object": json.dumps({"stdout": "x" * 3_000_000}),
    "parts": json.dumps([{"type": "text", "text": "x" * 3_000_000}]),
    "no JSON": "x" * 3_000_000,
    "broken JSON": "[" * 3_000_000,
}


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with a session for each huge result."""
    folder = tmp_path_factory.mktemp("huge")
    rows: Rows = {
        "turns": [turn(f"turn {name}") for name in HUGE],
        "turn_context": [context(f"turn {name}") for name in HUGE],
        "sessions": [session(name, f"turn {name}") for name in HUGE],
        "tool_calls": [
            call(f"call {name}", f"turn {name}", result_json=result, params_json=result)
            for name, result in HUGE.items()
        ],
    }
    deliver(folder, rows)
    return folder


@pytest.mark.long
@pytest.mark.parametrize("name", HUGE)
def test_huge_results_are_cut_unless_wanted_whole(huge: Path, name: str) -> None:
    folded = show(huge, name)
    assert len(folded) < 2_000
    assert "3.0M more characters" in folded
    assert len(show(huge, name, "--full")) > 3_000_000
    [shown] = json.loads(show(huge, name, "--format", "json"))
    assert shown["calls"][0]["result"] == HUGE[name]


def test_a_huge_prompt_title_or_name_is_cut_too(tmp_path: Path) -> None:
    ledger = one_turn(
        tmp_path,
        messages=[message("m", "turn-1", "user", content="word " * 1_000_000)],
        tool_calls=[call("c", "turn-1", tool_name="T" * 1_000_000)],
        session_context=[{"label": "s", "title": "title " * 1_000_000}],
    )
    folded = show(ledger, "s")
    assert len(folded) < 6_000
    assert "5.0M more characters" in folded


def test_the_most_telling_parameter_stands_on_the_line_of_the_call(tmp_path: Path) -> None:
    params = [
        {"mode": "x", "command": "make\n  test"},
        {"new": "text", "file_path": "/w/src/a.py"},
        {"anything": "else"},
        {"count": 3},
        {"content": "y" * 100_000, "path": "cut"},
    ]
    calls = [
        call(f"c{n}", "turn-1", tool_name=f"T{n}", params_json=json.dumps(given), sequence=n)
        for n, given in enumerate(params)
    ]
    ledger = one_turn(tmp_path, turns=[turn("turn-1", workspace_path="/w")], tool_calls=calls)
    shown = re.findall(r"• (T\d.*)", show(ledger, "s"))
    assert shown[:4] == ["T0 make test", "T1 src/a.py", "T2 else", "T3"]
    assert shown[4].startswith("T4 yyyy")


def test_subagents_that_no_call_names_and_calls_of_no_message_are_shown(tmp_path: Path) -> None:
    spawned = session("sub", "turn-2", is_subagent=1, parent_session_label="s", parent_turn_id="turn-1")
    ledger = one_turn(
        tmp_path,
        turns=[turn("turn-1"), turn("turn-2")],
        sessions=[session("s", "turn-1"), {**spawned, "task_description": "Dig"}],
        messages=[message("m", "turn-1", "user", content="Go")],
        tool_calls=[call("c", "turn-1", tool_name="Spade")],
    )
    for form, mark in (("text", "  ↳ sub: Dig"), ("markdown", "↳ sub: Dig")):
        shown = show(ledger, "s", "--format", form)
        assert mark in shown
        assert "Spade" in shown


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows: dict[str, list[dict[str, object]]] = {
        "messages": [
            message("m1", "turn-1", "user", content=HOSTILE + "\n```\nnot closed `" + HOSTILE),
            message("m2", "turn-1", "assistant", 2, content=f"`\n`{HOSTILE}`\n===\n---\n# head", thinking=HOSTILE),
        ],
        "tool_calls": [
            call(
                "c",
                "turn-1",
                message_id="m2",
                tool_name=HOSTILE,
                params_json=json.dumps({"path": HOSTILE}),
                result_json=json.dumps(f"```\n{HOSTILE}\n````\n<b>"),
                error=HOSTILE,
            )
        ],
        "session_context": [{"label": "s", "title": f"{HOSTILE}\nsecond", "project": HOSTILE}],
        "message_files": [{"id": 1, "message_id": "m2", "kind": "read", "file_path": HOSTILE}],
    }
    return one_turn(tmp_path_factory.mktemp("hostile"), **rows)


@pytest.mark.long
@pytest.mark.parametrize("flags", [[], ["--full"]])
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_text_of_a_log_cannot_drive_the_terminal(hostile: Path, form: str, flags: list[str]) -> None:
    shown, code = run_on_terminal(AIX, "show", "s", "--format", form, *flags, "--ledger", str(hostile))
    assert code == 0
    in_pipe = show(hostile, "s", "--format", form, *flags)
    for text in (shown, in_pipe):
        assert "plain" in text
        assert not [sequence for sequence in ("\x1b]", "\x07", "\x1b[2J", "\u202e") if sequence in text]


@pytest.mark.parametrize("flags", [[], ["--full"]])
def test_text_of_a_log_makes_no_tag_link_or_heading_of_markdown(hostile: Path, flags: list[str]) -> None:
    text = show(hostile, "s", "--format", "markdown", *flags)
    tokens = [inner for token in MarkdownIt("commonmark").parse(text) for inner in (token, *(token.children or ()))]
    kinds = [token.type for token in tokens]
    assert not {"html_block", "html_inline", "link_open", "image", "hr"} & set(kinds)
    assert kinds.count("heading_open") == 2, "the title and the turn"


def test_code_in_a_message_stays_code_in_markdown(tmp_path: Path) -> None:
    content = "See:\n~~~python\nx = a[0] * b\n~~~\nand `y`"
    ledger = one_turn(tmp_path, messages=[message("m", "turn-1", "assistant", content=content)])
    blocks = [
        token for token in MarkdownIt("commonmark").parse(show(ledger, "s", "--format", "markdown")) if token.info
    ]
    assert [(token.info, token.content) for token in blocks] == [("python", "x = a[0] * b\n")]


@pytest.mark.long
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_text_is_wrapped_at_the_width_of_the_terminal(tmp_path: Path, columns: int) -> None:
    ledger = one_turn(
        tmp_path,
        messages=[message("m", "turn-1", "user", content="日本語 word " * 200 + "x" * 300)],
        tool_calls=[call("c", "turn-1", params_json=json.dumps({"command": "word " * 60}))],
    )
    shown, code = run_on_terminal(AIX, "show", "s", "--ledger", str(ledger), columns=columns)
    assert code == 0
    lines = [Text.from_ansi(line).plain for line in shown.splitlines()]
    assert max(map(cell_len, lines)) <= columns
    assert sum(line.startswith("> ") for line in lines) > 10


def test_a_terminal_gets_colours_and_a_pipe_none(sample: Path) -> None:
    shown, _ = run_on_terminal(AIX, "show", MAIN, "--ledger", str(sample))
    assert "\x1b[1m" in shown
    assert "\x1b" not in show(sample, MAIN)
    assert [Text.from_ansi(line).plain.rstrip() for line in shown.splitlines()] == SAMPLE_TEXT.splitlines()


def test_the_suffix_of_the_file_decides_unless_a_format_is_named(sample: Path, tmp_path: Path) -> None:
    for name, start in (("a.md", "# Rename"), ("a.json", "[\n{"), ("a.txt", "Rename a function\n")):
        assert show(sample, MAIN, "-o", str(tmp_path / name)) == ""
        assert (tmp_path / name).read_text().startswith(start)
    show(sample, MAIN, "--format", "text", "-o", str(tmp_path / "b.json"))
    assert (tmp_path / "b.json").read_text() == SAMPLE_TEXT


@pytest.mark.parametrize(
    "form", ["text", pytest.param("markdown", marks=pytest.mark.long), pytest.param("json", marks=pytest.mark.long)]
)
@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_ledgers_of_all_versions_are_shown(version: int, form: str, tmp_path: Path) -> None:
    shown = show(shutil.copytree(FIXTURES / f"schema_{version}", tmp_path / "ledger"), MAIN, "--format", form)
    assert "Rename the function." in shown
    assert "A function was renamed." in shown


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("session-log:s", 2, "several sessions begin with 'session-log:s'\n  say which: session-log:s-1, "),
        ("session-log:s-2", 2, "no session or turn named 'session-log:s-2'\n  did you mean session-log:s-1 or "),
        ("zzz", 2, "no session or turn named 'zzz'\n  `aix sessions` lists all"),
        ("", 2, "no session or turn named ''"),
    ],
)
def test_names_that_mean_nothing_or_too_much_are_said_so(sample: Path, name: str, code: int, message: str) -> None:
    process = run_in_process("show", name, "--ledger", str(sample))
    assert (process.returncode, process.stdout) == (code, "")
    assert message in process.stderr


def test_empty_and_missing_ledgers_are_said_so(tmp_path: Path) -> None:
    assert run_in_process("show", "s", "--ledger", str(tmp_path)).returncode == 3
    write_ledger(tmp_path, {})
    process = run_in_process("show", "s", "--ledger", str(tmp_path))
    assert (process.returncode, process.stdout) == (2, "")
    assert "the ledger holds no sessions" in process.stderr


def test_a_session_whose_head_has_no_rows_is_shown_empty(tmp_path: Path) -> None:
    write_ledger(tmp_path, {"sessions": [session("s", "gone")]})
    assert "0 turns" in show(tmp_path, "s")
    assert json.loads(show(tmp_path, "s", "--format", "json")) == []


@pytest.mark.scale
def test_a_large_session_is_shown_within_its_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    count, size = 40, 4_000_000
    ids = [f"turn-{number}" for number in range(count)]
    for start in range(0, count, 10):
        rows = {
            "turns": [turn(ids[n], ids[n - 1] if n else None, n) for n in range(start, start + 10)],
            "tool_calls": [
                call(f"c{n}", ids[n], result_json=json.dumps(f"{n} " * (size // len(f"{n} "))))
                for n in range(start, start + 10)
            ],
            "sessions": [session("s", ids[start + 9], start)],
        }
        deliver(tmp_path, rows)
    code = f"import sys; from aix.cli import main; sys.argv = ['aix', 'show', 's', '--full', '-o', '{tmp_path}/out',"
    code += f" '--ledger', '{tmp_path}']; main()"
    _, peak_mib, _ = measure(sys.executable, "-c", code)
    assert (tmp_path / "out").stat().st_size > count * size * 0.9
    with capsys.disabled():
        print(f"\n{count * size / 1e6:.0f} MB of results: shown with {peak_mib:.0f} MiB at most")
    assert peak_mib < 400


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_an_error_that_is_a_code_is_in_words(tmp_path: Path, form: str) -> None:
    ledger = one_turn(
        tmp_path,
        messages=[message("m", "turn-1", "assistant", content="No.")],
        tool_calls=[call("c", "turn-1", message_id="m", status="failed", error="approval_denied")],
    )
    shown = show(ledger, "s", "--format", form)
    assert "denied by the policy" in shown
    assert "approval_denied" not in shown


def test_a_refused_command_is_shown_as_a_shell_would_write_it(tmp_path: Path) -> None:
    told = {"message_id": "m", "status": "failed", "result_json": "{}"}
    ledger = one_turn(
        tmp_path,
        messages=[message("m", "turn-1", "assistant", content="No.")],
        tool_calls=[
            call("refused", "turn-1", params_json='{"cmd": ["rm", "-rf", "my files"]}', **told),
            call("broken", "turn-1", params_json='{"cmd": ["ls", 1]}', **told),
        ],
        permission_decisions=[{"call_id": "refused", "turn_id": "turn-1", "class": "exec", "outcome": "denied_user"}],
    )
    shown = show(ledger, "s")
    assert "rm -rf 'my files' (denied)" in shown
    assert shown.count("(failed)") == 1
    assert "{}" not in shown
