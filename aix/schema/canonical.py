"""The eleven canonical tables: the Agents Ledger Schema of 2026-02-05, column for column."""

from aix.schema.columns import hashed_key, ident, json, key, number, text, time, tokens, word
from aix.schema.model import Join, Table, Unit

TURNS = Table(
    name="turns",
    description="One exchange: a query, the response, and the whole tool loop between them. Turns form a tree.",
    canonical=True,
    key=("id",),
    columns=(
        key("id", "The turn."),
        ident("parent_turn_id", "The turn before it; NULL for a root.", references="turns.id"),
        word(
            "turn_type",
            "Whether the turn is an exchange or a summarisation of earlier turns.",
            ("normal", "compaction"),
            nullable=False,
            default="normal",
        ),
        word(
            "status",
            "How far the turn came; provisional while the turn has no children.",
            ("pending", "streaming", "completed", "failed"),
            join=Join.DERIVED,
            nullable=False,
            default="pending",
        ),
        time("started_at", "When the first query was sent.", join=Join.MIN, nullable=False),
        time("completed_at", "When the turn ended; NULL unless completed or failed.", join=Join.DERIVED),
        text(
            "model",
            "The model of the turn's last request, else the one the source names.",
            unit=Unit.NAME,
            join=Join.DERIVED,
        ),
        text("provider", "The vendor of the API that served that model.", unit=Unit.NAME, join=Join.DERIVED),
        word(
            "role",
            "What kind of agent worked: alone, one that spawned others in this turn, or a spawned one.",
            ("unified", "manager", "worker"),
            join=Join.FURTHEST,
            nullable=False,
            default="unified",
        ),
        text("toolset_name", "The named set of tools in force.", unit=Unit.NAME),
        json(
            "tools_available",
            "Names of the tools the turn could use; NULL where no log lists them.",
            unit=Unit.JSON_ARRAY,
        ),
        json("permissions_granted", "Mode and rules in force, with the basis on which they are known."),
        json("permissions_used", "What the turn's tool calls used, as facts.", unit=Unit.JSON_ARRAY, join=Join.DERIVED),
        tokens("input_tokens", "Uncached input of this turn's requests.", join=Join.DERIVED),
        tokens(
            "output_tokens",
            "Output of this turn's requests, thinking included where the vendor counts it so.",
            join=Join.DERIVED,
        ),
        tokens("cached_input_tokens", "Input read from the cache.", join=Join.DERIVED),
        tokens("cache_write_tokens", "Input written to the cache.", join=Join.DERIVED),
        tokens("reasoning_tokens", "Thinking, where it is counted apart from output.", join=Join.DERIVED),
        tokens(
            "total_tokens",
            "Input, output, cache reads and cache writes together; NULL when all are unknown.",
            join=Join.DERIVED,
        ),
        json("query_message_ids", "Ids of the input messages, in order.", unit=Unit.JSON_ARRAY, join=Join.DERIVED),
        ident(
            "response_message_id",
            "The final assistant message; NULL while unanswered.",
            references="messages.id",
            join=Join.DERIVED,
        ),
        number(
            "has_children",
            "1 when another turn follows from this one, else 0.",
            unit=Unit.FLAG,
            join=Join.DERIVED,
            default=0,
        ),
        number("tool_call_count", "How many tool calls the turn made.", unit=Unit.COUNT, join=Join.DERIVED, default=0),
        ident("source_event_id", "The origin's own id of the record that started the turn."),
        text("workspace_path", "Root folder of the workspace.", unit=Unit.PATH),
    ),
)

THREADS = Table(
    name="threads",
    description="A turn seen with all its ancestry; one row per turn.",
    canonical=True,
    key=("turn_id",),
    unique=(("thread_key",),),
    columns=(
        key("turn_id", "The turn the thread ends at.", references="turns.id"),
        json("ancestry", "Ids of the turns from the root to this one.", unit=Unit.JSON_ARRAY, join=Join.DERIVED),
        tokens("total_tokens", "Sum of `turns.total_tokens` over the ancestry, this turn included.", join=Join.DERIVED),
        number("depth", "How many turns deep; a root has 1.", unit=Unit.COUNT, join=Join.DERIVED),
        ident("persona_id", "The bundle of identity and permissions in force."),
        text("system_prompt_hash", "SHA-256 of the system prompt, where a log holds it.", unit=Unit.HASH),
        text("thread_key", "Structured address of the thread: `<origin>:<turn key>`.", unit=Unit.ID),
    ),
)

