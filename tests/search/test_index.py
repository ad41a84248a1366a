"""The index follows the files of the ledger, and never holds more, or anything else, than these."""

import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import aix.search.index
import aix.store.cache_files
from aix.errors import LedgerDamagedError, SearchUnavailableError
from aix.merge import groups as ledger_groups
from aix.merge.forget import forget
from aix.merge.rewriting import tidy_groups
from aix.merge.selection import Selection
from aix.reading.ledger import open_ledger
from aix.search.index import TextIndex
from aix.search.search import SearchRequest, search
from aix.store.cache_files import make_missing
from aix.store.garbage import collect
from aix.store.manifest import CACHE_FOLDER, read_latest
from tests.merge.test_groups import conversation
from tests.support.command_line import run_aix
from tests.support.conversations import call, message
from tests.support.row_batches import deliver
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

pytestmark = pytest.mark.long

ALL = 1_000_000


@pytest.fixture(autouse=True)
def several_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave small groups apart, so that there are several, and that families are dead where they were."""
    monkeypatch.setattr(ledger_groups, "_TIMES_LARGER", 0)


def say(ledger: Path, name: str, text: str) -> None:
    """Give the ledger a session, or another message of one that it has."""
    rows = {"messages": [message(f"m-{name}-{hash_of(text)}", f"{name}-0", "user", content=text)]}
    deliver(ledger, conversation(name), rows)


def hash_of(text: str) -> str:
    return text.replace(" ", "-")


def found(ledger: Path, text: str) -> list[str]:
    return sorted(hit.turn_id for hit in search(open_ledger(ledger), SearchRequest(text=text), ALL).hits)


def index_files(ledger: Path) -> set[Path]:
    return set((ledger / CACHE_FOLDER).rglob("texts-*.sqlite"))


def written(ledger: Path) -> dict[Path, int]:
    return {path: path.stat().st_ino for path in index_files(ledger)}


def test_an_index_is_made_for_each_group_once(tmp_path: Path) -> None:
    say(tmp_path, "one", "copper kettle")
    say(tmp_path, "two", "copper whistle")
    assert found(tmp_path, "copper") == ["one-0", "two-0"]
    first = written(tmp_path)
    assert len(first) == len(TextIndex.all_of(tmp_path, read_latest(tmp_path))) > 1
    assert found(tmp_path, "kettle") == ["one-0"]
    assert written(tmp_path) == first


def test_after_a_change_only_new_groups_are_indexed_and_dead_rows_are_not_found(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        say(tmp_path, name, f"copper {name}")
    assert len(found(tmp_path, "copper")) == 3
    before = written(tmp_path)
    say(tmp_path, "two", "brass two")
    assert found(tmp_path, "brass") == ["two-0"]
    assert found(tmp_path, "copper") == ["one-0", "three-0", "two-0"]
    [hit] = search(open_ledger(tmp_path), SearchRequest(text="copper two")).hits
    assert hit.texts == 1  # the family's earlier rows are still in a file, and dead
    after = written(tmp_path)
    assert before.items() <= after.items()
    assert len(after) == len(before) + 1


def test_a_reader_of_an_earlier_version_finds_what_that_version_had(tmp_path: Path) -> None:
    say(tmp_path, "one", "copper kettle")
    earlier = open_ledger(tmp_path)
    say(tmp_path, "one", "brass kettle")
    assert found(tmp_path, "kettle") == ["one-0"]
    assert [hit.texts for hit in search(open_ledger(tmp_path), SearchRequest(text="kettle")).hits] == [2]
    assert [hit.texts for hit in search(earlier, SearchRequest(text="kettle")).hits] == [1]


@pytest.mark.parametrize("change", ["other_files", "other_form"])
def test_an_index_of_other_files_or_of_another_form_is_never_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    say(tmp_path, "one", "copper kettle")
    assert found(tmp_path, "copper") == ["one-0"]
    [index] = index_files(tmp_path)
    with sqlite3.connect(index) as database:
        database.execute("update turn set id = 'of an older index'")
    assert found(tmp_path, "copper") == ["of an older index"]  # so far, this is the index that is used
    if change == "other_form":
        monkeypatch.setattr(TextIndex, "form", 10_000)
    else:
        tidy_groups(tmp_path)
        say(tmp_path, "one", "tin kettle")
    assert found(tmp_path, "copper") == ["one-0"]


@pytest.mark.parametrize("damage", ["cut", "empty", "noise", "no_table"])
def test_an_index_that_cannot_be_read_is_made_again(tmp_path: Path, damage: str) -> None:
    say(tmp_path, "one", "copper kettle")
    assert found(tmp_path, "copper") == ["one-0"]
    [index] = index_files(tmp_path)
    content = index.read_bytes()
    if damage == "no_table":
        with sqlite3.connect(index) as database:
            database.execute("drop table item")
    else:
        index.write_bytes({"cut": content[: len(content) // 2], "empty": b"", "noise": os.urandom(9_000)}[damage])
    assert found(tmp_path, "copper") == ["one-0"]
    assert found(tmp_path, "copper") == ["one-0"]


def test_a_row_that_an_index_names_and_no_file_has_is_left_out(tmp_path: Path) -> None:
    say(tmp_path, "one", "copper kettle")
    say(tmp_path, "two", "copper pan")
    assert found(tmp_path, "copper") == ["one-0", "two-0"]
    index = next(path for path in index_files(tmp_path) if b"one-0" in path.read_bytes())
    with sqlite3.connect(index) as database:
        database.execute("update item set row = row + 1000000")
    assert found(tmp_path, "copper") == ["two-0"]


def test_an_index_behind_a_link_is_not_followed(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    say(ledger, "one", "copper kettle")
    assert found(ledger, "copper") == ["one-0"]
    [index] = index_files(ledger)
    target = tmp_path / "elsewhere"
    index.rename(target)
    index.symlink_to(target)
    content = target.read_bytes()
    assert found(ledger, "copper") == ["one-0"]
    assert target.read_bytes() == content


def test_a_cache_behind_a_link_is_neither_read_nor_cleaned(tmp_path: Path) -> None:
    ledger, outside = tmp_path / "ledger", tmp_path / "outside"
    say(ledger, "one", "copper kettle")
    assert found(ledger, "copper") == ["one-0"]
    [index] = index_files(ledger)
    index.parent.rename(outside)
    index.parent.symlink_to(outside)
    (outside / index.name).write_bytes(b"damaged")
    with pytest.raises(LedgerDamagedError, match="it is a link"):
        found(ledger, "copper")
    assert (outside / index.name).read_bytes() == b"damaged"


def test_indexes_are_private_and_leave_nothing_beside_them(tmp_path: Path) -> None:
    say(tmp_path, "one", "copper kettle")
    assert found(tmp_path, "copper") == ["one-0"]
    [index] = index_files(tmp_path)
    assert stat.S_IMODE(index.stat().st_mode) == 0o600
    assert stat.S_IMODE(index.parent.stat().st_mode) == 0o700
    assert not [path.name for path in index.parent.iterdir() if path.name.startswith((".", "etilqs"))]


def test_a_ledger_that_cannot_be_written_is_searched_without_keeping_an_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(tmp_path, "one", "copper kettle")
    monkeypatch.setattr(TextIndex, "make", _refuse)
    assert found(tmp_path, "copper") == ["one-0"]
    assert not index_files(tmp_path)


def _refuse(_: object) -> Iterator[int]:
    raise PermissionError(13, "read-only")
    yield 0


def test_an_sqlite_without_full_text_search_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    say(tmp_path, "one", "copper kettle")
    monkeypatch.setattr(aix.search.index, "_SCHEMA", "create virtual table words using fts9 (text)")
    with pytest.raises(SearchUnavailableError, match="no such module: fts9"):
        found(tmp_path, "copper")


def test_a_ledger_of_an_early_release_is_searched(tmp_path: Path) -> None:
    write_ledger(tmp_path, SAMPLE_ROWS)
    assert found(tmp_path, "calls")
    assert index_files(tmp_path)


def test_forgetting_leaves_no_byte_of_a_session_in_any_index(tmp_path: Path) -> None:
    marker = "zq9zq9zq9"
    say(tmp_path, "keep", "copper kettle")
    say(tmp_path, "gone", f"copper {marker}")
    assert found(tmp_path, marker) == ["gone-0"]
    say(tmp_path, "gone", f"brass {marker}")
    assert found(tmp_path, marker) == ["gone-0"]
    assert any(marker.encode() in path.read_bytes() for path in index_files(tmp_path))
    forget(tmp_path, Selection(labels=["gone"]))
    left = [path for path in tmp_path.rglob("*") if path.is_file() and marker.encode() in path.read_bytes()]
    assert left == []
    assert found(tmp_path, marker) == []
    assert found(tmp_path, "copper") == ["keep-0"]


def test_an_index_is_not_kept_when_its_version_was_forgotten_meanwhile(tmp_path: Path) -> None:
    say(tmp_path, "keep", "copper kettle")
    say(tmp_path, "gone", "copper zq9zq9zq9")
    index = next(each for each in TextIndex.all_of(tmp_path, read_latest(tmp_path)) if index_finds(each, "zq9zq9zq9"))
    index.discard()
    making = index.make()
    next(making)
    forget(tmp_path, Selection(labels=["gone"]))
    with pytest.raises(LedgerDamagedError, match="removed meanwhile"):
        list(making)
    assert not any(b"zq9zq9" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())


def index_finds(index: TextIndex, word: str) -> bool:
    with index.open() as database:
        return bool(index.count(database, [word])[1][0])


def test_vacuum_keeps_indexes_that_are_of_use_and_removes_others(tmp_path: Path) -> None:
    for name in ("one", "two"):
        say(tmp_path, name, f"copper {name}")
    found(tmp_path, "copper")
    version = read_latest(tmp_path)
    outdated = [path.with_name("texts-0123456789abcdef.sqlite") for path in index_files(tmp_path)]
    for path in outdated:
        path.write_bytes(b"of another form")
    kept = {path for path in index_files(tmp_path) if TextIndex.is_of(version, path)}
    collect(tmp_path, 0, TextIndex.is_of)
    assert index_files(tmp_path) == kept
    assert kept


def test_two_threads_that_make_the_same_index_leave_one(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        say(tmp_path, name, f"copper {name}")
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: found(tmp_path, "copper"), range(8)))
    assert answers == [["one-0", "three-0", "two-0"]] * 8
    assert len(index_files(tmp_path)) == len(TextIndex.all_of(tmp_path, read_latest(tmp_path)))


def test_two_processes_search_while_another_imports(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    for number in range(3):
        say(ledger, f"first-{number}", "copper kettle")
    importing = subprocess.Popen([sys.executable, "-m", "tests.support.growing_ledger", str(ledger), "12"])
    answers: list[subprocess.CompletedProcess[str]] = []
    with ThreadPoolExecutor(2) as threads:
        while importing.poll() is None or len(answers) < 4:
            answers += list(
                threads.map(lambda _: run_aix("search", "copper", "--ledger", str(ledger), "--format", "csv"), range(2))
            )
    assert importing.returncode == 0
    assert {(answer.returncode, answer.stdout.count("first-")) for answer in answers} == {
        (0, answers[0].stdout.count("first-"))
    }
    assert [len(found(ledger, f"t-{number}-0")) > 0 for number in range(2)] == [True, True]


def test_workers_make_the_same_indexes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        say(tmp_path, name, f"copper {name}")
    version = read_latest(tmp_path)
    monkeypatch.setattr(aix.store.cache_files, "_LEAST_BYTES_FOR_WORKERS", 0)
    done: list[int] = []
    make_missing(TextIndex.all_of(tmp_path, version), done.append, workers=2)
    assert sum(done) == sum(index.size_bytes for index in TextIndex.all_of(tmp_path, version)) > 0
    assert found(tmp_path, "copper") == ["one-0", "three-0", "two-0"]


def test_texts_of_json_are_the_values_in_it_and_odd_json_is_searched_as_it_is(tmp_path: Path) -> None:
    result = '{"content": [{"type": "text", "text": "line one\\nkettle"}], "structured": {"hidden": "elsewhere"}}'
    calls = [
        call("c-1", "one-0", params_json='{"command": "grep -n copper"}', result_json=result),
        call("c-2", "one-1", params_json="no json brass", result_json='{"stdout": "tin", "depth": {"lead": 7}}'),
        call("c-3", "one-1", params_json="{}", result_json="[" * 5_000, error="zinc", status="failed"),
    ]
    deliver(tmp_path, conversation("one", 2), {"tool_calls": calls})
    answers = {word: found(tmp_path, word) for word in ("copper", "kettle", "brass", "tin", "lead", "7", "zinc")}
    assert [answers[word] for word in ("copper", "kettle")] == [["one-0"]] * 2
    assert [answers[word] for word in ("brass", "tin", "lead", "7", "zinc")] == [["one-1"]] * 5
    assert [found(tmp_path, word) for word in ("command", "elsewhere", "stdout")] == [[], [], []]
