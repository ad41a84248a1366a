"""A finding names the log of its session and the line that first names its call, where these can be found."""

import json
from pathlib import Path

import jsonschema
import pytest

from aix.permissions.audit import evidence
from aix.permissions.audit.evidence import find_lines, with_places
from aix.permissions.audit.findings import finding_of
from aix.permissions.audit.report import LedgerState, Report
from aix.permissions.audit.report_forms import sarif_lines
from aix.permissions.audit.run import audit
from aix.query.query_file import parse_query
from aix.reading.ledger import Ledger
from aix.store.manifest import read_latest
from tests.permissions.audit.acme import TOOLS, write_called
from tests.permissions.audit.sarif_schema import SARIF
from tests.support.sample_conversation import MAIN

IDS = ["call_1", "call_2", "call_20", "other"]
LINES = ["{}", '{"a": "call_9", "b": "call_20"}', "", '{"a": "call_1", "text": "call_2"}', '["call_1"]', "call_2 other"]


def opened(folder: Path, *tools: str, log: Path) -> Ledger:
    write_called(folder, *tools, log=str(log))
    return Ledger(folder, read_latest(folder))


@pytest.mark.parametrize("block", [1, 3, 64, 2**20])
def test_the_first_line_with_the_id_is_found_however_the_log_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(evidence, "_BLOCK", block)
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join([*LINES, *['{"filler": "call_0"}'] * 50, '{"id": "other"}']))
    found, _ = find_lines(str(log), IDS, 2**20)
    assert found == {"call_20": 2, "call_1": 4, "call_2": 4, "other": len(LINES) + 51}


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"id": "call_1"}\n' + " " * 1_000 + '{"id": "call_2"}\n')
    assert find_lines(str(log), ["call_1", "call_2"], 100) == ({"call_1": 1}, 100)
    assert find_lines(str(log), ["call_1"], 0) == ({}, 0)


def test_what_is_no_log_has_no_lines(tmp_path: Path) -> None:
    database = tmp_path / "state.db"
    database.write_bytes(b'SQLite\0"call_1"\n')
    for path in (str(database), str(tmp_path), str(tmp_path / "gone"), "/dev/zero", "nul\0", ""):
        assert find_lines(path, ["call_1"], 2**20)[0] == {}
    assert find_lines(str(database), ["x" * 500], 2**20) == ({}, 0)


def test_a_finding_names_file_and_line(acme: Path, tmp_path: Path) -> None:
    assert acme.is_dir()
    log = tmp_path / "log.jsonl"
    log.write_text('{}\n{"id": "call_1"}\n')
    ledger = opened(tmp_path / "ledger", "Task", "Bash", log=log)
    bash, task = (finding.evidence for finding in audit(ledger, "acme", {}, "UTC").findings)
    assert (bash.call_id, bash.file, bash.line) == ("call_1", str(log), 2)
    assert (task.call_id, task.file, task.line) == ("call_0", str(log), None)
    log.unlink()
    bash, task = (finding.evidence for finding in audit(ledger, "acme", {}, "UTC").findings)
    assert (bash.file, bash.line) == (str(log), None)


def test_a_finding_about_a_rule_names_its_line_in_the_settings_first(
    tmp_path: Path,
) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"allow": [\n"Bash(ls:*)",\n"Bash(rm:*)"]}')
    query = parse_query("acme/rules", tmp_path, TOOLS)
    row = dict.fromkeys(column.name for column in query.columns) | {"file": str(settings), "rule": "Bash(rm:*)"}
    ledger = opened(tmp_path / "ledger", "Bash", log=tmp_path / "log")
    rule = finding_of(query, {**row, "severity": "low", "session_label": MAIN, "call_id": "call_0"})
    [found] = with_places(ledger, [rule])
    assert (found.evidence.settings_file, found.evidence.settings_line) == (str(settings), 3)
    report = Report("1", LedgerState(1), "acme", {}, (), (), (found,), (), ())
    [line] = sarif_lines(report)
    log = json.loads(line)
    jsonschema.Draft202012Validator(SARIF).validate(log)
    [result] = log["runs"][0]["results"]
    [location] = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": settings.as_uri()},
        "region": {"startLine": 3},
    }
    uri = (tmp_path / "log").as_uri()
    assert result["relatedLocations"] == [{"physicalLocation": {"artifactLocation": {"uri": uri}}}]
