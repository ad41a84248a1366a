"""Whatever a database or a transcript holds: it is read or named, and the rows keep to the schema."""

import json
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aix.importing import Rows, Source
from aix.schema import TABLES
from aix.schema.arrow import batch_from_columns
from aix_importers.cursor import CursorImporter
from aix_importers.cursor.agent_state import wire_fields
from tests.importers.cursor.databases import GLOBAL, answer, build, call, composer, prompt, sources_in, write_database

EXAMPLES = settings(
    max_examples=int(os.environ.get("AIX_PROPERTY_EXAMPLES", "12")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
ODD: tuple[object, ...] = (
    None,
    True,
    -1,
    1e308,
    2**70,
    "",
    "x",
    "\ud83d",
    [],
    [[]],
    {},
    {"a": {}},
    [None],
    "[",
    "~AAAA",
)


def extract(*sources: Source) -> list[Rows]:
    """Return the rows of sources that are read together, each held against the schema."""
    rows = [piece for piece in CursorImporter({}).extract(sources) if isinstance(piece, Rows)]
    for piece in rows:
        batch_from_columns(TABLES[piece.table], piece.columns)
    return rows


def spoiled(value: object, chance: random.Random, odds: float) -> object:
    """Return a value in which some parts are something else."""
    if chance.random() < odds:
        return chance.choice(ODD)
    if isinstance(value, dict):
        return {name: spoiled(inner, chance, odds) for name, inner in value.items()}
    if isinstance(value, list):
        return [spoiled(inner, chance, odds) for inner in value]
    if isinstance(value, str) and value[:1] in ("{", "[") and chance.random() < 0.5:
        try:
            return json.dumps(spoiled(json.loads(value), chance, odds))
        except ValueError:
            return value
    return value


@EXAMPLES
@given(seed=st.integers(0, 2**32))
def test_values_of_any_type_in_any_place_give_rows_that_fit(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    chance = random.Random(seed)
    folder = tmp_path_factory.mktemp("odd")
    bubbles = [
        prompt("p1", 0, "One", context={"fileSelections": [{"uri": {"fsPath": "/a"}}], "selections": [{"range": {}}]}),
        call("t1", 2, "read_file_v2", params=json.dumps({"targetFile": "/a", "offset": 1, "limit": 2})),
        call("t2", 4, "task_v2", result=json.dumps({"agentId": "c-2"}), additionalData={"status": "success"}),
        answer("a1", 6, "Text\n```py\nx\n```", codeBlocks=[{"codeBlockIdx": 0, "uri": {"path": "/a"}}]),
        answer("s1", 8, conversationSummary=json.dumps({"summary": "So"})),
    ]
    fields = {"latestConversationSummary": {"summary": {"summary": "x"}}, "usageData": {"m": {"costInCents": 1}}}
    rows = composer("c-1", bubbles, **fields, capabilities=[{"type": 15, "data": {"bubbleDataMap": "{}"}}])
    odds = chance.choice((0.02, 0.1, 0.3))
    written = [(key, json.dumps(spoiled(json.loads(str(value)), chance, odds))) for key, value in rows]
    write_database(folder / GLOBAL, written, [("composer.composerData", json.dumps(spoiled(
        {"allComposers": [{"composerId": "c-3", "conversation": bubbles}]}, chance, odds)))])  # fmt: skip
    extract(*sources_in(folder))


@EXAMPLES
@given(seed=st.integers(0, 2**32))
def test_transcripts_and_stores_of_any_bytes_give_rows_that_fit(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    chance = random.Random(seed)
    folder = build(tmp_path_factory.mktemp("bytes"), "transcripts")
    for path in sorted(folder.rglob("*.*")):
        if path.is_file():
            path.write_bytes(mutated(path.read_bytes(), chance))
    for name, table, column in (("command_line", "blobs", "data"), ("agent_state", "cursorDiskKV", "value")):
        build(folder / name, name)
        for path in sorted((folder / name).rglob("s*.*db")):
            with closing(sqlite3.connect(path)) as database, database:
                for row, value in database.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
                    if chance.random() < 0.3:
                        data = value if isinstance(value, bytes) else value.encode()
                        database.execute(
                            f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (mutated(data, chance), row)
                        )
    extract(*sources_in(folder))


def mutated(content: bytes, chance: random.Random) -> bytes:
    """Return other bytes: some are changed, and the end may be missing."""
    data = bytearray(content)
    for _ in range(chance.randrange(1, 30)):
        data[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(data[: chance.randrange(len(data) + 1)] if chance.random() < 0.5 else data)


def test_what_refers_to_itself_ends(tmp_path: Path) -> None:
    loop = {"subagentInfo": {"parentComposerId": "c-2"}, "subagentComposerIds": ["c-1", "c-2"]}
    back = {"subagentInfo": {"parentComposerId": "c-1"}, "subagentComposerIds": ["c-1"]}
    rows = [*composer("c-1", [prompt("p1", 0, "One")], **loop), *composer("c-2", [prompt("p2", 0, "Two")], **back)]
    write_database(tmp_path / GLOBAL, rows)
    sessions = [piece for piece in extract(*sources_in(tmp_path)) if piece.table == "sessions"]
    assert {str(label) for piece in sessions for label in piece.columns["label"]} == {"cursor:c-1", "cursor:c-2"}


def test_deep_and_large_values_are_named_or_read(tmp_path: Path) -> None:
    deep = "[" * 100_000
    rows = composer("c-1", [prompt("p1", 0, "word " * 400_000), answer("a1", 1, "ok", context={})])
    rows[2] = (rows[2][0], f'{{"type":2,"text":"ok","toolFormerData":{deep}')
    write_database(tmp_path / GLOBAL, [*rows, ("composerData:c-2", deep)])
    tables = {piece.table for source in sources_in(tmp_path) for piece in extract(source)}
    assert "sessions" in tables


@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_as_protocol_buffers_as_far_as_they_are(data: bytes) -> None:
    for number, value in wire_fields(data):
        assert number > 0
        assert isinstance(value, int | bytes)
