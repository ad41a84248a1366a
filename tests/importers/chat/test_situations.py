"""The rows of each situation in `fixtures/chat`, all of them imported together into one ledger."""

import json
import shutil
from collections import Counter
from hashlib import sha256

import pytest

from aix.testing import GoldenCase
from tests.importers.chat.exports import FIXTURES, SITUATIONS, START
from tests.support.sample_conversation import Row

Content = dict[str, list[Row]]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Content:
    """Return what a ledger of all situations holds."""
    folder = tmp_path_factory.mktemp("chat") / "chat" / "all"
    for situation in SITUATIONS:
        shutil.copytree(FIXTURES / situation / "input", folder / "input" / situation)
    content: Content = json.loads(GoldenCase(folder).run())
    return content


def test_the_ledger_of_all_situations_passes_all_checks(imported: Content) -> None:
    assert (imported["broken"], imported["refused"]) == ([], [])


def test_every_situation_gives_the_rows_that_are_expected(imported: Content) -> None:
    together: dict[str, list[str]] = {}
    for situation in SITUATIONS:
        text = (FIXTURES / situation / "expected.json").read_text("utf-8")
        for table, rows in json.loads(text.replace('"input/', f'"input/{situation}/')).items():
            together.setdefault(table, []).extend(map(as_text, rows))
    for table, expected in together.items():
        assert sorted(map(as_text, imported.get(table, ()))) == sorted(expected), table
    assert imported.keys() == together.keys()


def as_text(row: Row) -> str:
    return json.dumps(row, sort_keys=True)


def conversation(imported: Content, name: str) -> list[tuple[str, str, str, list[tuple[str, str | None, str | None]]]]:
    """Return key, status and role of each turn, with role, source and text of its messages."""
    keys = {row["turn_id"]: row["turn_key"] for row in imported["turn_context"] if row["origin_session_id"] == name}
    depths = {row["turn_id"]: row["depth"] for row in imported["threads"]}
    messages = sorted(imported["messages"], key=lambda row: row["sequence"])
    return [
        (
            keys[turn["id"]],
            turn["status"],
            turn["role"],
            [(row["role"], row.get("source"), row.get("content")) for row in messages if row["turn_id"] == turn["id"]],
        )
        for turn in sorted(imported["turns"], key=lambda row: depths[row["id"]])
        if turn["id"] in keys
    ]


def shape(imported: Content, name: str) -> list[tuple[str, str, str]]:
    """Return key and status of each turn, with the roles of its messages."""
    return [(key, status, " ".join(each[0] for each in said)) for key, status, _, said in conversation(imported, name)]


def find(imported: Content, table: str, **values: object) -> Row:
    [found] = [row for row in imported[table] if values.items() <= row.items()]
    return found


def turn(imported: Content, key: str) -> Row:
    return find(imported, "turns", id=find(imported, "turn_context", turn_key=key)["turn_id"])


def problems(imported: Content, situation: str) -> dict[str, int]:
    place = f"input/{situation}/"
    return dict(Counter(row["kind"] for row in imported["problems"] if row["source_key"].startswith(place)))


def inferred(imported: Content, name: str) -> set[tuple[str, str, str]]:
    """Return what was concluded about rows whose keys begin with a name, and about messages of such ids."""
    ids = {row["id"]: str(json.loads(row["metadata_json"]).get("_id")) for row in imported["messages"]}
    ids |= {row["turn_id"]: row["turn_key"] for row in imported["turn_context"]}
    marks = [(ids.get(row["row_key"]) or str(row["row_key"]), row) for row in imported["inferred_values"]]
    return {(key, row["column_name"], row["basis"]) for key, row in marks if key.removeprefix("chat:").startswith(name)}


def test_a_message_and_the_answers_of_several_agents_are_one_turn(imported: Content) -> None:
    first, second, third = conversation(imported, "triage-c")
    routing = "@[Planner](agent:triage-planner) and @[Tester](agent:triage-tester), please answer."
    assert first == (
        "triage-u1",
        "completed",
        "manager",
        [
            ("user", "human", "When can we release, and is it tested?"),
            ("system", "agent", routing),
            ("assistant", None, "On Friday."),
            ("assistant", None, "All tests pass."),
        ],
    )
    assert [each[:3] for each in (second, third)] == [
        ("triage-u2", "completed", "unified"),
        ("triage-u3", "pending", "unified"),
    ]


