"""Answers of the queries about chats: who may mention, add, change and remove whom, and who answers.

`fixtures/permissions/README.md` describes the two chats, `garden` and `pond`, in words.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

import aix
from aix.permissions.audit.findings import is_audit, key_columns
from aix.pipeline.run import Settings, import_histories
from aix.query.packs import packs, read_packs
from aix.reading.ledger import Ledger
from tests import ROOT
from tests.importers.chat.exports import START, write_document
from tests.support.sample_conversation import Row

LABEL = "chats:garden"
CHAT_QUERIES = (
    *("private_agent_mentions", "private_agent_additions", "mention_without_participant", "outsider_mentions"),
    *("removed_agent_replies", "restricted_removals", "system_agent_removals", "contradictory_visibility"),
    *("agent_edits_by_non_owner", "unrouted_messages", "triage_routing"),
)


def message(place: int) -> str:
    return f"0GARDEN{place:019}"


def pond(place: int) -> str:
    return f"0P0ND{place:021}"


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
        ("frog", "dee", 1, False),
        ("newt", "bo", 1, True),
    ]
    # The newt acts for its owner, who owns the mole too.
    assert [row["message_id"] for row in rows] == [message(3), pond(6), message(4)]
    assert {(row["status"], row["severity"]) for row in rows} == {("alarm", "medium")}
    assert [row["session_label"] for row in rows] == [LABEL, "chats:pond", LABEL]


def test_a_private_agent_is_added_by_others_than_its_owner(ledger: Ledger) -> None:
    rows = ask(ledger, "private_agent_additions")
    # Bo owns the frog, Cy is invited, and Dee is neither; the dace is public, since it is not private.
    assert [(row["agent_id"], row["added_by"], row["conversation_id"], row["is_inferred"]) for row in rows] == [
        ("frog", "dee", "well", False)
    ]


def test_a_message_whose_record_is_no_json_has_no_author(ledger: Ledger) -> None:
    [(record,)] = ledger.sql("select metadata_json from messages where id = ?", [message(9)]).rows()
    assert record.startswith('{"authorParticipantId"')
    assert not record.endswith("}")
    assert message(9) not in {row["message_id"] for row in ask(ledger, "private_agent_mentions")}
    # Where it was said is known all the same.
    assert message(9) in {row["message_id"] for row in ask(ledger, "mention_without_participant")}


def test_an_agent_is_mentioned_that_never_took_part(ledger: Ledger) -> None:
    rows = ask(ledger, "mention_without_participant")
    assert [(row["agent_id"], row["mentions"], row["is_known"]) for row in rows if row["user_id"] is None] == [
        ("worm", 3, True),
        ("wasp", 1, False),
        ("rudd", 1, True),
    ]
    assert [row["agent_id"] for row in rows if row["had_left"]] == ["rudd"]


def test_a_person_is_mentioned_who_never_took_part(ledger: Ledger) -> None:
    rows = [row for row in ask(ledger, "mention_without_participant") if row["user_id"] is not None]
    assert [(row["user_id"], row["user_name"], row["agent_id"], row["is_known"]) for row in rows] == [
        ("ada", "Ada", None, True),
        ("eve", "Eve", None, False),
    ]


def test_who_takes_no_part_in_a_chat_mentions_others_in_it(ledger: Ledger) -> None:
    rows = ask(ledger, "outsider_mentions")
    assert [(row["author_id"], row["message_id"]) for row in rows] == [("ada", pond(12)), ("dee", pond(8))]
    assert [row["reason"] for row in rows] == [
        'ada mentions others without taking part in "The pond".',
        'Dee mentions others after leaving "The pond".',
    ]


def test_only_an_agent_that_is_no_member_any_more_counts_as_removed(ledger: Ledger) -> None:
    rows = ask(ledger, "removed_agent_replies")
    assert [(row["agent_id"], row["messages"], row["status"], row["is_inferred"]) for row in rows] == [
        ("slug", 1, "info", True),
        (None, 1, "alarm", False),
        ("rudd", 1, "alarm", False),
    ]
    # Of the messages that Dee wrote, only the one after her removal counts.
    assert [row["message_id"] for row in rows if row["user_id"] == "dee"] == [pond(8)]


def test_an_agent_is_removed_although_its_owner_restricted_that(ledger: Ledger) -> None:
    # The owner removed the tench, and the removal of the rudd is not restricted.
    rows = ask(ledger, "restricted_removals")
    assert [(row["agent_id"], row["owner_id"], row["removed_by"]) for row in rows] == [("pike", "bo", "cy")]


def test_a_system_agent_is_removed(ledger: Ledger) -> None:
    rows = ask(ledger, "system_agent_removals")
    assert [(row["agent_id"], row["conversation_id"], row["removed_by"]) for row in rows] == [("otter", "well", "cy")]


def test_an_agent_is_marked_as_public_and_as_private(ledger: Ledger) -> None:
    assert [row["agent_id"] for row in ask(ledger, "contradictory_visibility")] == ["carp"]


def test_an_agent_is_changed_by_another_than_its_owner(ledger: Ledger) -> None:
    # The owner made the pike public; who edited the rudd, and who owns the heron, is not known; to view is no change.
    rows = ask(ledger, "agent_edits_by_non_owner")
    assert [(row["agent_id"], row["action"], row["changed_by"], row["changes"], row["severity"]) for row in rows] == [
        ("pike", "edited", "cy", 2, "medium"),
        ("frog", "made_public", "dee", 1, "high"),
    ]


def test_a_message_without_a_mention_is_neither_passed_on_nor_answered(ledger: Ledger) -> None:
    # The first was passed on, the last may still be; in the garden, where there is no triage, nobody waits for it.
    [row] = ask(ledger, "unrouted_messages")
    assert (row["conversation_id"], row["messages"], row["unmentioned_messages"]) == ("pond", 1, 2)
    assert row["message_id"] == pond(7)
    # An answer that came after the time asked for is an answer all the same.
    [(written_at,)] = ledger.sql("select created_at from messages where id = ?", [pond(1)]).rows()
    assert list(ledger.query("permission_usage/unrouted_messages", until=written_at + 1)) == []
    assert len(list(ledger.query("permission_usage/triage_routing", until=written_at + 1))) == 1


def test_the_agents_that_answer_messages_without_a_mention_are_counted(ledger: Ledger) -> None:
    rows = ask(ledger, "triage_routing")
    assert [
        (row["agent_id"], row["messages"], row["routed_messages"], row["unmentioned_messages"]) for row in rows
    ] == [
        (None, 2, 0, 3),
        ("pike", 1, 1, 3),
    ]
    assert {row["handled_share"] for row in rows} == {1 / 3}


def test_audits_of_agents_count_where_their_chats_do(ledger: Ledger) -> None:
    def found(query: str, **filters: object) -> int:
        return len(ledger.query(f"permission_usage/{query}", **filters).rows())

    # The pike takes part in the pond, the carp in no chat, and the well has no session.
    assert found("agent_edits_by_non_owner", session="chats:pond") == 2
    assert found("agent_edits_by_non_owner", session=LABEL) == 0
    assert found("contradictory_visibility", session="chats:pond") == 0
    assert found("restricted_removals", origin="chats") == 0


def burrow_export() -> dict[str, list[Row]]:
    """Return chats of Ann, Ben and Cat. Ann owns all agents but `triage` and `other`, which is Ben's."""
    agents: list[Row] = [
        {"_id": "triage", "name": "Triage", "kind": "system_agent", "systemAgentKind": "triage"},
        {"_id": "secret", "name": "Secret", "createdBy": "ann", "kind": "user_agent", "private": True},
        {"_id": "late", "name": "Late", "createdBy": "ann", "kind": "user_agent", "private": True},
        {"_id": "later", "name": "Later", "createdBy": "ann", "kind": "user_agent", "private": True},
        {"_id": "helper", "name": "Helper", "createdBy": "ann", "kind": "user_agent"},
        {"_id": "other", "name": "Other", "createdBy": "ben", "kind": "user_agent"},
        {"_id": "pinned", "name": "Pinned", "createdBy": "ann", "kind": "user_agent", "isRemovalRestricted": True},
    ]
    # By chat: who added and removed agents in it, by agent, user or membership.
    chats = {
        "ann-asked": "triage",
        "ben-asked": "ben-asked-triage",
        "silent": "triage",
        "own": "helper",
        "foreign": "other",
        "member": "member-ann",
        "calls": "ann",
    }
    members = {"user": ("ann", "ben", "cat"), "agent": ("triage", "helper", "other")}
    participants: list[Row] = [
        {"_id": f"{chat}-{name}", "conversationId": chat, "kind": kind, f"{kind}Id": name, "addedAt": START}
        for chat in chats
        for kind, names in members.items()
        for name in names
    ]
    for chat, changer in chats.items():
        common: Row = {"conversationId": chat, "kind": "agent", "addedAt": START + 5000}
        participants.append({**common, "_id": f"{chat}-secret", "agentId": "secret", "addedBy": changer})
        removal = {"isRemoved": True, "removedAt": START + 5000, "removedBy": changer}
        participants.append({**common, "_id": f"{chat}-pinned", "agentId": "pinned", "addedBy": "ann", **removal})
    said = [
        ("ann-asked", "ann", 1000, "Please."),
        ("ann-asked", "triage", 2000, "@[Secret](agent:secret), please."),
        ("ben-asked", "ben", 1000, "Please."),
        ("ben-asked", "triage", 2000, "@[Secret](agent:secret), please."),
        ("silent", "triage", 9000, "@[Secret](agent:secret), are you there?"),
        ("member", "ben", 10_000, "@[Late](agent:late) and @[Later](agent:later), hello."),
        ("member", "ben", 30_000, "@[Later](agent:later), hello again."),
        ("calls", "cat", 1000, "Hello?"),
        ("calls", "triage", 2000, "@[Triage](agent:triage), take this."),
        ("calls", "cat", 3000, "And now?"),
        ("calls", "triage", 4000, "@[Nobody](agent:nobody), take this."),
        ("calls", "cat", 5000, "At last?"),
        ("calls", "triage", 6000, "@[Triage](agent:triage) and @[Helper](agent:helper), take this."),
    ]
    changes = [
        *(("late", "made_private", "ann"), ("later", "made_private", "member-ann"), ("helper", "edited", "own-ann")),
        *(("helper", action, "own-ben") for action in ("viewed", "Agent.Viewed", "used", "opened_agent", "added")),
        *(("helper", action, "own-ben") for action in ("opened_to_all", "call_limit_raised", "listed_public")),
    ]
    return {
        "users": [{"_id": name, "name": name.title()} for name in members["user"]],
        "agents": agents,
        "conversations": [{"_id": chat, "title": chat} for chat in chats],
        "participants": participants,
        "messages": [
            {
                "_id": f"{chat}-{time}",
                "_creationTime": START + time,
                "conversationId": chat,
                "content": content,
                "kind": "participant",
                "authorParticipantId": f"{chat}-{author}",
            }
            for chat, author, time, content in said
        ],
        "agentChanges": [
            {"_id": f"change-{place}", "agentId": agent, "action": action, "changedBy": by, "changedAt": START + 20_000}
            for place, (agent, action, by) in enumerate(changes)
        ],
    }


