"""The audit on a terminal: a summary first, one line for each finding, ids that other commands take, next steps."""

import json
import os
import re
from io import StringIO
from pathlib import Path

import pytest
from rich.cells import cell_len

from aix.cli.audit import make_report
from aix.errors import UnknownNameError, UnknownProjectError
from aix.output.paragraphs import paragraph_lines, write_paragraphs
from aix.permissions.audit import Severity
from aix.permissions.audit.findings import Finding
from aix.permissions.audit.report import LedgerState, Report
from aix.permissions.audit.report_html import html_lines
from aix.permissions.audit.report_text import groups, short_ids, short_paragraphs, summary
from aix.query.values import find_zone
from aix.reading.ledger import open_ledger
from tests.support.command_line import AIX, run_here, run_in_process, run_on_terminal

pytestmark = pytest.mark.long

UTC = find_zone("UTC")
_SECTION = re.compile(r"(high|medium|low) \(\d+\)")


def finding(number: int, message: str, severity: str = "low", *, rule: str = "p/risks", **details: object) -> Finding:
    return Finding(f"{number:016x}", rule, Severity(severity), "Risks", message, f"thing {number}", details=details)


def report(*findings: Finding) -> Report:
    return Report("1", LedgerState(1), "acme", {}, (), (), findings, (), ())


def lines(*findings: Finding) -> list[str]:
    return [each.line for each in groups(findings)]


def test_findings_with_the_same_words_share_a_line_with_their_number() -> None:
    key = "Possible private key in a tool result."
    same = [finding(number, key, "high", project="/srv/mill") for number in range(3)]
    assert lines(*same) == ["Possible private key in a tool result: 3 findings in mill"]


def test_mild_findings_that_begin_alike_share_a_line_and_high_ones_do_not() -> None:
    pushes = ["Force push ran: `git push -f` (mill, once).", "Force push ran: `git push +main` (loom, 2 times)."]
    mild = [finding(n, text, "medium", project=f"/srv/{n}", calls=n + 1) for n, text in enumerate(pushes)]
    assert lines(*mild) == ["Force push ran: 2 findings in 2 projects, 3 calls, such as `git push -f`"]
    high = [finding(n, text, "high") for n, text in enumerate(pushes)]
    assert lines(*high) == [text.removesuffix(".") for text in pushes]
    assert len(lines(mild[0], finding(9, pushes[1], "low"), finding(8, pushes[1], "medium", rule="p/other"))) == 3


def test_a_line_names_the_project_once() -> None:
    assert lines(finding(1, "9 calls ran.", project="/srv/mill")) == ["9 calls ran (mill)"]
    assert lines(finding(1, "9 calls ran (mill).", project="/srv/mill")) == ["9 calls ran (mill)"]


def test_short_ids_are_as_long_as_they_must_be() -> None:
    near = [finding(0x1234567800000000, "a"), finding(0x1234567900000000, "b")]
    assert set(short_ids(near).values()) == {"12345678", "12345679"}
    assert set(short_ids(near[:1]).values()) == {"1234567"}


def test_a_conclusion_is_marked_and_less_severe_findings_are_counted() -> None:
    inferred = Finding("f" * 16, "p/risks", Severity.HIGH, "Risks", "A server changed.", "x", is_inferred=True)
    shown = report(inferred, finding(1, "b"), finding(2 << 60, "c", "medium")).at_least(Severity.MEDIUM)
    text = list(paragraph_lines(short_paragraphs(shown, UTC)))
    assert "  fffffff  A server changed  inferred" in text
    assert "note: Not shown: 1 finding below medium severity." in text
    assert text[0] == "Audit by the pack acme · severity medium"


@pytest.fixture(scope="module")
def whole(permission_ledger: Path) -> Report:
    return make_report(permission_ledger, "permission_usage", {}, (), None, None, UTC, with_inventories=False)


