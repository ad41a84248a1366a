"""Files that the session-log importer claims, and files that it reads along with them."""

import json
from io import BytesIO
from pathlib import Path

import pytest

from aix.importing import Candidate
from aix_importers.common.recognition import Family, recognise_file
from aix_importers.session_log import SessionLogImporter
from tests.importers.session_log.logs import entry, extract, sources_in, write_log

LINE = json.dumps(entry("u")).encode()
LONG = json.dumps(entry("u", message={"content": 'quote " brace } ' * 5_000})).encode()
FOREIGN = json.dumps({**entry("u"), "type": "user"}).encode()


@pytest.mark.parametrize(
    ("head", "is_entry"),
    [
        (LINE, True),
        (b"\xef\xbb\xbf" + LINE, True),
        (b"\0\0" + LINE, True),
        (b"broken\n\n" + LINE + b"\n", True),
        (LONG[:16_384], True),
        (b"", False),
        (FOREIGN, False),
        (FOREIGN[:150], False),
        (b'{"uuid":"u","sessionId":"s"}', False),
        (b'{"uuid":"u","sessionId":"s","message":"text"}', False),
        (b'{"uuid":"u","sessionId":"s","message":{"content":"x"}}', False),
        (b'{"other":{"uuid":"u","sessionId":"s","message":{"role":"user","content":"', False),
        (b'{"uuid":"u","sessionId":"s","type":"user","message":{"role":"user","content":"', False),
        (b'"uuid" "sessionId" "message" "role"', False),
        (b"[" * 16_384, False),
    ],
)
def test_a_log_is_known_by_its_lines(head: bytes, is_entry: bool) -> None:  # noqa: FBT001 - a case of the table
    assert (recognise_file(BytesIO(head)).family is Family.SESSION_LOG) is is_entry


def test_only_json_lines_are_logs(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.json", "c.txt", "d.jsonl.bak"):
        (tmp_path / name).write_bytes(LINE)
    assert [Path(source.path).name for source in sources_in(tmp_path)] == ["a.jsonl"]


def test_a_file_that_was_claimed_before_is_not_judged_again() -> None:
    files = [
        Candidate("/nowhere/own.jsonl", 1, 1, 1, claimed_by="session_log"),
        Candidate("/nowhere/programs.json", 1, 1, 2, claimed_by="session_log"),
        Candidate("/nowhere/other.jsonl", 1, 1, 3, claimed_by="other"),
    ]
    found = [source.path for source in SessionLogImporter().discover(files)]
    assert found == ["/nowhere/own.jsonl", "/nowhere/programs.json"]


def test_a_claimed_file_of_events_is_still_one_of_which_no_copy_is_kept(tmp_path: Path) -> None:
    events = write_log(tmp_path / "a.jsonl", [{"type": "TASK_CREATED", "taskId": "t", "timestamp": 1767607200000}])
    log = write_log(tmp_path / "b.jsonl", [entry("u", message={"content": '{"type":"TASK_CREATED"}'})])
    claimed = [Candidate(str(path), 1, 1, 1, claimed_by="session_log") for path in (events, log)]
    assert [source.may_hold_secrets for source in SessionLogImporter().discover(claimed)] == [True, False]


def test_programs_are_read_with_the_logs_beside_and_below_them(tmp_path: Path) -> None:
    program = {"id": "m", "type": "program", "programType": "model", "config": {"modelId": "far"}}
    write_log(tmp_path / "programs.jsonl", [program])
    write_log(tmp_path / "a.jsonl", [entry("a")])
    write_log(tmp_path / "one" / "b.jsonl", [entry("b")])
    write_log(tmp_path / "one" / "two" / "c.jsonl", [entry("c")])
    near = tmp_path / "one" / "programs.json"
    near.write_text(json.dumps({"m": {"programType": "model", "config": {"modelId": "near"}}}))
    sidecars = {Path(source.path).name: source.sidecars for source in sources_in(tmp_path)}
    far = str(tmp_path / "programs.jsonl")
    assert sidecars == {
        "a.jsonl": (far,),
        "b.jsonl": (str(near), far),
        "c.jsonl": (str(near),),
        "programs.json": (),
        "programs.jsonl": (),
    }
    answer = entry("b1", "assistant", "b", message={"model": "@(m)"})
    write_log(tmp_path / "one" / "b.jsonl", [entry("b"), answer])
    statements, _ = extract(tmp_path / "one" / "b.jsonl")
    [tables] = statements.values()
    assert tables["requests"][0]["model"] == "near"


def test_a_file_of_programs_can_be_named(tmp_path: Path) -> None:
    write_log(tmp_path / "programs.jsonl", [{"id": "m", "programType": "model", "config": {"modelId": "near"}}])
    given = write_log(tmp_path / "given.txt", [{"id": "m", "programType": "model", "config": {"modelId": "given"}}])
    log = write_log(tmp_path / "a.jsonl", [entry("u"), entry("a", "assistant", "u", message={"model": "@(m)"})])
    assert [source.sidecars for source in sources_in(log, programs=str(given))] == [(str(given),), ()]
    statements, _ = extract(log, programs=str(given))
    assert statements[f"{log}~0"]["requests"][0]["model"] == "given"
    assert statements[f"{given}~0"]["programs"][0]["id"] == "m"


def test_a_file_of_that_name_that_holds_no_programs_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "programs.json").write_text('{"anything": "else"}')
    log = write_log(tmp_path / "a.jsonl", [entry("u")])
    assert [(source.path, source.sidecars) for source in sources_in(tmp_path)] == [(str(log), ())]
