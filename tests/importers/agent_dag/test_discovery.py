"""Files of agent graphs are known by their records, and no file of another importer is one."""

import json
from io import BytesIO
from pathlib import Path

import pytest

from aix_importers.agent_dag import AgentDagImporter
from aix_importers.common.recognition import Family, recognise_file
from aix_importers.common.record_forms import Form
from tests import ROOT
from tests.importers.session_log.logs import candidates

EVENT = {"kind": "run_started", "ts": "2026-01-05T10:00:00Z", "run_id": "r", "agent_id": "a"}
NODE = {"node": "Message", "id": "m", "role": "user", "content": []}
EDGE = {"edge": "RUN_HAS_EVENT", "src": "r", "dst": "e", "seq": 0}
ENTRY = {"uuid": "u", "sessionId": "s", "timestamp": "2026-01-05T10:00:00Z", "message": {"role": "user", "content": ""}}
RECORD = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": {"role": "user"}}


@pytest.mark.parametrize(
    ("line", "family"),
    [
        (EVENT, Family.AGENT_DAG),
        ({"kind": "tool_call", "event_id": "e"}, Family.AGENT_DAG),
        (NODE, Family.AGENT_DAG),
        ({"node": "Policy", "id": "p", "kind": "active"}, Family.AGENT_DAG),
        (EDGE, Family.AGENT_DAG),
        ({**EVENT, "type": "function"}, Family.AGENT_DAG),
        ({"kind": "run_started"}, None),
        ({"kind": "coffee_made", "ts": "2026-01-05T10:00:00Z"}, None),
        ({"node": "Teapot", "id": "t"}, Family.AGENT_DAG),
        ({"edge": "POURS", "src": "t", "dst": "c"}, Family.AGENT_DAG),
        ({"kind": "coffee_made", "ts": "2026-01-05T10:00:00Z", "run_id": "r", "agent_id": "a"}, Family.AGENT_DAG),
        ({"node": "worker-3", "id": "7", "message": "up"}, None),
        ({**EVENT, "node": "worker-3"}, Family.AGENT_DAG),
        ({**RECORD, "node": "Teapot", "id": "t"}, Family.CLAUDE_CODE),
        ({"node": "Message"}, None),
        ({"edge": "RUN_HAS_EVENT", "src": "r"}, None),
        ({**ENTRY, **EVENT}, Family.SESSION_LOG),
        ({**RECORD, **EVENT}, Family.CLAUDE_CODE),
        (ENTRY, Family.SESSION_LOG),
        (RECORD, Family.CLAUDE_CODE),
    ],
)
def test_a_record_is_of_one_family(line: dict[str, object], family: Family | None) -> None:
    assert recognise_file(BytesIO(json.dumps(line).encode())).family is family


def test_records_of_unknown_kinds_do_not_outvote_those_of_another_log() -> None:
    records = [*({"node": "Teapot", "id": str(number)} for number in range(9)), RECORD]
    assert recognise_file(BytesIO("\n".join(map(json.dumps, records)).encode())).family is Family.CLAUDE_CODE


def test_a_record_is_known_by_its_beginning() -> None:
    text = json.dumps({**NODE, "content": [{"type": "text", "text": "x" * 100_000}]})[:90_000]
    assert recognise_file(BytesIO(text.encode())).family is Family.AGENT_DAG


def test_a_list_of_records_is_named_as_a_form_that_is_not_read() -> None:
    found = recognise_file(BytesIO(json.dumps([NODE, EVENT]).encode()))
    assert found == (Family.AGENT_DAG, Form.ARRAY)


def test_transcripts_of_cursor_stay_those_of_cursor() -> None:
    said = {"role": "user", "message": {"content": [{"type": "text", "text": "Hi"}]}}
    assert recognise_file(BytesIO(json.dumps(said).encode()), may_be_cursor=True).family is Family.CURSOR
    assert recognise_file(BytesIO(json.dumps(NODE).encode()), may_be_cursor=True).family is Family.AGENT_DAG


def test_no_fixture_of_another_importer_is_claimed_and_all_of_its_own_are() -> None:
    others = [ROOT / "fixtures" / name for name in ("claude_code", "cursor", "session_log", "library", "permissions")]
    assert list(AgentDagImporter().discover(candidates(*others))) == []
    own = candidates(ROOT / "fixtures" / "agent_dag")
    found = {source.path for source in AgentDagImporter().discover(own)}
    assert found == {file.path for file in own if file.name.endswith(".jsonl")}


def test_files_of_programs_are_never_claimed(tmp_path: Path) -> None:
    (tmp_path / "programs.jsonl").write_text(json.dumps(EVENT), "utf-8")
    assert list(AgentDagImporter().discover(candidates(tmp_path))) == []
