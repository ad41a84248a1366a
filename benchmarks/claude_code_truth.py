"""Compare a ledger with the manifest of a generated tree of Claude Code logs, figure by figure.

    python benchmarks/claude_code_truth.py TREE LEDGER [--situation NAME] [--only turns,requests]

TREE holds logs and `manifest.json`, which says per named situation what a ledger of these logs must hold. LEDGER is one
into which TREE, and nothing else, was imported. Every difference is a sentence; the exit code is 1 when there are any.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.claude_truth import figures
from benchmarks.claude_truth.case import Case
from benchmarks.claude_truth.extras import extras
from benchmarks.claude_truth.rows import BULK, NOWHERE, Places, Row, Rows, part, read_ledger
from benchmarks.claude_truth.sums import compare_bulk, compare_totals

CHECKS: dict[str, Callable[[Case], list[str]]] = {
    "sessions": figures.sessions,
    "skipped_sessions": figures.skipped_sessions,
    "turns": figures.turns,
    "session_turns": figures.session_turns,
    "messages": figures.messages,
    "requests": figures.requests,
    "by_model": figures.models,
    "requests_by_kind": figures.request_kinds,
    "calls": figures.calls,
    "tool_calls": figures.call_counts,
    "microcompactions": figures.microcompactions,
    "queued_messages": figures.queued_messages,
    "compactions": figures.compactions,
    "forks": figures.forks,
    "abandoned": figures.abandoned,
    "subagents": figures.subagents,
    "files": figures.files,
    "lints": figures.lints,
    "codeblocks": figures.codeblocks,
    "problems": figures.problems,
    "permission_modes": figures.permission_modes,
    "extras": extras,
}
WHOLE = ("bulk", "totals", "unplaced")
"""Kinds of figures that are compared once for the whole tree."""

Difference = tuple[str, str, str]
"""Situation, kind of figure, and the difference as a sentence."""


def differences(
    manifest: Mapping[str, Any], tables: Mapping[str, list[Row]], tree: Path, kinds: Collection[str]
) -> Iterator[Difference]:
    """Give all differences of these kinds, situation by situation."""
    parts = part(tables, Places(manifest))
    for name, situation in manifest["situations"].items():
        case = Case(situation, parts.get(name) or Rows())
        for kind in CHECKS:
            if kind in kinds:
                yield from ((name, kind, difference) for difference in CHECKS[kind](case))
    if "bulk" in kinds and manifest.get("bulk"):
        found = compare_bulk(manifest["bulk"], parts.get(BULK) or Rows(), tree)
        yield from ((BULK, "bulk", difference) for difference in found)
    if "unplaced" in kinds:
        yield from ((NOWHERE, "unplaced", difference) for difference in _unplaced(parts.get(NOWHERE) or Rows()))
    if "totals" in kinds:
        found = compare_totals(manifest, _all_rows(parts), tree)
        yield from (("(whole tree)", "totals", difference) for difference in found)


def _unplaced(rows: Rows) -> list[str]:
    """Return the rows that belong to no situation."""
    keyed = ("turns", "sessions", "messages", "requests", "calls", "compactions")
    found = {name: list(getattr(rows, name)) for name in keyed}
    found |= {name: getattr(rows, name) for name in ("files", "lints", "codeblocks")}
    return [f"{name}: expected none, found {len(some)}: {some[:3]}" for name, some in found.items() if some]


def _all_rows(parts: Mapping[str, Rows]) -> Rows:
    whole = Rows()
    for rows in parts.values():
        for name in ("turns", "sessions", "messages", "requests", "calls", "compactions"):
            getattr(whole, name).update(getattr(rows, name))
        for name in ("files", "lints", "codeblocks"):
            getattr(whole, name).extend(getattr(rows, name))
    return whole


def select(manifest: dict[str, Any], situations: Collection[str]) -> dict[str, Any]:
    """Return the manifest with these situations only."""
    unknown = set(situations) - manifest["situations"].keys()
    if unknown:
        raise SystemExit(f"there is no situation {', '.join(sorted(unknown))} in this tree")
    return {**manifest, "situations": {name: manifest["situations"][name] for name in situations}}


def main() -> int:
    """Print every difference and how many there are; return 1 when there are any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("ledger", type=Path)
    parser.add_argument("--situation", action="append", metavar="NAME", help="only this one; may be given again")
    parser.add_argument("--only", metavar="KIND,…", help=f"only these kinds of figures: {', '.join([*CHECKS, *WHOLE])}")
    arguments = parser.parse_args()
    kinds = set(arguments.only.split(",")) if arguments.only else {*CHECKS, *WHOLE}
    if unknown := kinds - {*CHECKS, *WHOLE}:
        parser.error(f"there is no kind {', '.join(sorted(unknown))}")
    manifest = json.loads((arguments.tree / "manifest.json").read_text("utf-8"))
    tables = read_ledger(arguments.ledger)
    if arguments.situation:
        manifest, kinds = select(manifest, arguments.situation), kinds - set(WHOLE)
    found = list(differences(manifest, tables, arguments.tree, kinds))
    print_report(found, manifest["situations"])
    return int(bool(found))


def print_report(found: list[Difference], situations: Collection[str]) -> None:
    """Print the differences, grouped as they come, and how many there are of which kind."""
    for situation, kind, difference in found:
        print(f"{situation}: {kind}: {difference}")
    for kind, number in Counter(kind for _, kind, _ in found).most_common():
        print(f"{number:7,} {kind}")
    touched = {situation for situation, _, _ in found if situation in situations}
    print(f"{len(found):7,} differences in {len(touched)} of {len(situations)} situations")


if __name__ == "__main__":
    sys.exit(main())
