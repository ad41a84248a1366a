"""Answers of the queries about chats, for agents that are private, absent or removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import aix
from aix.permissions.audit.findings import is_audit, key_columns
from aix.query.packs import packs, read_packs
from aix.reading.ledger import Ledger
from tests.support.sample_ledger import Row

LABEL = "chats:garden"


def message(place: int) -> str:
    return f"0GARDEN{place:019}"


@pytest.fixture(scope="module")
def ledger(permission_ledger: Path) -> Iterator[Ledger]:
    with aix.open(permission_ledger) as opened:
        yield opened


def ask(ledger: Ledger, query: str) -> list[Row]:
    return list(ledger.query(f"permission_usage/{query}").arrow().to_pylist())


def test_a_private_agent_is_mentioned_by_others_than_its_owner(ledger: Ledger) -> None:
    rows = ask(ledger, "private_agent_mentions")
    assert [(row["agent_id"], row["author_id"], row["mentions"], row["is_inferred"]) for row in rows] == [
        ("mole", "bo", 2, False),
        ("mole", "newt", 1, False),
        ("newt", "bo", 1, True),
    ]
    assert [row["message_id"] for row in rows] == [message(3), message(8), message(4)]
    assert {(row["status"], row["severity"], row["session_label"]) for row in rows} == {("alarm", "medium", LABEL)}


def test_a_message_whose_record_is_no_json_has_no_author(ledger: Ledger) -> None:
    [(record,)] = ledger.sql("select metadata_json from messages where id = ?", [message(9)]).rows()
    assert record.startswith('{"authorParticipantId"')
    assert not record.endswith("}")
    assert message(9) not in {row["message_id"] for row in ask(ledger, "private_agent_mentions")}
    # Where it was said is known all the same.
    assert message(9) in {row["message_id"] for row in ask(ledger, "mention_without_participant")}


def test_an_agent_is_mentioned_that_never_took_part(ledger: Ledger) -> None:
    rows = ask(ledger, "mention_without_participant")
    assert [(row["agent_id"], row["mentions"], row["is_known"]) for row in rows] == [
        ("worm", 3, True),
        ("wasp", 1, False),
    ]


def test_only_an_agent_that_is_no_member_any_more_counts_as_removed(ledger: Ledger) -> None:
    rows = ask(ledger, "removed_agent_replies")
    assert [(row["agent_id"], row["messages"], row["status"], row["is_inferred"]) for row in rows] == [
        ("slug", 1, "info", True)
    ]


@pytest.mark.parametrize("query", ["private_agent_mentions", "mention_without_participant", "removed_agent_replies"])
def test_without_chats_there_are_no_rows(compacted: Path, query: str) -> None:
    with aix.open(compacted) as opened:
        assert ask(opened, query) == []


def test_the_grain_of_every_audit_names_the_columns_that_tell_its_findings_apart() -> None:
    queries, _ = read_packs([pack for pack in packs() if pack.name == "permission_usage"])
    assert [query.name for query in queries if is_audit(query) and not key_columns(query)] == []
