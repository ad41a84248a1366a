"""Sessions that are given again: a family that the new rows give whole is replaced unread, and no other."""

from pathlib import Path

import pytest

from aix.derived.derived_data import DerivedData
from aix.merge import replacement
from aix.merge.merge_rows import Addition, Part, gather
from aix.merge.replacement import without_sessions
from aix.merge.row_batches import Delivery
from aix.schema import TABLES
from aix.store.commit import Change, commit
from aix.store.locks import staging_folder
from aix.store.manifest import Manifest
from tests.support.changes import FunctionStep
from tests.support.conversations import message, request, session, turn
from tests.support.row_batches import Rows, deliver, facts, rows_of
from tests.support.sample_ledger import batch_from_rows

ONE: Rows = {
    "turns": [turn("t")],
    "messages": [message("m1", "t", "user", content="first"), message("m2", "t", "assistant", content="second")],
    "requests": [request("r", "t", message_id="m2", input_tokens=1)],
    "sessions": [session("one", "t")],
}
TWO: Rows = {"turns": [turn("u", "t")], "sessions": [session("two", "u")]}
"""A fork of it: both are one family."""


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Note each time whether sessions were dropped unread."""
    seen: list[bool] = []
    real = replacement._drop_given_whole

    def drop(*arguments: object) -> bool:
        seen.append(real(*arguments))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(replacement, "_drop_given_whole", drop)
    return seen


def replace(ledger: Path, rows: Rows, *labels: str) -> Manifest:
    with staging_folder(ledger) as folder:
        with Delivery(folder / "given") as delivery:
            for name, listed in rows.items():
                delivery.add("source", TABLES[name], batch_from_rows(TABLES[name], listed))
        given = gather([Part(delivery.files())], folder / "gathered")
        leaving = FunctionStep(lambda base, stage: without_sessions(base, stage, labels, given))
        return commit(ledger, Change(leaves=[leaving], adds=Addition(given), derived=DerivedData())).version


def test_a_session_that_is_given_whole_is_replaced_unread(tmp_path: Path, unread: list[bool]) -> None:
    deliver(tmp_path / "grown", ONE)
    more = {**ONE, "messages": [*ONE["messages"], message("m3", "t", "assistant", content="third")]}
    version = replace(tmp_path / "grown", more, "one")
    deliver(tmp_path / "whole", more)
    assert facts(tmp_path / "grown") == facts(tmp_path / "whole")
    assert (version.replaces_rows, unread) == (False, [True])


def test_a_value_that_is_no_longer_given_goes(tmp_path: Path, unread: list[bool]) -> None:
    deliver(tmp_path / "ledger", ONE)
    less = {**ONE, "requests": [request("r", "t", message_id="m2")]}
    replace(tmp_path / "ledger", less, "one")
    assert [row["input_tokens"] for row in rows_of(tmp_path / "ledger", "requests")] == [None]
    assert unread == [True]


def test_a_message_that_new_rows_only_name_is_missed(tmp_path: Path, unread: list[bool]) -> None:
    deliver(tmp_path / "ledger", ONE)
    version = replace(tmp_path / "ledger", {**ONE, "messages": ONE["messages"][:1]}, "one")
    assert [row["id"] for row in rows_of(tmp_path / "ledger", "messages")] == ["m1"]
    assert (version.replaces_rows, unread) == (True, [False])


def test_another_session_of_the_family_is_joined_and_not_replaced(tmp_path: Path, unread: list[bool]) -> None:
    deliver(
        tmp_path / "ledger", ONE, {**TWO, "messages": [message("m4", "u", "user", content="of a log that is gone")]}
    )
    both = {name: [*ONE.get(name, []), *TWO.get(name, [])] for name in {*ONE, *TWO}}
    replace(tmp_path / "ledger", both, "one")
    assert [row["id"] for row in rows_of(tmp_path / "ledger", "messages")] == ["m1", "m2", "m4"]
    assert unread == [False]


def test_a_session_that_new_rows_only_name_stays(tmp_path: Path, unread: list[bool]) -> None:
    deliver(tmp_path / "ledger", ONE, {"sessions": [session("other", "t")]})
    named = {**ONE, "sessions": [session("one", "t", parent_session_label="other")]}
    replace(tmp_path / "ledger", named, "one")
    assert [row["label"] for row in rows_of(tmp_path / "ledger", "sessions")] == ["one", "other"]
    assert unread == [False]
