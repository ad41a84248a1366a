"""Extension tables for the surroundings of turns, sessions, messages and calls."""

from aix.schema.columns import flag, ident, key, number, text, time, tokens
from aix.schema.model import Join, Table, Unit

TURN_CONTEXT = Table(
    name="turn_context",
    description="Where a turn came from and under which circumstances it ran; one row per turn.",
    key=("turn_id",),
    columns=(
        key("turn_id", "The turn.", references="turns.id"),
        ident("root_turn_id", "The first turn of its tree.", join=Join.DERIVED, references="turns.id"),
        text("origin", "The importer's name, with `-`.", unit=Unit.NAME, nullable=False),
        ident("origin_session_id", "The session's id in its own tool."),
        ident("turn_key", "What the turn's id is made of.", nullable=False),
        ident("continues_turn_id", "The turn that a compaction cut and this one goes on with.", references="turns.id"),
        ident(
            "continued_by_turn_id",
            "The turn that goes on with this one after a compaction cut it.",
            join=Join.DERIVED,
            references="turns.id",
        ),
        flag("is_interrupted", "Whether the user or a hook stopped it."),
        text("git_branch", "The branch checked out when it began.", unit=Unit.NAME),
        text("client_version", "Version of the tool that wrote the log.", unit=Unit.NAME),
        text("effort", "How much effort the model was told to spend, in the tool's word.", unit=Unit.NAME),
        text("thinking", "How the model was told to think, in the tool's word.", unit=Unit.NAME),
        ident("principal", "In whose name the agent acted."),
        ident("on_behalf_of", "Who had delegated that to the principal."),
        text("situation", "The named set of parameters in force.", unit=Unit.NAME),
        tokens("context_gauge_tokens", "What the tool's own gauge showed as used context; a gauge is never summed."),
        time("ended_at", "The last sign of activity in the turn, where it is later than its messages and calls."),
        text("stated_model", "The model the source names for the turn itself.", unit=Unit.NAME),
        text("stated_provider", "The vendor the source names for the turn itself.", unit=Unit.NAME),
    ),
)

SESSION_CONTEXT = Table(
    name="session_context",
    description="What is known of a session beyond its head; one row per session.",
    key=("label",),
    columns=(
        key("label", "The session.", references="sessions.label"),
        text("title", "Its title, given or generated."),
        text("project", "The project it worked on.", unit=Unit.NAME),
        number("context_token_limit", "Size of the context window, in tokens.", unit=Unit.TOKENS),
        number("context_tokens_used", "Most tokens of it that were seen in use.", unit=Unit.TOKENS),
        text("raw_path", "Where its log was read, or is kept.", unit=Unit.PATH),
        text("fingerprint", "Hash of the log it was last read from.", unit=Unit.HASH, join=Join.LATEST),
    ),
)

TOOL_CALL_FACTS = Table(
    name="tool_call_facts",
    description="Sizes and hashes of a call, so that queries need not read its JSON; one row per call.",
    key=("call_id",),
    columns=(
        key("call_id", "The call.", references="tool_calls.id"),
        text("params_hash", "SHA-256 of the canonical JSON of the parameters.", unit=Unit.HASH),
        number("params_bytes", "Size of the parameters as UTF-8.", unit=Unit.BYTES),
        number("result_bytes", "Size of the result as UTF-8, before any cut.", unit=Unit.BYTES),
        number("result_chars", "Length of the result's text.", unit=Unit.CHARACTERS),
        flag("is_error", "Whether the tool reported an error."),
    ),
)

MESSAGE_FACTS = Table(
    name="message_facts",
    description="Lengths of a message, so that queries need not read its text; one row per message.",
    key=("message_id",),
    columns=(
        key("message_id", "The message.", references="messages.id"),
        number("text_chars", "Length of the text.", unit=Unit.CHARACTERS),
        number("thinking_chars", "Length of the thinking.", unit=Unit.CHARACTERS),
        number("position", "Place within the turn in the log that shows most of it.", unit=Unit.POSITION),
        flag("is_query", "Whether it is input of the turn; NULL where the role says it: `user` is."),
        flag("is_response", "Whether it can be the turn's answer; NULL where the role says it: `assistant` can."),
        flag("is_error", "Whether it reports that the model could not answer."),
    ),
)

SESSION_TURNS = Table(
    name="session_turns",
    description="Which turns stand in a session's own log, abandoned ones too; a shared turn stands in several.",
    key=("session_label", "turn_id"),
    columns=(
        key("session_label", "The session.", references="sessions.label"),
        key("turn_id", "The turn.", references="turns.id"),
    ),
)

INFERRED_VALUES = Table(
    name="inferred_values",
    description="Values that were concluded or estimated rather than read; they give way to a value that was read.",
    key=("table_name", "row_key", "column_name"),
    columns=(
        key("table_name", "The table of the value.", unit=Unit.NAME),
        key("row_key", "Its row; the parts of a key of several columns are a JSON array."),
        key("column_name", "Its column.", unit=Unit.NAME),
        text(
            "basis",
            "How it was concluded, in a word or two. `undated`: the log has no time at all, and the date of its file"
            " or 0 stands for it; that is no activity.",
            unit=Unit.NAME,
        ),
    ),
)

FILE_PATHS = Table(
    name="file_paths",
    description="How an absolute path of `message_files` reads from its workspace.",
    key=("file_path", "workspace_path"),
    columns=(
        key("file_path", "The absolute path.", unit=Unit.PATH),
        key("workspace_path", "The root folder of the workspace.", unit=Unit.PATH),
        text("relative_path", "The same file, from the root folder on.", unit=Unit.PATH, nullable=False),
    ),
)

CONTEXT_TABLES = (
    TURN_CONTEXT,
    SESSION_CONTEXT,
    SESSION_TURNS,
    TOOL_CALL_FACTS,
    MESSAGE_FACTS,
    FILE_PATHS,
    INFERRED_VALUES,
)