def test_a_turn_has_tools_persona_and_prompt_of_those_who_answered(imported: Content) -> None:
    row = turn(imported, "triage-u1")
    assert (row["toolset_name"], json.loads(row["tools_available"])) == (
        "agent:triage-tester",
        ["calendar", "search", "run_tests"],
    )
    thread = find(imported, "threads", turn_id=row["id"])
    assert (thread["persona_id"], thread["system_prompt_hash"]) == (
        "triage-tester",
        sha256(b"You test.").hexdigest(),
    )
    assert thread["thread_key"] == "chat:triage-u1"
    unanswered = turn(imported, "triage-u3")
    assert unanswered.keys().isdisjoint({"toolset_name", "tools_available"})
    assert "persona_id" not in find(imported, "threads", turn_id=unanswered["id"])


def test_the_query_of_a_turn_is_what_people_and_the_system_said(imported: Content) -> None:
    ids = {row["id"]: json.loads(row["metadata_json"]).get("_id") for row in imported["messages"]}
    queries = {
        key: [ids[each] for each in json.loads(turn(imported, key)["query_message_ids"])]
        for key in ("triage-u1", "system-s1", "system-s2")
    }
    assert queries == {
        "triage-u1": ["triage-u1"],
        "system-s1": ["system-s1", "system-u1"],
        "system-s2": ["system-s2", "system-u2", "system-u3"],
    }
    assert ids[turn(imported, "triage-u1")["response_message_id"]] == "triage-a2"


def test_permissions_are_visibility_and_owner_of_the_agents_that_took_part(imported: Content) -> None:
    granted = [json.loads(turn(imported, key)["permissions_granted"]) for key in ("who-u1", "who-u2")]
    secret = {"id": "who-secret", "visibility": "private", "owner": "who-ann", "invited": ["who-ben"]}
    both = {"id": "who-both", "visibility": "public and private", "owner": "who-ann"}
    assert [each["policy"]["agents"] for each in granted] == [[both, secret], [secret]]
    assert [each["principal"]["id"] for each in granted] == ["who-ben", "who-ann"]
    assert {each["basis"] for each in granted} == {"ontology"}
    assert find(imported, "turn_context", turn_key="who-u1")["principal"] == "who-ben"


def test_who_added_removed_and_changed_an_agent_is_kept(imported: Content) -> None:
    row = find(imported, "chat_participants", id="who-p-both")
    assert (row["added_by"], row["removed_by"], row["removed_at"]) == ("who-ben", "who-ben", START + 5000)
    agent = find(imported, "chat_agents", id="who-secret")
    assert (agent["invited_users"], agent["is_removal_restricted"]) == ('["who-ben"]', True)
    change = find(imported, "chat_agent_changes", id="who-ch2")
    assert (change["action"], change["changed_by"], change["changed_at"]) == ("edited", "who-ben", START + 1000)


def test_a_session_has_title_alias_persona_and_route_of_its_conversation(imported: Content) -> None:
    session = find(imported, "sessions", label="chat:triage-c")
    assert (session["persona_id"], session["routing_key"]) == ("chat", "conversation:triage-c")
    assert (session["created_at"], session["updated_at"]) == (START, START + 90_000)
    assert find(imported, "session_context", label="chat:triage-c")["title"] == "Release 2.1"
    assert find(imported, "session_aliases", alias="triage-c")["session_label"] == "chat:triage-c"
    assert find(imported, "sessions", label="chat:unanswered-c")["persona_id"] == "unanswered-helper"


def test_an_agent_that_speaks_first_has_a_turn_without_a_query(imported: Content) -> None:
    assert shape(imported, "first-c") == [
        ("a:first-a0", "completed", "assistant"),
        ("first-u1", "completed", "user assistant"),
    ]


