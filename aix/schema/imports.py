"""Extension tables for the imports themselves: what was read, when, and what was wrong with it."""

from aix.schema.columns import ident, json, key, number, number_key, text, time, word
from aix.schema.model import Join, Table, Unit

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
    description="Every piece of input that was not taken as it stood.",
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
