"""Search expressions mean what FTS5 is asked, and what is looked for in a text."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix.errors import SearchTextError
from aix.search.expression import Either, Every, Expression, Term, holds, read_expression, spans_in, terms_of
from aix.search.snippets import snippet
from aix.search.words import TOKENIZER, spaced, words_of

TERMS = {
    "token bucket": ["token", "bucket"],
    '"token bucket" leak': ["token bucket", "leak"],
    '"never closed': ["never closed"],
    "buck*": ["buck*"],
    '"token buck"*': ["token buck*"],
    "retry OR backoff": ["retry", "backoff"],
    "(retry OR backoff) http": ["retry", "backoff", "http"],
    "main() fails": ["main()", "fails"],
    "f(a, b)": ["f(a,", "b"],
    "retry NOT http": ["retry"],
    "retry NOT (http OR dns)": ["retry"],
    "AND retry AND": ["retry"],
    "OR": None,
    "-> retry ***": ["retry"],
    "snake_case /srv/app/main.py": ["snake_case", "/srv/app/main.py"],
    "and or not": ["and", "or", "not"],
    "retry) http (": ["retry", "http"],
    "NOT NOT retry": ["retry"],
    f"{'(' * 1000}retry{')' * 1000} http": ["retry", "http"],
    "retry ) " * 100: ["retry"] * 100,
    "検索 エンジン": ["検索", "エンジン"],
}


@pytest.mark.parametrize("text", list(TERMS))
def test_a_text_is_read_as_its_terms(text: str) -> None:
    expected = TERMS[text]
    if expected is None:
        with pytest.raises(SearchTextError, match="no word besides AND"):
            read_expression(text)
        return
    found = [f"{term.text}{'*' if term.is_prefix else ''}" for term in terms_of(read_expression(text))]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no letter"),
        ("-> ((", "no letter"),
        ("AND", "no word besides AND"),
        ("NOT retry", "NOT leaves texts out"),
        ("http OR (NOT retry)", "NOT leaves texts out"),
        ("\udc80", "not UTF-8"),
        (" ".join(f"w{number}" for number in range(201)), "more than 200 words"),
    ],
    ids=["empty", "signs", "only_and", "only_not", "not_alone_in_or", "no_utf8", "too_many"],
)
def test_what_cannot_be_searched_for_is_refused_with_a_reason(text: str, problem: str) -> None:
    with pytest.raises(SearchTextError, match=problem):
        read_expression(text)


def test_or_joins_less_closely_than_words_side_by_side() -> None:
    a, b, c = Term("a"), Term("b"), Term("c")
    assert read_expression("a b OR c") == Either((Every((a, b)), c))
    assert read_expression("a (b OR c)") == Every((a, Either((b, c))))
    assert read_expression("a b NOT c") == Every((a, b), (c,))


WORDS = ["retry", "Retry", "re", "max_tokens", "tokens", "a.b", "é", "e\u0301", "e", "ß", "検索", "索", "x2", "🙂", "٣"]
WORDS += [
    "한국",
    "호가",
    "мой",
    "мои",
    "ｘ",
    "x",
    "x²",
    "conﬁg",
    "config",
    "が",
    "か",
    "\ue0b0main",
    "retry🙂",
    "✅",
    "main",
    "\x1b[31m",
    "①",
]
TEXTS = st.lists(st.sampled_from([*WORDS, " ", "\n", "_", "-", "(", '"', "*", "\0"]), max_size=12).map("".join)
SIMPLE = st.builds(Term, st.sampled_from([*WORDS, "max tokens", "retry max", "索e"]), st.booleans()).filter(
    lambda term: bool(words_of(term.text))
)
EXPRESSIONS = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(
            Every,
            st.lists(inner, min_size=1, max_size=3).map(tuple),
            st.lists(inner, max_size=2).map(tuple),
        ),
        st.lists(inner, min_size=1, max_size=3).map(tuple).map(Either),
    ),
    max_leaves=6,
)


@given(TEXTS, EXPRESSIONS)
def test_a_text_holds_what_fts5_finds_in_it(text: str, expression: Expression) -> None:
    with sqlite3.connect(":memory:") as database:
        database.execute(f'create virtual table words using fts5 (text, tokenize = "{TOKENIZER}")')
        database.execute("insert into words values (?)", (spaced(text),))
        [(count,)] = database.execute("select count(*) from words where words match ?", (expression.match,)).fetchall()
    assert holds(expression, text) == bool(count)


@given(st.text(max_size=60), st.text(max_size=200))
def test_any_text_can_be_searched_for_or_is_refused(text: str, other: str) -> None:
    try:
        expression = read_expression(text)
    except SearchTextError:
        return
    with sqlite3.connect(":memory:") as database:
        database.execute(f'create virtual table words using fts5 (text, tokenize = "{TOKENIZER}")')
        database.execute("select * from words where words match ?", (expression.match,)).fetchall()
    terms = list(terms_of(expression))
    assert snippet(other, terms).text is not None
    assert all(begin < end for begin, end in spans_in(other, terms))


@pytest.mark.parametrize("text", ["(a OR (b " * 60, "((a b) OR c) " * 60, "a NOT (" * 60, "(a " * 60 + ")" * 60])
def test_deep_expressions_are_within_the_limits_of_fts5(text: str) -> None:
    with sqlite3.connect(":memory:") as database:
        database.execute("create virtual table words using fts5 (text)")
        database.execute("select * from words where words match ?", (read_expression(text).match,)).fetchall()


def test_a_snippet_shows_the_stretch_with_most_of_the_words_on_one_line() -> None:
    text = "the token\n" + "filler " * 200 + "a token\n\n  bucket leaks here " + "more " * 200
    terms = [Term("token"), Term("bucket")]
    found = snippet(text, terms)
    assert "a token bucket leaks here" in found.text
    assert found.text.startswith("…")
    assert found.text.endswith("…")
    assert found.text[found.start :].startswith("token bucket")
    assert found.from_word(3).startswith("…a token bucket")


def test_a_snippet_of_a_text_whose_words_were_hidden_is_its_beginning() -> None:
    assert snippet("[secret:1234567890] was here", [Term("hunter2")]).text == "[secret:1234567890] was here"