def test_routing_is_no_answer(imported: Content) -> None:
    assert shape(imported, "unanswered-c") == [
        ("unanswered-u1", "failed", "user system"),
        ("unanswered-u2", "pending", "user"),
    ]


@pytest.mark.parametrize("name", ["tables", "files", "mixed", "bom"])
def test_every_shape_of_an_export_gives_the_same_rows(imported: Content, name: str) -> None:
    [first, *_] = conversation(imported, f"{name}-c")
    said = [("user", "human", "How do I start?"), ("assistant", None, "With the first step.")]
    assert first == (f"{name}-u1", "completed", "unified", said)
    assert find(imported, "chat_participants", id=f"{name}-p-helper")["agent_id"] == f"{name}-helper"
    assert find(imported, "chat_conversations", id=f"{name}-c")["created_by"] == f"{name}-ann"
    assert find(imported, "chat_users", id=f"{name}-ann")["email"] == "ann@example.com"


def test_messages_within_one_millisecond_stand_in_the_order_of_their_fractions(imported: Content) -> None:
    assert shape(imported, "tables-c")[1] == ("tables-u2", "completed", "user assistant")


def test_missing_times_come_from_neighbours_or_the_conversation_and_are_marked(imported: Content) -> None:
    assert problems(imported, "no_times") == {"no_timestamp": 3, "no_time": 3}
    assert shape(imported, "notime-c") == [
        ("notime-u1", "completed", "user assistant"),
        ("notime-u2", "completed", "user assistant"),
        ("notime-u3", "pending", "user"),
    ]
    assert turn(imported, "notime-u3")["started_at"] == START + 20_000
    assert turn(imported, "notime-l1")["started_at"] == START + 7000
    assert shape(imported, "notime-never") == [
        ("notime-nu0", "completed", "user assistant"),
        ("notime-nu2", "pending", "user"),
    ]
    marks = inferred(imported, "notime")
    assert {each for each in marks if each[1] == "started_at"} == {
        ("notime-u1", "started_at", "neighbour"),
        ("notime-u2", "started_at", "neighbour"),
        ("notime-l1", "started_at", "last_message_time"),
        ("notime-nu0", "started_at", "undated"),
        ("notime-nu2", "started_at", "undated"),
    }
    assert ("chat:notime-never", "created_at", "undated") in marks


def test_authors_of_whom_there_is_no_record_are_people_and_marked(imported: Content) -> None:
    assert problems(imported, "no_participants") == {"no_participants": 2, "unknown_author": 2}
    assert shape(imported, "alone-c") == [("alone-u1", "pending", "user user")]
    assert problems(imported, "unknown_author") == {"unknown_author": 2}
    assert shape(imported, "stranger-c") == [
        ("stranger-u1", "completed", "user user assistant"),
        ("stranger-u3", "pending", "user"),
    ]
    assert ("stranger-u2", "role", "unknown_author") in inferred(imported, "stranger")


def test_participants_without_user_or_agent_still_say_who_spoke(imported: Content) -> None:
    assert problems(imported, "participant_without_user") == {"no_user": 1, "no_agent": 1, "no_conversation": 1}
    assert shape(imported, "nouser-c") == [("nouser-u1", "completed", "user assistant")]
    assert "user_id" not in find(imported, "chat_participants", id="nouser-p-ann")


def test_a_message_without_a_conversation_is_in_that_of_its_author_or_skipped(imported: Content) -> None:
    assert problems(imported, "message_without_conversation") == {"no_conversation": 2, "unknown_conversation": 1}
    assert shape(imported, "noconv-c") == [("noconv-u1", "completed", "user assistant")]
    assert shape(imported, "noconv-gone") == [("noconv-stray", "pending", "system")]
    assert not [row for row in imported["messages"] if row.get("content") == "Where does it belong?"]


def test_records_of_one_id_are_kept_together(imported: Content) -> None:
    assert problems(imported, "duplicate_ids") == {"duplicate_id": 5}
    [(_, _, _, said)] = conversation(imported, "twice-c")
    assert said[1] == ("assistant", None, "With the first step, and then the next.")
    assert find(imported, "chat_users", id="twice-ann")["image"] == "https://example.com/ann.png"
    assert find(imported, "chat_participants", id="twice-p-helper")["is_removed"] is True


