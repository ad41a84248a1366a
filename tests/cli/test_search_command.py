"""`aix search` and `aix show --find`, as people and programs see them."""

import json
from pathlib import Path

import pytest

from aix.derived.derived_data import renew
from aix.prices.table import PriceTable
from tests import ROOT
from tests.support.command_line import AIX, run_in_process, run_on_terminal
from tests.support.conversations import call, message, request, session, turn
from tests.support.row_batches import deliver

HOSTILE = "kettle \x1b[31mred\x1b[0m <script>alert(1)</script> $(reboot) | row \u202e end"
LONG = "\n".join(f"line {number}" for number in range(400)) + "\nthe copper kettle boils\n" + "more\n" * 400

SCREEN = """\
began       session  turn   in      text                                    cost
2025-10-09  mending  AAAA1  prompt  Why does the copper kettle leak?        –
2025-10-10  mending  BBBB1  result  …line 399 the copper kettle boils mor…  –
aix: next: `aix show AAAA1 --find 'copper kettle'`
"""


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give two sessions: one that mends a kettle, and a hostile one."""
    folder = tmp_path_factory.mktemp("search") / "ledger"
    deliver(
        folder,
        {
            "turns": [
                turn("AAAA1", started_at=1_760_000_000_000),
                turn("BBBB1", "AAAA1", started_at=1_760_100_000_000),
            ],
            "messages": [
                message("m-1", "AAAA1", "user", content="Why does the copper kettle leak?"),
                message("m-2", "AAAA1", "assistant", content="Its seam is open.", thinking="A kettle of copper…"),
                message("m-3", "BBBB1", "user", content="Then mend it. password=hunter2hunter2"),
                message("m-4", "BBBB1", "assistant", content="Done."),
            ],
            "tool_calls": [
                call(
                    "c-1",
                    "BBBB1",
                    message_id="m-4",
                    tool_name="Read",
                    params_json='{"path": "/srv/kettle.py"}',
                    result_json=json.dumps({"content": LONG}),
                ),
                call(
                    "c-2",
                    "BBBB1",
                    message_id="m-4",
                    tool_name="Bash",
                    params_json='{"command": "weld", "password": "swordfish"}',
                    status="failed",
                    error="kettle: no such seam",
                ),
            ],
            "message_files": [{"id": 1, "message_id": "m-4", "kind": "read", "file_path": "/srv/kettle.py"}],
            "requests": [request("r-1", "AAAA1", input_tokens=1)],
            "sessions": [session("mending", "BBBB1")],
            "session_turns": [{"session_label": "mending", "turn_id": each} for each in ("AAAA1", "BBBB1")],
        },
        {
            "turns": [turn("CCCC1", started_at=1_760_200_000_000)],
            "messages": [message("m-5", "CCCC1", "user", content=HOSTILE)],
            "sessions": [session("hostile", "CCCC1")],
            "session_turns": [{"session_label": "hostile", "turn_id": "CCCC1"}],
        },
    )
    return folder


def run(ledger: Path, *arguments: str) -> str:
    process = run_in_process(*arguments, "--ledger", str(ledger))
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_a_terminal_of_80_columns_shows_a_turn_on_each_line(ledger: Path) -> None:
    out, code = run_on_terminal(AIX, "search", "copper", "kettle", "--no-import", "--ledger", str(ledger), NO_COLOR="1")
    assert code == 0
    assert out.replace("\r\n", "\n") == SCREEN


def test_a_terminal_of_80_columns_shows_the_cost_with_ids_as_long_as_real_ones(tmp_path: Path) -> None:
    folder, turns = tmp_path / "ledger", ("7F3KQ2MX0000000000000000AA", "8G4LR3NY0000000000000000BB")
    began = 1_760_000_000_000
    labels = ("5b1f03ab-f054-4c41-9d4f", "5b1f03ab-f054-4d41-9d4f")  # of which 16 characters are shown
    deliver(
        folder,
        {
            "turns": [turn(each, started_at=began) for each in turns],
            "messages": [message(f"m-{each}", each, "user", content=f"{LONG} {each}") for each in turns],
            "requests": [request(f"r-{each}", each, model="model-x", input_tokens=9_000_000) for each in turns],
            "sessions": [session(label, each) for label, each in zip(labels, turns, strict=True)],
            "session_turns": [
                {"session_label": label, "turn_id": each} for label, each in zip(labels, turns, strict=True)
            ],
        },
    )
    prices = tmp_path / "prices.csv"
    prices.write_text("model,input,output,source,source_version\nmodel-x,1,10,own list,7\n")
    renew(folder, PriceTable(prices))
    arguments = (AIX, "search", "copper kettle", "--no-import", "--ledger", str(folder))
    out, _ = run_on_terminal(*arguments, NO_COLOR="1")
    header, first, *_ = out.splitlines()
    assert header.split() == ["began", "session", "turn", "text", "cost"]
    assert first.startswith("2025-10-09  5b1f03ab-f054-4c  7F3KQ2MX  …")
    assert "no room for in" in out
    expanded, _ = run_on_terminal(*arguments, "--expanded", NO_COLOR="1")
    assert "2025-10-09 08:53" in expanded
    assert all(f"line {number}\r\n" in expanded for number in range(400))


def test_programs_get_every_column_with_exact_values(ledger: Path) -> None:
    [first, second] = json.loads(run(ledger, "search", "copper", "--json"))
    assert (first["turn_id"], first["kind"], first["row_id"], first["texts"]) == ("AAAA1", "prompt", "m-1", 2)
    assert (second["turn_id"], second["tool"], second["row_id"]) == ("BBBB1", "Read", "c-1")
    assert first["score"] > second["score"] > 0


@pytest.mark.parametrize(
    ("options", "turns"),
    [
        ((), ["AAAA1", "BBBB1", "CCCC1"]),
        (("--in", "path"), ["BBBB1"]),
        (("--in", "thinking", "--in", "prompt"), ["AAAA1", "CCCC1"]),
        (("--role", "tool"), ["BBBB1"]),
        (("--tool", "bash"), ["BBBB1"]),
        (("--failed",), ["BBBB1"]),
        (("--since", "2025-10-10"), ["BBBB1", "CCCC1"]),
        (("--until", "2025-10-09"), ["AAAA1"]),
        (("--session", "hostile"), ["CCCC1"]),
        (("--limit", "1", "--sort", "newest"), ["CCCC1"]),
        (("--limit", "1", "--sort", "oldest"), ["AAAA1"]),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_options_narrow_down_and_sort(ledger: Path, options: tuple[str, ...], turns: list[str]) -> None:
    rows = json.loads(run(ledger, "search", "kettle", "--json", *options))
    assert sorted(row["turn_id"] for row in rows) == turns


def test_a_search_without_a_hit_says_so_and_is_no_error(ledger: Path) -> None:
    process = run_in_process("search", "unheard", "--ledger", str(ledger))
    assert (process.returncode, process.stdout) == (0, "")
    assert "no text in the ledger has that" in process.stderr
    process = run_in_process("search", "kettle", "--since", "2030-01-01", "--ledger", str(ledger))
    assert "no text that meets these conditions has that" in process.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("=>",), "'=>' cannot be searched for: it has no letter and no digit"),
        (("NOT", "kettle"), "NOT leaves texts out"),
        (("kettle", "--tool", "Bash", "--in", "prompt"), "no text is of all the kinds, roles and calls"),
        (("kettle", "--project", "nowhere"), "nowhere"),
        (("kettle", "--tool", "bsh"), "no call is of a tool named 'bsh'\n  did you mean Bash?"),
        (("kettle", "--tool", "Nope"), "no call is of a tool named 'Nope'\n  `aix cost --by tool` lists all"),
        (("kettle", "--origin", "nowhere"), "there is no origin named 'nowhere'\n  there are no origins"),
        (("kettle", "--failed", "--role", "user"), "no text is of all the kinds, roles and calls"),
    ],
    ids=[
        "signs",
        "only_not",
        "tool_of_prompts",
        "unknown_project",
        "near_tool",
        "unknown_tool",
        "unknown_origin",
        "failed_prompts",
    ],
)
def test_wrong_usage_is_explained(ledger: Path, arguments: tuple[str, ...], said: str) -> None:
    process = run_in_process("search", *arguments, "--ledger", str(ledger))
    assert process.returncode == 2
    assert said in process.stderr


def test_text_of_logs_cannot_act_on_a_terminal_or_a_page(ledger: Path) -> None:
    out, _ = run_on_terminal(AIX, "search", "kettle", "row", "--no-import", "--ledger", str(ledger), NO_COLOR="1")
    assert "\x1b" not in out
    assert "\u202e" not in out
    page = run(ledger, "search", "kettle row", "--format", "markdown")
    assert "<script>" not in page


def test_redaction_hides_secrets_in_what_was_found(ledger: Path) -> None:
    process = run_in_process("search", "mend", "--redact", "--json", "--ledger", str(ledger))
    assert "hunter2" not in process.stdout
    assert "[secret:" in process.stdout
    assert "hidden: 1 secret" in process.stderr
    inside_json = run(ledger, "search", "weld", "--in", "input", "--redact", "--json")
    assert "swordfish" not in inside_json
    assert "[secret:" in inside_json


def test_show_opens_at_what_was_found(ledger: Path) -> None:
    text = run(ledger, "show", "BBBB1", "--find", "copper kettle")
    assert "the copper kettle boils" in text
    assert "line 7" not in text
    assert "weld" not in text
    assert "mend it" not in text
    assert "command: weld" in run(ledger, "show", "BBBB1", "--find", "weld")
    whole = run(ledger, "show", "mending", "--find", "seam")
    assert "Its seam is open." in whole
    assert "kettle: no such seam" in whole
    assert "> Why does" not in whole


def test_show_finds_in_json_and_markdown_too(ledger: Path) -> None:
    [found] = json.loads(run(ledger, "show", "mending", "--find", "/srv/kettle.py", "--format", "json"))
    assert [each["id"] for each in found["messages"]] == ["m-4"]
    assert [each["id"] for each in found["messages"][0]["calls"]] == ["c-1"]
    assert "boils" in run(ledger, "show", "mending", "--find", "boils", "--format", "markdown")


def test_show_says_when_nothing_is_found(ledger: Path) -> None:
    process = run_in_process("show", "mending", "--find", "unheard", "--ledger", str(ledger))
    assert process.returncode == 0
    assert "no text of mending has that" in process.stderr
    hidden = run_in_process("show", "mending", "--find", "weld", "--no-tools", "--ledger", str(ledger))
    assert "no text of mending has that" in hidden.stderr


def test_an_import_makes_the_index_when_it_is_asked_to(tmp_path: Path) -> None:
    log = ROOT / "fixtures/session_log/codeblocks/input"
    folder = tmp_path / "ledger"
    process = run_in_process("import", str(log), "--index", "--ledger", str(folder))
    assert process.returncode == 0, process.stderr
    assert list((folder / "cache").rglob("texts-*.sqlite"))
