"""Files that the chat importer claims, and those that it leaves to others."""

import json
from pathlib import Path

import pytest

from aix_importers.agent_dag import AgentDagImporter
from aix_importers.chat import ChatImporter, discovery
from aix_importers.claude_code import ClaudeCodeImporter
from aix_importers.common import recognition
from aix_importers.cursor import CursorImporter
from aix_importers.session_log import SessionLogImporter
from tests import ROOT
from tests.importers.chat.exports import FIXTURES, chat, claims, sources_in, write_document
from tests.importers.session_log.logs import candidates, entry

EXPORT = chat()
MESSAGE = json.dumps(EXPORT["messages"][0])
MONGO = '{"_id": {"$oid": "64b7"}, "name": "Ann", "email": "ann@example.com"}'
USER = '{"_id": "u1", "name": "Ann"}'


@pytest.mark.parametrize(
    ("name", "text", "is_claimed"),
    [
        ("any.jsonl", MESSAGE, True),
        ("any.json", MESSAGE, True),
        ("any.json", f"[{MESSAGE}]", True),
        ("any.jsonl", f"\ufeff\n{MESSAGE[:60]}\n{MESSAGE}\n", True),
        ("any.json", json.dumps(EXPORT, indent=2), True),
        ("any.jsonl", json.dumps(EXPORT), True),
        ("any.json", json.dumps({"version": 1, "messages": EXPORT["messages"]}), True),
        ("any.jsonl", json.dumps(EXPORT["agents"][0]), True),
        ("any.jsonl", json.dumps(EXPORT["conversations"][0]), True),
        ("any.jsonl", MESSAGE.replace("authorParticipantId", "author"), True),
        ("any.jsonl", '{"_id": "m1", "conversationId": "c1", "author": {"name": "Ann"}, "body": "Hi"}', False),
        ("any.jsonl", '{"_id": "m1", "conversationId": "c1", "kind": "email", "body": "Hi"}', False),
        ("any.jsonl", '{"_id": "a1", "personality": "grim"}', False),
        ("any.jsonl", USER, False),
        ("documents.jsonl", USER, False),
        ("users.jsonl", MONGO, False),
        ("users.json", '[{"uuid": "u1", "full_name": "Ann"}]', False),
        ("conversations.json", '[{"title": "Chat", "create_time": 1.5, "mapping": {}, "id": "c1"}]', False),
        ("messages.jsonl", '{"role": "user", "content": "Hi"}', False),
        ("any.jsonl", json.dumps(entry("u")), False),
        ("any.jsonl", f"{json.dumps(entry('u'))}\n" * 3 + MESSAGE, False),
        ("programs.json", '{"agents": [{"id": "a", "programType": "agent"}]}', False),
        ("settings.json", '{"permissions": {"allow": []}}', False),
        ("any.json", json.dumps(EXPORT).replace('"_id"', '"id"'), True),
        ("conversation-messages.jsonl", MESSAGE.replace('"_id"', '"id"'), True),
        ("any.jsonl", MESSAGE.replace('"_id"', '"id"'), False),
        ("messages.jsonl", '{"id": "m1", "conversationId": "c1", "kind": "email", "author": "Ann"}', False),
        ("any.json", '{"messages": [{"id": "m1", "role": "user", "content": "Hi", "kind": "participant"}]}', False),
        ("any.txt", MESSAGE, False),
        ("any.json", "", False),
    ],
)
def test_a_file_is_claimed_by_its_records(tmp_path: Path, name: str, text: str, *, is_claimed: bool) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    assert claims(path) is is_claimed


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("users.jsonl", USER),
        ("users/documents.jsonl", USER),
        ("users.json", f"[{USER}]"),
        ("agents.jsonl", '{"_id": "a1", "kind": "Agent", "description": "An agent of a graph."}'),
        ("conversations.json", '[{"_id": "c1", "title": "An article", "createdBy": "u1"}]'),
        ("config.json", f'{{"users": [{USER}], "settings": {{"a": 1}}}}'),
    ],
)
def test_what_other_applications_store_too_is_claimed_beside_another_file_of_chats(
    tmp_path: Path, name: str, text: str
) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    assert not claims(path)
    message = tmp_path / ("messages/documents.jsonl" if name.endswith("documents.jsonl") else "messages.jsonl")
    message.parent.mkdir(exist_ok=True)
    message.write_text(MESSAGE, "utf-8")
    assert {source.path for source in sources_in(tmp_path)} == {str(path), str(message)}


