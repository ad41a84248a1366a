"""Bytes that are no proper JSON lines: what is taken of them, and what is said about the rest."""

import json
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix.importing import Problem, Source
from aix_importers.common import jsonl as lines
from aix_importers.common.json_records import Record, RecordReader
from aix_importers.common.jsonl import raw_lines
from tests.importers.session_log.logs import entry, extract_source, kinds, write_log

SOURCE = Source("/logs/a.jsonl")


def read(path: Path, data: bytes) -> tuple[list[object], list[tuple[str, int | None, int | None]]]:
    """Return the objects in a file, and kind, line and byte offset of the problems."""
    path = path / "log.jsonl"
    path.write_bytes(data)
    with path.open("rb") as file:
        found = list(RecordReader(SOURCE, file))
    values: list[object] = [each.value for each in found if isinstance(each, Record)]
    return values, [(each.kind, each.line, each.byte_offset) for each in found if isinstance(each, Problem)]


@pytest.mark.parametrize(
    ("data", "values", "problems"),
    [
        (b"", [], []),
        (b'{"a":1}', [{"a": 1}], []),
        (b'\n \r\n\t\n{"a":1}\r\n', [{"a": 1}], []),
        (b'\xef\xbb\xbf{"a":1}\n{"b":2}\n', [{"a": 1}, {"b": 2}], []),
        (b'\xef\xbb\xbf{"a":1}{"b":2}\n', [{"a": 1}, {"b": 2}], [("several_values", 1, 0)]),
        (b'{"a":1}\n{"b":', [{"a": 1}], [("truncated_line", 2, 8)]),
        (b'{"a":1}{"b":2}{"c":\n', [{"a": 1}, {"b": 2}], [("not_json", 1, 0), ("several_values", 1, 0)]),
        (b'{"a":1} {"b":2}\n', [{"a": 1}, {"b": 2}], [("several_values", 1, 0)]),
        (b'{"a":"x{"b":2}\n{"c":3}\n', [{"b": 2}, {"c": 3}], [("not_json", 1, 0)]),
        (b'{"a":{"b":2},"c\n{"d":3}\n', [{"d": 3}], [("not_json", 1, 0)]),
        (b'{"a":{"b":2}', [], [("truncated_line", 1, 0)]),
        (b"\0\0\0\n", [], [("nul_bytes", 1, 0)]),
        (b'\0\0{"a":1}\0\n', [{"a": 1}], [("nul_bytes", 1, 0)]),
        (b'{"a":"\xff"}\n', [{"a": "\ufffd"}], [("invalid_utf8", 1, 0)]),
        (b'{"a":"\\ud800\\ud83d\\ude00"}\n', [{"a": "\ufffd😀"}], [("lone_surrogate", 1, 0)]),
        (b'{"a":"tab\there"}\n', [{"a": "tab\there"}], []),
        (b"[1]\nnull\n7\n", [], [("not_an_object", 1, 0), ("not_an_object", 2, 4), ("not_an_object", 3, 9)]),
        (b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b'}\n{"b":2}\n', [{"b": 2}], [("too_deep", 1, 0)]),
        (b'{"a":' + b"[" * 200_000 + b'\n{"b":2}\n', [{"b": 2}], [("too_deep", 1, 0)]),
        (b'{"a":1e999,"b":NaN,"c":' + b"9" * 5_000 + b"}\n", [{"a": "1e999", "b": "NaN", "c": "9" * 5_000}], []),
    ],
)
def test_whatever_can_be_read_of_a_line_is_read(
    tmp_path: Path, data: bytes, values: list[object], problems: list[object]
) -> None:
    assert read(tmp_path, data) == (values, problems)


def test_what_is_written_while_a_log_is_read_waits_for_the_next_time(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"one\ntwo")
    with path.open("rb") as file:
        found = raw_lines(file)
        first = next(found)
        with path.open("ab") as writer:
            writer.write(b"more\nthree\n")
        rest = list(found)
    assert [first.data, *(line.data for line in rest)] == [b"one", b"two"]
    assert not rest[-1].is_terminated


