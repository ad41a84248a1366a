"""Damaged databases and transcripts: each is named in a problem, hides no other, and is read as far as possible."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from aix.importing import Problem, Rows
from aix_importers.cursor import CursorImporter
from aix_importers.cursor.key_tables import CHATS_ITEM, COMPOSERS_ITEM
from benchmarks.cursor_mutations import Extraction, loss, run
from tests.importers.cursor.databases import (
    GLOBAL,
    Row,
    answer,
    as_json,
    build,
    composer,
    prompt,
    sources_in,
    write_database,
)

WORKSPACE = "Cursor/User/workspaceStorage/aaaa/state.vscdb"
STORE = ".cursor/chats/0123456789abcdef0123456789abcdef/s-1/store.db"
TRACKING = ".cursor/ai-tracking/ai-code-tracking.db"
HEALTHY = "cursor:c-healthy"


def read_together(folder: Path) -> tuple[set[object], list[Problem]]:
    """Return the sessions in a folder, all of it read together, and the problems."""
    labels: set[object] = set()
    problems: list[Problem] = []
    for piece in CursorImporter({}).extract(sources_in(folder)):
        if isinstance(piece, Problem):
            problems.append(piece)
        elif isinstance(piece, Rows) and piece.table == "sessions":
            labels.update(piece.columns["label"])
    return labels, problems


def damaged_schema(path: Path) -> None:
    """Write bytes that are not UTF-8 into the definition of the last table."""
    data = path.read_bytes()
    at = data.index(b"CREATE TABLE", 100)
    path.write_bytes(data[: at + 7] + b"\xff\xc3\xfe" + data[at + 10 :])


def damaged_header(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:16] + b"\xff" * 84 + data[100:])


def damaged_schema_page(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[:100] + bytes(range(256)) * 12 + data[100 + 12 * 256 :])


DAMAGES = [damaged_schema, damaged_header, damaged_schema_page]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("place", [GLOBAL, WORKSPACE, STORE, TRACKING])
def test_a_damaged_database_hides_no_other(tmp_path: Path, place: str, damage: Callable[[Path], None]) -> None:
    for name in (GLOBAL, WORKSPACE):
        rows = composer("c-healthy", [prompt("p1", 0, "Ask")]) if name != place else []
        write_database(tmp_path / name, rows)
    write_database(tmp_path / place)
    damage(tmp_path / place)
    labels, problems = read_together(tmp_path)
    assert labels == {HEALTHY}
    assert {problem.source.path for problem in problems} == {str(tmp_path / place)}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_backup_hides_nothing(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    path = write_database(tmp_path / GLOBAL, composer("c-healthy", [prompt("p1", 0, "Ask")]))
    backup = Path(f"{path}.backup")
    backup.write_bytes(path.read_bytes())
    damage(backup)
    assert read_together(tmp_path)[0] == {HEALTHY}


@pytest.mark.skipif(os.name != "posix", reason="only there names may be any bytes")
def test_a_folder_whose_name_is_not_utf_8_hides_nothing(tmp_path: Path) -> None:
    write_database(tmp_path / GLOBAL, composer("c-healthy", [prompt("p1", 0, "Ask")]))
    folder = tmp_path / "Cursor/User/workspaceStorage" / os.fsdecode(b"caf\xe9")
    try:
        folder.mkdir(parents=True)
    except OSError:
        pytest.skip("this file system wants UTF-8")
    write_database(tmp_path / "other.vscdb", composer("c-other", [prompt("p2", 0, "Ask")]))
    (tmp_path / "other.vscdb").rename(folder / "state.vscdb")
    assert read_together(tmp_path) == ({HEALTHY, "cursor:c-other"}, [])


def test_a_damaged_database_that_is_read_with_others_hides_none_of_them(tmp_path: Path) -> None:
    """The damage comes after the sources were found."""
    write_database(tmp_path / GLOBAL, composer("c-1", [prompt("p1", 0, "Ask")]))
    other = write_database(tmp_path / WORKSPACE, composer("c-2", [prompt("p2", 0, "Ask")]))
    sources = sources_in(tmp_path)
    damaged_header(other)
    found = list(CursorImporter({}).extract(sources))
    labels = [piece.columns["label"] for piece in found if isinstance(piece, Rows) and piece.table == "sessions"]
    assert labels == [["cursor:c-1"]]
    assert [piece.kind for piece in found if isinstance(piece, Problem)] == ["unreadable"]


CHATS = "workbench.panel.aichat.view.aichat.chatdata"
COMPOSERS = "composer.composerData"
TAB = {
    "tabId": "t-1",
    "bubbles": [{"type": "user", "id": "u1", "text": "Ask"}, {"type": "ai", "id": "a1", "text": "Say"}],
}
INLINE = {"composerId": "c-inline", "conversation": [{"type": 1, "bubbleId": "b1", "text": "Ask"}]}
SPLIT = composer("c-1", [prompt("p1", 0, "Ask"), answer("a1", 2, "Say")])


def edited(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        for statement in statements:
            database.execute(statement)


@pytest.mark.parametrize("key", [CHATS, COMPOSERS])
@pytest.mark.parametrize(
    "value",
    [None, "", "{", "not json", "[1]", "7", "null", b"\xff\xfe{\0}\0", 5, '{"tabs":7,"allComposers":"x"}', b"\0" * 9],
)
def test_an_unreadable_item_is_named(tmp_path: Path, key: str, value: object) -> None:
    write_database(tmp_path / WORKSPACE, (), [(key, value)])
    labels, problems = read_together(tmp_path)
    assert (labels, [problem.kind for problem in problems]) == (set(), ["unreadable_item"])
    assert key in problems[0].reason


@pytest.mark.parametrize("key", [CHATS, COMPOSERS])
def test_of_an_item_that_is_cut_the_conversations_before_the_cut_are_read(tmp_path: Path, key: str) -> None:
    second = {**TAB, "tabId": "t-2", **INLINE, "composerId": "c-2"}
    whole = as_json({"tabs": [TAB, second]} if key == CHATS else {"allComposers": [INLINE, second]})
    write_database(tmp_path / WORKSPACE, (), [(key, whole[:-20])])
    labels, problems = read_together(tmp_path)
    assert labels >= {"cursor:t-1" if key == CHATS else "cursor:c-inline"}
    assert "unreadable_item" in {problem.kind for problem in problems}


@pytest.mark.parametrize(
    "entry", [7, None, "x", {}, {"tabId": 5, "bubbles": [{}]}, TAB, {"tabId": "t-3", "bubbles": 5}]
)
def test_an_entry_of_an_item_that_is_no_conversation_is_named(tmp_path: Path, entry: object) -> None:
    write_database(tmp_path / WORKSPACE, (), [(CHATS, as_json({"tabs": [TAB, entry]}))])
    labels, problems = read_together(tmp_path)
    assert labels == {"cursor:t-1"}
    assert {problem.kind for problem in problems} <= {"unreadable_entries", "no_messages"}
    assert problems


BUBBLES = {
    "null": None, "not json": "x", "cut": '{"type":2,"te', "another type": "[1]", "number": 7, "not utf-8": b"\xff\xfe",
    "text is no text": '{"type":2,"text":{"a":1}}',
    "call without name": '{"type":2,"toolFormerData":{"toolCallId":"x"}}',
    "call is no object": '{"type":2,"toolFormerData":"x"}', "name of a field": '{"type":2,"tExt":"Say something"}',
    "thinking": '{"type":2,"thinking":7}', "summary": '{"type":2,"conversationSummary":"{\\"a\\":1}"}',
}  # fmt: skip


@pytest.mark.parametrize("name", BUBBLES)
def test_a_message_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    write_database(tmp_path / GLOBAL, [SPLIT[0], SPLIT[1], (SPLIT[2][0], BUBBLES[name])])
    labels, problems = read_together(tmp_path)
    assert labels == {"cursor:c-1"}
    assert {problem.kind for problem in problems} & {"unreadable_bubble", "missing_bubbles"}


COMPOSER_VALUES = [None, "x", '{"composerId":"c-1","fullConv', "[1]", 7, b"\xff\xfe", b"\0" * 20]


@pytest.mark.parametrize("value", COMPOSER_VALUES)
def test_messages_of_a_conversation_that_cannot_be_read_are_read(tmp_path: Path, value: object) -> None:
    write_database(tmp_path / GLOBAL, [("composerData:c-1", value), *SPLIT[1:]])
    labels, problems = read_together(tmp_path)
    assert (labels, [problem.kind for problem in problems]) == ({"cursor:c-1"}, ["unreadable"])


def test_of_an_inline_conversation_that_is_cut_the_messages_before_the_cut_are_read(tmp_path: Path) -> None:
    write_database(tmp_path / GLOBAL, [("composerData:c-inline", as_json(INLINE)[:-3] + '},{"type":2,"bubb')])
    labels, problems = read_together(tmp_path)
    assert (labels, [problem.kind for problem in problems]) == ({"cursor:c-inline"}, ["unreadable"])


@pytest.mark.parametrize("field", ["conversation", "fullConversationHeadersOnly"])
@pytest.mark.parametrize("value", ["x", 7, {"a": 1}, [7], [[]]])
def test_a_list_of_messages_that_is_none_is_named(tmp_path: Path, field: str, value: object) -> None:
    write_database(tmp_path / GLOBAL, [("composerData:c-1", as_json({"composerId": "c-1", field: value}))])
    labels, problems = read_together(tmp_path)
    assert labels == set()
    assert problems


KEYS: dict[str, tuple[str, object]] = {
    "not UTF-8": ("cast(? as text)", b"composerData:c-\xff"),
    "bytes": ("?", b"composerData:c-1"),
    "upper case": ("?", "COMPOSERDATA:c-1"),
    "unknown": ("?", "composerDeta:c-1"),
    "no id": ("?", "composerData:"),
    "null": ("?", None),
}


@pytest.mark.parametrize("name", KEYS)
def test_a_key_that_is_damaged_is_named_or_read(tmp_path: Path, name: str) -> None:
    form, key = KEYS[name]
    path = write_database(tmp_path / GLOBAL)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"INSERT INTO cursorDiskKV VALUES ({form}, ?)", (key, as_json(INLINE)))
    labels, problems = read_together(tmp_path)
    assert len(labels) == (name in ("not UTF-8", "bytes"))
    assert bool(problems) == (name != "not UTF-8")


def test_the_keys_of_a_database_in_utf_16_are_found(tmp_path: Path) -> None:
    path = tmp_path / GLOBAL
    path.parent.mkdir(parents=True)
    edited(path, "PRAGMA encoding = 'UTF-16'")
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA encoding = 'UTF-16'")
        database.execute("CREATE TABLE ItemTable (key TEXT UNIQUE, value BLOB)")
        database.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE, value BLOB)")
        database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", SPLIT)
        database.execute("INSERT INTO ItemTable VALUES (?, ?)", (CHATS, as_json({"tabs": [TAB]})))
        database.commit()
    assert read_together(tmp_path) == ({"cursor:c-1", "cursor:t-1"}, [])


def test_no_sample_shows_a_secret(tmp_path: Path) -> None:
    settings = "src.vs.platform.reactivestorage.browser.reactiveStorageServiceImpl.persistentStorage.applicationUser"
    secrets: list[Row] = [("cursorAuth/accessToken", None), ("secret://x", "HIDDEN {"), (settings, "HIDDEN {")]
    write_database(tmp_path / GLOBAL, [("cursorAuth/HIDDEN", "HIDDEN")], secrets)
    _, problems = read_together(tmp_path)
    assert [problem.kind for problem in problems] == ["unknown_keys", "unreadable_item"]
    assert "HIDDEN" not in repr(problems)


def test_no_sample_shows_a_value_that_was_taken_for_a_key(tmp_path: Path) -> None:
    path = tmp_path / GLOBAL
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database, database:
        for name in ("ItemTable", "cursorDiskKV"):
            database.execute(f"CREATE TABLE {name} (v BLOB, k TEXT)")
            database.execute(f"INSERT INTO {name} VALUES (?, ?)", ("HIDDEN\x07VALUE", "cursorAuth/accessToken"))
    _, problems = read_together(tmp_path)
    assert "unknown_keys" in {problem.kind for problem in problems}
    assert "HIDDEN" not in repr(problems)


def test_a_damaged_log_of_writes_is_named(tmp_path: Path) -> None:
    elsewhere = write_database(tmp_path / "elsewhere.vscdb", composer("c-0", [prompt("p0", 0, "Ask")]))
    path = tmp_path / "tree" / GLOBAL
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(elsewhere, isolation_level=None)) as editor:
        editor.execute("PRAGMA journal_mode = WAL")
        editor.execute("PRAGMA wal_autocheckpoint = 0")
        editor.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", SPLIT)
        for suffix in ("", "-wal"):
            shutil.copy(f"{elsewhere}{suffix}", f"{path}{suffix}")
    assert read_together(tmp_path / "tree") == ({"cursor:c-0", "cursor:c-1"}, [])
    log = Path(f"{path}-wal")
    data = log.read_bytes()
    for at in (4, 100, len(data) - 100):
        log.write_bytes(data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :])
        assert "damaged_log" in {problem.kind for problem in read_together(tmp_path / "tree")[1]}


def test_an_index_that_lacks_keys_is_named_and_the_rows_are_read(tmp_path: Path) -> None:
    path = write_database(tmp_path / GLOBAL, [("composerData:c-inline", as_json(INLINE)), *SPLIT])
    edited(
        path,
        "PRAGMA writable_schema = ON",
        "CREATE INDEX spare ON cursorDiskKV (key) WHERE key LIKE 'bubbleId:%'",
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'spare')"
        " WHERE name = 'sqlite_autoindex_cursorDiskKV_1'",
    )
    labels, problems = read_together(tmp_path)
    assert labels == {"cursor:c-inline", "cursor:c-1"}
    assert "damaged" in {problem.kind for problem in problems}


def test_a_backup_stands_in_for_a_database_that_cannot_be_opened(tmp_path: Path) -> None:
    path = write_database(tmp_path / GLOBAL, SPLIT)
    shutil.copy(path, f"{path}.backup")
    damaged_header(path)
    labels, problems = read_together(tmp_path)
    assert (labels, [problem.kind for problem in problems]) == ({"cursor:c-1"}, ["damaged"])


def test_only_the_table_that_is_damaged_is_taken_from_the_backup(tmp_path: Path) -> None:
    path = write_database(tmp_path / GLOBAL, SPLIT)
    shutil.copy(path, f"{path}.backup")
    chats = {"tabs": [{"tabId": "newer", "bubbles": [{"type": "user", "id": "b", "text": "Ask"}]}]}
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO ItemTable VALUES (?, ?)", (CHATS_ITEM, as_json(chats)))
        database.execute("PRAGMA writable_schema = ON")
        database.execute("UPDATE sqlite_master SET sql = 'CREATE TABL cursorDiskKV' WHERE name = 'cursorDiskKV'")
    labels, problems = read_together(tmp_path)
    assert (labels, {problem.kind for problem in problems}) == ({"cursor:c-1", "cursor:newer"}, {"damaged"})
    assert any("That of the backup was read" in problem.reason for problem in problems)


@pytest.mark.parametrize("value", [None, b"\xff\xfe", b'{"composerId":'])
@pytest.mark.parametrize("key", ["composerData:c-1", "bubbleId:c-1:p1"])
def test_a_value_of_the_backup_is_named(tmp_path: Path, key: str, value: bytes | None) -> None:
    path = write_database(tmp_path / GLOBAL, SPLIT)
    shutil.copy(path, f"{path}.backup")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE cursorDiskKV SET value = ? WHERE key = ?", (value, key))
    labels, [problem] = read_together(tmp_path)
    assert (labels, problem.kind) == ({"cursor:c-1"}, "damaged_value")
    assert "backup" in problem.reason


@pytest.mark.parametrize("odd", [b"caf\xe9", b"a\0b"])
@pytest.mark.parametrize(
    ("item", "entry"),
    [
        (CHATS_ITEM, b'{"tabs":[{"tabId":"i","bubbles":[{"type":"user","id":"b","text":"Ask ODD"}]}]}'),
        (
            COMPOSERS_ITEM,
            b'{"allComposers":[{"composerId":"i","conversation":[{"type":1,"bubbleId":"b","text":"ODD"}]}]}',
        ),
    ],
)
def test_an_item_with_bytes_that_are_not_text_is_named_and_read(
    tmp_path: Path, item: str, entry: bytes, odd: bytes
) -> None:
    path = write_database(tmp_path / GLOBAL)
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("INSERT INTO ItemTable VALUES (?, ?)", (item, entry.replace(b"ODD", odd)))
    labels, problems = read_together(tmp_path)
    assert (labels, {problem.kind for problem in problems}) == ({"cursor:i"}, {"damaged_value"})


@pytest.mark.parametrize("key", ["composerData:c-1", "bubbleId:c-1:p1"])
@pytest.mark.parametrize("odd", [b"caf\xe9", b"a\0b"])
def test_a_value_with_bytes_that_are_not_text_is_named_and_read(tmp_path: Path, key: str, odd: bytes) -> None:
    path = write_database(tmp_path / GLOBAL, SPLIT)
    with closing(sqlite3.connect(path)) as database, database:
        [(value,)] = database.execute("SELECT value FROM cursorDiskKV WHERE key = ?", (key,))
        data = value.encode() if isinstance(value, str) else value
        changed = data.removesuffix(b"}") + b', "note": "' + odd + b'"}'
        database.execute("UPDATE cursorDiskKV SET value = ? WHERE key = ?", (changed, key))
    labels, problems = read_together(tmp_path)
    assert (labels, [problem.kind for problem in problems]) == ({"cursor:c-1"}, ["damaged_value"])


def test_a_summary_in_a_field_that_is_not_known_is_named(tmp_path: Path) -> None:
    summary = {"summary": {"summary": "Said", "truncationLastBubbleIdInclusive": "b1"}}
    value = {**INLINE, "latestConversationsummary": summary, "cachedConversationSummary": summary}
    write_database(tmp_path / GLOBAL, [("composerData:c-inline", as_json(value))])
    labels, [problem] = read_together(tmp_path)
    assert (labels, problem.kind) == ({"cursor:c-inline"}, "unreadable_bubble")
    assert "latestConversationsummary" in problem.reason


def store_of(folder: Path) -> Path:
    build(folder, "command_line")
    return next(folder.rglob("chats/*/*/store.db"))


STORES: dict[str, str] = {
    "root is cut": "UPDATE blobs SET data = substr(data, 1, length(data) - 5) WHERE id = :root",
    "root is changed": "UPDATE blobs SET data = cast('Z' AS blob) || substr(data, 2) WHERE id = :root",
    "root is gone": "DELETE FROM blobs WHERE id = :root",
    "root is NULL": "UPDATE blobs SET data = NULL WHERE id = :root",
    "meta is cut": "UPDATE meta SET value = substr(value, 1, 20)",
    "meta is gone": "DELETE FROM meta",
    "message is cut": "UPDATE blobs SET data = substr(data, 1, 20) WHERE id <> :root",
    "no table of blobs": "ALTER TABLE blobs RENAME TO kept",
    "no table meta": "DROP TABLE meta",
    "other columns": "ALTER TABLE blobs RENAME COLUMN data TO d",
}


@pytest.mark.parametrize("name", STORES)
def test_a_damaged_session_of_the_command_line_is_named(tmp_path: Path, name: str) -> None:
    path = store_of(tmp_path)
    with closing(sqlite3.connect(path)) as database, database:
        [(meta,)] = database.execute("SELECT value FROM meta").fetchall()
        written = meta if meta.startswith("{") else bytes.fromhex(meta).decode()
        root = written.partition('latestRootBlobId":"')[2].partition('"')[0]
        database.execute(STORES[name], {"root": root} if ":root" in STORES[name] else {})
    sources = [source for source in sources_in(tmp_path) if source.path == str(path)]
    assert any(isinstance(piece, Problem) for piece in CursorImporter({}).extract(sources))


LINE = '{"role":"user","message":{"content":[{"type":"text","text":"Ask"}]}}'
TRANSCRIPTS = {
    "a.jsonl": {
        f'{LINE}\n{{"role":"assist': 1, f"{LINE[30:]}\n{LINE}": 1, f"\0\0\0\n{LINE}": 1, "garbage": 0, "": 0,
        f'{LINE}\n{{"role":"someone","message":{{}}}}': 1, f'{LINE}\n{{"role":"assistant","message":7}}': 1,
        f'{LINE}\n{{"role":"assistant","message":{{"content":[{{"type":"tool_us","name":"x"}}]}}}}': 1,
    },
    "a.json": {'[{"role":"user","text":"Ask"},{"role":"as': 1, '[{"role":"user","text":"Ask"},7]': 1, "{": 0, "x": 0},
    "a.txt": {"Ask\n\nassistant:\nSay\n": 1, "garbage": 0, "user:\nAsk \udcff": 1},
}  # fmt: skip


@pytest.mark.parametrize(("name", "content"), [(name, each) for name, cases in TRANSCRIPTS.items() for each in cases])
def test_a_damaged_transcript_is_named_and_read_as_far_as_possible(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / ".cursor/projects/p/agent-transcripts" / name
    path.parent.mkdir(parents=True)
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    labels, problems = read_together(tmp_path)
    assert len(labels) == TRANSCRIPTS[name][content]
    assert {problem.source.path for problem in problems} == {str(path)}


@pytest.mark.parametrize("permissions", ['{"allow":"Shell(ls)"}', '{"deny":{"a":1}}', '{"deny":[5,"Shell(rm)"]}'])
def test_a_rule_that_cannot_be_read_is_named(tmp_path: Path, permissions: str) -> None:
    path = tmp_path / ".cursor/cli.json"
    path.parent.mkdir(parents=True)
    path.write_text(f'{{"permissions":{permissions}}}')
    assert [problem.kind for problem in read_together(tmp_path)[1]] == ["unusable_rule"]


@pytest.mark.long
def test_mutated_databases_lose_nothing_without_a_problem(tmp_path: Path) -> None:
    assert list(run(240, 20_000, tmp_path)) == []


def test_the_comparison_of_mutants_sees_what_is_lost() -> None:
    before, after = Extraction(), Extraction()
    before.rows.update({"messages": 3, "turns": 1})
    after.rows.update({"messages": 2, "turns": 1})
    assert loss(before, after) == "1 messages"
    after.problems["damaged: Pages are damaged."] += 1
    assert loss(before, after) is None


@pytest.mark.parametrize(
    "capability",
    [None, 7, {"type": 15, "data": {"bubb1eDataMap": '{"p1":{"tool":5,"toolCallId":"t","rawArgs":"{}"}}'}}],
)
def test_calls_beside_the_messages_that_cannot_be_read_are_named(tmp_path: Path, capability: object) -> None:
    write_database(tmp_path / GLOBAL, composer("c-1", [prompt("p1", 0, "Ask")], capabilities=[capability]))
    labels, problems = read_together(tmp_path)
    assert labels == {"cursor:c-1"}
    assert any("calls that stand beside the messages" in problem.reason for problem in problems)
