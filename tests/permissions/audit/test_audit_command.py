"""`aix audit`: which findings there are, what became of them, and how the command ends."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import jsonschema
import pytest

from aix.cli.audit import COMMANDS
from aix.cli.diagnostics import ExitCode, run
from aix.cli.root import aix as root_command
from aix.errors import ReportFileError
from aix.permissions.audit.report import LedgerState, Report, compare
from tests.permissions.audit.acme import TOOLS, install_acme, write_called
from tests.permissions.audit.sarif_schema import SARIF

Document = dict[str, Any]


class Audits:
    """Two ledgers, one later than the other, and a command line."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[Path, str] = {}
        self.before = write_called(folder / "before", "Edit", "Edit", "Task", "Glob", "Read", "Grep")
        self.after = write_called(folder / "after", "Bash", "Glob", "Edit", "Edit", "Edit")

    def run(self, ledger: Path, *arguments: str, pack: str = "acme") -> ExitCode:
        """Run `aix audit` and return how it ended."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "argv", ["aix", "audit", "--pack", pack, "--ledger", str(ledger), *arguments])
            return run(root_command)

    def known(self, ledger: Path) -> Document:
        """Return the JSON report of all that there is; it is made once."""
        if ledger not in self._known:
            self._known[ledger] = json.dumps(self.report(ledger))
        found: Document = json.loads(self._known[ledger])
        return found

    def report(self, ledger: Path, *arguments: str, pack: str = "acme") -> Document:
        """Return the JSON report."""
        out = self.folder / "report.json"
        assert self.run(ledger, *arguments, "-o", str(out), pack=pack) is ExitCode.OK
        found: Document = json.loads(out.read_text("utf-8"))
        return found

    def baseline(self, report: Document) -> str:
        """Write a report down, to compare with."""
        path = self.folder / "baseline.json"
        path.write_text(json.dumps(report), "utf-8")
        return str(path)


@pytest.fixture(scope="module")
def audits(acme: Path, tmp_path_factory: pytest.TempPathFactory) -> Audits:
    assert acme.is_dir()
    return Audits(tmp_path_factory.mktemp("audits"))


def states(findings: list[Document]) -> dict[str, str]:
    return {finding["resource"]: finding["state"] for finding in findings}


def test_findings_come_by_severity_with_their_evidence(audits: Audits) -> None:
    report = audits.known(audits.before)
    assert [(each["resource"], each["severity"]) for each in report["findings"]] == [
        ("Task", "medium"),
        ("Edit", "low"),
    ]
    edit = report["findings"][1]
    assert edit["message"] == "The tool Edit was called."
    assert edit["details"] == {"vendor": "vendor", "calls": 2, "last_called_at": 1401}
    assert edit["evidence"]["call_id"] == "call_1"
    assert [each["resource"] for each in report["notices"]] == ["Grep"]
    [check] = report["checks"]
    assert (check["status"], check["rows"]) == ("alarm", {"ok": 1, "alarm": 2, "info": 1, "skip": 1})
    assert check["skipped"] == ["Nothing is known of Glob."]
    assert [each["name"] for each in report["inventories"]] == ["acme/parameters"]


def test_an_id_stays_however_often_and_whenever_it_happens(audits: Audits) -> None:
    [before] = [each for each in audits.known(audits.before)["findings"] if each["resource"] == "Edit"]
    [after] = [each for each in audits.known(audits.after)["findings"] if each["resource"] == "Edit"]
    assert before["id"] == after["id"]
    assert before["details"] != after["details"]
    assert before["evidence"] != after["evidence"]


def test_the_dimensions_that_the_grain_names_tell_findings_apart(
    audits: Audits, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_call = TOOLS.replace("group by c.tool_name, t.provider", "group by c.tool_name, t.provider, c.id")
    by_call = by_call.replace("order by calls desc,", "order by c.id,").replace(
        "t.provider as vendor", "c.id as vendor"
    )
    install_acme(tmp_path, "other-audits", "other", folded=by_call.replace("tool by vendor", "tool"), apart=by_call)
    monkeypatch.syspath_prepend(tmp_path)
    report = audits.report(audits.before, pack="other")
    rules = [(each["rule"], each["rows"]) for each in report["findings"] if each["resource"] == "Edit"]
    assert sorted(rules) == [("other/apart", 1), ("other/apart", 1), ("other/folded", 2), ("other/tools", 1)]


@pytest.mark.parametrize(
    ("ledger", "least", "code"),
    [
        ("before", "high", ExitCode.OK),
        ("before", "medium", ExitCode.FINDINGS),
        ("before", "low", ExitCode.FINDINGS),
        ("after", "high", ExitCode.FINDINGS),
    ],
)
def test_the_exit_code_tells_whether_a_finding_is_that_severe(
    audits: Audits, ledger: str, least: str, code: ExitCode
) -> None:
    assert audits.run(getattr(audits, ledger), "--fail-on", least, "-o", str(audits.folder / "out")) is code


def test_a_baseline_tells_new_open_and_resolved_apart(audits: Audits, capsys: pytest.CaptureFixture[str]) -> None:
    baseline = audits.baseline(audits.known(audits.before))
    report = audits.report(audits.after, "--baseline", baseline)
    assert states(report["findings"]) == {"Bash": "new", "Edit": "open"}
    assert states(report["resolved"]) == {"Task": "resolved"}
    assert report["unchecked"] == []
    audits.run(audits.after, "--baseline", baseline)
    shown = capsys.readouterr().out
    assert (
        "\n2 findings: 1 high, 1 low. 1 of 1 check found something. 1 check could judge only part of the data.\n"
        in shown
    )
    assert f"\nSince {baseline}: 1 new, 1 open, 1 resolved.\n" in shown
    assert "resolved (1)" in shown


def test_known_findings_do_not_fail_and_new_ones_do(audits: Audits) -> None:
    known = audits.baseline(audits.known(audits.after))
    out = ("-o", str(audits.folder / "out"))
    assert audits.run(audits.after, "--fail-on", "low", "--baseline", known, *out) is ExitCode.OK
    assert audits.run(audits.before, "--fail-on", "medium", "--baseline", known, *out) is ExitCode.FINDINGS
    assert audits.run(audits.before, "--fail-on", "high", "--baseline", known, *out) is ExitCode.OK


def test_a_finding_that_is_worse_than_in_the_baseline_is_new(audits: Audits) -> None:
    report = audits.known(audits.after)
    for finding in report["findings"]:
        finding["severity"] = "medium"
    known = audits.baseline(report)
    assert states(audits.report(audits.after, "--baseline", known)["findings"]) == {"Bash": "new", "Edit": "open"}


def test_what_was_not_looked_at_is_not_resolved_and_stays_known(audits: Audits) -> None:
    report = audits.known(audits.before)
    task, edit = report["findings"]
    skipped = {**task, "id": "0" * 16, "resource": "Glob"}
    of_another_query = {**task, "id": "1" * 16, "rule": "acme/gone"}
    known = audits.baseline({**report, "findings": [edit, skipped, of_another_query]})
    compared = audits.report(audits.after, "--baseline", known)
    assert compared["resolved"] == []
    assert {each["id"] for each in compared["unchecked"]} == {"0" * 16, "1" * 16}
    again = audits.report(audits.after, "--baseline", audits.baseline(compared))
    assert again["unchecked"] == compared["unchecked"]


def test_with_other_filters_nothing_counts_as_resolved(audits: Audits) -> None:
    narrow = audits.report(audits.before, "--session", "s-1")
    assert narrow["filters"] == {"session": "session-log:s-1"}
    compared = audits.report(audits.after, "--baseline", audits.baseline(narrow))
    assert (compared["resolved"], states(compared["unchecked"])) == ([], {"Task": "unchecked"})
    assert compared["notes"] == ["The baseline was made with other filters, so no finding of it counts as resolved."]
    same = audits.report(audits.after, "--session", "session-log:s-1", "--baseline", audits.baseline(narrow))
    assert states(same["resolved"]) == {"Task": "resolved"}


def test_with_other_risks_nothing_counts_as_resolved(audits: Audits) -> None:
    risks = audits.folder / "risks.toml"
    risks.write_text("dated = 2026-11-01\n")
    known = audits.baseline(audits.report(audits.before, "--risks", str(risks)))
    compared = audits.report(audits.after, "--baseline", known)
    assert (compared["resolved"], states(compared["unchecked"])) == ([], {"Task": "unchecked"})
    assert compared["notes"] == ["The baseline was made with other risks, so no finding of it counts as resolved."]
    same = audits.report(audits.after, "--risks", str(risks), "--baseline", known)
    assert states(same["resolved"]) == {"Task": "resolved"}


def test_a_query_without_the_filter_is_named(audits: Audits) -> None:
    report = audits.report(audits.before, "--since", "1970-01-02")
    assert report["findings"] == []
    assert report["filters"] == {"since": "1970-01-02", "timezone": "UTC"}
    assert report["notes"] == ["acme/parameters has no filter for since: it is about all that the ledger holds."]


def test_a_long_inventory_is_cut_and_says_so(audits: Audits, monkeypatch: pytest.MonkeyPatch) -> None:
    [whole] = audits.known(audits.before)["inventories"]
    assert (whole["is_whole"], len(whole["rows"])) == (True, 6)
    monkeypatch.setattr("aix.permissions.audit.run._LONGEST_INVENTORY", 2)
    [cut] = audits.report(audits.before)["inventories"]
    assert (cut["is_whole"], cut["rows"]) == (False, whole["rows"][:2])


def test_sarif_has_the_state_of_each_finding(audits: Audits) -> None:
    known = audits.baseline(audits.known(audits.before))
    out = audits.folder / "out.sarif"
    audits.run(audits.after, "--baseline", known, "-o", str(out))
    log = json.loads(out.read_text("utf-8"))
    jsonschema.Draft202012Validator(SARIF).validate(log)
    [run_] = log["runs"]
    found = {each["properties"]["resource"]: (each["level"], each["baselineState"]) for each in run_["results"]}
    assert found == {"Bash": ("error", "new"), "Edit": ("note", "unchanged"), "Task": ("warning", "absent")}
    rules = [rule["id"] for rule in run_["tool"]["driver"]["rules"]]
    assert all(rules[each["ruleIndex"]] == each["ruleId"] for each in run_["results"])
    ids = {each["partialFingerprints"]["aixFindingId/v1"] for each in run_["results"]}
    assert len(ids) == len(run_["results"])
    [notification] = run_["invocations"][0]["toolExecutionNotifications"]
    assert notification["message"]["text"] == "acme/tools (1 of 3): Nothing is known of Glob."


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fail-on", "severe"], "Invalid value for '--fail-on'"),
        (["--settings", "gone.json"], "gone.json: No such file or directory"),
        (["--project", "x"], "no query of the pack acme can be asked for one project"),
        (["--baseline", "gone.json"], "gone.json: cannot be read"),
        (["--pack", "compaction_impact"], "the pack compaction_impact has no queries that judge"),
        (["--baseline", __file__], "is no report of an audit"),
        (["--session", "nobody"], "there is no session named 'nobody'"),
    ],
)
def test_what_cannot_be_done_is_a_usage_error(
    audits: Audits, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert audits.run(audits.before, *arguments) is ExitCode.USAGE
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("changed", [{"id": "\x1b[2J"}, {"severity": "grave"}, {"rows": 0}, {"evidence": {"line": 0}}])
def test_a_baseline_that_was_tampered_with_is_refused(audits: Audits, changed: Document) -> None:
    report = audits.known(audits.before)
    report["findings"][0] |= changed
    with pytest.raises(ReportFileError, match="is no report of an audit"):
        compare(Report("1", LedgerState(1), "acme", {}, (), (), (), (), ()), Path(audits.baseline(report)))


def test_a_report_of_a_later_release_is_no_baseline(audits: Audits, capsys: pytest.CaptureFixture[str]) -> None:
    later = audits.baseline({"report_version": 2})
    assert audits.run(audits.before, "--baseline", later) is ExitCode.USAGE
    assert "has report version 2" in capsys.readouterr().err


def test_an_unknown_pack_is_a_usage_error(audits: Audits, capsys: pytest.CaptureFixture[str]) -> None:
    assert audits.run(audits.before, pack="acne") is ExitCode.USAGE
    assert "did you mean acme" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("else 'alarm' end", "else 'Alarm' end", "a row has the status 'Alarm'"),
        ("when 'Task' then 'medium'", "when 'Task' then 'grave'", "an alarm has the severity 'grave'"),
        ("-- column reason: VARCHAR; why\n", "", "an audit query has the columns"),
        ("count(*) as calls", "count(*) as often", "its result lacks calls"),
        ("from tool_calls c", "from tools c", "DuckDB cannot run it"),
        ("-- grain: tool by vendor\n", "", "the header lacks grain"),
    ],
)
def test_a_query_that_is_wrong_ends_the_audit(
    audits: Audits,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    old: str,
    new: str,
    said: str,
) -> None:
    wrong = TOOLS.replace(old, new).replace("order by calls", "order by count(*)")
    install_acme(tmp_path, distribution="broken-audits", pack="broken", wrong=wrong)
    monkeypatch.syspath_prepend(tmp_path)
    assert audits.run(audits.before, pack="broken") is ExitCode.USAGE
    assert said in capsys.readouterr().err


def test_options_of_the_audit_do_not_go_before_a_command(
    audits: Audits, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = ModuleType("aix.cli.audit.trial")
    module.__dict__["command"] = click.Command("trial", callback=lambda: None)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(COMMANDS, "trial", "Try it.")
    assert audits.run(audits.before, "trial") is ExitCode.USAGE
    assert "do not go before a command such as trial" in capsys.readouterr().err
