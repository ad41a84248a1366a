"""Hidden texts of every kind, in texts of every kind, and texts that stay as they are."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix.redaction.redactor import KINDS, Redactor
from tests.redaction.cases import NEAR_MISSES, PEOPLE, SECRETS, Case

KEY = bytes(range(32))
MARK = rf"\[(?:{'|'.join(KINDS)}):[0-9a-f]{{10}}\]"
CASES = [pytest.param(case, id=f"{case.kind}-{number}") for number, case in enumerate([*SECRETS, *PEOPLE])]
NEAR = [pytest.param(text, id=str(number)) for number, text in enumerate(NEAR_MISSES)]


def make_redactor() -> Redactor:
    return Redactor(KEY, users=["mlindt"], hosts=["heron-9"], names=["Mara Lindt", "Falkenberg"])


def pattern_of(case: Case) -> str:
    """Return a pattern of the text with a mark in the place of each hidden part."""
    pieces = re.split("[«»]", case.text)
    return "".join(MARK if number % 2 else re.escape(piece) for number, piece in enumerate(pieces))


@pytest.mark.parametrize("case", CASES)
def test_a_hidden_part_becomes_a_mark_and_all_else_stays(case: Case) -> None:
    redactor = make_redactor()
    assert re.fullmatch(pattern_of(case), redactor.text(case.plain), re.DOTALL)
    assert redactor.counts == {case.kind: len(case.hidden)}


@pytest.mark.parametrize("case", CASES)
def test_it_is_found_in_json_and_in_json_inside_json_too(case: Case) -> None:
    inner = json.dumps({"content": case.plain, "more": [1, None, "x"]})
    for text, depth in ((inner, 1), (json.dumps([{"result": inner}]), 2)):
        redactor = make_redactor()
        value = json.loads(redactor.text(text))
        if depth == 2:
            value = json.loads(value[0]["result"])
        assert re.fullmatch(pattern_of(case), value["content"], re.DOTALL)
        assert value["more"] == [1, None, "x"]
        assert redactor.counts == {case.kind: len(case.hidden)}


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_it_is_found_in_a_long_text(case: Case) -> None:
    before, after = "Some lines of a log.\n" * 40, "\nand some more of them.\n" * 40
    redacted = make_redactor().text(f"{before}{case.plain}{after}")
    assert not [part for part in case.hidden if len(part) > 3 and part in redacted.replace(case.kind, "")]


@pytest.mark.parametrize("case", CASES)
def test_marks_are_not_hidden_again(case: Case) -> None:
    once = make_redactor().text(case.plain)
    assert make_redactor().text(once) == once


@pytest.mark.parametrize("text", NEAR)
def test_a_near_miss_stays(text: str) -> None:
    redactor = make_redactor()
    assert redactor.text(text) == text
    assert not redactor.counts
    assert redactor.text(json.dumps({"content": text})) == json.dumps({"content": text})


def test_equal_texts_have_equal_marks_and_another_key_has_others() -> None:
    text = "mara@example.org wrote to mara@example.org and to jonas@example.org"
    first, second, third = re.findall(MARK, Redactor(KEY).text(text))
    assert first == second != third
    assert first not in Redactor(bytes(32)).text(text)


def test_counts_are_those_of_all_texts_short_and_long() -> None:
    redactor = Redactor(KEY)
    for text in ("to mara@example.org", "to mara@example.org", "to mara@example.org " + "x" * 1000):
        redactor.text(text)
    assert redactor.counts == {"email": 3}


def test_names_of_keys_are_searched_too_and_numbers_may_be_secrets() -> None:
    value = {"mara@example.org": {"password": 12345, "retries": 3, "tokens": 7, "enabled": True}}
    redacted = json.loads(Redactor(KEY).text(json.dumps(value)))
    [(name, settings)] = redacted.items()
    assert re.fullmatch(MARK, name)
    assert re.fullmatch(MARK, settings.pop("password"))
    assert settings == {"retries": 3, "tokens": 7, "enabled": True}


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"password":"x"}',
        '{"a": 1, "password": "x"}',
        '{\n  "a": 1,\n  "password": "x"\n}',
        '["ü", {"note": "\\ud800", "password": "x"}]',
    ],
    ids=["tight", "with-blanks", "indented", "half-a-character"],
)
def test_json_is_written_as_it_was(text: str) -> None:
    redacted = Redactor(KEY).text(text)
    assert re.fullmatch(rf'(.*"password": ?"){MARK}(".*)', redacted, re.DOTALL)
    assert json.loads(re.sub(MARK, "x", redacted)) == json.loads(text)
    assert re.sub(MARK, "x", redacted) in (text, json.dumps(json.loads(text)))
    redacted.encode()


def test_a_key_that_stands_twice_hides_nothing_behind_the_other() -> None:
    redacted = Redactor(KEY).text('{"password": "swordfish", "a": "b", "password": "${PASSWORD}"}')
    assert re.fullmatch(rf'\{{"password": "{MARK}", "a": "b", "password": "\$\{{PASSWORD\}}"\}}', redacted)


def test_deep_json_is_searched_as_text() -> None:
    text = '{"a":' * 5_000 + '{"password": "swordfish1"}' + "}" * 5_000
    assert "swordfish1" not in Redactor(KEY).text(text)


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "a@" * 50_000,
        "password" * 20_000,
        "-----BEGIN PRIVATE KEY-----" * 5_000,
        '\\"' * 100_000,
        "token: " * 30_000,
        "://" * 60_000,
        "/home/" * 30_000,
        "Bearer " * 30_000,
        " mysql login -p" * 10_000,
        "key=" + "a" * 200_000,
        "key:" * 40_000,
        "PuTTY-User-Key-File-2 " * 2_000,
        "-----BEGIN PRIVATE KEY----- @" * 2_000,
        "MIIEpAIBAAKCAQEA1234 " * 9_000,
        "\\n" * 90_000,
        "C:\\a" * 40_000,
        "auth = ('a', " * 15_000,
        "| password |" * 15_000,
        "ldapadd '\" -w" * 15_000,
        "mysql \"'\"'\"'" * 15_000,
        "htpasswd -b -b 1 " * 10_000,
        "echo a |sudo -u a " * 10_000,
        "sudo -u -a -u -S " * 10_000,
        "password: a b c d " * 10_000,
        "a:b1@" * 40_000,
        "1:AA" * 40_000,
        "C:/Users/Ada Ada Ada" * 10_000,
        "x" * 300_000,
    ],
    ids=lambda text: text[:12].strip("-:/ ") or "quotes",
)
def test_a_hostile_text_takes_no_longer_than_any(text: str) -> None:
    Redactor(KEY, names=["a b c"]).text(text)  # minutes, where a search goes back at each place


@given(st.text(max_size=200), st.sampled_from([*SECRETS, *PEOPLE]), st.text(max_size=200))
def test_redaction_of_any_text_ends_and_repeats_itself(before: str, case: Case, after: str) -> None:
    text = f"{before}\n{case.plain}\n{after}"
    once = make_redactor().text(text)
    assert make_redactor().text(text) == once
    once.encode("utf-8", "surrogatepass")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
        max_leaves=12,
    )
)
def test_json_stays_json(value: object) -> None:
    text = json.dumps([value])
    json.loads(Redactor(KEY).text(text))


def test_a_name_of_a_person_is_hidden_as_it_is_written() -> None:
    redacted = Redactor(KEY, people=["Will"]).text("Will will do it, says Will")
    assert re.fullmatch(rf"{MARK} will do it, says {MARK}", redacted)
