"""Extension tables: requests and prices, circumstances of turns and calls, permissions, and imports themselves."""

from functools import partial

from aix.schema.columns import (
    flag,
    hashed_key,
    ident,
    json,
    key,
    money,
    number,
    number_key,
    text,
    time,
    tokens,
    word,
    word_key,
)
from aix.schema.model import INFERENCE_FLAG, Join, Table, Type, Unit

REQUESTS = Table(
    name="requests",
    description="One request to a model, its usage counted once; a turn may mix models and cache lifetimes.",
    key=("id",),
    columns=(
        key("id", "The request."),
        ident(
            "turn_id",
            "The turn it served; NULL for side calls and for summarising calls whose boundary is not on disk.",
            references="turns.id",
        ),
        ident("session_label", "The session that made it.", references="sessions.label"),
        ident("message_id", "The assistant message it gave.", references="messages.id"),
        number("seq", "Place among the requests of the turn, from 0.", unit=Unit.POSITION, join=Join.MAX),
        time("requested_at", "When it was made.", join=Join.MIN, nullable=False),
        text("model", "The model the request named.", unit=Unit.NAME),
        text("provider", "The vendor of the API.", unit=Unit.NAME),
        ident("origin_message_id", "The API's own id of the message."),
        ident("origin_request_id", "The API's own id of the request."),
        ident("parent_request_id", "The request this one advised.", references="requests.id"),
        tokens("input_tokens", "Uncached input."),
        tokens("output_tokens", "Output as reported; a lower bound unless `is_usage_final`."),
        tokens("cache_read_tokens", "Input read from the cache."),
        tokens("cache_write_tokens", "Input written to the cache, as reported in total."),
        tokens("cache_write_5m_tokens", "The part kept for 5 minutes; NULL where the source does not split."),
        tokens("cache_write_1h_tokens", "The part kept for 1 hour; NULL where the source does not split."),
        tokens("reasoning_tokens", "Thinking, where it is counted apart from output."),
        tokens("context_tokens", "Whole input: uncached, read from and written to the cache."),
        number("web_search_count", "Searches the vendor ran for it.", unit=Unit.COUNT),
        flag("is_usage_final", "Whether the reported output is the final count."),
        tokens("estimated_output_tokens", "Output estimated from the length of what was written."),
        text("stop_reason", "Why the model stopped, in the API's word.", unit=Unit.NAME),
        text("service_tier", "The tier it was served in, in the API's word.", unit=Unit.NAME),
        text("speed", "The speed it was served at, in the API's word.", unit=Unit.NAME),
        number("latency_ms", "How long the answer took.", unit=Unit.DURATION, join=Join.KNOWN),
        money("reported_cost_usd", "What the source itself says it cost.", type=Type.COST),
        text("git_branch", "The branch checked out at the time.", unit=Unit.NAME),
        text("cwd", "The working folder at the time.", unit=Unit.PATH),
        word(
            "kind",
            "What the request was for; a later word of the list says more than an earlier one.",
            ("side", "compaction", "advisor", "main"),
            join=Join.FURTHEST,
            nullable=False,
            default="main",
        ),
    ),
)

PRICES = Table(
    name="prices",
    description="List prices with the time they were valid; replaced as a whole when the price table is renewed.",
    key=("id",),
    unique=(("provider", "model", "match_rule", "valid_from", "tier_start_tokens", "variant", "unit", "precedence"),),
    columns=(
        hashed_key("id", "The row."),
        text("provider", "The vendor; empty for any.", unit=Unit.NAME, join=Join.LATEST, nullable=False),
        text("model", "The model, or the pattern that names it.", unit=Unit.NAME, join=Join.LATEST, nullable=False),
        text(
            "match_rule", "How `model` is compared with a request's.", unit=Unit.NAME, join=Join.LATEST, nullable=False
        ),
        time("valid_from", "First moment of validity; 0 where it always held.", join=Join.LATEST, nullable=False),
        time("valid_to", "First moment at which it no longer held; NULL while it does.", join=Join.LATEST),
        number(
            "tier_start_tokens",
            "Smallest whole input of a request that the price is for.",
            unit=Unit.TOKENS,
            join=Join.LATEST,
            nullable=False,
            default=0,
        ),
        text(
            "variant",
            "How the request was served: `standard`, `batch`, `priority`, `flex`, `fast`.",
            unit=Unit.NAME,
            join=Join.LATEST,
            nullable=False,
            default="standard",
        ),
        word(
            "unit",
            "What one unit is.",
            ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "web_search"),
            join=Join.LATEST,
            nullable=False,
        ),
        money(
            "price_usd",
            "Price of one unit: one token, or one search.",
            type=Type.PRICE,
            join=Join.LATEST,
            nullable=False,
        ),
        text("source", "Where the price was found.", unit=Unit.NAME, join=Join.LATEST, nullable=False),
        text("source_version", "Which edition of the source.", unit=Unit.NAME, join=Join.LATEST),
        time("checked_at", "When the source was read.", join=Join.LATEST),
        number(
            "precedence",
            "Place among the price lines: of several that fit a request, the smallest is taken.",
            unit=Unit.POSITION,
            join=Join.LATEST,
        ),
    ),
)

_price = partial(money, type=Type.PRICE, join=Join.LATEST)