def test_fields_of_a_wrong_type_are_kept_as_they_came(imported: Content) -> None:
    assert problems(imported, "wrong_types") == {"wrong_type": 7, "no_id": 1, "unknown_record": 1, "not_an_object": 2}
    agent = find(imported, "chat_agents", id="wrong-helper")
    assert json.loads(agent["extra_json"]) == {
        "kind": "robot",
        "personality": ["You", "help"],
        "tools": "search",
        "public": "yes",
        "lastActiveTime": "soon",
    }
    assert agent.keys() == {"id", "name", "created_by", "extra_json", "updated_at"}
    assert shape(imported, "wrong-c")[0] == ("wrong-u1", "completed", "user assistant")


def test_fields_without_a_column_are_kept(imported: Content) -> None:
    assert problems(imported, "unknown_fields") == {"unknown_record": 1}
    kept = {
        table: json.loads(find(imported, table, id=key)["extra_json"])
        for table, key in (("chat_agents", "extra-helper"), ("chat_conversations", "extra-c"))
    }
    assert kept == {
        "chat_agents": {"model": {"name": "gpt", "temperature": 0.5}},
        "chat_conversations": {"isPinned": True},
    }
    [message] = [row for row in imported["messages"] if '"extra-a1"' in row["metadata_json"]]
    assert json.loads(message["metadata_json"])["reactions"] == ["+1"]


def test_credentials_are_stored_nowhere(imported: Content) -> None:
    assert problems(imported, "credentials") == {
        "credential": 5,
        "wrong_type": 2,
        "unknown_author": 1,
        "no_participants": 1,
    }
    assert "not-a-real" not in json.dumps(imported)
    agent = find(imported, "chat_agents", id="cred-helper")
    assert json.loads(agent["extra_json"]) == {"config": {"headers": {}, "region": "eu"}}
    assert agent["description"] == "Uses password=… here"


def test_prose_about_credentials_is_kept_without_those_that_it_quotes(imported: Content) -> None:
    assert find(imported, "chat_conversations", id="cred-auth")["title"] == "Auth: login rework"
    agent = find(imported, "chat_agents", id="cred-typed")
    assert agent["personality"] == "You help with authorization: ask Ann. Call it with … and be kind."


def test_whatever_is_whole_in_a_broken_file_is_read(imported: Content) -> None:
    assert problems(imported, "broken_lines") == {
        "nul_bytes": 1,
        "not_json": 2,
        "several_values": 1,
        "invalid_utf8": 1,
        "lone_surrogate": 1,
        "truncated_line": 1,
    }
    assert [key for key, *_ in shape(imported, "broken-c")] == ["broken-u1", "broken-u2", "broken-u3"]
    assert conversation(imported, "broken-c")[2][3] == [("user", "human", "caf\ufffd \ufffd")]
    assert problems(imported, "truncated_document") == {"truncated_line": 1}
    assert shape(imported, "cut-c") == [("cut-u1", "completed", "user assistant")]
    assert problems(imported, "broken_record_in_document") == {"not_json": 2, "unknown_author": 1}
    assert shape(imported, "hole-c") == [("hole-u1", "completed", "user assistant")]


def test_records_without_an_id_get_one_where_nothing_refers_to_them(imported: Content) -> None:
    assert problems(imported, "no_ids") == {"no_id": 4, "no_agent": 1, "unknown_author": 1}
    assert shape(imported, "noid-c") == [("noid-u1", "completed", "user assistant")]


def test_code_of_answers_is_kept_apart(imported: Content) -> None:
    ids = {row["id"] for row in imported["messages"] if '"code-' in row["metadata_json"]}
    blocks = [row for row in imported["message_codeblocks"] if row["message_id"] in ids]
    blocks.sort(key=lambda row: row["idx"])
    assert [(row.get("language"), row["content"], row.get("file_path")) for row in blocks] == [
        ("python", "print(1)\n", "src/start.py"),
        (None, "plain\n", None),
    ]
