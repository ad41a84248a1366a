"""Every target leads to one thread with a reason, or to candidates; nothing is guessed."""

from pathlib import Path

import pytest

import aix
from aix.errors import (
    AixError,
    AmbiguousTargetError,
    SearchTextError,
    UnknownNameError,
    UnknownSessionError,
    UnknownTextError,
    UsageError,
)
from aix.reading.ledger import Ledger
from aix.reading.routing import resolve, resolve_trigger
from tests.support.conversations import context, message, session, turn
from tests.support.row_batches import deliver
from tests.support.sample_conversation import ABANDONED, AFTER, CHILD, FIRST, MAIN, OTHER, SECOND, SUBAGENT, Row
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

MORE = [
    session("log:5b1f-one", FIRST, persona_id="bob"),
    session("log:5b1f-two", SECOND, persona_id="bob", updated_at=20),
    session("log:5b1f-old", OTHER, persona_id="bob", updated_at=30, status="archived"),
    session("log:5b1f-sub", OTHER, persona_id="bob", updated_at=40, is_subagent=1),
    session("log:helper", OTHER, persona_id="cleaner", is_subagent=1),
    session("log:undated", OTHER, persona_id="bob", updated_at=50),
]
UNDATED = [{"table_name": "sessions", "row_key": "log:undated", "column_name": "updated_at", "basis": "undated"}]
ANSWER = next(row["response_message_id"] for row in SAMPLE_ROWS["turns"] if row["id"] == SECOND)


def alias(name: str, label: str, reason: str = "manual") -> Row:
    return {"alias": name, "session_label": label, "created_at": 1, "reason": reason}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    folder = tmp_path_factory.mktemp("ledger")
    aliases = [alias("fox", "log:5b1f-two", "identity_promotion"), alias("5b1f", "log:5b1f-one")]
    rows = {
        **SAMPLE_ROWS,
        "sessions": [*SAMPLE_ROWS["sessions"], *MORE],
        "session_aliases": [*SAMPLE_ROWS["session_aliases"], *aliases],
        "inferred_values": [*SAMPLE_ROWS.get("inferred_values", []), *UNDATED],
    }
    write_ledger(folder, rows)
    return aix.open(folder)


LEADING = [
    (AFTER, AFTER, MAIN, f"id of the turn {AFTER}, the head of the session {MAIN}"),
    (f"turn:{AFTER}", AFTER, MAIN, "id of the turn"),
    (f"thread:{AFTER}", AFTER, MAIN, "id of the turn"),
    ("session-log:u-1", FIRST, "log:5b1f-one", "thread key of the turn"),
    ("thread:session-log:u-1", FIRST, "log:5b1f-one", "thread key of the turn"),
    (ANSWER, SECOND, "log:5b1f-two", "answer's id of the turn"),
    (f"turn:{ANSWER}", SECOND, "log:5b1f-two", "answer's id of the turn"),
    (AFTER[:6], AFTER, MAIN, "beginning of the id of the turn"),
    (f"turn:{AFTER[:6]}", AFTER, MAIN, "beginning of the id of the turn"),
    (MAIN, AFTER, MAIN, f"label of the session {MAIN}, whose head is the turn {AFTER}"),
    (f"session:{MAIN}", AFTER, MAIN, "label of the session"),
    (SUBAGENT, CHILD, SUBAGENT, "label of the session"),
    ("agent-a", CHILD, SUBAGENT, "end of the label of the session"),
    (ABANDONED, OTHER, ABANDONED, "label of the session"),
    ("s-1", AFTER, MAIN, "alias of the session"),
    ("fox", SECOND, "log:5b1f-two", "alias of the session"),
    ("session:fox", SECOND, "log:5b1f-two", "alias of the session"),
    ("5b1f", FIRST, "log:5b1f-one", "alias of the session"),
    ("log:5b1f-t", SECOND, "log:5b1f-two", "beginning of a name of the session"),
    ("session:fo", SECOND, "log:5b1f-two", "beginning of a name of the session"),
    ("…1f-two", SECOND, "log:5b1f-two", "shortened name of the session"),
    ("persona:bob", SECOND, "log:5b1f-two", "main session of the persona bob"),
    ("text:calls it", AFTER, MAIN, "text that fits best: turn "),
    ("calls it", AFTER, MAIN, f" of the session {MAIN}"),
    ("who calls nobody", AFTER, MAIN, "text with some of the words"),
]


