"""How a call ended, and what that says about its permission."""

from typing import NamedTuple

from msgspec import Raw

from aix_importers.cursor.results import Result
from aix_importers.cursor.tool_data import ToolData
from aix_importers.cursor.values import ABSENT, field, fields, flag, inner, is_filled, text

_MOST_ERROR = 2_000
_EVIDENCE_OF_ACCEPTANCE = "userDecision: accepted, which is also written when nobody was asked"
_WORDS = {
    "inBlocklist": "denied_rule",
    "hookBlocked": "denied_hook",
    "readonlyMode": "denied_mode",
    "smartMode": "denied_mode",
    "outOfWorkspace": "denied_directory",
}
"""Outcomes by the block reason that stops a call by itself; for the other reasons somebody is asked."""
_NEVER_ASKED = {"hookBlocked", "readonlyMode"}


class Outcome(NamedTuple):
    """Outcome of a call, and the evidence for it."""

    word: str
    evidence: str
    is_inferred: bool = False


def outcome_of(data: ToolData, found: Result) -> tuple[str, str | None, Outcome]:
    """Return status and error of a call, and what that says about its permission."""
    status, state = text(data.status), text(field(data.additional_data, "status"))
    decision, block = text(data.user_decision), text(field(data.additional_data, "blockReason"))
    reason = f", blockReason: {block}" if block else ""
    if evidence := _rejection(decision, state, found):
        word = "denied_user" if decision == "rejected" else _WORDS.get(block or "", "denied_user")
        said = "rejected by user" if word == "denied_user" else "blocked"
        return "failed", f"{said} ({block})" if block else said, Outcome(word, f"{evidence}{reason}")
    if state == "skipped" or (status == "error" and block in _NEVER_ASKED):
        evidence = "additionalData.status: skipped" if state == "skipped" else "status: error"
        outcome = Outcome(_WORDS.get(block or "", "not_granted"), f"{evidence}{reason}", is_inferred=not block)
        said = "skipped" if state == "skipped" else "blocked"
        return "failed", _error_text(data) or (f"{said} ({block})" if block else said), outcome
    if status == "completed":
        is_accepted = decision == "accepted"
        evidence = (
            ("userDecision: accepted" if block else _EVIDENCE_OF_ACCEPTANCE) if is_accepted else "status: completed"
        )
        return "completed", None, Outcome("ran", f"{evidence}{reason}")
    if status == "cancelled":
        return "failed", _error_text(data) or "cancelled", Outcome("interrupted", f"status: cancelled{reason}")
    if status == "error":
        return "failed", _error_text(data) or "error", Outcome("failed", f"status: error{reason}")
    waits = state == "pending"
    evidence = f"additionalData.status: {state}" if state else f"status: {status}"
    return ("pending" if waits else "running"), None, Outcome("pending", f"{evidence}{reason}", is_inferred=not waits)


def outcome_in_store(found: Raw, *, is_error: bool) -> Outcome:
    """Return what the result of a call in a session of the command line says about it: its output names what it is."""
    output = fields(field(found, "output"))
    if "rejected" in output:
        # By whom is not told: where nobody can be asked, nobody is.
        return Outcome("denied_user", "output.rejected", is_inferred=True)
    if "permissionDenied" in output:
        return Outcome("failed", "output.permissionDenied")
    return Outcome("failed", "isError") if is_error else Outcome("ran", "tool-result")


def _rejection(decision: str | None, state: str | None, found: Result) -> str | None:
    if decision == "rejected":
        return "userDecision: rejected"
    if state == "rejected":
        return "additionalData.status: rejected"
    return "result.rejected: true" if flag(found.rejected) else None


def _error_text(data: ToolData) -> str | None:
    error: Raw = inner(data.error) if is_filled(data.error) else ABSENT
    named = (text(field(error, name)) for name in ("modelVisibleErrorMessage", "clientVisibleErrorMessage"))
    found = next(filter(None, named), None) or (text(data.error) if is_filled(data.error) else None)
    return found[:_MOST_ERROR] if found else None
