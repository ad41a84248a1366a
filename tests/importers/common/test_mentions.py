"""Mentions in texts, as Python and as the query library find them."""

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aix.query.views import library_views
from aix_importers.common.mentions import parse_mentions, render_mention

GOLDEN = {
    "no mention here": [],
    "@[Ann](user:u-1) and @[Bo](agent:b)": [("Ann", "user", "u-1", 0, 16), ("Bo", "agent", "b", 21, 35)],
    # The name: escapes, one level of brackets, markup, marks that mean something elsewhere.
    r"@[Ann \[QA\]](user:a)": [("Ann [QA]", "user", "a", 0, 21)],
    "@[Ann [QA] x](user:a)": [("Ann [QA] x", "user", "a", 0, 21)],
    "@[**Ann** ![i](p.png)](user:a)": [("**Ann** ![i](p.png)", "user", "a", 0, 30)],
    "@[Ann `x` ~~~](user:a)": [("Ann `x` ~~~", "user", "a", 0, 22)],
    "@[a\\\nb](user:a)": [("a\nb", "user", "a", 0, 15)],
    "@[a [b [c]]](user:a)": [],
    "@[a]b](user:a)": [],
    "@[a\nb](user:a)": [],
    "@[](user:a)": [],
    "@@[Ann](user:a)": [("Ann", "user", "a", 1, 15)],
    "@[x @[Ann](user:a)": [("Ann", "user", "a", 4, 18)],
    # The id.
    r"@[Ann](user:a\(1\))": [("Ann", "user", "a(1)", 0, 19)],
    r"@[Ann](user:a\\)": [("Ann", "user", "a\\", 0, 16)],
    "@[Ann](user:a b:c)": [("Ann", "user", "a b:c", 0, 18)],
    "@[Ann](user:)": [],
    "@[Ann](user)": [],
    "@[Ann](user:a": [],
    "@[Ann] (user:a)": [],
    "@[Ann](1st:a)": [],
    "@[docs](https://example.org)": [],
    r"@[Ann](path:\//a)": [("Ann", "path", "//a", 0, 17)],
    # What takes their meaning away: escapes, code on a line, fenced blocks.
    r"\@[Ann](user:a)": [],
    r"\\@[Ann](user:a)": [("Ann", "user", "a", 2, 16)],
    r"@\[Ann](user:a)": [],
    "`@[Ann](user:a)` @[Bo](user:b)": [("Bo", "user", "b", 17, 30)],
    "`` ` @[Ann](user:a) `` @[Bo](user:b)": [("Bo", "user", "b", 23, 36)],
    "`x\n@[Bo](user:b)` `": [("Bo", "user", "b", 3, 16)],
    r"\`@[Bo](user:b)`": [("Bo", "user", "b", 2, 15)],
    "``` @[Bo](user:b)": [],
    "x ``` @[Bo](user:b)": [("Bo", "user", "b", 6, 19)],
    "```py\n@[Ann](user:a)\n```\n@[Bo](user:b)": [("Bo", "user", "b", 25, 38)],
    "```\n@[Ann](user:a)": [],
    "````\n```\n@[Ann](user:a)\n```\n````\n@[Bo](user:b)": [("Bo", "user", "b", 33, 46)],
    "~~~\n```\n@[Ann](user:a)\n~~~\n@[Bo](user:b)": [("Bo", "user", "b", 27, 40)],
    "```\r\n@[Ann](user:a)\r\n```\r\n@[Bo](user:b)": [("Bo", "user", "b", 26, 39)],
    "- ```\n  @[Ann](user:a)\n  ```\n@[Bo](user:b)": [("Bo", "user", "b", 29, 42)],
    "> ```\n> @[Ann](user:a)\n> ```\n@[Bo](user:b)": [("Bo", "user", "b", 29, 42)],
    "```\nx\n``` y\n@[Ann](user:a)": [],
    # Places are counted in characters, not in bytes.
    "é😀\u2028@[Ænn😀](user:ü)": [("Ænn😀", "user", "ü", 3, 18)],
}
FRAGMENTS = st.sampled_from(
    (
        *(
            "@[",
            "](",
            "user:",
            "@[A](user:a)",
            "@[B](agent:b)",
            "[",
            "]",
            "(",
            ")",
            "\\",
            "@",
            "a",
            "b ",
            "é",
            "😀",
            "//",
        ),
        *("`", "``", "```", "````", "~~~", "\n", "\r\n", "\n\n", "> ", "- ", "1. ", "\t", "\u2028", "\x85", "\x00"),
    )
)
TEXTS = st.lists(FRAGMENTS, max_size=30).map("".join)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


def parsed(text: str) -> list[tuple[object, ...]]:
    return [(each.name, each.kind, each.target_id, each.start_char, each.end_char) for each in parse_mentions(text)]


def found_by_sql(texts: list[str]) -> list[list[tuple[object, ...]]]:
    """Return the mentions that the query library finds in each text, with one query."""
    rows = pa.table({"id": [str(place) for place in range(len(texts))], "content": texts})
    with duckdb.connect() as connection:
        connection.register("messages", rows)
        found = connection.execute(f"select * from ({library_views()['v_mentions'].sql}) order by 1, idx").fetchall()
    by_text: list[list[tuple[object, ...]]] = [[] for _ in texts]
    for message, idx, *mention in found:
        assert idx == len(by_text[int(message)])
        by_text[int(message)].append(tuple(mention))
    return by_text


@pytest.mark.parametrize("text", GOLDEN)
def test_mentions_are_read_as_markdown_would_have_it(text: str) -> None:
    assert parsed(text) == GOLDEN[text]


def test_the_query_library_finds_the_same() -> None:
    assert dict(zip(GOLDEN, found_by_sql(list(GOLDEN)), strict=True)) == GOLDEN


@settings(max_examples=4)
@given(st.lists(TEXTS, min_size=80, max_size=120))
def test_sql_and_python_agree_on_any_text(texts: list[str]) -> None:
    assert found_by_sql(texts) == list(map(parsed, texts))


@given(NAMES, st.sampled_from(["user", "agent", "x-1"]), NAMES, TEXTS.filter(lambda text: "@[" not in text))
def test_parsing_inverts_rendering(name: str, kind: str, target_id: str, behind: str) -> None:
    mention = render_mention(name, kind, target_id)
    assert parsed(f"{mention}{behind}") == [(name, kind, target_id, 0, len(mention))]
    assert parsed(f"To {mention}, {mention}") == [
        (name, kind, target_id, start, start + len(mention)) for start in (3, 5 + len(mention))
    ]


@pytest.mark.parametrize("parts", [("", "user", "a"), ("A", "user", ""), ("A", "a b", "a"), ("A", "", "a")])
def test_what_no_mention_can_say_is_not_rendered(parts: tuple[str, str, str]) -> None:
    with pytest.raises(ValueError, match="a mention has a name"):
        render_mention(*parts)


@pytest.mark.parametrize(("name", "target_id"), [("[", "x"), ("x", "(")])
def test_a_mention_with_too_many_escapes_is_refused(name: str, target_id: str) -> None:
    def rendered(length: int) -> str:
        return render_mention(name * (length if name == "[" else 1), "user", target_id * (length if name == "x" else 1))

    assert [each[4] for each in parsed(rendered(200))] == [len(rendered(200))]
    assert found_by_sql([rendered(200)]) == [parsed(rendered(200))]
    with pytest.raises(ValueError, match="more than 200"):
        rendered(201)
