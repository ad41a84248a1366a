"""The sentences of an audit that all its forms share, and the audit as text for a terminal or a pipe."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import tzinfo
from shlex import quote
from typing import NamedTuple

from aix.health import Status
from aix.output import ListingColumn
from aix.output.humanise import counted, displayed, in_words, local_time, one_line
from aix.output.paragraphs import Paragraph
from aix.output.terminal import ACCENT, CAUTION, GOOD
from aix.output.text import to_text
from aix.permissions.audit import Severity
from aix.permissions.audit.audited_packs import OWN_PACK
from aix.permissions.audit.findings import Finding
from aix.permissions.audit.report import Check, Report
from aix.permissions.contract import dialects
from aix.query.dates import last_day
from aix.query.packs import PACK_ORDER, pack_title

INFERRED = "Inferred, not logged."
_COLOURS = {Severity.HIGH: "bold red", Severity.MEDIUM: f"bold {CAUTION}", Severity.LOW: f"bold {ACCENT}"}
_LONGEST = 300
_ID_CHARACTERS = 7
_HASH = re.compile(r"\b[0-9a-f]{64}\b")
_HASH_CHARACTERS = 12
_COUNT_WIDTH = 6
_HEADLINE = re.compile(r"[^\d`:(]*[^\d`:(\s](?=[\s`:(]|\Z)")
"""The words at the beginning of a message, until its first number, quotation, colon or bracket."""
_QUOTED = re.compile("`([^`]+)`")
_CODES = ("agent", "cause", "evidence_basis", "pattern", "remark", "risk")
"""Columns whose values are words of the schema."""
_NAMES = {
    "another_way": "tried another way",
    "another_way_ran": "another way that ran",
    "by_file": "settings of that rule",
    "by_rule": "covered by the rule",
    "cause": "denied by",
    "decided_calls": "calls that it let pass",
    "deciding_hits": "calls that it decided",
    "evidence": "the log says",
    "evidence_basis": "known from",
    "first_called_at": "first call",
    "first_hit_at": "first match",
    "hits": "calls that it matched",
    "is_tool_wide": "covers a whole tool",
    "kind": "kind of rule",
    "last_called_at": "last call",
    "last_hit_at": "last match",
    "minutes": "time",
    "most_retries": "most repeats in a session",
    "narrow_rules": "narrower rules",
    "occurrences": "times in that text",
    "origin": "imported from",
    "other": "did something else",
    "pattern": "kind of secret",
    "patterns": "number of narrower rules",
    "place": "found in",
    "remark": "problem",
    "retried_same": "tried the same again",
    "said_at": "time",
    "scope": "scope of the settings",
    "tool_name": "tool",
    "uncovered_calls": "calls without a narrower rule",
    "way_round": "the other way",
}
"""Columns of findings in the words of people; others are written with spaces."""
_VALUES = {
    ("agent", "main"): "main agent",
    ("cause", "directory"): "its folder",
    ("cause", "mode"): "the mode",
    ("cause", "rule"): "a rule",
    ("cause", "user"): "the user",
    ("evidence_basis", "field"): "a field of the log",
    ("evidence_basis", "inference"): "inferred",
    ("evidence_basis", "text"): "the words of the log",
    ("pattern", "named-secret"): "password or key",
}
_PLACEHOLDER = re.compile(r"(?P<project> --project PROJECT)\b|\b(?:CALL|SESSION|FINDING)\b")
_THIS_SCREEN = re.compile(r" \(`aix audit explain FINDING`[^)]*\)")
_FOLDER = re.compile(r"[^/\\]+(?=[/\\]*\Z)")


def audit_name(report: Report) -> str:
    """Name the audit."""
    return _named_by_pack(report.pack)


def _named_by_pack(pack: str) -> str:
    if pack == OWN_PACK:
        return "Permission audit"
    return f"Audit of {pack_title(pack).lower()}" if pack in PACK_ORDER else f"Audit by the pack {pack}"


def scope(report: Report, zone: tzinfo) -> list[str]:
    """Return the sessions and the time that were looked at, and the filters."""
    state = report.ledger
    parts = [] if state.data_until is None else [f"data up to {local_time(state.data_until, zone)}"]
    parts += [] if state.sessions is None else [counted(state.sessions, "session")]
    parts += [counted(state.subagents, "subagent")] if state.subagents else []
    parts += [f"{name} {last_day(value) if name == 'until' else value}" for name, value in report.filters.items()]
    parts += [f"settings {path}" for path in report.settings]
    return parts + ([f"risks of {report.risks}"] if report.risks else [])


def subject(report: Report, zone: tzinfo) -> str:
    """Name the audit and its scope in one line."""
    return " · ".join((audit_name(report), *scope(report, zone)))


def summary(report: Report) -> str:
    """Count what was found and what was checked."""
    counts = report.counts()
    severities = ", ".join(f"{counts[severity]} {severity}" for severity in Severity if counts[severity])
    found = f"{counted(counts['findings'], 'finding')}{': ' if severities else ''}{severities}"
    if report.missing_tables:
        return f"Nothing to check: the ledger has no rows of {', '.join(report.missing_tables)}."
    incomplete, nothing = counts["checks_incomplete"], counts[f"checks_{Status.SKIP}"]
    if not report.checks:
        return f"{found}."
    checks = f"{len(checks_with_findings(report))} of {counted(len(report.checks), 'check')} found something"
    limits = [(incomplete - nothing, "only part of the data"), (nothing, "nothing")]
    judged = [f"{counted(count, 'check')} could judge {what}" for count, what in limits if count]
    return ". ".join((found, checks, *([", ".join(judged)] if judged else []))) + "."


def changes(report: Report) -> str:
    """Count what became of findings since the baseline; empty without one."""
    if report.baseline is None:
        return ""
    counts = report.counts()
    words = ["new", "open", "resolved", *(["unchecked"] if report.unchecked else [])]
    return f"Since {report.baseline}: {', '.join(f'{counts[word]} {word}' for word in words)}."


def skipped(report: Report) -> Iterator[tuple[str, str, str]]:
    """Give the title of each check that could not judge everything, how much that is of its rows, and why."""
    for check in report.incomplete:
        yield check.title, share_skipped(check), " ".join(check.skipped)


def share_skipped(check: Check) -> str:
    """Say how many rows of a check were not judged."""
    return f"{check.rows[Status.SKIP]} of {sum(check.rows.values())}"


def place(report: Report, finding: Finding) -> str:
    """Say where a finding shows; empty where nothing is known."""
    return ", ".join(f"{name} {value}" for name, value in places(report, finding))


def places(report: Report, finding: Finding) -> list[tuple[str, str]]:
    """Return the session, the call, the log and the settings of a finding, as far as they are known."""
    evidence = finding.evidence
    names = (("session", evidence.session_label), ("call", evidence.call_id))
    files = (("log", evidence.file, evidence.line), ("settings", evidence.settings_file, evidence.settings_line))
    return [
        *((name, report.names.get(value, value)) for name, value in names if value),
        *((name, path if line is None else f"{path}:{line}") for name, path, line in files if path),
    ]


def details(finding: Finding, zone: tzinfo) -> list[tuple[str, str]]:
    """Return the other columns of a finding, written for people, without NULL and without what `places` names."""
    named = (finding.evidence.settings_file, finding.evidence.call_id, finding.evidence.turn_id)
    given = {name: value for name, value in finding.details.items() if value is not None and value not in named}
    columns = tuple(ListingColumn(name, _type(value)) for name, value in given.items())
    [values] = displayed(columns, [tuple(given.values())], zone).rows
    return [
        (
            ((name != "kind" or "rule" in given) and _NAMES.get(name)) or name.removesuffix("_at").replace("_", " "),
            _in_words(name, value),
        )
        for name, value in zip(given, values, strict=True)
    ]


def _in_words(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = ", ".join(to_text(value).split("\n"))
    return (_VALUES.get((name, text)) or in_words(text.replace("-", "_"))) if name in _CODES else text


def _type(value: object) -> str:
    if isinstance(value, bool | str):
        return "VARCHAR"
    return "BIGINT" if isinstance(value, int) else "DOUBLE"


def project_of(finding: Finding) -> str | None:
    """Return the project that a finding is about, where it has one."""
    found = finding.details.get("project")
    return found if isinstance(found, str) and found else None


def last_folder(project: str) -> str:
    r"""Return the last folder of a project.

    >>> [last_folder(project) for project in ("/srv/mill", "C:\\work\\mill\\", "mill", "/")]
    ['mill', 'mill', 'mill', '/']
    """
    found = _FOLDER.search(project)
    return found[0].rstrip("/\\") if found else project


def checks_with_findings(report: Report) -> list[tuple[Check, Counter[Severity]]]:
    """Return the checks that found something, those with the worst first, and count their findings."""
    counts = {check.name: Counter[Severity]() for check in report.checks}
    for finding in report.findings:
        counts.setdefault(finding.rule, Counter())[finding.severity] += 1
    found = [(check, counts[check.name]) for check in report.checks if counts[check.name]]
    return sorted(found, key=lambda each: [-each[1][severity] for severity in Severity])


class Group(NamedTuple):
    """Findings of one check and severity that are alike."""

    findings: Sequence[Finding]

    @property
    def first(self) -> Finding:
        """The finding that stands for all."""
        return self.findings[0]

    @property
    def line(self) -> str:
        """The event in one line; of several findings, how many there are."""
        message = self.first.message.removesuffix(".")
        if len(self.findings) == 1:
            return f"{message}{_where(self.first)}"
        count = f"{len(self.findings)} findings"
        if not headline(message):
            return f"{message} ({count}{_projects(self.findings)})"
        example = _QUOTED.search(message)
        such = f", such as {example[0]}" if example else ""
        return f"{headline(message)}: {count}{_projects(self.findings)}{_calls(self.findings)}{such}"


def groups(findings: Iterable[Finding]) -> list[Group]:
    """Put findings together whose messages are the same, and those of less than high severity that begin alike."""
    found: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        is_whole = finding.severity is Severity.HIGH or not headline(finding.message)
        alike = finding.message if is_whole else headline(finding.message)
        found.setdefault((finding.severity, finding.rule, alike), []).append(finding)
    return [Group(each) for each in found.values()]


def headline(message: str) -> str:
    """Return the words that a message begins with.

    >>> [headline(message) for message in ("Read credentials 13 times.", "Force push ran: `x`", "9 calls ran.")]
    ['Read credentials', 'Force push ran', '']
    >>> headline("worker2 ran.")
    ''
    """
    found = _HEADLINE.match(message)
    return found[0].strip() if found else ""


def _where(finding: Finding) -> str:
    name = last_folder(project_of(finding) or "")
    return f" ({name})" if name and name not in finding.message else ""


def _projects(findings: Sequence[Finding]) -> str:
    names = {project_of(each) for each in findings} - {None}
    if len(names) == 1:
        return f" in {last_folder(names.pop() or '')}"
    return f" in {len(names)} projects" if names else ""


def _calls(findings: Sequence[Finding]) -> str:
    calls = [count for each in findings if isinstance(count := each.details.get("calls"), int)]
    return f", {counted(sum(calls), 'call')}" if len(calls) == len(findings) else ""


def short_ids(findings: Iterable[Finding]) -> dict[str, str]:
    """Return the shortest beginnings of ids, of one length, that tell findings apart."""
    ids = [finding.id for finding in findings]
    length = next(size for size in range(_ID_CHARACTERS, 17) if len({each[:size] for each in ids}) == len(set(ids)))
    return {each: each[:length] for each in ids}


def short_paragraphs(report: Report, zone: tzinfo) -> Iterator[Paragraph]:
    """Give the audit on few lines: a summary, a line for each group of findings, and next steps."""
    yield from _beginning(report, zone)
    ids = short_ids((*report.findings, *report.resolved, *report.unchecked))
    for name, style, findings in _sections(report):
        yield Paragraph(f"{name} ({len(findings)})", style)
        for group in groups(findings):
            state = f"{group.first.state:<4}  " if report.baseline is not None and name in list(Severity) else ""
            mark = f"  {ids[group.first.id]}  {state}"
            line = one_line(group.line, _LONGEST)
            inferred = "  inferred" if all(each.is_inferred for each in group.findings) else ""
            yield Paragraph(line, mark=mark, mark_style=style, is_one_line=True, tail=inferred)
        yield Paragraph()
    yield from _next_steps(report)
    options, pack = _options(report), _pack_option(report.pack)
    commands = [(f"aix audit{pack} -o audit.html{options}", "a page with all evidence")]
    if report.findings:
        finding = ids[report.findings[0].id]
        commands.insert(0, (f"aix audit explain {finding}{options}", "one finding with its evidence"))
    if report.incomplete:
        commands.append((f"aix audit{pack} --expanded{options}", "why checks could not judge all"))
    commands += [
        (f"aix audit{_pack_option(each)}", f"the {_named_by_pack(each).lower()}") for each in report.other_packs
    ]
    yield from _commands(commands)


def _pack_option(pack: str) -> str:
    """Return the option by which `aix audit` runs a pack; empty for the one that it runs without."""
    return "" if pack == OWN_PACK else f" --pack {quote(pack)}"


def _commands(listed: Sequence[tuple[str, str]]) -> Iterator[Paragraph]:
    """Give commands with the meaning of each."""
    width = max((len(command) for command, _ in listed), default=0)
    yield from (Paragraph(f"{command:<{width}}", mark="  ", tail=f"  {meaning}") for command, meaning in listed)


def paragraphs(report: Report, zone: tzinfo) -> Iterator[Paragraph]:
    """Give the audit whole: a summary, every finding with its evidence, what was skipped and why, and next steps."""
    yield from _beginning(report, zone)
    for name, style, findings in _sections(report):
        yield Paragraph(f"{name} ({len(findings)})", style)
        with_state = report.baseline is not None and name in list(Severity)
        for finding in findings:
            state = f"{finding.state:<4}  " if with_state else ""
            yield from _finding_paragraphs(report, finding, f"  {finding.id}  {state}", style)
        yield Paragraph()
    for name, share, reason in skipped(report):
        yield Paragraph(f"{name} ({share}): {one_line(reason, _LONGEST)}", "dim", mark="not judged  ")
    yield from _next_steps(report)


def _finding_paragraphs(report: Report, finding: Finding, mark: str, style: str) -> Iterator[Paragraph]:
    """Give one finding with its evidence."""
    margin = " " * len(mark)
    yield Paragraph(one_line(finding.message, _LONGEST), mark=mark, mark_style=style)
    if finding.is_inferred:
        yield Paragraph(INFERRED, mark=margin)
    yield Paragraph(f"{finding.title}: {one_line(finding.resource, _LONGEST)}", "dim", mark=margin)
    if place(report, finding):
        yield Paragraph(place(report, finding), "dim", mark=margin)


def explained_finding(
    report: Report, finding: Finding, zone: tzinfo, others: Sequence[tuple[str, str]] = ()
) -> Iterator[Paragraph]:
    """Give one finding whole: its evidence, why it matters, what to do next, and findings that are alike.

    Other commands about what it is about come behind those about its call and its session, each with its meaning.
    """
    style = _COLOURS[finding.severity]
    mark = f"{finding.severity}  "
    yield Paragraph(one_line(finding.message, _LONGEST), mark=mark, mark_style=style)
    if finding.is_inferred:
        yield Paragraph(INFERRED, mark=" " * len(mark))
    yield Paragraph()
    facts = [("check", finding.title), *places(report, finding), *details(finding, zone)]
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        short = _HASH.sub(lambda found: f"{found[0][:_HASH_CHARACTERS]}…", value)
        yield Paragraph(one_line(short, _LONGEST), mark=f"  {name:<{width}}  ", mark_style="dim")
    check = next((each for each in report.checks if each.name == finding.rule), None)
    if check is not None:
        yield Paragraph()
        yield Paragraph(check.why, mark="Why:  ", mark_style="bold")
        yield Paragraph(filled(_THIS_SCREEN.sub("", check.remedy), report, finding), mark="Next: ", mark_style="bold")
    options = _options(report)
    call, session = (
        report.names.get(each or "") for each in (finding.evidence.call_id, finding.evidence.session_label)
    )
    listed = [(f"aix audit explain {call}{options}", "the call and its rules")] if call else []
    listed += [(f"aix show {session}", "the session")] if session else []
    yield from _commands([*listed, *others] or [(f"aix query {finding.rule}", "all that was checked")])
    [group] = [each for each in groups(report.findings) if finding in each.findings]
    alike = [each for each in group.findings if each is not finding]
    if alike:
        ids = short_ids(report.findings)
        yield Paragraph()
        yield Paragraph(f"{len(alike)} more like it", "bold")
        for each in alike:
            line = one_line(Group([each]).line, _LONGEST)
            yield Paragraph(line, mark=f"  {ids[each.id]}  ", mark_style=style, is_one_line=True)


def _sections(report: Report) -> list[tuple[str, str, Sequence[Finding]]]:
    sections = [(str(severity), _COLOURS[severity], report.of_severity(severity)) for severity in Severity]
    gone = [("resolved", f"bold {GOOD}", report.resolved), ("unchecked", "bold", report.unchecked)]
    return [section for section in (*sections, *gone) if section[2]]


def _beginning(report: Report, zone: tzinfo) -> Iterator[Paragraph]:
    yield Paragraph(subject(report, zone), "bold")
    yield Paragraph(summary(report))
    if report.baseline is not None:
        yield Paragraph(changes(report))
    for note in report.notes:
        yield Paragraph(note, "dim", mark="note: ")
    yield Paragraph()
    found = checks_with_findings(report)
    if not found:
        return
    yield Paragraph("  ".join((*(f"{severity:>{_COUNT_WIDTH}}" for severity in Severity), "check")), "dim")
    for check, counts in found:
        numbers = "  ".join(f"{counts[severity] or '–':>{_COUNT_WIDTH}}" for severity in Severity)
        worst = next(severity for severity in Severity if counts[severity])
        yield Paragraph(check.title, mark=f"{numbers}  ", mark_style=_COLOURS[worst], is_one_line=True)
    yield Paragraph()


def filled_by_worst(check: Check, report: Report) -> str:
    """Return the advice of a check for the first and worst of its findings."""
    worst = next((each for each in report.findings if each.rule == check.name), None)
    return check.remedy if worst is None else filled(check.remedy, report, worst)


def filled(remedy: str, report: Report, finding: Finding) -> str:
    """Put the names of a finding into advice, so that its commands can be run as they are written."""
    evidence = finding.evidence
    project = project_of(finding)
    names = {
        "CALL": report.names.get(evidence.call_id or "", evidence.call_id),
        "SESSION": report.names.get(evidence.session_label or "", evidence.session_label),
        "FINDING": finding.id[:_ID_CHARACTERS],
    }
    origin = (evidence.session_label or "").partition(":")[0]
    known = "" if project in (None, "unknown") else f" --project {quote(project or '')}"
    known += f" --origin {origin}" if origin in dialects() else ""  # settings belong to one tool
    return _PLACEHOLDER.sub(
        lambda found: known if found["project"] else quote(names[found[0]] or found[0]),
        remedy,
    )


def _options(report: Report) -> str:
    """Return the options of the audit that a command about one of its findings needs, too."""
    given = [("--settings", path) for path in report.settings] + ([("--risks", report.risks)] if report.risks else [])
    return "".join(f" {name} {quote(str(value))}" for name, value in given)


def _next_steps(report: Report) -> Iterator[Paragraph]:
    steps = [check for check, _ in checks_with_findings(report) if check.remedy]
    if steps:
        yield Paragraph("Next steps", "bold")
        yield from (Paragraph(f"{check.title}: {filled_by_worst(check, report)}", mark="  ") for check in steps)
        yield Paragraph()
