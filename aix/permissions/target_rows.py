"""Rows of `call_parts` and `call_risks`."""

from aix.permissions.risks import Risks
from aix.permissions.targets import parts_of
from aix.shell import VERSION, split

Row = tuple[object, ...]
_Found = tuple[tuple[Row, ...], tuple[Row, ...]]

_LONGEST_REMEMBERED = 400
_MOST_REMEMBERED = 50_000


class TargetRows:
    """What call after call touched; the same target in the same place is looked at once."""

    def __init__(self, risks: Risks) -> None:
        self._risks = risks
        self._found: dict[Row, _Found] = {}

    def add(self, rows: dict[str, list[Row]], row: Row) -> None:
        """Add the targets and risks of a call `call_id, class, tool, target, cwd`."""
        call_id, access_class, tool, target, workspace = row
        parts, risks = self._find(_text(access_class), str(tool), _text(target), _text(workspace))
        rows["call_parts"].extend((call_id, *part) for part in parts)
        rows["call_risks"].extend((call_id, *risk) for risk in risks)

    def _find(self, access_class: str | None, tool: str, target: str | None, workspace: str | None) -> _Found:
        question = (access_class, tool, target, workspace)
        found = self._found.get(question)
        if found is None:
            found = self._look_at(*question)
            if len(target or "") <= _LONGEST_REMEMBERED:
                if len(self._found) >= _MOST_REMEMBERED:
                    self._found.clear()
                self._found[question] = found
        return found

    def _look_at(self, access_class: str | None, tool: str, target: str | None, workspace: str | None) -> _Found:
        script = split(target) if access_class == "exec" and target else None
        parts = parts_of(access_class, tool, target, workspace, workspace, script=script)
        risks = self._risks.risks_of(parts, script)
        return (
            tuple((number, *part, VERSION) for number, part in enumerate(parts)),
            tuple((risk.number, risk.risk, risk.severity, risk.rule_id, risk.basis) for risk in risks),
        )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