def test_a_log_that_shrinks_while_it_is_read_ends_where_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"x" * 9 + b"\n" + b"y" * 200_000)
    with path.open("rb") as file:
        found = raw_lines(file)
        next(found)
        os.truncate(path, 5)
        assert sum(len(line.data) for line in found) <= 200_000


def test_a_log_that_is_shorter_than_where_reading_begins_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"one\n")
    with path.open("rb") as file:
        assert list(raw_lines(file, 6)) == []


def test_who_wants_one_line_of_a_log_does_not_read_much_of_it(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"x" * 99 + b"\n" + (b"y" * 99 + b"\n") * 100_000)
    with path.open("rb", buffering=0) as file:
        assert next(raw_lines(file, 100)).data == b"y" * 99
        assert file.tell() < 100_000


@given(
    data=st.lists(st.sampled_from([b"", b"a", b"bc" * 9, b"\r", b"d" * 40]), max_size=12).map(b"\n".join),
    start=st.integers(0, 60),
)
def test_lines_are_those_between_line_feeds(tmp_path_factory: pytest.TempPathFactory, data: bytes, start: int) -> None:
    path = tmp_path_factory.mktemp("lines") / "log"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch, path.open("rb") as file:
        patch.setattr(lines, "PIECE_BYTES", 8)
        found = list(raw_lines(file, start))
    assert b"".join(line.data + b"\n" * line.is_terminated for line in found) == data[start:]
    assert [line.byte_offset for line in found] == [
        start + sum(len(each.data) + 1 for each in found[:number]) for number in range(len(found))
    ]
    assert not any(b"\n" in line.data for line in found)


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "PIECE_BYTES", 16)
    monkeypatch.setattr(lines, "LONGEST_BYTES", 64)
    data = b'{"a":1}\n{"b":"' + b"x" * 100 + b'"}\n{"c":"' + b"y" * 40 + b'"}\n'
    assert read(tmp_path, data) == ([{"a": 1}, {"c": "y" * 40}], [("line_too_long", 2, 8)])


@pytest.mark.long
def test_a_line_of_50_megabytes_is_read_in_a_few_times_as_much_memory(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [entry("u", message={"content": "x" * 50_000_000}), entry("v", second=1)])
    tracemalloc.start()
    statements, problems = extract_source(log)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    [tables] = statements.values()
    assert (len(tables["messages"]), problems) == (2, [])
    assert peak < 400_000_000


def test_a_hopeless_line_is_given_up_after_bounded_effort(tmp_path: Path) -> None:
    values, problems = read(tmp_path, b'{"a":{' * 100_000 + b"\n" + b'{"b":2}\n')
    assert (values, len(problems)) == ([{"b": 2}], 1)


def test_an_entry_that_is_nested_deeply_is_kept(tmp_path: Path) -> None:
    deep: object = "end"
    for _ in range(300):
        deep = [deep]
    log = write_log(tmp_path / "log.jsonl", [entry("u", deep=deep)])
    statements, problems = extract_source(log)
    [tables] = statements.values()
    assert json.loads(tables["messages"][0]["metadata_json"])["deep"] == deep
    assert not problems


def test_a_problem_says_where_it_is_and_shows_its_beginning(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(json.dumps(entry("u")).encode() + b"\nnot json\n")
    _, [problem] = extract_source(log)
    assert (problem.kind, problem.line, problem.sample) == ("not_json", 2, "not json")
    assert problem.reason == "From character 1 on the line is not JSON; it was skipped."
    assert problem.source.path == str(log)


def test_a_log_without_any_time_gives_problems_only(tmp_path: Path) -> None:
    without = {name: value for name, value in entry("u").items() if name != "timestamp"}
    log = write_log(tmp_path / "log.jsonl", [without, {**without, "uuid": "v"}])
    statements, problems = extract_source(log)
    assert (statements, kinds(problems)) == ({}, ["no_time", "no_time"])


def test_a_number_of_seconds_is_no_usable_timestamp(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [entry("u"), {**entry("v"), "timestamp": 1767607205}])
    statements, problems = extract_source(log)
    [tables] = statements.values()
    first, second = tables["messages"]
    assert (first["created_at"], kinds(problems)) == (second["created_at"], ["no_timestamp"])
