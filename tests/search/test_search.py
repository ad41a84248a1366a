"""A search finds what a scan of all texts finds, narrowed down as it was asked for."""

import json
import random
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from aix.reading.ledger import Ledger, open_ledger
from aix.search.search import ORDERS, Hit, SearchRequest, search
from aix.search.texts import KINDS, TextKind

ALL = 1_000_000
QUERIES = 200


def words(text: str) -> list[str]:
    """The words of a text, by another way than the index goes."""
    plain = "".join(each for each in unicodedata.normalize("NFKD", text) if not unicodedata.combining(each))
    return re.findall(r"[^\W_]+", plain.lower())


def leaves(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


def text_of(text: str, *, is_result: bool = False) -> str:
    value = json.loads(text)
    if is_result and isinstance(value, dict) and value.get("content") is not None:
        value = value["content"]
        if isinstance(value, list) and all("type" in block for block in value):
            return "\n".join(block["text"] for block in value if block["type"] == "text")
    inner = list(value.values()) if isinstance(value, dict) else value
    return "\n".join(leaves(inner))


Texts = list[tuple[str, TextKind, list[str]]]


@pytest.fixture(scope="module")
def opened(library: Path) -> Ledger:
    return open_ledger(library)


@pytest.fixture(scope="module")
def texts(opened: Ledger) -> Texts:
    """Every text of the ledger: its turn, its kind, its words."""
    found: list[tuple[str, TextKind, str]] = []
    kinds = {"user": TextKind.PROMPT, "assistant": TextKind.ANSWER, "tool": TextKind.RESULT, "system": TextKind.NOTE}
    for turn, role, content, thinking in opened.sql("select turn_id, role, content, thinking from messages"):
        found += [(turn, kinds[role], content)] if content else []
        found += [(turn, TextKind.THINKING, thinking)] if thinking else []
    calls = opened.sql("select turn_id, params_json, result_json, error from tool_calls")
    for turn, params, result, error in calls:
        found.append((turn, TextKind.INPUT, text_of(params)))
        shown = text_of(result, is_result=True) if result else ""
        found.append((turn, TextKind.RESULT, shown if error and error in shown else f"{error or ''}\n{shown}"))
    found += [(turn, TextKind.SUMMARY, text) for turn, text in opened.sql("select turn_id, summary from compactions")]
    paths = "select distinct turn_id, file_path from message_files join messages on messages.id = message_id"
    found += [(turn, TextKind.PATH, path) for turn, path in opened.sql(paths)]
    return [(turn, kind, words(text)) for turn, kind, text in found]


Test = Callable[[list[str]], bool]


def has_phrase(phrase: list[str], *, is_prefix: bool = False) -> Test:
    *first, last = phrase

    def test(text: list[str]) -> bool:
        return any(
            text[place : place + len(first)] == first
            and (text[place + len(first)].startswith(last) if is_prefix else text[place + len(first)] == last)
            for place in range(len(text) - len(first))
        )

    return test


def random_query(draw: random.Random, texts: Texts) -> tuple[str, Test]:
    """Draw a query of words that stand in the texts, and what it means."""
    text = draw.choice([each for _, _, each in texts if len(each) > 4])
    place = draw.randrange(len(text) - 3)
    one, two, three = text[place : place + 3]
    other = draw.choice(draw.choice([each for _, _, each in texts if each]))
    match draw.randrange(7):
        case 0:
            return one, has_phrase([one])
        case 1:
            return f"{one} {three}", lambda text: one in text and three in text
        case 2:
            return f'"{one} {two} {three}"', has_phrase([one, two, three])
        case 3:
            return f"{one[:3]}*", has_phrase([one[:3]], is_prefix=True)
        case 4:
            return f"{one} OR {other}", lambda text: one in text or other in text
        case 5:
            return f"{one} NOT {other}", lambda text: one in text and other not in text
        case _:
            meaning = has_phrase([one, two])
            return f"({one}_{two} OR {other}) {three}", lambda text: (meaning(text) or other in text) and three in text


def found_by(opened: Ledger, request: SearchRequest) -> dict[str, int]:
    found = search(opened, request, ALL)
    assert found.turns == len(found.hits)
    return {hit.turn_id: hit.texts for hit in found.hits}


def scanned(texts: Iterable[tuple[str, TextKind, list[str]]], meaning: Test) -> dict[str, int]:
    counts: dict[str, int] = defaultdict(int)
    for turn, _, text in texts:
        if meaning(text):
            counts[turn] += 1
    return dict(counts)


@pytest.mark.long
def test_two_hundred_random_queries_find_what_a_scan_of_all_texts_finds(opened: Ledger, texts: Texts) -> None:
    draw = random.Random(22)
    several = 0
    for _ in range(QUERIES):
        query, meaning = random_query(draw, texts)
        expected = scanned(texts, meaning)
        assert found_by(opened, SearchRequest(text=query)) == expected, query
        several += len(expected) > 1
    assert several > QUERIES // 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_of_text_is_searched_alone(opened: Ledger, texts: Texts, kind: TextKind) -> None:
    of_kind = [each for each in texts if each[1] is kind]
    words_of_kind = sorted({word for _, _, text in of_kind for word in text})
    assert words_of_kind, "the fixtures have texts of every kind"
    for word in (words_of_kind[0], words_of_kind[-1]):
        request = SearchRequest(text=word, kinds=frozenset({kind}))
        assert found_by(opened, request) == scanned(of_kind, has_phrase([word]))


def hits(opened: Ledger, text: str, limit: int = ALL, **conditions: object) -> list[Hit]:
    return search(opened, SearchRequest(text=text, **conditions), limit).hits  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def common(texts: Texts) -> str:
    """Give the word that most turns have."""
    turns: dict[str, set[str]] = defaultdict(set)
    for turn, _, text in texts:
        for word in text:
            turns[word].add(turn)
    return max(turns, key=lambda word: len(turns[word]))


def test_a_tool_narrows_to_its_inputs_and_results(opened: Ledger, common: str) -> None:
    calls = opened.sql("select distinct tool_name from tool_calls order by 1").rows()
    found = {tool: hits(opened, f"{common} OR a*", tool=tool.upper()) for (tool,) in calls}
    assert sum(map(len, found.values())) > 5
    for tool, of_tool in found.items():
        assert all(hit.tool_name == tool and hit.kind in (TextKind.INPUT, TextKind.RESULT) for hit in of_tool)


def test_failed_calls_alone_are_found_with_their_errors(opened: Ledger) -> None:
    failed = {call for (call,) in opened.sql("select id from tool_calls where status = 'failed'")}
    found = hits(opened, "a* OR e* OR c* OR 1*", is_failed=True)
    assert found
    assert {hit.row_id for hit in found} <= failed
    assert TextKind.RESULT in {hit.kind for hit in found}


@pytest.mark.parametrize(
    ("name", "column"), [("origin", "s.origin"), ("model", "t.model"), ("session", "o.session_label")]
)
def test_turns_are_narrowed_down_as_in_every_other_question(
    opened: Ledger, common: str, name: str, column: str
) -> None:
    rows = opened.sql(
        f"select distinct {column}, t.id from turns t join v_turn_owner o on o.turn_id = t.id"
        " join sessions s on s.label = o.session_label"
    ).rows()
    everything = {hit.turn_id for hit in hits(opened, common)}
    values = sorted({value for value, _ in rows if value})
    assert len(values) > 1
    for value in {values[0], values[len(values) // 2], values[-1]}:
        found = {hit.turn_id for hit in hits(opened, common, narrowed={name: value})}
        wanted = {
            turn for of_turn, turn in rows if of_turn and (of_turn == value or (name == "model" and value in of_turn))
        }
        assert found == everything & wanted


def test_turns_are_narrowed_down_by_when_they_began(opened: Ledger, common: str) -> None:
    times = sorted(hit.started_at for hit in hits(opened, common) if hit.started_at is not None)
    middle = times[len(times) // 2]
    later = hits(opened, common, since_ms=middle)
    earlier = hits(opened, common, until_ms=middle)
    assert all(hit.started_at is not None and hit.started_at >= middle for hit in later)
    assert {hit.turn_id for hit in later}.isdisjoint(hit.turn_id for hit in earlier)
    assert len(later) + len(earlier) == len(hits(opened, common))


def test_roles_divide_the_texts_among_them(opened: Ledger, common: str) -> None:
    by_role = [hits(opened, common, role=role) for role in ("user", "assistant", "tool", "system")]
    texts = sum(hit.texts for found in by_role for hit in found)
    assert texts == sum(hit.texts for hit in hits(opened, common))


def test_the_order_is_by_rank_or_by_time(opened: Ledger, common: str) -> None:
    found = {order: hits(opened, common, order=order) for order in ORDERS}
    assert [hit.score for hit in found["best"]] == sorted((hit.score for hit in found["best"]), reverse=True)
    times = [hit.started_at or 0 for hit in found["newest"]]
    assert times == sorted(times, reverse=True)
    assert [hit.turn_id for hit in found["oldest"]] != [hit.turn_id for hit in found["newest"]]
    for order, all_of_them in found.items():
        assert hits(opened, common, 3, order=order) == all_of_them[:3]


def test_a_hit_says_what_its_turn_cost_and_where_it_is(opened: Ledger, common: str) -> None:
    for hit in hits(opened, common, 20):
        [(cost,)] = opened.sql("select sum(cost_usd) from v_requests where turn_id = $1", [hit.turn_id]).rows()
        [(owner,)] = opened.sql("select session_label from v_turn_owner where turn_id = $1", [hit.turn_id]).rows()
        assert (hit.cost_usd, hit.session_label) == (cost, owner)
        assert common in words(hit.snippet.text)


def test_texts_are_changed_whole_before_a_part_is_shown(opened: Ledger, common: str) -> None:
    seen: list[str] = []

    def hide(text: str) -> str:
        seen.append(text)
        return "hidden"

    found = search(opened, SearchRequest(text=common), 5, change=hide)
    assert [hit.snippet.text for hit in found.hits] == ["hidden"] * 5
    assert all(common in words(text) for text in seen)
