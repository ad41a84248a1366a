"""Bytes that are no proper export: what is read of them, and what is said about the rest."""

import gzip
import json
from pathlib import Path

import pytest

from aix.importing import Problem, Source
from aix_importers.chat import reading
from aix_importers.chat.reading import read_records
from aix_importers.chat.records import Agent
from tests.importers.chat.exports import all_records, chat, extract_sources, rows, write_document, write_lines

EXPORT = chat()
WHOLE = [record["_id"] for _, record in all_records(EXPORT)]


def read(path: Path) -> tuple[list[object], list[str]]:
    """Return the ids of the records of a file, and the kinds of its problems."""
    found = list(read_records(Source(str(path))))
    ids = [each.record.value.get("_id") for each in found if not isinstance(each, Problem)]
    return ids, [each.kind for each in found if isinstance(each, Problem)]


@pytest.mark.parametrize("form", ["document", "pretty", "array", "lines", "spread"])
def test_every_form_gives_all_records(tmp_path: Path, form: str) -> None:
    records = [record for _, record in all_records(EXPORT)]
    texts = {
        "document": json.dumps(EXPORT),
        "pretty": json.dumps(EXPORT, indent=2),
        "array": json.dumps(records),
        "lines": "".join(f"{json.dumps(record)}\n" for record in records),
        "spread": "\n".join(json.dumps(record, indent=2) for record in records),
    }
    path = tmp_path / "export.json"
    path.write_text(texts[form], "utf-8")
    assert read(path) == (WHOLE, [])


@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_cut_anywhere_gives_its_whole_records(tmp_path: Path, indent: int | None) -> None:
    text = json.dumps(EXPORT, indent=indent)
    path = tmp_path / "export.json"
    for end in range(len('{"users": [{"_id"'), len(text), 37):
        path.write_text(text[:end], "utf-8")
        ids, problems = read(path)
        assert ids == WHOLE[: len(ids)]
        assert problems == ["truncated_line"]
    assert len(ids) >= len(WHOLE) - 1


def test_a_broken_record_takes_no_other_with_it(tmp_path: Path) -> None:
    text = json.dumps(EXPORT, indent=1)
    path = tmp_path / "export.json"
    for number, name in enumerate(WHOLE):
        where = text.index(f'"_id": "{name}"')
        path.write_text(text[:where] + text[where + 2 :], "utf-8")  # a text that never ends
        ids, problems = read(path)
        assert set(ids) >= {*WHOLE[:number], *WHOLE[number + 2 :]}, name
        assert problems == ["not_json"], name


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (b"\xff", ["invalid_utf8"]),
        (b"\\ud800", ["lone_surrogate"]),
        (b"\x00", []),
    ],
)
def test_odd_bytes_in_a_document(tmp_path: Path, damage: bytes, expected: list[str]) -> None:
    data = json.dumps(EXPORT).encode().replace(b"one says 0", b"one " + damage)
    path = tmp_path / "export.json"
    path.write_bytes(data)
    assert read(path) == (WHOLE, expected)


@pytest.mark.long
def test_many_openings_without_an_end_are_given_up(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text('{"messages": [' + '{"a":' * 20_000, "utf-8")
    assert read(path) == ([], ["not_json"])
    path.write_text('{"messages": [' + '{"_id": "x", "a": "' * 2_000, "utf-8")
    assert read(path) == ([], ["truncated_line"])


def test_a_record_that_is_nested_too_deeply_is_a_problem(tmp_path: Path) -> None:
    deep: object = 1
    for _ in range(900):
        deep = {"a": deep}
    messages = [{**EXPORT["messages"][0], "meta": deep}, EXPORT["messages"][1]]
    path = write_lines(tmp_path / "messages.jsonl", messages)
    statements, problems = extract_sources([Source(str(path))])
    assert "too_deep" in {problem.kind for problem in problems}
    assert [row["content"] for row in rows(statements, "messages")] == ["ann says 0", "one says 0"]


@pytest.mark.parametrize(
    ("is_public", "is_private", "expected"),
    [
        (None, None, "public"),
        (True, None, "public"),
        (None, True, "private"),
        (False, None, "private"),
        (False, False, "public"),
        (True, True, "public and private"),
    ],
)
def test_an_agent_is_public_unless_it_is_marked(
    is_public: bool | None,  # noqa: FBT001
    is_private: bool | None,  # noqa: FBT001
    expected: str,
) -> None:
    assert Agent(is_public=is_public, is_private=is_private).visibility == expected


def test_a_form_that_is_not_read_is_one_problem(tmp_path: Path) -> None:
    path = tmp_path / "messages.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(EXPORT["messages"][0]).encode()))
    [problem] = read_records(Source(str(path)))
    assert isinstance(problem, Problem)
    assert (problem.kind, problem.is_of_whole_source) == ("unread_form", True)


def test_a_document_has_a_limit_and_lines_have_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_DOCUMENT_BYTES", 100)
    [problem] = read_records(Source(str(write_document(tmp_path / "export.json", EXPORT))))
    assert isinstance(problem, Problem)
    assert problem.kind == "file_too_long"
    assert len(read(write_lines(tmp_path / "messages.jsonl", EXPORT["messages"]))[0]) == len(EXPORT["messages"])


def test_a_problem_names_the_line_of_its_record_and_shows_nothing_of_it(tmp_path: Path) -> None:
    export = {"users": [{"_id": "ann", "name": "Änn"}, {"_id": "ben", "name": 7, "apiKey": "not-a-real-key"}]}
    path = tmp_path / "export.json"
    path.write_text(json.dumps(export, indent=1, ensure_ascii=False), "utf-8")
    _, problems = extract_sources([Source(str(path))])
    place = path.read_bytes().index(b'{\n   "_id": "ben"')
    assert [(each.kind, each.line, each.byte_offset, each.sample) for each in problems] == [
        ("credential", 7, place, None),
        ("wrong_type", 7, place, None),
    ]
