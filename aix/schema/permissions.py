"""Extension tables for permissions: what was decided about a call, and the rules that were in force."""

from aix.schema.columns import flag, ident, key, number, text, time, word, word_key
from aix.schema.model import INFERENCE_FLAG, Join, Table, Unit

_SCOPES = ("managed", "user", "project", "local", "command_line", "persona")

PERMISSION_DECISIONS = Table(
    name="permission_decisions",
    description="What the log shows about the permission of a call. A grant is never claimed: `ran` is what was seen.",
    key=("call_id",),
    columns=(
        key("call_id", "The call.", references="tool_calls.id"),
        ident("turn_id", "The turn that made it.", nullable=False, references="turns.id"),
        text("mode", "The permission mode in force, in the tool's word.", unit=Unit.NAME),
        word(
            "class",
            "What kind of access it was.",
            ("read", "write", "exec", "net", "mcp", "spawn", "ask", "meta"),
        ),
        text("raw_target", "Command, path, host, server or agent, as the log has it."),
        word(
            "outcome",
            "What became of it; a later word of the list says more than an earlier one.",
            (
                "unknown",
                "pending",
                "ran",
                "failed",
                "interrupted",
                "not_granted",
                "denied_directory",
                "denied_mode",
                "denied_hook",
                "denied_rule",
                "denied_user",
            ),
            join=Join.FURTHEST,
            nullable=False,
            default="unknown",
        ),
        text("evidence", "The text or field of the log that shows it.", join=Join.ALONG),
        flag(INFERENCE_FLAG, "Whether the outcome was concluded rather than read.", join=Join.ALONG),
    ),
)

PERMISSION_RULES = Table(
    name="permission_rules",
    description="Rules found in settings files, each with the time during which it was seen there.",
    key=("origin", "scope", "file", "kind", "rule"),
    columns=(
        key("origin", "The importer's name, with `-`.", unit=Unit.NAME),
        word_key("scope", "Whose settings they are.", _SCOPES),
        key("file", "The settings file; empty for a rule given on the command line.", unit=Unit.PATH),
        number("position", "Place in its list, from 0.", unit=Unit.POSITION, join=Join.MIN),
        word_key("kind", "What the rule does.", ("allow", "ask", "deny", "directory", "mode")),
        key("rule", "The rule as it is written.", unit=Unit.TEXT),
        time("first_seen_at", "When an import first found it.", join=Join.MIN, nullable=False),
        time("last_seen_at", "When an import last found it.", join=Join.MAX, nullable=False),
    ),
)

PERMISSION_TABLES = (PERMISSION_DECISIONS, PERMISSION_RULES)
