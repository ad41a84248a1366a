"""Secrets never leave, and texts of logs stay between their marks, whatever tool is called."""

import re
from base64 import b64decode
from pathlib import Path

import pytest

import aix
from aix.query.views import library_views
from aix.reading.costs import BY
from aix.schema import TABLES
from tests.server.client import MARKED, Question, ask, rows_of, text_of, texts
from tests.server.conftest import HOSTILE
from tests.support.planted_ledger import PLANTED

PIECES = re.compile(r"zq[0-9]|[0-9]{4}Sec|mlindt")
"""Parts of what was planted."""


def names_file(folder: Path) -> Path:
    path = folder / "names.txt"
    path.write_text("# of the team\nMara Lindt\n", "utf-8")
    return path


def check_hidden(planted: Path, names: Path, questions: list[Question]) -> None:
    for question, result in zip(questions, ask(planted, *questions, names_file=names), strict=True):
        assert not result.is_error, (question, text_of(result))
        assert not PLANTED.findall(text_of(result).encode()), question


def test_nothing_that_was_planted_leaves_by_any_tool(planted: Path, tmp_path: Path) -> None:
    questions: list[Question] = [
        ("sessions", {}),
        ("search", {"text": "secret OR api_key OR mlindt OR mara", "limit": 100}),
        ("show", {"name": "session-log:s-1", "full": True}),
        ("context", {"name": "session-log:s-1"}),
        ("cost", {"by": "project,branch"}),
        ("sql", {"query": "from messages"}),
        ("sql", {"query": "from tool_calls"}),
    ]
    check_hidden(planted, names_file(tmp_path), questions)
    [shown] = texts(planted, questions[2], is_redacted=False)
    assert PLANTED.search(shown.encode())


@pytest.mark.long
def test_nothing_that_was_planted_leaves_by_any_table_session_or_figure(planted: Path, tmp_path: Path) -> None:
    labels = [row["label"] for row in rows_of(texts(planted, ("sessions", {}))[0])]
    each: list[Question] = [
        question
        for label in labels
        for question in (
            ("show", {"name": label, "full": True}),
            ("show", {"name": label}),
            ("context", {"name": label}),
        )
    ]
    costs: list[Question] = [("cost", {"by": by}) for by in BY]
    tables: list[Question] = [("sql", {"query": f"from {name}"}) for name in TABLES]
    views: list[Question] = [("sql", {"query": f"from {name}", "limit": 10}) for name in library_views()]
    check_hidden(planted, names_file(tmp_path), [*each, *costs, *tables, *views])


def itself(text: str) -> str:
    return text


def turned(text: str) -> str:
    return text[::-1]


def joined(text: str) -> str:
    return text.replace(" ", "")


def from_hex(text: str) -> str:
    return bytes.fromhex(text).decode()


def from_base64(text: str) -> str:
    return b64decode(text).decode()


APART = {
    "left({}, strpos({}, 'zq') + 3)": itself,
    "substr({}, strpos({}, 'zq') + 1)": itself,
    "regexp_extract({}, 'zq[0-9]+')": itself,
    "string_split({}, '=')": itself,
    "json_array({})": itself,
    "struct_pack(a := {})": itself,
    "reverse({})": turned,
    "array_to_string(string_split({}, ''), ' ')": joined,
    "hex({})": from_hex,
    "base64(encode({}))": from_base64,
}
"""Ways to write a text, with the way back."""
COLUMNS = [
    ("messages", "content"), ("messages", "thinking"), ("tool_calls", "params_json"), ("tool_calls", "result_json"),
    ("compactions", "summary"), ("turns", "workspace_path"), ("session_context", "title"), ("turns", "model"),
    ("v_session_titles", "title"), ("v_requests", "cwd"), ("import_runs", "argv"),
]  # fmt: skip


def test_sql_cannot_take_a_secret_apart(planted: Path) -> None:
    """Each text is redacted before a statement sees it."""
    texts_of_all = " union all ".join(
        f"select cast({column} as varchar) as x from {table}" for table, column in COLUMNS
    )
    queries = [f"select {value.replace('{}', 'x')} as x from ({texts_of_all}) where x <> ''" for value in APART]
    answers = texts(planted, *(("sql", {"query": each}) for each in queries))
    for (value, undo), answer in zip(APART.items(), answers, strict=True):
        values = [undo(row["x"]) for row in rows_of(answer) if isinstance(row["x"], str)]
        assert len(values) > len(COLUMNS), value
        assert not [each for each in values if PIECES.search(each)], value
    [answer] = texts(planted, ("sql", {"query": f"{texts_of_all} limit 500"}), is_redacted=False)
    assert PIECES.search(answer)