@pytest.fixture(scope="module")
def burrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("burrow")
    write_document(folder / "logs" / "export.json", burrow_export())
    import_histories(folder / "ledger", [folder / "logs"], Settings(jobs=0))
    with aix.open(folder / "ledger") as opened:
        yield opened


def test_an_agent_adds_for_its_owner_and_for_those_who_wrote_before(burrow: Ledger) -> None:
    rows = ask(burrow, "private_agent_additions")
    assert [(row["added_by"], row["conversation_id"], row["conversations"], row["status"]) for row in rows] == [
        ("other", "foreign", 1, "alarm"),
        ("triage", "ben-asked", 1, "alarm"),
    ]
    [row] = burrow.query("permission_usage/private_agent_additions", session="chat:silent").arrow().to_pylist()
    assert (row["added_by"], row["status"], row["severity"]) == ("triage", "info", None)
    assert row["reason"] == 'Triage added Secret to "silent", but only Ann may; it is not known for whom.'


def test_an_agent_removes_for_its_owner_and_for_those_who_wrote_before(burrow: Ledger) -> None:
    rows = sorted(ask(burrow, "restricted_removals"), key=lambda row: row["conversation_id"])
    assert [(row["removed_by"], row["conversation_id"], row["status"], row["severity"]) for row in rows] == [
        ("triage", "ben-asked", "alarm", "medium"),
        ("other", "foreign", "alarm", "medium"),
        ("triage", "silent", "info", None),
    ]
    assert rows[2]["reason"].endswith("; it is not known for whom.")


