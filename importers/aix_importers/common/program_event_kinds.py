"""Kinds of program events: those that the Program Types architecture defines, and those that its writer adds.

Recognition and the importer of session logs share this list.
"""

_DEFINED = {
    "provider": "CREATED CONFIGURED",
    "model": "CREATED CONFIGURED INFERENCE_REQUESTED INFERENCE_COMPLETED",
    "session": "CREATED MESSAGE MODEL_SWITCHED COMPLETED",
    "agent": "CREATED TASK_ASSIGNED THINKING EXECUTING COMPLETED CHECKPOINT RESET",
    "task": "CREATED ASSIGNED STARTED COMPLETED FAILED",
    "information": "CREATED VALIDATED UPDATED",
    "human": "NOTIFIED APPROVED REJECTED",
}
_ADDED = {
    "program": "CREATED UPDATED PUBLISHED INVOKED DEPRECATED",
    "provider": "UPDATED PUBLISHED DEPRECATED",
    "model": "PUBLISHED DEPRECATED EMBEDDING_COMPLETED TOKEN_RECEIVED",
    "session": "PAUSED RESUMED",
    "agent": "CONFIGURED WAITING ERROR TOKEN",
    "task": "UPDATED UNASSIGNED BLOCKED UNBLOCKED DEP_ADDED DEP_REMOVED NOTE_APPENDED DECISION_RECORDED ARTIFACT_LINKED"
    " LOG_APPENDED",
    "information": "ACTIVATED ARCHIVED",
    "human": "CREATED UPDATED STATUS_CHANGED",
}
TAGGED, UNTAGGED = "NodeTagged", "NodeUntagged"
NODE_KINDS = (TAGGED, UNTAGGED, "NodeAdded", "NodeUpdated", "NodeDeleted", "EdgeAdded", "EdgeDeleted")
"""Kinds of the graph that holds the programs."""


def _kinds(listed: dict[str, str]) -> list[str]:
    return [f"{program_type.upper()}_{word}" for program_type, words in listed.items() for word in words.split()]


PROGRAM_EVENT_KINDS = frozenset([*_kinds(_DEFINED), *_kinds(_ADDED), *NODE_KINDS])
