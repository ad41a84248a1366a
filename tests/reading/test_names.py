"""Sessions and turns are found by what people call them, and never by guessing."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aix
from aix.errors import AmbiguousNameError, UnknownSessionError
from aix.reading.ledger import Ledger
from aix.reading.names import Kind, Named, short_names
from tests.support.command_line import run_aix
from tests.support.conversations import context, message, session, turn
from tests.support.row_batches import deliver
from tests.support.sample_conversation import ABANDONED, FIRST, MAIN, SECOND, SUBAGENT
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

ALIASES = [
    {"alias": "5b1f-one", "session_label": "log:5b1f-one", "created_at": 1},
    {"alias": "5b1f-two", "session_label": "log:5b1f-two", "created_at": 1},
    {"alias": "log:5b1f-one (old)", "session_label": "log:5b1f-one", "created_at": 1},
]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    folder = tmp_path_factory.mktemp("ledger")
    write_ledger(
        folder,
        {
            **SAMPLE_ROWS,
            "sessions": [
                *SAMPLE_ROWS["sessions"],
                session("log:5b1f-one", FIRST),
                session("log:5b1f-two", FIRST),
                session("log:9c-one", FIRST),
                session("5b1f", FIRST),
            ],
            "session_aliases": [*SAMPLE_ROWS["session_aliases"], *ALIASES],
        },
    )
    return aix.open(folder)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        (MAIN, MAIN),
        ("s-1", MAIN),
        (f"{MAIN}~", ABANDONED),
        ("session-log:s-1/a", SUBAGENT),
        (SUBAGENT.rpartition("/")[2], SUBAGENT),
        (ABANDONED.rpartition("~")[2][:6], ABANDONED),
        ("5b1f-two", "log:5b1f-two"),
        ("5b1f-t", "log:5b1f-two"),
        ("log:5b1f-o", "log:5b1f-one"),
        ("5b1f", "5b1f"),
    ],
)
def test_a_session_is_found_by_label_alias_or_the_beginning_of_either(ledger: Ledger, name: str, label: str) -> None:
    assert ledger.find_session(name) == label
    assert ledger.find(name) == Named(Kind.SESSION, label)


@pytest.mark.parametrize("name", ["log:5b1f-", "5b1f-", "session-log:s"])
def test_a_beginning_that_several_sessions_have_is_answered_with_them(ledger: Ledger, name: str) -> None:
    with pytest.raises(AmbiguousNameError) as caught:
        ledger.find_session(name)
    assert len(caught.value.found) > 1
    assert all(label in caught.value.remedy for label in caught.value.found)


def test_a_name_that_a_table_cut_at_its_beginning_is_found_by_its_end(ledger: Ledger) -> None:
    assert ledger.find_session("…f-two") == "log:5b1f-two"
    assert ledger.find("…f-two") == Named(Kind.SESSION, "log:5b1f-two")
    for wrong in ("…nobody", "…"):
        with pytest.raises(UnknownSessionError):
            ledger.find_session(wrong)
    with pytest.raises(AmbiguousNameError, match="several sessions end with") as caught:
        ledger.find_session("…-one")
    assert len(caught.value.found) > 1


@pytest.mark.parametrize("name", ["log:5b1f-onf", "", "\ud800", "nobody"])
def test_an_unknown_session_is_answered_with_the_nearest(ledger: Ledger, name: str) -> None:
    with pytest.raises(UnknownSessionError) as caught:
        ledger.find_session(name)
    assert caught.value.known
    if name == "log:5b1f-onf":
        assert "log:5b1f-one" in caught.value.remedy


def test_a_name_that_the_list_of_sessions_prints_is_that_session_and_no_beginning_of_others() -> None:
    labels = ["log:desk/run-1", "log:desk/run-1-2", "log:shop/run", "log:port/run", "log:travel-planner-of-ada"]
    names = [*((label, label) for label in labels), *((label.rpartition("/")[2], label) for label in labels[:4])]
    shown = short_names(names)
    assert shown["log:desk/run-1"] == "run-1"
    assert shown["log:shop/run"].startswith("log:shop")
    assert shown["log:port/run"].startswith("log:port")
    assert shown[labels[4]] == "log:travel-p"


@given(
    st.dictionaries(st.from_regex(r"(log:)?[ab]{0,9}(/[ab1]{1,9})?", fullmatch=True), st.sampled_from("ABC")),
    st.sets(st.sampled_from(["log:aaaaaaaa-A", "log:aaaaaaab-B", "bbbbbbbbb-C"])),
)
def test_the_short_name_of_a_session_is_the_same_when_only_some_are_asked_for(
    others: dict[str, str], labels: set[str]
) -> None:
    known = {"A": "log:aaaaaaaa-A", "B": "log:aaaaaaab-B", "C": "bbbbbbbbb-C"}
    names = [*((label, label) for label in known.values()), *((name, known[key]) for name, key in others.items())]
    found = short_names(names)
    assert short_names(names, labels) == {label: found[label] for label in labels}


def test_a_ledger_without_sessions_says_so(tmp_path: Path) -> None:
    write_ledger(tmp_path, {})
    with pytest.raises(UnknownSessionError) as caught:
        aix.open(tmp_path).find("s-1")
    assert caught.value.remedy == "the ledger holds no sessions"


RESPONSE = next(row["response_message_id"] for row in SAMPLE_ROWS["turns"] if row["id"] == SECOND)


@pytest.mark.parametrize("name", [SECOND, SECOND[:6], SECOND[:4], "session-log:u-2", RESPONSE])
def test_a_turn_is_found_by_id_thread_key_response_and_beginning(ledger: Ledger, name: str) -> None:
    assert ledger.find(name) == Named(Kind.TURN, SECOND)


def test_three_characters_of_a_turn_are_too_few(ledger: Ledger) -> None:
    with pytest.raises(UnknownSessionError, match="no session or turn named"):
        ledger.find(SECOND[:3])


def test_a_session_comes_before_a_turn_of_the_same_name(tmp_path: Path) -> None:
    rows = {
        "turns": [turn("same-1"), turn("same-2", "same-1", 2), turn("else-3", "same-2", 3)],
        "turn_context": [context("same-1"), context("same-2"), context("else-3")],
        "messages": [message("m", "same-1", "user")],
        "sessions": [session("same-1", "else-3")],
    }
    deliver(tmp_path, rows)
    ledger = aix.open(tmp_path)
    assert ledger.find("same-1") == Named(Kind.SESSION, "same-1")
    assert ledger.find("same-") == Named(Kind.SESSION, "same-1")
    assert ledger.find("same-2") == Named(Kind.TURN, "same-2")


def test_an_ambiguous_turn_is_answered_with_its_candidates(tmp_path: Path) -> None:
    deliver(tmp_path, {"turns": [turn("turn-1"), turn("turn-2", "turn-1", 2)], "sessions": [session("s", "turn-2")]})
    with pytest.raises(AmbiguousNameError) as caught:
        aix.open(tmp_path).find("turn")
    assert caught.value.found == ("turn-1", "turn-2")


@pytest.mark.long
def test_forget_understands_the_same_names(tmp_path: Path) -> None:
    deliver(
        tmp_path,
        SAMPLE_ROWS,
        {"sessions": [session("log:5b1f-one", FIRST)], "session_aliases": ALIASES[:1]},
    )
    process = run_aix("forget", "5b1f", "--dry-run", "--format", "csv", "--ledger", str(tmp_path))
    assert process.stdout.splitlines()[1] == "session,log:5b1f-one,1"
    assert sum(line.startswith("session,") for line in process.stdout.splitlines()) == 1
    assert run_aix("forget", "", "--ledger", str(tmp_path)).returncode == 2


def test_every_short_name_means_its_session(ledger: Ledger) -> None:
    names = ledger.sql(
        "select label, label from sessions union all select alias, session_label from session_aliases"
    ).rows()
    found = short_names(names)
    assert found.keys() == {label for _, label in names}
    assert {label: ledger.find_session(name) for label, name in found.items()} == {label: label for label in found}
