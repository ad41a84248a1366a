"""`aix context` and `ledger.context()`: what the model saw when a turn began, and how that is known."""

import json
from pathlib import Path

import pytest

import aix
from aix.errors import AmbiguousNameError, UnknownSessionError
from tests.support.command_line import run_here
from tests.support.conversations import call, context, message, request, session, turn
from tests.support.row_batches import deliver

Part = tuple[str, str | None, int | None, str | None, int | None]


def parts(ledger: Path, name: str) -> list[Part]:
    rows = aix.open(ledger).context(name).polars().to_dicts()
    return [
        (row["part"], row["turn_id"] and row["turn_id"][:8], row["tokens"], row["basis"], row["running_tokens"])
        for row in rows
    ]


def test_people_get_the_parts_and_where_their_tokens_end(compacted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_here("context", "0XCCMYRJ", "--ledger", str(compacted))
    captured = capsys.readouterr()
    assert captured.out == (
        "part          tokens  begins with                                                   turn      total"
        "  when              calls  known by\n"
        "────────────  ──────  ────────────────────────────────────────────────────────────  ────────  ─────"
        "  ────────────────  ─────  ─────────  ────────────\n"
        "summary           27  This session is being continued from a previous conversatio…  704XBVFA     27"
        "  2026-02-10 09:00      –  estimated  ▏\n"
        "earlier turn       7  The atlas is about the sea.                                   26K07P4G     34"
        "  2026-02-10 09:00      –  estimated  ▏\n"
        "this turn         48  Thanks                                                        0XCCMYRJ     82"
        "  2026-02-10 09:00      –  measured   ▏\n"
        "not logged       31k  system prompt, tool definitions, the rest                     –           31k"
        "  –                     –  computed   ████████████\n"
    )
    assert captured.err == "aix: the log reports a context of 31,054 tokens; 30,972 of them are in no log\n"


def test_a_compaction_leaves_its_summary_and_what_it_kept(compacted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert parts(compacted, "461QTGE7") == [
        ("summary", "5JMQ9GE4", 25, "estimated", 25),
        ("kept", "25HSY82J", 85_000, "measured", 85_025),
        ("this", "461QTGE7", 2, "estimated", 85_027),
        ("unlogged", None, -70_024, "computed", 15_003),
    ]
    run_here("context", "461QTGE7", "--ledger", str(compacted))
    assert "15,003 tokens, and the parts add up to 70,024 more: a compaction can keep less" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # Three compactions: the last stands for all before it. Its turn goes on and has no prompt of its own.
        (
            "6YYBSWHV",
            [
                ("summary", "054K3JQJ", 25, "estimated", 25),
                ("this", "6YYBSWHV", None, None, 25),
                ("unlogged", None, 13_980, "computed", 14_005),
            ],
        ),
        # What a compaction summarised, with the whole context that its log states.
        (
            "5JMQ9GE4",
            [
                ("later", "1H1HSPT4", 3, "estimated", 3),
                ("later", "25HSY82J", 85_000, "measured", 85_003),
                ("this", "5JMQ9GE4", 997, "measured", 86_000),
                ("unlogged", None, 5_000, "computed", 91_000),
            ],
        ),
        # A turn before any compaction.
        ("b7eb3929", [("this", "4QW0KMZC", 3, "estimated", 3), ("unlogged", None, 70_002, "computed", 70_005)]),
    ],
)
def test_the_parts_are_those_since_the_last_compaction(compacted: Path, name: str, expected: list[Part]) -> None:
    assert parts(compacted, name) == expected


def test_tokens_of_a_summary_are_those_its_own_call_reports(compacted: Path) -> None:
    assert parts(compacted, "66ESB9K2")[0] == ("summary", "6DHH4XT7", 55, "reported", 55)


def test_the_total_ends_at_what_the_first_request_reports(compacted: Path) -> None:
    ledger = aix.open(compacted)
    after = ledger.sql("select turn_id, after_request_id, after_context_tokens from v_compactions").rows()
    known = [(request_id, tokens) for _, request_id, tokens in after if request_id]
    assert len(known) == 10
    for request_id, tokens in known[::3]:
        [(turn_id,)] = ledger.sql("select turn_id from requests where id = $1", [request_id])
        assert ledger.context(turn_id).rows()[-1][-2] == tokens


@pytest.fixture(scope="module")
def conversation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a ledger of four turns: the first two make two requests each, the third none, and calls a tool."""
    ledger = tmp_path_factory.mktemp("conversation") / "ledger"
    deliver(
        ledger,
        {
            "turns": [turn("turn-1"), *(turn(f"turn-{n}", f"turn-{n - 1}", n) for n in (2, 3, 4))],
            "turn_context": [context(f"turn-{n}") for n in (1, 2, 3, 4)],
            "messages": [
                message("m-1", "turn-1", "user", content="a" * 41),
                message("m-2", "turn-1", "assistant", 2, content="b" * 40),
                message("m-3", "turn-3", "user", content="\x1b[2J" + "c" * 36),
                message("m-4", "turn-4", "user", content="d" * 8),
            ],
            "message_facts": [
                {"message_id": f"m-{n}", "text_chars": chars} for n, chars in ((1, 41), (2, 40), (3, 40), (4, 8))
            ],
            "tool_calls": [call("c-1", "turn-3")],
            "tool_call_facts": [{"call_id": "c-1", "params_bytes": 2, "result_chars": 17}],
            "requests": [
                request("r-0", "turn-1", 1, input_tokens=700, seq=0),
                request("r-1", "turn-1", 2, input_tokens=1_000, seq=1),
                request("r-2", "turn-2", 2, input_tokens=1_500, seq=0),
                request("r-3", "turn-2", 3, input_tokens=1_200, seq=1),
                request("r-4", "turn-4", 4, input_tokens=2_000),
            ],
            "sessions": [session("log:s", "turn-4")],
        },
    )
    return ledger


def test_tokens_are_measured_between_requests_and_else_estimated(conversation: Path) -> None:
    expected = [
        ("later", "turn-1", 311, "measured", 311),  # 1,000 - 700, and 41 / 4 for the prompt
        ("later", "turn-2", 200, "measured", 511),  # 1,200 - 1,000
        ("later", "turn-3", 15, "estimated", 526),  # (40 + 2 + 17) / 4
        ("this", "turn-4", 2, "estimated", 528),  # the turn before it reports nothing
        ("unlogged", None, 1_472, "computed", 2_000),
    ]
    assert parts(conversation, "turn-4") == expected
    assert parts(conversation, "log:s") == expected


def test_a_turn_without_a_request_leaves_unknown_what_else_was_seen(
    conversation: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_here("context", "turn-3", "--json", "--ledger", str(conversation))
    captured = capsys.readouterr()
    rows = json.loads(captured.out)
    assert [row["tokens"] for row in rows] == [311, 200, 10, None]
    assert captured.err.startswith("aix: no request of this turn reports its context")
    run_here("context", "turn-3", "--ledger", str(conversation))
    assert "\x1b" not in capsys.readouterr().out


def test_a_name_that_means_no_turn_or_several_is_refused(conversation: Path) -> None:
    with pytest.raises(UnknownSessionError, match="no session or turn named 'nobody'"):
        run_here("context", "nobody", "--ledger", str(conversation))
    with pytest.raises(AmbiguousNameError):
        run_here("context", "turn", "--ledger", str(conversation))