@pytest.mark.parametrize("columns", [60, 80, 100, 140])
def test_every_finding_takes_one_line_on_a_terminal(
    whole: Report, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = StringIO()
    write_paragraphs(short_paragraphs(whole, UTC), stream)
    shown = stream.getvalue().splitlines()
    assert max(map(cell_len, shown)) <= columns
    head = " ".join(shown[: shown.index("")])
    assert re.match(
        r"Permission audit · data up to 2026-04-23 \d\d:\d\d · 29 sessions · 2 subagents \d+ findings: ", head
    )
    assert re.search(r"findings: \d+ high, \d+ medium, \d+ low[.] \d+ of \d+ checks found something", head)
    assert "  high  medium     low  check" in shown
    begin, end = next(place for place, line in enumerate(shown) if _SECTION.fullmatch(line)), shown.index("Next steps")
    listed = [line for line in shown[begin:end] if line and not _SECTION.fullmatch(line)]
    assert len(listed) > 10
    assert all(re.match(r"  [0-9a-f]{7}  \S", line) for line in listed)
    assert any(line.startswith("  Possible secrets in texts: Replace the secret") for line in shown[end:])


def test_a_terminal_gets_the_short_form_in_colours_and_a_pipe_everything(permission_ledger: Path) -> None:
    shown, code = run_on_terminal(AIX, "audit", "--severity", "high", "--ledger", str(permission_ledger))
    assert code == 0
    assert "\x1b[1;31mhigh (" in shown
    listed = shown.partition("Next steps")[0]
    assert "toolu_" not in listed
    advised = re.findall(r"aix audit explain (\S+?)`", " ".join(re.sub(r"\x1b\[[\d;]*m", "", shown).split()))
    assert advised
    for name in advised:
        assert run_in_process("audit", "explain", name, "--ledger", str(permission_ledger)).returncode == 0
    piped = run_in_process("audit", "--severity", "high", "--ledger", str(permission_ledger)).stdout
    assert "\x1b" not in piped
    assert ", call toolu_" in piped


def test_without_colours_a_terminal_gets_no_escape_sequence(
    permission_ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    for command in (("audit", "--severity", "high"), ("overview",)):
        shown, code = run_on_terminal(AIX, *command, "--ledger", str(permission_ledger))
        assert code == 0
        assert "claude" in shown or "high (" in shown
        assert "\x1b" not in shown, command


def test_all_forms_count_the_checks_that_could_not_judge_everything_alike(whole: Report) -> None:
    incomplete = [check for check in whole.checks if check.rows["skip"]]
    assert incomplete
    assert whole.counts()["checks_incomplete"] == len(incomplete)
    counts = [int(count) for count in re.findall(r"(\d+) checks? could judge (?:only part|nothing)", summary(whole))]
    assert sum(counts) == len(incomplete)
    page = "".join(html_lines(whole, UTC))
    assert f'<a href="#not-fully-judged">Not fully judged ({len(incomplete)})</a>' in page


def test_a_project_narrows_rules_down_and_one_without_sessions_is_an_error(permission_ledger: Path) -> None:
    def rules_of(filters: dict[str, str]) -> set[tuple[object, object]]:
        with open_ledger(permission_ledger) as ledger:
            rows = ledger.query("permission_usage/unused_rules", **filters).arrow().to_pylist()
        return {(row["file"], row["calls_there"]) for row in rows}

    every = rules_of({})
    press = rules_of({"project": "press"})
    assert {file for file, _ in press} < {file for file, _ in every}
    assert all(calls or "press" in str(file) for file, calls in press)
    with pytest.raises(UnknownProjectError, match="'pres5'") as raised:
        run_here("audit", "--project", "pres5", "--ledger", str(permission_ledger))
    assert "press" in raised.value.remedy


def test_the_headline_names_the_last_day_that_counts(permission_ledger: Path, tmp_path: Path) -> None:
    asked = ("audit", "--until", "2026-04-10", "--timezone", "UTC", "--ledger", str(permission_ledger))
    assert " · until 2026-04-10 · " in run_in_process(*asked).stdout.splitlines()[0]
    run_here(*asked, "--format", "json", "-o", str(tmp_path / "out.json"))
    assert json.loads((tmp_path / "out.json").read_text("utf-8"))["filters"]["until"] == "2026-04-11"


def test_only_findings_at_least_as_severe_are_shown_and_all_of_them_can_fail(
    permission_ledger: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    arguments = ("audit", "--severity", "high", "-o", str(out), "--ledger", str(permission_ledger))
    run_here(*arguments)
    found = json.loads(out.read_text("utf-8"))
    assert {each["severity"] for each in found["findings"]} == {"high"}
    assert found["filters"] == {"severity": "high"}


def test_a_finding_is_explained_by_the_beginning_of_its_id(
    permission_ledger: Path, tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    ledger = ("--ledger", str(permission_ledger))
    run_here("audit", "-o", str(tmp_path / "out.json"), *ledger)
    findings = json.loads((tmp_path / "out.json").read_text("utf-8"))["findings"]
    wanted = next(each for each in findings if each["rule"].endswith("/risks") and each["evidence"]["call_id"])
    run_here("audit", "explain", wanted["id"][:9], *ledger)
    shown = capsysbinary.readouterr().out.decode()
    assert shown.startswith(f"{wanted['severity']}  {wanted['message']}\n")
    [call] = re.findall(r"Next: Read the call with `aix audit explain (\S+)`,", shown)
    assert wanted["evidence"]["call_id"].startswith(call)
    assert re.search(rf"  aix audit explain {call} +the call and its rules\n", shown)
    assert wanted["evidence"]["session_label"] not in shown.replace(wanted["evidence"]["file"], "")
    assert not re.search(r"^  \S*_\S* ", shown, re.MULTILINE)  # names of columns are in words
    [session] = re.findall(r"  aix show (\S+) +the session\n", shown)
    run_here("show", session, "-o", os.devnull, *ledger)
    run_here("audit", "explain", wanted["id"], "--json", *ledger)
    assert json.loads(capsysbinary.readouterr().out)["id"] == wanted["id"]
    with pytest.raises(UnknownNameError, match="no finding and no call has an id"):
        run_here("audit", "explain", "0123456789abcdef", *ledger)