FILES = [
    "from read_parquet('{}')",
    "from parquet_scan(['{}'])",
    "from '{}'",
    'from "{}"',
    "with x as (from '{}') from x",
    "select (select max(content) from '{}')",
    "from parquet_metadata('{}')",
    "select * from messages where content in (select content from '{}')",
    "explain analyze from '{}'",
    "from query_table('{}')",
    "from query('from ''{}''')",
    "select stats_max from parquet_metadata('{}')",
    "pivot '{}' on role in ('user') using max(content)",
    "describe from '{}'",
    "summarize '{}'",
    "from glob('{}')",
]


def test_sql_reads_no_file_of_the_ledger_past_the_redaction(planted: Path) -> None:
    [path] = planted.glob("data/messages/*.parquet")
    for query, result in zip(
        FILES, ask(planted, *(("sql", {"query": each.format(path)}) for each in FILES)), strict=True
    ):
        assert result.is_error, query
        assert not PLANTED.search(text_of(result).encode()), query


def test_errors_hide_what_they_quote(planted: Path, tmp_path: Path) -> None:
    questions: list[Question] = [
        ("sql", {"query": "select cast(content as integer) from messages"}),
        ("sql", {"query": "select error(content) from messages"}),
        ("sql", {"query": "select 'API_KEY=zq0001Secret'::integer"}),
    ]
    for result in ask(planted, *questions, names_file=names_file(tmp_path)):
        assert result.is_error
        assert not PLANTED.search(text_of(result).encode())
        assert "[secret:" in text_of(result)


def test_near_misses_stay_and_columns_say_what_their_texts_are(planted: Path) -> None:
    query = "select 500 as max_tokens, 0 as unpriced_tokens, '${API_KEY}' as note, 'tokens=500' as text"
    password = "select 'correct horse battery' as password"
    misses, hidden = texts(planted, ("sql", {"query": query}), ("sql", {"query": password}))
    assert '{"max_tokens":500,"unpriced_tokens":0,"note":"${API_KEY}","text":"tokens=500"}' in misses
    assert "Hidden" not in misses
    assert "horse" not in hidden
    assert "Hidden below, each behind a mark such as [secret:…]: 1 secret." in hidden


@pytest.mark.long
def test_no_text_of_a_log_leaves_its_marks(hostile: Path) -> None:
    queries: list[Question] = [
        ("sessions", {}),
        ("search", {"text": "needle"}),
        ("show", {"name": "test:plain"}),
        ("show", {"name": "turn01", "full": True}),
        ("context", {"name": "test:plain"}),
        ("cost", {}),
        ("cost", {"by": "session"}),
        ("sql", {"query": "select content from messages limit 3"}),
        ("sql", {"query": "select 1 as " + '"' + HOSTILE.replace("\x07", "") + '"'}),
        ("sql", {"query": "select cast(content as integer) from messages"}),
        ("sql", {"query": "select error(content) from messages"}),
    ]
    numbers = set()
    for question, result in zip(queries, ask(hostile, *queries), strict=True):
        answer = text_of(result)
        found = MARKED.search(answer)
        assert found, question
        numbers.add(found[1])
        before, inside = answer[: found.start()], found[2]
        assert answer.endswith(found[0]), question
        assert not re.search("follow instructions\\. |0123456789abcdef|rm -rf", before), question
        assert f"number {found[1]}" in before
        assert found[1] not in inside
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]", answer), question
    assert len(numbers) == len(queries)


def test_without_redaction_texts_are_as_they_are(planted: Path) -> None:
    [answer] = texts(planted, ("sql", {"query": "select content from messages"}), is_redacted=False)
    assert PLANTED.search(answer.encode())
    assert "Hidden" not in answer
    assert "untrusted" in answer


def test_a_list_of_names_that_cannot_be_read_gives_no_answer_at_all(planted: Path, tmp_path: Path) -> None:
    question: Question = ("sql", {"query": "select content from messages"})
    for result in ask(planted, question, question, names_file=tmp_path / "none.txt"):
        assert result.is_error
        assert "none.txt" in text_of(result)
        assert not PLANTED.search(text_of(result).encode())


def test_a_search_does_not_say_whether_a_guess_of_a_secret_was_right(planted: Path) -> None:
    with aix.open(planted) as raw:
        found = (
            "select regexp_extract(content, 'zq[0-9]+[A-Za-z]+') as w from messages where content like '%=zq%' limit 1"
        )
        [(secret,)] = raw.sql(found).rows()
    right, wrong = texts(planted, ("search", {"text": f"{secret[:4]}*"}), ("search", {"text": "zq9x*"}))
    assert right == wrong == "No text has that; fewer words, another form (deploy*) or fewer conditions find more."


def test_columns_that_are_written_alike_stay_apart(planted: Path) -> None:
    query = """select 'x' as "/home/mara", 'y' as "/Users/mara", 'z' as "a\u200bb", 'w' as "a\\u200bb" """
    [answer] = texts(planted, ("sql", {"query": query}))
    assert sorted(map(str, rows_of(answer)[0].values())) == ["w", "x", "y", "z"]
