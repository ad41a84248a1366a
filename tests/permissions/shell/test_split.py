"""Splitting shell commands: a table of commands, and what holds for any text."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aix.permissions.shell import Script, reading, split
from aix.permissions.shell.reading import read_plain
from aix.permissions.shell.splitting import MAX_LENGTH
from aix.permissions.shell.tokens import Tokens
from aix.permissions.shell.tree import parse
from tests.permissions.shell.scripts import Part, scripts

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text("utf-8").splitlines()
]
_TOKENS = [
    "a", "git", "sudo", "bash -c ", "'", '"', "$", "$(", ")", "(", "((", "))", "`", "\\", "\n", " ", ";", ";;", "&",
    "&&", "|", "<", "<<", "<<E", "E", ">", "{", "}", "[[", "]]", "[", "]", "if ", "then ", "fi", "case x in ", "esac",
    "do ", "done", "#", "=", "a=", "$'", "${", "!", "eval ", "find . -exec ", "xargs ", "env -S ", "\r", "\0", "\x1b",
    "\ud800", "é", "\u202e", "-c", "{}", "+", "2>&1", "time ", "coproc ", "watch ", "function f ", "f()", "EOF",
    "<<-EOF\n", "\nEOF\n",
]  # fmt: skip
_PLAIN_TOKENS = [
    "a", "b.py", "-x", "--k=v", " ", " ", "  ", "'q r'", '"s t"', "|", "||", "&&", ";", ">", ">>", "<", "2>&1", "2>",
    "1", "if", "time", "export", "A=1", "sudo", "sh -c 'x'", "\t", "in", ">&", "é", "*", "xargs", "find", "-exec", "~",
    "bash", "-c",
]  # fmt: skip
shellish = st.lists(st.sampled_from(_TOKENS), max_size=40).map("".join)
plain_words = st.lists(st.sampled_from(_PLAIN_TOKENS), max_size=12)


@pytest.mark.parametrize("case", CASES, ids=[repr(case["cmd"])[:60] for case in CASES])
def test_a_command_is_split_as_the_table_says(case: dict[str, Any]) -> None:
    script = split(case["cmd"])
    expected = [
        (
            row.get("program", row["words"][0]),
            row.get("sub"),
            tuple(row["words"]),
            tuple(row.get("env", ())),
            tuple(row.get("wrappers", ())),
            tuple(map(tuple, row.get("redirects", ()))),
        )
        for row in case["commands"]
    ]
    assert [command[:6] for command in script.commands] == expected
    assert [list(redirect) for redirect in script.redirects] == case.get("redirects", [])
    assert script.is_whole == case.get("is_whole", True)


def test_the_table_is_large_enough() -> None:
    assert len(CASES) >= 150


@settings(deadline=None, max_examples=80)
@given(scripts)
def test_every_program_of_a_valid_script_is_found_in_its_order(script: Part) -> None:
    assert tuple(command.program for command in split(script.text).commands) == script.programs


@settings(deadline=None, max_examples=80)
@given(scripts)
def test_every_program_is_found_without_the_grammar_too(script: Part) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "MAX_PARSED", -1)
        assert tuple(command.program for command in split(script.text).commands) == script.programs


@settings(deadline=None, max_examples=300)
@given(st.one_of(st.text(), shellish))
def test_any_text_has_an_answer(text: str) -> None:
    script = split(text)
    assert all(simple.words for simple in script.simple)
    assert all(command.words for command in script.commands)


@settings(deadline=None, max_examples=300)
@given(plain_words.map(" ".join))
def test_a_plain_text_is_read_as_the_grammar_reads_it(text: str) -> None:
    assert split(text) == _read_by_grammar(text)


@settings(deadline=None, max_examples=300)
@given(plain_words.map("".join))
def test_a_plain_text_is_read_as_its_tokens_are(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "MAX_PARSED", -1)
        patch.setattr(reading, "read_plain", lambda _: None)
        by_tokens = split(text)
    if read_plain(text) is not None:
        assert split(text).commands == by_tokens.commands


@pytest.mark.parametrize("case", CASES, ids=[repr(case["cmd"])[:60] for case in CASES])
def test_no_command_of_the_table_depends_on_the_way_it_is_read(case: dict[str, Any]) -> None:
    assert split(case["cmd"]) == _read_by_grammar(case["cmd"])


def _read_by_grammar(text: str) -> Script:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "read_plain", lambda _: None)
        return split(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A=1 git  push 'x y' > f", "git  push 'x y'"),
        ("run >out arg1 2>err arg2", "run arg1 arg2"),
        ("one \\\n  two", "one two"),
        ("cat <<END -n\nx\nEND", "cat -n"),
        ("sudo -u bob rm  -rf x", "rm  -rf x"),
        ("sh -c 'a \"b c\"'", 'a "b c"'),
        ("find . -exec rm '{}' \\;", "find . -exec rm '{}' \\;"),
    ],
)
def test_the_source_is_what_is_written(text: str, expected: str) -> None:
    assert split(text).commands[0].source == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a | b && c | d", [0, 0, 1, 1]),
        ("a && b 2>&1 | c", [0, 1, 1]),
        ("(a; b) | c", [0, 0, 0]),
        ("a $(b | c) | d", [0, 1, 1, 0]),
        ("a | sudo bash -c 'b; c'", [0, 0, 0]),
        ("a; b; c", [0, 1, 2]),
    ],
)
def test_commands_joined_by_pipes_share_a_number(text: str, expected: list[int]) -> None:
    assert [command.pipeline for command in split(text).commands] == expected


@pytest.mark.parametrize(
    "unit", ["$(", "(", "{ ", '"$(', "`", "'", '"', "<<", "<<A ", "a=( ", "${x:-", "((", "[[ ", "\\", "if a; then "]
)
def test_ten_thousand_levels_are_cut_and_said_so(unit: str) -> None:
    script = split(unit * 10_000)
    assert not script.is_whole or len(script.commands) <= 1
    assert sum(len(word) for command in script.commands for word in command.words) <= 40 * len(unit) * 10_000


UNITS = [
    "$(",
    "((",
    "((a) ",
    "(",
    "`a ",
    '"$(a',
    "a | ",
    "a; ",
    "<<A ",
    "a <<A\nx\nA\n",
    "sh -c ",
    "eval ",
    "[[ a ",
    "${x:-",
]


@pytest.mark.parametrize("unit", UNITS)
def test_a_text_of_twice_the_length_takes_twice_the_steps(unit: str) -> None:
    assert _steps(unit * 1600) <= 2.2 * _steps(unit * 800) + 100


def _steps(text: str) -> int:
    """Count the tokens that are taken in and the characters that the grammar is given, over all texts in a text."""
    steps = 0
    take = Tokens._take

    def counted_take(tokens: Tokens, token: re.Match[str]) -> int:
        nonlocal steps
        steps += 1
        return take(tokens, token)

    def counted_parse(masked: str) -> object:
        nonlocal steps
        steps += len(masked)
        return parse(masked)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tokens, "_take", counted_take)
        patch.setattr(reading, "parse", counted_parse)
        split(text)
    return steps


@pytest.mark.parametrize("prefix", ["sudo ", "env ", "bash -c ", "eval ", "nohup nice "])
def test_wrappers_without_end_are_cut_and_said_so(prefix: str) -> None:
    script = split(prefix * 5000 + "x")
    assert len(script.commands) == 1
    assert len(script.commands[0].wrappers) <= reading.MAX_NESTING


def test_a_text_that_is_too_long_is_cut_and_said_so() -> None:
    script = split("run it; " * (MAX_LENGTH // 4))
    assert not script.is_whole
    assert len(script.commands) == MAX_LENGTH // len("run it; ")


def test_what_only_looks_like_arithmetic_is_not_read_again_at_every_level() -> None:
    assert _steps("$(( " * 800 + ") " * 2400) <= 2.2 * _steps("$(( " * 400 + ") " * 1200) + 100


def test_a_program_in_what_only_looks_like_arithmetic_is_found_once() -> None:
    assert [command.program for command in split("echo $(( $(foo) ) )").commands].count("foo") == 1


@pytest.mark.parametrize(
    "text",
    [
        "A=1 " * 1000 + "bash -c '" + "a; " * 1000 + "'",
        "bash -c '" + "a; " * 1000 + "'" + " > x" * 1000,
        "A=1 " * 1000 + "find . " + "-exec a {} + " * 1000,
    ],
)
def test_what_wrappers_hand_on_to_very_many_programs_is_cut_and_said_so(text: str) -> None:
    script = split(text)
    handed_on = sum(len(command.env) + len(command.redirects) for command in script.commands)
    assert len(script.commands) >= 1000
    assert not script.is_whole
    assert handed_on <= 2 * reading.MAX_HANDED_ON
