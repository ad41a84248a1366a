"""Ids are pure functions of what a row stands for, and published."""

import re
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aix.ids import h63, ulid

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
anything = st.text(st.characters(exclude_categories=()))


def slow_ulid(*parts: str) -> str:
    digest = sha256("\x1f".join(("aix", *parts)).encode("utf-8", "surrogatepass")).hexdigest()
    number = int(digest[:32], 16)
    return "".join(CROCKFORD[number >> 5 * place & 31] for place in range(25, -1, -1))


def slow_h63(*parts: str) -> int:
    digest = sha256("\x1f".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return int(digest[:16], 16) // 2


@given(st.lists(anything, max_size=5))
def test_ulid_equals_its_definition(parts: list[str]) -> None:
    made = ulid(*parts)
    assert made == slow_ulid(*parts)
    assert re.fullmatch(r"[0-7][0-9A-HJKMNP-TV-Z]{25}", made)


@given(st.lists(anything, max_size=5))
def test_h63_equals_its_definition_and_fits_a_bigint(parts: list[str]) -> None:
    assert h63(*parts) == slow_h63(*parts) < 2**63


def test_numbers_count_as_their_digits_and_null_as_nothing() -> None:
    assert h63("message_files", "m", "read", "a.py", 12) == h63("message_files", "m", "read", "a.py", "12")
    assert h63("message_files", "m", "read", "a.py", None) == h63("message_files", "m", "read", "a.py", "")


def test_parts_are_kept_apart() -> None:
    assert ulid("ab", "c") != ulid("a", "bc")
    assert ulid("turn", "x") != ulid("msg", "x")


@pytest.mark.parametrize("text", ["\ud800", "\x00", "🚀", "é", "e\u0301"])
def test_any_text_of_a_log_has_an_id(text: str) -> None:
    assert len(ulid("msg", "session-log", text)) == 26