def test_files_of_people_with_an_id_of_another_name_are_of_exports_that_use_it_too(tmp_path: Path) -> None:
    users = tmp_path / "users.jsonl"
    users.write_text(USER.replace("_id", "id"), "utf-8")
    (tmp_path / "messages.jsonl").write_text(MESSAGE, "utf-8")
    assert str(users) not in {source.path for source in sources_in(tmp_path)}
    (tmp_path / "messages.jsonl").write_text(MESSAGE.replace('"_id"', '"id"'), "utf-8")
    assert str(users) in {source.path for source in sources_in(tmp_path)}


def many_people(count: int) -> list[dict[str, object]]:
    return [{"_id": f"u{number}", "name": f"User {number}", "email": "user@example.com"} for number in range(count)]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("count", [900, 20_000])
def test_a_document_that_begins_with_many_people_is_claimed(tmp_path: Path, count: int, indent: int | None) -> None:
    path = tmp_path / "any.json"
    path.write_text(json.dumps({**EXPORT, "users": many_people(count)}, indent=indent), "utf-8")
    assert claims(path)
    path.write_text(json.dumps({"users": many_people(count), "settings": [{"_id": "s1"}]}, indent=indent), "utf-8")
    assert not claims(path)


@pytest.mark.parametrize("at", range(-300, 300, 50))
def test_records_of_chats_are_found_wherever_a_document_is_cut_into_pieces(tmp_path: Path, at: int) -> None:
    begin, end = '{"users": [{"_id": "u1", "name": "Ann", "image": "', f'"}}], "messages": [{MESSAGE}]}}'
    path = tmp_path / "any.json"
    path.write_text(begin + "x" * (2**20 - len(begin) - len(end) // 2 + at) + end, "utf-8")
    assert claims(path)


@pytest.mark.parametrize("count", [1_100, 40_000])
def test_lines_that_begin_with_many_people_are_claimed(tmp_path: Path, count: int) -> None:
    people = "".join(f"{json.dumps(record)}\n" for record in many_people(count))
    path = tmp_path / "any.jsonl"
    path.write_text(f"{people}{MESSAGE}\n", "utf-8")
    assert claims(path)
    path.write_text(f"{people}{MESSAGE}", "utf-8")
    assert claims(path)
    path.write_text(people, "utf-8")
    assert not claims(path)


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("any.jsonl", {"_id": 7, "name": "Ann"}),
        ("any.jsonl", {"_id": "p1", "price": 7}),
        ("any.jsonl", {"uuid": "p1", "name": "Ann"}),
        ("any.json", {"_id": 7, "name": "Ann"}),
        ("any.json", {"uuid": "p1", "name": "Ann"}),
    ],
)
def test_a_file_that_begins_unlike_an_export_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, record: dict[str, object]
) -> None:
    monkeypatch.setattr(discovery, "_id_in_rest", pytest.fail)
    monkeypatch.setattr(recognition, "_chat_behind", pytest.fail)
    path = tmp_path / name
    records = [record] * 30_000
    is_lines = name.endswith("l")
    text = "\n".join(map(json.dumps, records)) if is_lines else json.dumps({"users": records})
    path.write_text(text, "utf-8")
    assert not claims(path)


def test_no_file_has_two_importers() -> None:
    everything, own = candidates(ROOT / "fixtures"), candidates(FIXTURES)
    chats = {source.path for source in ChatImporter().discover(everything)}
    assert chats == {str(path) for path in FIXTURES.glob("*/input/**/*") if path.is_file()}
    for other in (AgentDagImporter, ClaudeCodeImporter, CursorImporter, SessionLogImporter):
        assert not list(other().discover(own)), other.name


def test_files_of_one_collection_each_are_likely_tied_to_those_of_their_export(tmp_path: Path) -> None:
    places = ("a/users.jsonl", "a/messages.json", "a/agents/documents.jsonl", "b/users.jsonl", "a/export.json")
    paths = [write_document(tmp_path / place, EXPORT) for place in places]
    importer = ChatImporter()
    users, messages, agents, others, whole = (
        list(importer.likely_ties(source)) for path in paths for source in importer.discover(candidates(path))
    )
    assert users == messages == agents != others
    assert whole == []