SESSIONS = Table(
    name="sessions",
    description="A stable label that points to the head of a thread. Sessions are pointers, not containers.",
    canonical=True,
    key=("label",),
    columns=(
        key("label", "The stable name of the session."),
        ident("thread_id", "The current head.", join=Join.NEWEST, nullable=False, references="threads.turn_id"),
        ident("persona_id", "The persona that owns the session.", nullable=False),
        number("is_subagent", "1 when another session spawned this one, else 0.", unit=Unit.FLAG, default=0),
        ident("parent_session_label", "The session that spawned this one.", references="sessions.label"),
        ident("parent_turn_id", "The turn in which it was spawned.", references="turns.id"),
        ident("spawn_tool_call_id", "The tool call that spawned it.", references="tool_calls.id"),
        text("task_description", "The task it was given."),
        word(
            "task_status",
            "How far the task came.",
            ("pending", "running", "completed", "failed"),
            join=Join.FURTHEST,
        ),
        ident("routing_key", "The key by which messages are routed to the session."),
        text("origin", "Where the session came from: the importer's name, with `-`.", unit=Unit.NAME),
        ident("origin_session_id", "The session's id in its own tool."),
        time("created_at", "Start of the first turn.", join=Join.MIN, nullable=False),
        time("updated_at", "End of the last turn.", join=Join.MAX, nullable=False),
        word(
            "status",
            "Whether the session is current, an abandoned branch, or gone.",
            ("active", "archived", "deleted"),
            join=Join.FURTHEST,
            nullable=False,
            default="active",
        ),
    ),
)

MESSAGES = Table(
    name="messages",
    description="One message of a turn: one row per message of the model's API, not per line of a log.",
    canonical=True,
    key=("id",),
    columns=(
        key("id", "The message."),
        ident("turn_id", "The turn it belongs to.", nullable=False, references="turns.id"),
        word("role", "What kind of message it is.", ("user", "assistant", "system", "tool"), nullable=False),
        text("content", "The text; NULL where it is kept elsewhere, as for tool results and summaries."),
        word(
            "source",
            "Who or what sent it; NULL for the assistant's own.",
            ("human", "trigger", "agent", "webhook", "cron", "event"),
        ),
        number(
            "sequence",
            "Place within the turn, from 0 without gaps: by `message_facts.position`, then time.",
            unit=Unit.POSITION,
            join=Join.DERIVED,
            nullable=False,
        ),
        time("created_at", "When it was first recorded.", join=Join.MIN, nullable=False),
        text("thinking", "The model's thinking, where the log holds it."),
        json("context_json", "Context that came with the message: attachments, rules, injections."),
        json("metadata_json", "Everything else the log says about the message."),
    ),
)

TOOL_CALLS = Table(
    name="tool_calls",
    description="One use of a tool, with its parameters and its result.",
    canonical=True,
    key=("id",),
    columns=(
        key("id", "The call: the model's own id where there is one."),
        ident("turn_id", "The turn that made the call.", nullable=False, references="turns.id"),
        ident("message_id", "The assistant message that made the call.", references="messages.id"),
        text("tool_name", "The tool.", unit=Unit.NAME, nullable=False),
        number("tool_number", "The tool's number, in tools that number them.", unit=Unit.ID, join=Join.KNOWN),
        text("params_json", "Parameters.", unit=Unit.JSON_OBJECT, nullable=False),
        json("result_json", "Result.", unit=Unit.JSON, join=Join.KNOWN),
        text("error", "What went wrong, when the call failed or was refused."),
        word(
            "status",
            "How far the call came.",
            ("pending", "running", "completed", "failed"),
            join=Join.FURTHEST,
            nullable=False,
            default="pending",
        ),
        ident("spawned_session_label", "The subagent session it started.", references="sessions.label"),
        time("started_at", "When the model asked for it.", join=Join.MIN, nullable=False),
        time("completed_at", "When the result arrived.", join=Join.MAX),
        number(
            "sequence", "Place among the calls of the turn, from 0.", unit=Unit.POSITION, join=Join.MAX, nullable=False
        ),
    ),
)

COMPACTIONS = Table(
    name="compactions",
    description="A summarisation of earlier turns: one row per turn of type `compaction`.",
    canonical=True,
    key=("turn_id",),
    columns=(
        key("turn_id", "The compaction turn.", references="turns.id"),
        text("summary", "The summary; empty where the log holds none.", nullable=False, placeholder=""),
        ident("summarized_through_turn_id", "The last turn the summary covers.", nullable=False, references="turns.id"),
        ident("first_kept_turn_id", "The first turn kept as it was.", references="turns.id"),
        number("turns_summarized", "How many turns the summary covers.", unit=Unit.COUNT, join=Join.DERIVED),
        text(
            "compaction_type",
            "Strategy: `summary`, `sliding_window`, `selective`, or the tool's own word.",
            unit=Unit.NAME,
            nullable=False,
            default="summary",
        ),
        text("model", "The model that summarised.", unit=Unit.NAME, nullable=False, placeholder="unknown"),
        text("provider", "The vendor of the API that served it.", unit=Unit.NAME),
        tokens("tokens_before", "Whole context before."),
        tokens("tokens_after", "Whole context after.", join=Join.KNOWN),
        tokens("summary_tokens", "Size of the summary; estimated where `metadata_json` says so.", join=Join.KNOWN),
        tokens("summarization_input_tokens", "Input of the summarising call, cache included."),
        tokens("summarization_output_tokens", "Output of the summarising call."),
        number(
            "duration_ms",
            "How long it took; an upper bound where `metadata_json` says so.",
            unit=Unit.DURATION,
            join=Join.KNOWN,
        ),
        word("trigger", "Why it happened.", ("context_limit", "manual", "periodic")),
        json("metadata_json", "What else the log says, and which values are inferred or estimated."),
    ),
)