def test_an_agent_mentions_for_its_owner_and_for_those_who_wrote_before(burrow: Ledger) -> None:
    rows = [row for row in ask(burrow, "private_agent_mentions") if row["agent_id"] == "secret"]
    assert [(row["author_id"], row["mentions"], row["status"], row["session_label"]) for row in rows] == [
        ("triage", 1, "alarm", "chat:ben-asked")
    ]
    [row] = burrow.query("permission_usage/private_agent_mentions", session="chat:silent").arrow().to_pylist()
    assert (row["author_id"], row["status"]) == ("triage", "info")
    assert row["reason"] == "Triage mentions Secret, which only Ann may use, not known for whom."


def test_a_mention_before_a_change_to_private_is_to_note(burrow: Ledger) -> None:
    rows = [row for row in ask(burrow, "private_agent_mentions") if row["agent_id"] != "secret"]
    assert [(row["agent_id"], row["author_id"], row["mentions"], row["status"], row["severity"]) for row in rows] == [
        ("late", "ben", 1, "info", None),
        ("later", "ben", 1, "alarm", "medium"),
    ]
    assert rows[0]["reason"] == "Ben mentions Late, which only Ann may use since it became private."


def test_an_action_that_only_begins_like_a_harmless_one_is_a_change(burrow: Ledger) -> None:
    rows = ask(burrow, "agent_edits_by_non_owner")
    assert [(row["agent_id"], row["action"], row["changed_by"]) for row in rows] == [
        ("helper", "call_limit_raised", "ben"),
        ("helper", "listed_public", "ben"),
        ("helper", "opened_to_all", "ben"),
    ]


def test_triage_passes_on_to_another_agent_that_is_known(burrow: Ledger) -> None:
    rows = [row for row in ask(burrow, "unrouted_messages") if row["conversation_id"] == "calls"]
    assert [(row["messages"], row["unmentioned_messages"]) for row in rows] == [(2, 3)]


def test_without_chats_there_are_no_rows(compacted: Path) -> None:
    with aix.open(compacted) as opened:
        assert {query: ask(opened, query) for query in CHAT_QUERIES} == {query: [] for query in CHAT_QUERIES}


def test_messages_of_every_origin_have_mentions() -> None:
    with aix.open(ROOT / "fixtures" / "ledgers" / "schema_6") as opened:
        rows = opened.sql(
            "select idx, name, kind, target_id, start_char, end_char, is_resolved from chat_mentions"
        ).rows()
    assert rows == [(0, "Helper", "agent", "agent-1", 14, 38, True)]


def test_the_grain_of_every_audit_names_the_columns_that_tell_its_findings_apart() -> None:
    queries, _ = read_packs([pack for pack in packs() if pack.name == "permission_usage"])
    assert [query.name for query in queries if is_audit(query) and not key_columns(query)] == []