@pytest.mark.parametrize(("target", "thread", "label", "reason"), LEADING, ids=[case[0] for case in LEADING])
def test_a_target_leads_to_a_thread_and_says_why(
    ledger: Ledger, target: str, thread: str, label: str, reason: str
) -> None:
    route = resolve(ledger, target).only()
    assert (route.thread_id, route.session_label, route.is_head) == (thread, label, True)
    assert reason in route.reason


AMBIGUOUS = [
    ("log:5b1f-", {"log:5b1f-one", "log:5b1f-two", "log:5b1f-old", "log:5b1f-sub"}),
    ("session:log:5b1f-o", {"log:5b1f-one", "log:5b1f-old"}),
]


@pytest.mark.parametrize(("target", "labels"), AMBIGUOUS, ids=[case[0] for case in AMBIGUOUS])
def test_a_target_that_several_threads_fit_has_candidates_and_no_route(
    ledger: Ledger, target: str, labels: set[str]
) -> None:
    resolution = resolve(ledger, target)
    assert resolution.route is None
    assert {route.session_label for route in resolution.candidates} == labels
    with pytest.raises(AmbiguousTargetError) as raised:
        resolution.only()
    assert raised.value.exit_code == 1
    assert FIRST in raised.value.remedy


UNKNOWN: list[tuple[str, type[AixError], str]] = [
    ("", UnknownSessionError, "`aix sessions` lists all"),
    ("nobody", UnknownSessionError, "`aix sessions` lists all"),
    ("log:5b1f-onf", UnknownSessionError, "log:5b1f-one"),
    ("session:log:5b1f-onf", UnknownSessionError, "log:5b1f-one"),
    (f"session:{AFTER}", UnknownSessionError, ""),
    ("turn:fox", UnknownSessionError, "`aix sessions` lists all"),
    ("turn:log:5b1f-", UnknownSessionError, "did you mean log:5b1f-o"),
    ("thread:nobody", UnknownSessionError, ""),
    ("turn:", UnknownSessionError, ""),
    (AFTER[:3], UnknownSessionError, ""),
    ("\ud800", UnknownSessionError, ""),
    ("->", UnknownSessionError, ""),
    ("text:->", SearchTextError, ""),
    ("text:", UnknownTextError, ""),
    ("text:nobody nowhere", UnknownTextError, "`aix search`"),
    ("persona:bobb", UnknownNameError, "did you mean bob?"),
    ("persona:", UnknownNameError, "the personas are: ada, bob, cleaner"),
    ("persona:cleaner", UsageError, ""),
]


@pytest.mark.parametrize(("target", "error", "remedy"), UNKNOWN, ids=[repr(case[0]) for case in UNKNOWN])
def test_a_target_that_nothing_fits_is_answered_with_the_nearest(
    ledger: Ledger, target: str, error: type[AixError], remedy: str
) -> None:
    with pytest.raises(error) as raised:
        resolve(ledger, target)
    assert remedy in raised.value.remedy


def test_a_turn_that_nobody_stands_at_is_an_earlier_state_of_its_session(tmp_path: Path) -> None:
    rows = {
        "turns": [turn("one-1"), turn("one-2", "one-1", 2)],
        "turn_context": [context("one-1"), context("one-2")],
        "messages": [message("m", "one-1", "user")],
        "sessions": [session("one", "one-2")],
        "session_turns": [{"session_label": "one", "turn_id": name} for name in ("one-1", "one-2")],
    }
    deliver(tmp_path, rows)
    route = resolve(aix.open(tmp_path), "one-1").only()
    assert (route.thread_id, route.session_label, route.is_head) == ("one-1", "one", False)
    assert route.reason == "id of the turn one-1, an earlier turn of the session one"


