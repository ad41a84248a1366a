"""Rows of `call_parts` and `call_risks`."""

from collections.abc import Sequence
from functools import cached_property

from aix.permissions.risks import Risks, load_risks
from aix.permissions.shell import split
from aix.permissions.targets import parts_of
from aix.version import SPLITTER_VERSION

Row = tuple[object, ...]


class TargetRows:
    """Targets and risks of calls, as rows."""

    def __init__(self, risks: Risks | None = None) -> None:
        self._given = risks

    def about(self, question: Row) -> dict[str, Sequence[Row]]:
        """Return the targets and risks of calls `class, tool, target, cwd`."""
        access_class, tool, target, workspace = map(_text, question)
        script = split(target) if access_class == "exec" and target else None
        parts = parts_of(access_class, str(tool), target, workspace, workspace, script=script)
        risks = self._risks.risks_of(parts, script, workspace)
        return {
            "call_parts": [(number, *part, SPLITTER_VERSION) for number, part in enumerate(parts)],
            "call_risks": [(risk.number, risk.risk, risk.severity, risk.rule_id, risk.basis) for risk in risks],
        }

    @cached_property
    def _risks(self) -> Risks:
        """The rules that were given, else those of AIX, which take a moment to read; many a change has no calls."""
        return self._given or load_risks()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
