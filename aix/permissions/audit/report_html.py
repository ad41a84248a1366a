"""An audit as one HTML page that stands alone: it loads nothing, and runs one script of its own, the filters.

The page has a policy with the hashes of its style sheet and its script, so that a browser refuses all others, whatever
a log holds. Without the script everything is there; the filters alone are hidden.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo

from aix.output.html import BASE_STYLE, head, marked, policy, slug, table, text
from aix.permissions.audit import Severity
from aix.permissions.audit.findings import Finding
from aix.permissions.audit.report import Check, Report
from aix.permissions.audit.report_forms import Table, first_rows, tables
from aix.permissions.audit.report_text import (
    INFERRED,
    audit_name,
    changes,
    checks_with_findings,
    details,
    filled_by_worst,
    last_folder,
    places,
    project_of,
    scope,
    short_ids,
    summary,
)

_STYLE_SHEET = (
    BASE_STYLE
    + """
:root { --high: #b3261e; --medium: #8a5300; --low: #00617a; }
@media (prefers-color-scheme: dark) {
  :root { --high: #ff9a90; --medium: #ffc66d; --low: #7fdcf0; }
}
html { scroll-padding-top: 1rem; }
h3 { margin: 1.5rem 0 .25rem; font-size: 1.05rem; }
.tiles { display: flex; flex-wrap: wrap; gap: .75rem; list-style: none; margin: 1.25rem 0; padding: 0; }
.tiles li {
  flex: 1 1 8rem; background: var(--box); border: 1px solid var(--line); border-radius: 8px; padding: .7rem 1rem;
}
.tiles b { display: block; font-size: 1.8rem; line-height: 1.2; }
.high b, b.high { color: var(--high); }
.medium b, b.medium { color: var(--medium); }
.low b, b.low { color: var(--low); }
nav ul { columns: 18rem; margin: .5rem 0; padding-left: 1.2rem; }
form {
  display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: center; margin: 1.5rem 0; padding: .7rem 1rem;
  background: var(--box); border: 1px solid var(--line); border-radius: 8px;
}
form select, form button { font: inherit; max-width: 100%; padding: .25rem .4rem; }
.fix { background: var(--box); border-radius: 6px; padding: .5rem .8rem; margin: .5rem 0; }
article {
  border: 1px solid var(--line); border-left: 6px solid var(--line); border-radius: 6px; padding: .5rem .9rem;
  margin: .6rem 0;
}
article.high { border-left-color: var(--high); }
article.medium { border-left-color: var(--medium); }
article.low { border-left-color: var(--low); }
article h4 { margin: 0; font-size: 1rem; font-weight: 600; }
code { font: .9em/1.4 ui-monospace, monospace; white-space: pre-wrap; }
dl {
  display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem; margin: .4rem 0; font-size: .9rem;
}
dt { color: var(--faint); }
dd { margin: 0; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; }
th, td {
  border-bottom: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top; min-width: 5rem;
}
@media (max-width: 40rem) {
  body { padding: 1rem .75rem 3rem; }
  dl { grid-template-columns: minmax(0, 1fr); }
  dd { margin: 0 0 .35rem .8rem; }
  form > * { flex: 1 1 100%; }
  form select { width: 100%; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 10pt; }
  form, nav { display: none; }
  article, tr { break-inside: avoid; }
  details::details-content { content-visibility: visible; display: block; height: auto; }
}
"""
)
_SCRIPT = """
(() => {
  const form = document.getElementById('filters');
  const { severity, project, evidence } = form.elements;
  const ranks = ['high', 'medium', 'low'];
  const findings = [...document.querySelectorAll('article')];
  const groups = [...document.querySelectorAll('[data-group]')];
  const folds = [...document.querySelectorAll('article details')];
  const apply = () => {
    let shown = 0;
    for (const each of findings) {
      const isSevere = ranks.indexOf(each.dataset.severity) <= ranks.indexOf(severity.value);
      const isThere = project.value === '' || each.dataset.project === project.value.slice(1);
      each.hidden = !(isSevere && isThere);
      shown += each.hidden ? 0 : 1;
    }
    for (const group of groups) {
      group.hidden = !group.querySelector('article:not([hidden])');
    }
    document.getElementById('shown').textContent = `${shown} of ${findings.length} findings`;
  };
  form.addEventListener('input', apply);
  evidence.addEventListener('click', () => {
    const open = folds.some((fold) => !fold.open);
    folds.forEach((fold) => { fold.open = open; });
  });
  form.hidden = false;
  apply();
})();
"""


POLICY = policy([_STYLE_SHEET], [_SCRIPT])


def html_lines(report: Report, zone: tzinfo) -> Iterator[str]:
    """Give the audit as one page; text is escaped, and characters that could act are shown as escapes."""
    yield head(audit_name(report), POLICY, _STYLE_SHEET)
    yield f'<header><h1>{text(audit_name(report))}</h1><p class="faint">{text(" · ".join(scope(report, zone)))}</p>'
    yield f"<p>{text(summary(report))}</p>"
    yield from (f"<p>{text(line)}</p>" for line in (changes(report), *report.notes) if line)
    yield from (*_tiles(report), "</header>")
    sections = _sections(report)
    yield from _contents(report, sections)
    yield from _filters(report, sections)
    ids = short_ids(each for _, _, found in sections for each in found)
    yield "<main>"
    for name, heading, found in sections:
        yield f'<section id="{name}" data-group=""><h2>{heading} ({len(found)})</h2>'
        yield from _checks(report, found, ids, zone)
        yield "</section>"
    for each in tables(report):
        yield f'<section id="{slug(each.title)}"><h2>{text(each.title)} ({len(each.rows)})</h2>'
        yield from (*_table(each), "</section>")
    if report.inventories:
        yield '<section id="inventories"><h2>Inventories</h2>'
        yield '<p class="faint">What was used, without a judgement.</p>'
        for inventory in report.inventories:
            listing, note = first_rows(inventory, zone)
            columns = listing.columns
            names = tuple(each.name for each in columns)
            numbers = [each.is_number for each in columns]
            rows = list(listing.rows)
            yield f'<details id="{slug(inventory.name)}">'
            yield f"<summary>{text(inventory.title)} ({len(rows)})</summary><p>{text(inventory.question)}</p>"
            yield from (*_rows(names, rows, numbers), f"<p>{text(note)}</p>" if note else "", "</details>")
        yield "</section>"
    yield f"</main><script>{_SCRIPT}</script></body></html>"


def _tiles(report: Report) -> Iterator[str]:
    counts = report.counts()
    yield '<ul class="tiles">'
    for severity in Severity:
        yield f'<li class="{severity}"><b>{counts[severity]}</b>{severity}</li>'
    yield f"<li><b>{len(checks_with_findings(report))} of {len(report.checks)}</b>checks with findings</li>"
    if report.ledger.sessions is not None:
        yield f"<li><b>{report.ledger.sessions:,}</b>sessions</li>"
    if report.ledger.subagents:
        yield f"<li><b>{report.ledger.subagents:,}</b>subagents</li>"
    yield "</ul>"


def _sections(report: Report) -> list[tuple[str, str, Sequence[Finding]]]:
    by_severity = [(str(each), f"{each.capitalize()} severity", report.of_severity(each)) for each in Severity]
    gone = [("resolved", "Resolved", report.resolved), ("unchecked", "Not checked", report.unchecked)]
    return [section for section in (*by_severity, *gone) if section[2]]


def _contents(report: Report, sections: Iterable[tuple[str, str, Sequence[Finding]]]) -> Iterator[str]:
    yield '<nav aria-label="Contents"><h2>Contents</h2><ul>'
    for name, heading, found in sections:
        yield f'<li><a href="#{name}">{heading} ({len(found)})</a></li>'
    for each in tables(report):
        yield f'<li><a href="#{slug(each.title)}">{text(each.title)} ({len(each.rows)})</a></li>'
    if report.inventories:
        yield f'<li><a href="#inventories">Inventories ({len(report.inventories)})</a></li>'
    yield "</ul></nav>"


def _filters(report: Report, sections: Iterable[tuple[str, str, Sequence[Finding]]]) -> Iterator[str]:
    """Give the form that the script shows; `=` before each project tells an empty one from all projects."""
    projects = sorted({project_of(each) or "" for _, _, found in sections for each in found})
    counts = report.counts()
    yield '<form id="filters" hidden><label>Severity <select name="severity">'
    yield f'<option value="low">all ({counts["findings"]})</option><option value="medium">medium and high</option>'
    yield '<option value="high">high</option></select></label>'
    yield '<label>Project <select name="project"><option value="">all</option>'
    for project in projects:
        yield f'<option value="={text(project)}">{text(project or "no project")}</option>'
    yield '</select></label><button type="button" name="evidence">Open or close all evidence</button>'
    yield '<output id="shown"></output></form>'


def _checks(report: Report, findings: Sequence[Finding], ids: dict[str, str], zone: tzinfo) -> Iterator[str]:
    """Give findings check by check, each with how to fix it."""
    known = {check.name: check for check in report.checks}
    by_check: dict[str, list[Finding]] = {}
    for finding in findings:
        by_check.setdefault(finding.rule, []).append(finding)
    for name, found in by_check.items():
        yield '<div data-group="">'
        yield f"<h3>{text(found[0].title)} ({len(found)})</h3>"
        yield from _advice(report, known.get(name))
        for finding in found:
            yield from _article(report, finding, ids[finding.id], zone)
        yield "</div>"


def _advice(report: Report, check: Check | None) -> Iterator[str]:
    if check is not None:
        yield f'<p class="faint">{text(check.why)}</p>'
        if check.remedy:
            yield f'<p class="fix"><strong>How to fix:</strong> {marked(filled_by_worst(check, report))}</p>'


def _article(report: Report, finding: Finding, name: str, zone: tzinfo) -> Iterator[str]:
    project = project_of(finding) or ""
    state = f" · {finding.state}" if report.baseline is not None else ""
    where = f" · {last_folder(project)}" if project else ""
    inferred = f" · {INFERRED}" if finding.is_inferred else ""
    facts = [
        *places(report, finding),
        *details(finding, zone),
        ("finding", finding.id),
        ("check", finding.rule),
    ]
    yield f'<article class="{finding.severity}" data-severity="{finding.severity}" data-project="{text(project)}">'
    yield f"<h4>{marked(finding.message)}</h4>"
    about = text(f" · {name}{where}{state}{inferred}")
    yield f'<p class="faint"><b class="{finding.severity}">{finding.severity}</b>{about}</p>'
    yield f"<details><summary>Evidence</summary><p><code>{text(finding.resource)}</code></p><dl>"
    yield from (f"<dt>{text(label)}</dt><dd>{text(value)}</dd>" for label, value in facts)
    yield "</dl></details></article>"


def _table(shown: Table) -> Iterator[str]:
    yield from _rows(shown.names, shown.rows, [False] * len(shown.names))
    if shown.note:
        yield f"<p>{text(shown.note)}</p>"


def _rows(names: Sequence[str], rows: Iterable[Sequence[object]], are_numbers: Sequence[bool]) -> Iterator[str]:
    yield '<div class="scroll">'
    yield from (*table(names, rows, are_numbers), "</div>")