def test_a_beginning_of_a_session_and_of_a_turn_alike_is_ambiguous(tmp_path: Path) -> None:
    rows = {"turns": [turn("same-1"), turn("same-2", "same-1", 2)], "sessions": [session("same-session", "same-2")]}
    deliver(tmp_path, rows)
    assert {route.thread_id for route in resolve(aix.open(tmp_path), "same-").candidates} == {"same-1", "same-2"}


def test_names_of_the_same_thread_are_not_ambiguous(tmp_path: Path) -> None:
    deliver(tmp_path, {"turns": [turn("t-1")], "sessions": [session("copy-1", "t-1"), session("copy-2", "t-1")]})
    assert resolve(aix.open(tmp_path), "copy").only().thread_id == "t-1"


def talk(name: str, *texts: str) -> dict[str, list[Row]]:
    """Return a session with a turn for each of these prompts."""
    turns = [f"{name}-{number}" for number in range(len(texts))]
    return {
        "turns": [turn(key, parent) for key, parent in zip(turns, [None, *turns], strict=False)],
        "turn_context": [context(key) for key in turns],
        "messages": [message(f"m-{key}", key, "user", content=text) for key, text in zip(turns, texts, strict=True)],
        "sessions": [session(name, turns[-1])],
        "session_turns": [{"session_label": name, "turn_id": key} for key in turns],
    }


def test_text_leads_to_the_head_of_the_session_that_fits_best(tmp_path: Path) -> None:
    filler = [talk(f"other-{number}", f"something else {number}") for number in range(9)]
    long = "the harbour " + "and much more " * 200
    deliver(tmp_path, talk("sea", "the harbour and the harbour wall", "thanks"), talk("land", long), *filler)
    found = resolve(aix.open(tmp_path), "harbour wall")
    assert (found.only().thread_id, found.only().session_label, found.candidates) == ("sea-1", "sea", ())
    found = resolve(aix.open(tmp_path), "text:harbour")
    assert found.only().session_label == "sea"
    [other] = found.candidates
    assert other.session_label == "land"
    assert 0 < (other.score or 0) < (found.only().score or 0)


@pytest.mark.long
def test_text_of_a_subagent_leads_to_the_session_that_it_works_for(tmp_path: Path) -> None:
    agent, helper = talk("agent", "the harbour wall"), talk("helper", "something else")
    agent["sessions"][0] |= {"is_subagent": 1, "parent_session_label": "helper"}
    helper["sessions"][0] |= {"is_subagent": 1, "parent_session_label": "sea"}
    deliver(tmp_path, talk("sea", "look around"), agent, helper)
    route = resolve(aix.open(tmp_path), "harbour").only()
    assert (route.thread_id, route.session_label) == ("sea-0", "sea")
    assert route.reason == "text that fits best: turn agent-0 of the session agent"


@pytest.mark.long
def test_text_that_fits_two_sessions_alike_is_ambiguous(tmp_path: Path) -> None:
    filler = [talk(f"other-{number}", f"something else {number}") for number in range(9)]
    deliver(tmp_path, talk("one", "the harbour wall"), talk("two", "the harbour view"), *filler)
    found = resolve(aix.open(tmp_path), "harbour")
    assert found.route is None
    assert {route.session_label for route in found.candidates} == {"one", "two"}


def test_a_trigger_routes_to_the_main_session_of_its_persona(ledger: Ledger) -> None:
    assert resolve_trigger(ledger, "bob").only().session_label == "log:5b1f-two"
    with pytest.raises(UnknownNameError):
        resolve_trigger(ledger, "nobody")
    assert {route.session_label for route in resolve_trigger(ledger).candidates} == {MAIN, "log:5b1f-two"}


def test_a_trigger_without_a_persona_needs_the_only_one(tmp_path: Path) -> None:
    write_ledger(tmp_path / "one", SAMPLE_ROWS)
    assert resolve_trigger(aix.open(tmp_path / "one")).only().session_label == MAIN
    write_ledger(tmp_path / "none", {})
    with pytest.raises(UsageError, match="a trigger leads nowhere"):
        resolve_trigger(aix.open(tmp_path / "none"))