MODEL_PRICES = Table(
    name="model_prices",
    description="What `prices` says of every model that a request names, or that the price lines name, ready to be"
    " joined to `requests`; replaced as a whole when the price table is renewed.",
    key=("provider", "model", "variant", "valid_from", "tier_start_tokens"),
    columns=(
        key("provider", "The request's `provider`; empty where it names none.", unit=Unit.NAME),
        key("model", "The request's `model`.", unit=Unit.NAME),
        key(
            "variant",
            "How the request was served: `standard`, `batch`, `priority`, `flex`, `fast`.",
            unit=Unit.NAME,
        ),
        number_key("valid_from", "First moment of validity; 0 where it always held.", unit=Unit.TIME),
        time(
            "valid_to",
            "First moment at which it no longer held; 9223372036854775807 while it does.",
            join=Join.LATEST,
            nullable=False,
        ),
        number_key("tier_start_tokens", "Smallest whole input of a request that the price is for.", unit=Unit.TOKENS),
        tokens(
            "tier_end_tokens",
            "Smallest whole input that is too large for it; 9223372036854775807 where there is none.",
            join=Join.LATEST,
            nullable=False,
        ),
        _price("input_usd", "Price of one token of uncached input; NULL where it is not known."),
        _price("output_usd", "Price of one token of output."),
        _price("cache_read_usd", "Price of one token read from the cache."),
        _price("cache_write_5m_usd", "Price of one token written to the cache for 5 minutes."),
        _price("cache_write_1h_usd", "Price of one token written to the cache for 1 hour."),
        _price("web_search_usd", "Price of one search."),
        text(
            "price_basis",
            "Which price it is: source, edition and model, and what stands in for a price that the source lacks.",
            join=Join.LATEST,
            nullable=False,
        ),
    ),
)

REQUEST_TABLES = (REQUESTS, PRICES, MODEL_PRICES)


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


IMPORT_RUNS = Table(
    name="import_runs",
    description="One run of an import.",
    key=("id",),
    columns=(
        key("id", "The run."),
        time("started_at", "When it began.", join=Join.MIN, nullable=False),
        time("finished_at", "When it ended; NULL when it did not.", join=Join.MAX),
        text("tool_version", "Version of AIX.", unit=Unit.NAME, nullable=False),
        json("argv", "The command line.", unit=Unit.JSON_ARRAY, join=Join.KNOWN),
    ),
)

IMPORT_SOURCES = Table(
    name="import_sources",
    description="One source of rows, as it was when it was last read: a file, or one conversation inside a container.",
    key=("source_key",),
    columns=(
        key("source_key", "The source: its path, and its key inside a container."),
        text("importer", "The importer that claims it.", unit=Unit.NAME, join=Join.LATEST, nullable=False),
        text("importer_version", "Version of that importer.", unit=Unit.NAME, join=Join.LATEST),
        word("kind", "What the source is.", ("file", "conversation"), join=Join.LATEST, nullable=False, default="file"),
        text("path", "The file.", unit=Unit.PATH, join=Join.LATEST, nullable=False),
        text("fingerprint", "Hash of its content.", unit=Unit.HASH, join=Join.LATEST),
        number("size_bytes", "Its size.", unit=Unit.BYTES, join=Join.LATEST),
        number("mtime_ns", "When it was last written.", unit=Unit.FILE_TIME, join=Join.LATEST),
        text("watermark", "How far a container was read, in the importer's word.", join=Join.LATEST),
        text("machine", "The machine it was read on.", unit=Unit.NAME, join=Join.LATEST),
        ident("last_run_id", "The run that last read it.", join=Join.LATEST, references="import_runs.id"),
    ),
)

IMPORT_LOG = Table(
    name="import_log",
    description="What a run did with each session of each source.",
    key=("run_id", "source_key", "seq"),
    columns=(
        key("run_id", "The run.", references="import_runs.id"),
        key("source_key", "The source.", references="import_sources.source_key"),
        number_key("seq", "Place among the entries of the source, from 0."),
        ident("session_label", "The session; NULL where the source gave none."),
        word("status", "What was done.", ("imported", "upserted", "skipped", "failed"), nullable=False),
        text("reason", "Why it was skipped or failed.", unit=Unit.NAME),
        json("counts_json", "What was counted on the way."),
    ),
)

IMPORT_PROBLEMS = Table(
    name="import_problems",
    description="Every line or other record of a log that could not be fully read.",
    key=("run_id", "source_key", "seq"),
    columns=(
        key("run_id", "The run.", references="import_runs.id"),
        key("source_key", "The source.", references="import_sources.source_key"),
        number_key("seq", "Place among the problems of the source, from 0."),
        number("line", "The line, in files that have lines.", unit=Unit.LINE, join=Join.KNOWN),
        number("byte_offset", "Where the piece starts in the file.", unit=Unit.BYTES, join=Join.KNOWN),
        text("kind", "What kind of problem it is.", unit=Unit.NAME, nullable=False),
        text("reason", "What is wrong, in a sentence.", nullable=False),
        text("sample", "The beginning of the piece."),
    ),
)

IMPORT_TABLES = (IMPORT_RUNS, IMPORT_SOURCES, IMPORT_LOG, IMPORT_PROBLEMS)
