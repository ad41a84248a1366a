"""What the queries about chats say of agents that are private, absent or removed."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import aix
from aix.auditing.rows import is_audit, key_columns
from aix.library.packs import packs, read_packs
from aix.reading.ledger import Ledger
from tests.deliveries import deliver
from tests.sample_ledger import Row

LABEL = "chats:garden"


def written(name: str, author: str, *mentioned: str) -> tuple[Row, list[Row]]:
    """Return a message and its mentions; messages are named by their place."""
    place = int(name)
    message = {
        "id": name,
        "turn_id": "turn",
        "role": "user",
        "sequence": place,
        "created_at": 1_000 + place,
        "metadata_json": json.dumps({"authorParticipantId": author}),
    }
    mentions: list[Row] = [
        {"message_id": name, "idx": index, "name": target.title(), "kind": "agent", "target_id": target}
        for index, target in enumerate(mentioned)
    ]
    return message, mentions


def member(agent: str, **values: object) -> Row:
    return {"id": f"p-{agent}", "conversation_id": "garden", "kind": "agent", "agent_id": agent, **values}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    said = [
        written("1", "p-ada", "mole", "worm"),
        written("2", "p-bo", "mole", "worm"),
        written("3", "p-bo", "mole", "wasp"),
        written("4", "p-bo", "newt"),
        written("5", "p-mole", "mole"),
        written("6", "p-slug"),
        written("7", "p-toad"),
    ]
    folder = tmp_path_factory.mktemp("chats") / "ledger"
    people: list[Row] = [
        {"id": f"p-{name}", "conversation_id": "garden", "kind": "user", "user_id": name} for name in ("ada", "bo")
    ]
    rows: dict[str, list[Row]] = {
        "turns": [{"id": "turn", "started_at": 1_000}],
        "sessions": [
            {
                "label": LABEL,
                "thread_id": "turn",
                "persona_id": "garden",
                "origin": "chats",
                "routing_key": "conversation:garden",
                "created_at": 1,
                "updated_at": 1,
            }
        ],
        "session_turns": [{"session_label": LABEL, "turn_id": "turn"}],
        "messages": [message for message, _ in said],
        "chat_mentions": [mention for _, mentions in said for mention in mentions],
        "chat_users": [{"id": "ada"}, {"id": "bo"}],
        "chat_agents": [
            {"id": "mole", "name": "Mole", "created_by": "ada", "is_private": True},
            {"id": "worm", "name": "Worm", "created_by": "ada", "is_public": True},
            {"id": "newt", "name": "Newt", "created_by": "ada", "is_public": False},
            {"id": "slug", "name": "Slug", "created_by": "ada"},
            {"id": "toad", "name": "Toad", "created_by": "ada"},
        ],
        "chat_participants": [
            *people,
            member("mole"),
            member("newt"),
            member("slug", is_removed=True),
            member("toad", is_removed=True),
            {**member("toad"), "id": "p-toad-again"},
        ],
    }
    deliver(folder, ("chats", rows))
    with aix.open(folder) as opened:
        yield opened


def ask(ledger: Ledger, query: str) -> list[Row]:
    return list(ledger.query(f"permission_usage/{query}").arrow().to_pylist())


def test_a_private_agent_is_mentioned_by_others_than_its_owner(ledger: Ledger) -> None:
    rows = ask(ledger, "private_agent_mentions")
    assert [(row["agent_id"], row["author_id"], row["mentions"], row["is_inferred"]) for row in rows] == [
        ("mole", "bo", 2, False),
        ("newt", "bo", 1, True),
    ]
    assert [row["message_id"] for row in rows] == ["3", "4"]
    assert {(row["status"], row["severity"], row["session_label"]) for row in rows} == {("alarm", "medium", LABEL)}


def test_an_agent_is_mentioned_that_never_took_part(ledger: Ledger) -> None:
    rows = ask(ledger, "mention_without_participant")
    assert [(row["agent_id"], row["mentions"], row["is_known"]) for row in rows] == [
        ("worm", 2, True),
        ("wasp", 1, False),
    ]


def test_only_an_agent_that_is_no_member_any_more_counts_as_removed(ledger: Ledger) -> None:
    rows = ask(ledger, "removed_agent_replies")
    assert [(row["agent_id"], row["messages"], row["status"], row["is_inferred"]) for row in rows] == [
        ("slug", 1, "info", True)
    ]


@pytest.mark.parametrize("query", ["private_agent_mentions", "mention_without_participant", "removed_agent_replies"])
def test_without_chats_there_are_no_rows(permission_ledger: Path, query: str) -> None:
    with aix.open(permission_ledger) as opened:
        assert ask(opened, query) == []


def test_the_grain_of_every_audit_names_the_columns_that_tell_its_findings_apart() -> None:
    queries, _ = read_packs([pack for pack in packs() if pack.name == "permission_usage"])
    assert [query.name for query in queries if is_audit(query) and not key_columns(query)] == []
