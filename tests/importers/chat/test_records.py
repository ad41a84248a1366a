"""Fields of records: what becomes of each in the rows and problems of an export."""

import json
from pathlib import Path

import pytest

from aix_importers.chat.collections import Collection, collection_of_record
from aix_importers.chat.records import FieldReader, read_agent, read_message
from tests.importers.chat.exports import START, chat, extract, rows, write_document, write_lines

SECRET = "sk-live-" + "0123456789abcdef"


def said(path: Path) -> tuple[list[str], list[str]]:
    """Return kind and text of each problem of an export."""
    problems = extract(path)[1]
    return [each.kind for each in problems], [each.reason for each in problems]


@pytest.mark.parametrize("field", ["public", "private", "isPublic", "isPrivate"])
def test_a_record_with_a_name_and_a_visibility_is_an_agent(field: str) -> None:
    assert collection_of_record({"_id": "a1", "name": "Ann", field: True}, None) is Collection.AGENTS
    assert collection_of_record({"_id": "c1", "title": "Chat", field: True}, None) is Collection.CONVERSATIONS


def test_tools_that_are_objects_stay_as_they_came_but_for_credentials() -> None:
    tool = {"name": "search", "description": "Searches", "apiKey": "not-a-real-key"}
    fields = FieldReader({"_id": "a1", "tools": [tool, "mail"], "invitedUsers": ["ann"]})
    row, agent = read_agent(fields, START)
    assert (agent.tools, row["tools"], row["invited_users"]) == (["search", "mail"], '["search","mail"]', '["ann"]')
    assert fields.rest == {"tools": [{"name": "search", "description": "Searches"}, "mail"]}
    assert (fields.wrong, fields.dropped) == ([], ["tools"])


def test_texts_of_one_millisecond_stand_in_the_order_of_their_fractions(tmp_path: Path) -> None:
    times = {"later": "2026-01-05T10:00:00.678901Z", "sooner": "2026-01-05T10:00:00.678900Z"}
    export = chat("c", 1)
    message = export["messages"][0]
    export["messages"] = [{**message, "_id": name, "_creationTime": time} for name, time in times.items()]
    found = rows(extract(write_document(tmp_path / "export.json", export))[0], "messages")
    found.sort(key=lambda row: str(row["id"]))
    facts = {row["message_id"]: row["position"] for row in rows(extract(tmp_path)[0], "message_facts")}
    places = {json.loads(str(row["metadata_json"]))["_id"]: facts[row["id"]] for row in found}
    assert places == {"sooner": 0, "later": 1}
    # Each is the time that every other column has of such a text.
    assert {row["created_at"] for row in found} == {1767607200678}


@pytest.mark.parametrize("digits", ["678", "678999", "6789999999", "678499"])
def test_a_fraction_never_rounds_a_text_up(digits: str) -> None:
    time = read_message({"_creationTime": f"2026-01-05T10:00:00.{digits}+00:00"}).time
    assert time is not None
    assert round(time) == 1767607200678


def test_triage_passes_messages_on_in_messages_of_the_system_too(tmp_path: Path) -> None:
    export = chat("c", 1)
    export["agents"][0]["systemAgentKind"] = "triage"
    export["messages"][1]["kind"] = "system"
    found = rows(extract(write_document(tmp_path / "export.json", export))[0], "messages")
    assert [(row["role"], row.get("source")) for row in found] == [
        ("user", "human"),
        ("system", "agent"),
        ("assistant", None),
    ]


@pytest.mark.parametrize(("kind", "problem"), [("user", "no_user"), ("agent", "no_agent"), (None, None)])
def test_a_participant_needs_the_id_of_its_kind(tmp_path: Path, kind: str | None, problem: str | None) -> None:
    export = chat("c", 1)
    own = export["participants"][0 if kind == "user" else 1]
    other = {"userId": "ann"} if kind == "agent" else {"agentId": "one"}
    ids = {"userId", "agentId", "kind"}
    plain = {name: value for name, value in own.items() if name not in ids}
    export["participants"].append({**plain, "_id": "c-odd", **({"kind": kind} if kind else {}), **other})
    kinds, _ = said(write_document(tmp_path / "export.json", export))
    assert kinds == ([] if problem is None else [problem])


def test_a_field_whose_name_is_a_credential_is_not_named(tmp_path: Path) -> None:
    export = chat("c", 1)
    export["agents"][0][SECRET] = True
    export["messages"][0][SECRET] = True
    kinds, reasons = said(write_lines(tmp_path / "lines" / "agents.jsonl", [*export["agents"], *export["messages"]]))
    assert kinds.count("credential") == 2
    document = tmp_path / "document" / "export.json"
    document.parent.mkdir()
    document.write_text(json.dumps({**export, SECRET: {"a": 1}}), "utf-8")
    more, others = said(document)
    assert "unknown_record" in more
    assert SECRET not in "".join([*reasons, *others])
    assert any(reason.endswith(": ….") for reason in reasons)