SESSION_HISTORY = Table(
    name="session_history",
    description="Every movement of a session's head.",
    canonical=True,
    key=("id",),
    columns=(
        hashed_key("id", "The movement; order by `changed_at`, never by id."),
        ident("session_label", "The session.", join=Join.DERIVED, nullable=False, references="sessions.label"),
        ident("thread_id", "The head it moved to.", join=Join.DERIVED, nullable=False, references="threads.turn_id"),
        time("changed_at", "When it moved.", join=Join.DERIVED, nullable=False),
    ),
)

SESSION_ALIASES = Table(
    name="session_aliases",
    description="Other names under which a session is found. An alias never points to an alias.",
    canonical=True,
    key=("alias",),
    columns=(
        key("alias", "The other name."),
        ident("session_label", "The session it stands for.", nullable=False, references="sessions.label"),
        time("created_at", "When the session began.", join=Join.MIN, nullable=False),
        word("reason", "Why the alias exists.", ("identity_promotion", "identity_merge", "manual")),
    ),
)

MESSAGE_FILES = Table(
    name="message_files",
    description="Files a message read, wrote, named or carried.",
    canonical=True,
    key=("id",),
    unique=(("message_id", "kind", "file_path", "line_start"),),
    columns=(
        hashed_key("id", "The row."),
        ident("message_id", "The message.", join=Join.SET, nullable=False, references="messages.id"),
        word(
            "kind",
            "What happened to the file.",
            ("read", "written", "referenced", "attached"),
            join=Join.SET,
            nullable=False,
        ),
        text(
            "file_path",
            "The file; absolute where the working folder is known.",
            unit=Unit.PATH,
            join=Join.SET,
            nullable=False,
        ),
        number("line_start", "First line, where a range is known.", unit=Unit.LINE, join=Join.SET),
        number("line_end", "Last line, included.", unit=Unit.LINE, join=Join.SET),
    ),
)

MESSAGE_LINTS = Table(
    name="message_lints",
    description="Findings of linters and compilers that were in view of a message.",
    canonical=True,
    key=("id",),
    columns=(
        hashed_key("id", "The row."),
        ident("message_id", "The message.", join=Join.SET, nullable=False, references="messages.id"),
        text("file_path", "The file.", unit=Unit.PATH, join=Join.SET),
        text("message", "What the linter said.", join=Join.SET),
        text("lint_source", "The linter.", unit=Unit.NAME, join=Join.SET),
        number("start_line", "Where the finding starts.", unit=Unit.LINE, join=Join.SET),
        number("start_col", "Where the finding starts.", unit=Unit.LINE_COLUMN, join=Join.SET),
        number("end_line", "Where the finding ends.", unit=Unit.LINE, join=Join.SET),
        number("end_col", "Where the finding ends, not included.", unit=Unit.LINE_COLUMN, join=Join.SET),
        word("severity", "How bad it is.", ("error", "warning", "info"), join=Join.SET),
    ),
)

MESSAGE_CODEBLOCKS = Table(
    name="message_codeblocks",
    description="Blocks of code in an assistant message.",
    canonical=True,
    key=("id",),
    unique=(("message_id", "idx"),),
    columns=(
        hashed_key("id", "The row; order by `idx`, never by id."),
        ident("message_id", "The message.", join=Join.SET, nullable=False, references="messages.id"),
        number("idx", "Place in the message, from 0.", unit=Unit.POSITION, join=Join.SET, nullable=False),
        text("language", "The language, as the block names it.", unit=Unit.NAME, join=Join.SET),
        text("content", "The code.", join=Join.SET, nullable=False),
        text("file_path", "The file it is meant for.", unit=Unit.PATH, join=Join.SET),
        number("line_start", "First line in that file.", unit=Unit.LINE, join=Join.SET),
        number("line_end", "Last line, included.", unit=Unit.LINE, join=Join.SET),
    ),
)

CANONICAL_TABLES = (
    TURNS,
    THREADS,
    SESSIONS,
    MESSAGES,
    TOOL_CALLS,
    COMPACTIONS,
    SESSION_HISTORY,
    SESSION_ALIASES,
    MESSAGE_FILES,
    MESSAGE_LINTS,
    MESSAGE_CODEBLOCKS,
)
