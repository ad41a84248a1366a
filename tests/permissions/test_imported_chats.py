"""Audits of chats, asked of exports as the importer of chats stores them."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

import aix
from aix.reading.ledger import Ledger
from tests.importers.chat.exports import START, write_document

Record = dict[str, object]

USERS = ("ann", "bo", "cy")
AGENTS: list[Record] = [
    {"_id": "open", "createdBy": "bo"},
    {"_id": "bots", "createdBy": "bo"},
    {"_id": "mine", "createdBy": "ann", "private": True},
    {"_id": "kept", "createdBy": "ann", "isRemovalRestricted": True},
    {"_id": "helper", "systemAgentKind": "summary"},
    {"_id": "cy", "name": "An agent with the id of a person"},
    {"_id": "triage", "kind": "system_agent", "systemAgentKind": "triage"},
]
LONG = "A chat whose title is longer than a line"
ACTIONS = (
    *("published", "unpublished", "privatized", "erased", "hidden", "patch"),
    *("view_public_profile", "mentioned", "listed"),
)


class Chats:
    """An export, written down chat by chat: who takes part, and who says what."""

    def __init__(self) -> None:
        self.participants: list[Record] = []
        self.messages: list[Record] = []
        self._number = count(1)

    def join(self, chat: str, member: str, **fields: object) -> None:
        kind = "user" if member in USERS else "agent"
        key = fields.pop("_id", f"{chat}-{member}")
        self.participants.append(
            {"_id": key, "conversationId": chat, "kind": kind, f"{kind}Id": member, "addedAt": START, **fields}
        )

    def add(self, chat: str, members: str, *said: tuple[str | None, str]) -> None:
        for member in members.split():
            self.join(chat, member)
        for author, text in said:
            self.say(chat, author and f"{chat}-{author}", text)

    def say(self, chat: str, author: str | None, text: str) -> None:
        number = next(self._number)
        record = {"_id": f"m{number:03}", "conversationId": chat, "content": text, "kind": "participant"}
        self.messages.append({**record, "author": author, "_creationTime": START + 1000 * number})


def export() -> dict[str, list[Record]]:
    chats = Chats()
    talk = "bo open triage"
    to_open, to_mine = "@[Open](agent:open)", "@[Mine](agent:mine)"
    chats.add("ignored", talk, ("bo", "One?"), ("bo", "Two?"), ("bo", to_open), ("open", "Yes."), ("bo", "Thanks."))
    chats.add("shrug", talk, ("bo", "Who can?"), ("triage", "I do not know."), ("bo", "And now?"))
    chats.add(
        "routed", talk, ("bo", "One?"), ("bo", "Two?"), ("triage", to_open), ("open", "Yes."), ("bo", "See [it](x:y).")
    )
    chats.add("answered", talk, ("bo", "One?"), ("bo", "See @[it](file:it.md)"), ("open", "Yes."))
    chats.add("waiting", talk, ("bo", "One?"), ("bo", "Two?"))
    # Agents act for those who asked, and for their owners.
    chats.add("passing", "ann triage mine", ("ann", "Do it."), ("triage", to_mine), ("mine", "Done."))
    chats.add("calling", "bo cy ann mine bots open", ("bo", "Do it."), ("bots", to_mine), ("mine", "Done."))
    # Mentions by outsiders.
    chats.add("strange", "ann open", (None, to_open), ("unknown", to_open))
    chats.say("strange", "cy", to_open)
    chats.join("strange", "bo", isRemoved=True)
    chats.say("strange", "strange-bo", to_open)
    chats.add("strange", "", ("ann", "@[Bo](user:bo)"))
    chats.add("unlisted", "", ("ann", to_open))
    # A member that came back.
    end = START + 1000 * (len(chats.messages) + 2)
    chats.join("again", "ann")
    chats.join("again", "open", _id="again-1", isRemoved=True, removedAt=end)
    chats.join("again", "open", _id="again-2", addedAt=end + 2500)
    for author in ("again-ann", "again-1", "again-1", "again-2", "again-1"):
        chats.say("again", author, "Here.")
    chats.join("away", "kept", isRemoved=True)
    chats.join("away", "helper", isRemoved=True, removedBy="bo")
    chats.join("away", "cy")
    chats.join("away", "mine")
    changes: list[Record] = [
        {"_id": f"x-{action}", "agentId": "open", "action": action, "changedBy": "cy"} for action in ACTIONS
    ]
    return {
        "users": [{"_id": user, "name": user.title()} for user in USERS],
        "agents": AGENTS,
        "conversations": [{"_id": "strange", "title": "Talk of outsiders"}, {"_id": "away", "title": LONG}],
        "participants": chats.participants,
        "messages": chats.messages,
        "agentChanges": changes,
    }


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    folder = tmp_path_factory.mktemp("chats")
    aix.import_histories([write_document(folder / "export.json", export())], folder / "ledger")
    with aix.open(folder / "ledger") as opened:
        yield opened


def ask(ledger: Ledger, query: str, *columns: str) -> set[tuple[object, ...]]:
    rows = ledger.query(f"permission_usage/{query}").arrow().to_pylist()
    return {tuple(row[column] for column in columns) for row in rows}


def test_each_message_without_a_mention_is_judged_by_itself(ledger: Ledger) -> None:
    assert ask(ledger, "unrouted_messages", "conversation_id", "messages", "unmentioned_messages") == {
        ("ignored", 2, 2),
        ("shrug", 1, 1),
    }
    routing = ask(ledger, "triage_routing", "conversation_id", "agent_id", "messages", "routed_messages")
    assert {row for row in routing if row[0] in ("ignored", "routed", "answered")} == {
        ("ignored", None, 3, 0),
        ("routed", "open", 2, 2),
        ("routed", None, 1, 0),
        ("answered", "open", 2, 0),
    }


def test_an_agent_mentions_a_private_one_for_those_who_asked(ledger: Ledger) -> None:
    assert ask(ledger, "private_agent_mentions", "agent_id", "author_id", "session_label") == {
        ("mine", "bots", "chat:calling")
    }


def test_a_private_agent_among_people_who_may_not_use_it_is_noted(ledger: Ledger) -> None:
    assert ask(ledger, "private_agent_additions", "status", "conversation_id", "added_by") == {("info", "away", None)}


def test_authors_who_take_no_part_are_found_by_whatever_the_message_states(ledger: Ledger) -> None:
    assert ask(ledger, "outsider_mentions", "conversation_id", "author_kind", "author_id", "status", "is_inferred") == {
        ("strange", None, "strange-unknown", "alarm", False),
        ("strange", "user", "cy", "alarm", False),
        ("strange", "user", "bo", "info", True),
    }
    assert ask(ledger, "mention_without_participant", "conversation_id", "user_id", "status", "is_inferred") >= {
        ("strange", "bo", "info", True)
    }


def test_only_messages_between_two_memberships_come_after_a_removal(ledger: Ledger) -> None:
    [found] = ask(ledger, "removed_agent_replies", "conversation_id", "agent_id", "messages", "status") - {
        ("strange", None, 1, "info")
    }
    assert found == ("again", "open", 1, "alarm")


def test_removals_of_which_little_is_known_are_found(ledger: Ledger) -> None:
    assert ask(ledger, "restricted_removals", "agent_id", "removed_by", "status") == {("kept", None, "info")}
    assert ask(ledger, "system_agent_removals", "agent_id", "removed_by", "status") == {("helper", "bo", "alarm")}


def test_every_change_counts_but_looking_at_an_agent(ledger: Ledger) -> None:
    changes = ask(ledger, "agent_edits_by_non_owner", "action", "severity")
    assert changes == {(action, "medium" if action == "patch" else "high") for action in ACTIONS[:6]}


def test_findings_name_people_and_chats_and_come_to_the_point(ledger: Ledger) -> None:
    def reasons(query: str) -> set[object]:
        return {reason for (reason,) in ask(ledger, query, "reason")}

    assert reasons("agent_edits_by_non_owner") == {
        *(f"Cy {verb} open, which only Bo may change." for verb in ACTIONS[:4]),
        *(f"Cy changed open ({action}), which only Bo may change." for action in ("hidden", "patch")),
    }
    assert reasons("outsider_mentions") == {
        'strange-unknown mentions others without taking part in "Talk of outsiders".',
        'Cy mentions others without taking part in "Talk of outsiders".',
        'Bo mentions others, perhaps after being removed from "Talk of outsiders".',
    }
    cut = '"A chat whose title is longer …"'
    assert reasons("private_agent_additions") == {f"It is not known who added mine to {cut}, but only Ann may."}
    assert reasons("restricted_removals") == {f"It is not known who removed kept from {cut}, but only Ann may."}
    assert reasons("system_agent_removals") == {f"The system agent helper was removed from {cut} by Bo."}
    assert reasons("unrouted_messages") == {
        "Nobody passed on or answered 2 of 2 messages in ignored that mention nobody.",
        "Nobody passed on or answered 1 of 1 message in shrug that mentions nobody.",
    }


def test_no_time_is_shown_where_none_is_known(tmp_path: Path) -> None:
    undated = export()
    undated["messages"] = [
        {name: value for name, value in each.items() if name != "_creationTime"}
        for each in undated["messages"]
        if each["conversationId"] == "ignored"
    ]
    aix.import_histories([write_document(tmp_path / "export.json", undated)], tmp_path / "ledger")
    with aix.open(tmp_path / "ledger") as opened:
        assert ask(opened, "triage_routing", "messages", "last_written_at") == {(3, None)}
