"""Records that give no row of their own on purpose: the one list for both readings and for the balance of records.

Every record of a transcript gives a row, is of a kind that is only counted, or is named by a problem. The other types
without a message, known (`recognition.OUT_OF_CHAIN_TYPES`) or not, are kept as context of the message before them.
"""

TITLE_TYPES = frozenset({"summary", "custom-title", "ai-title", "agent-name", "last-prompt"})
"""Name a session or its last record; the row of the session holds the name that counts in the end."""

COUNTED_TYPES = TITLE_TYPES | {"permission-mode", "queue-operation"}
"""Give no row of their own on purpose: they change what other rows say, or repeat it."""

COUNTED_PROGRESS = frozenset({
    "bash_progress", "hook_progress", "mcp_progress", "query_update", "search_results_received", "skill_progress",
    "waiting_for_task",
})  # fmt: skip
"""Progress that shows no record of a subagent: its end stands in the result of the call."""

QUEUE_OPERATIONS = frozenset({"enqueue", "dequeue", "remove", "popAll"})
"""Steps of prompts that wait; one of these gives a row where the prompt stands nowhere else."""
