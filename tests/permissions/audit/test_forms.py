"""Whatever a log holds, every form of an audit is well-formed, bounded, and does nothing to its reader."""

import base64
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from markdown_it import MarkdownIt

from aix.cli.audit import FORMATS, make_report, write_report
from aix.output.paragraphs import paragraph_lines
from aix.output.text import escape_unsafe
from aix.permissions.audit.findings import LONGEST_TEXT, finding_of, shortened
from aix.permissions.audit.report import LedgerState, Report
from aix.permissions.audit.report_html import POLICY
from aix.permissions.audit.report_text import paragraphs
from aix.query.query_file import parse_query
from aix.query.values import find_zone
from tests.output.test_formats import ACTING
from tests.permissions.audit.acme import TOOLS, write_called
from tests.permissions.audit.sarif_schema import SARIF
from tests.support.command_line import AIX, run_on_terminal

HOSTILE = [
    "\x1b]0;owned\x07\x1b[2Jred\x1b[31m \x00 \x9b \x7f",
    "left\u202eright\u2066isolated\u2069 \u200b \u2028 \ufeff \U000e0041",
    "</script><script>alert(1)</script><img src=x onerror=alert(1)></td></code>",
    "a|b||c \\| `code` ``` *bold* _it_ ~~x~~ $x$ <http://z>",
    "[click](http://evil) ![i](y) [a\\](b) [a\\\\](b) {0} {{x}} ${IFS}",
    "two\nlines\r\n# heading\n\n- item\n\n---\n\n    code\n\n<b>",
    '\' " &lt; &amp; &#60; style="x" <!-- -->',
    "x" * 2**20,
]
LINK = re.compile(r"(?<!\\)\[((?:[^\\\[\]]|\\[\\\[\]])*)\]\(")


@pytest.fixture(scope="module")
def hostile(acme: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the same audit in every form."""
    assert acme.is_dir()
    folder = tmp_path_factory.mktemp("hostile")
    ledger = write_called(folder / "ledger", *HOSTILE, log=f"{folder}/lo|g <b>\x1b[2J\u202e].jsonl")
    zone = find_zone("UTC")
    report = make_report(ledger, "acme", {}, (), None, None, zone)
    for form in FORMATS:
        write_report(report, form, folder / form, zone)
    return folder


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_that_could_act_is_left_and_long_texts_are_cut(hostile: Path, form: str) -> None:
    text = (hostile / form).read_text("utf-8")
    assert not ACTING & set(text) - {"\n"}
    assert "x" * (LONGEST_TEXT + 1) not in text
    assert len(text) < 100_000
    assert "red" in text


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.open: list[str] = []
        self.attributes: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)


def test_html_holds_no_element_of_a_log(hostile: Path) -> None:
    page = _Elements()
    page.feed((hostile / "html").read_text("utf-8"))
    page.close()
    assert not page.open
    ours = {"html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "div"}
    ours |= {"article", "details", "summary", "code", "b", "strong", "ul", "li", "dl", "dt", "dd", "a", "script"}
    ours |= {"form", "label", "select", "option", "button", "output"}
    assert set(page.opened) <= ours | {"h1", "h2", "h3", "h4", "p", "table", "thead", "tbody", "tr", "th", "td"}
    known = {"lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "hidden", "type", "value"}
    assert page.attributes <= known | {"aria-label", "data-group", "data-severity", "data-project", "scope"}
    assert (page.opened.count("script"), page.opened.count("style")) == (1, 1)
    assert page.opened.count("article") == len(HOSTILE)
    assert {escape_unsafe(shortened(text)) for text in HOSTILE} <= set(page.texts)


def test_html_loads_nothing_and_runs_its_own_script_alone(hostile: Path) -> None:
    text = (hostile / "html").read_text("utf-8")
    assert f'content="{POLICY}"' in text
    assert POLICY.startswith("default-src 'none'; ")
    assert "unsafe" not in POLICY
    for element in ("style", "script"):
        [content] = re.findall(f"<{element}>(.*?)</{element}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in POLICY
    assert not re.search(r"<[^>]*\s(src|on\w+|style)=", text)
    assert all(address.startswith("#") for address in re.findall(r'<[^>]*\shref="([^"]*)"', text))


def test_markdown_holds_no_markup_of_a_log(hostile: Path) -> None:
    tokens = (
        MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse((hostile / "markdown").read_text("utf-8"))
    )
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "text_special"}
    blocks = [token.type for token in tokens if token.level == 0 and token.nesting >= 0]
    assert [kind for kind in blocks if kind != "inline"] == [
        *("heading_open", "paragraph_open"),  # what was looked at, the summary
        *("heading_open", "table_open"),  # findings
        *("heading_open", "table_open"),  # checks
        *("heading_open", "paragraph_open", "table_open"),  # the inventory
    ]
    rows = [token for token in tokens if token.type == "tr_open"]
    assert len(rows) == 3 + len(HOSTILE) + 1 + len(HOSTILE)


def test_json_has_the_texts_as_they_are(hostile: Path) -> None:
    report = json.loads((hostile / "json").read_text("utf-8"))
    assert {finding["resource"] for finding in report["findings"]} == {shortened(text) for text in HOSTILE}
    assert report["counts"]["findings"] == report["counts"]["high"] == len(HOSTILE)
    assert [row["tool_name"] for row in report["inventories"][0]["rows"]] == [shortened(text) for text in HOSTILE]


def test_sarif_is_valid_and_its_messages_hold_no_link_and_no_placeholder(hostile: Path) -> None:
    log = json.loads((hostile / "sarif").read_text("utf-8"))
    jsonschema.Draft202012Validator(SARIF).validate(log)
    results = log["runs"][0]["results"]
    assert len(results) == len(HOSTILE)
    for result in results:
        message = result["message"]["text"]
        assert not ACTING & set(message)
        assert not LINK.search(message)
        assert not re.search(r"[{}]", message.replace("{{", "").replace("}}", ""))


def test_text_of_a_log_cannot_drive_the_terminal(acme: Path, hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", ":".join([str(acme), *filter(None, sys.path)]))
    shown, code = run_on_terminal(AIX, "audit", "--pack", "acme", "--ledger", str(hostile / "ledger"))
    assert code == 0
    assert "\x1b[1;31mhigh (8)" in shown
    assert not [sequence for sequence in ("\x1b]", "\x07", "\x1b[2J", "\u202e", "\x00") if sequence in shown]


def test_the_table_is_plain_in_a_pipe(hostile: Path) -> None:
    lines = (hostile / "table").read_text("utf-8").splitlines()
    assert lines[:2] == [
        "Audit by the pack acme · data up to 1970-01-01 00:00 · 2 sessions · 1 subagent",
        "8 findings: 8 high. 1 of 1 check found something.",
    ]
    assert "high (8)" in lines
    assert all(len(line) < 700 for line in lines)


@pytest.mark.parametrize("form", FORMATS)
def test_lone_surrogates_can_be_written_and_an_inference_is_named(form: str, tmp_path: Path) -> None:
    query = parse_query("acme/tools", Path("tools.sql"), TOOLS)
    row = dict.fromkeys((column.name for column in query.columns), "\ud800")
    finding = finding_of(query, {**row, "severity": "low", "is_inferred": True})
    report = Report("1", LedgerState(1), "acme", {}, (), (), (finding,), (), ())
    write_report(report, form, tmp_path / "out", find_zone("UTC"))
    text = (tmp_path / "out").read_text("utf-8")
    assert "\\ud800" in text
    assert ('"is_inferred":true' if form == "json" else "Inferred, not logged.") in text


def test_nothing_found_is_said() -> None:
    report = Report("1", LedgerState(1), "acme", {}, (), (), (), (), ())
    shown = list(paragraph_lines(paragraphs(report, find_zone("UTC"))))
    assert shown == ["Audit by the pack acme", "0 findings.", ""]
