"""Canonical JSON equals RFC 8785, as an implementation of its own says it and as the RFC's examples show it."""

import json
import re
import struct
from decimal import Decimal
from hashlib import sha256

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aix.canonical_json import canonical_form, canonical_json, content_hash, exportable
from aix.errors import NotCanonicalError


def number_text(value: float) -> str:
    """Write a number as ECMAScript's Number::toString does, from its shortest decimal digits."""
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text, k = "".join(map(str, digits)), len(digits)
    n = exponent + k
    if k <= n <= 21:
        body = text + "0" * (n - k)
    elif 0 < n <= 21:
        body = f"{text[:n]}.{text[n:]}"
    elif -6 < n <= 0:
        body = f"0.{'0' * -n}{text}"
    else:
        head = text if k == 1 else f"{text[0]}.{text[1:]}"
        body = f"{head}e{'+' if n - 1 > 0 else '-'}{abs(n - 1)}"
    return f"{'-' if sign else ''}{body}"


def code_units(text: str) -> list[int]:
    data = text.encode("utf-16-le")
    return list(struct.unpack(f"<{len(data) // 2}H", data))


def string_text(text: str) -> str:
    short = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
    written = [short.get(ord(each), f"\\u{ord(each):04x}" if each < " " else each) for each in text]
    return f'"{"".join(written)}"'


def independent_json(value: object) -> str:
    """Write a value by RFC 8785, without the library that AIX writes it with."""
    match value:
        case None | True | False:
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return string_text(value)
        case int():
            return str(value)
        case float():
            return number_text(value)
        case list():
            return f"[{','.join(map(independent_json, value))}]"
        case dict():
            keys = sorted(value, key=code_units)
            return f"{{{','.join(f'{string_text(key)}:{independent_json(value[key])}' for key in keys)}}}"
    raise AssertionError(value)


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


@settings(max_examples=60)
@given(values)
@example({"\U0001f600": 1, "\ufb33": 2})
def test_canonical_json_equals_an_implementation_of_its_own(value: object) -> None:
    written = canonical_json(value)
    assert written == independent_json(value)
    assert json.loads(written, parse_int=float) == value
    assert canonical_form(value) == (written, None)
    assert content_hash(canonical_json(value)) == sha256(written.encode()).hexdigest()


# Bits of doubles and their texts, from the table of number samples in appendix B of the RFC.
@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
    ],
)
def test_numbers_are_written_as_the_samples_of_the_rfc(bits: str, text: str) -> None:
    [value] = struct.unpack(">d", bytes.fromhex(bits))
    assert canonical_json(value) == text == number_text(value)


def test_keys_are_sorted_as_in_the_example_of_the_rfc() -> None:
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\u0080", "\u00f6"]
    in_order = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert list(json.loads(canonical_json(dict.fromkeys(keys, 0)))) == in_order


def test_texts_are_written_as_in_the_example_of_the_rfc() -> None:
    assert canonical_json('\u20ac$\u000f\u000aA\'B"\\\\"/') == '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'
    assert canonical_json("\x7f\u2028") == '"\x7f\u2028"'


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"params": {"seed": 2**53}}, "params.seed: 9007199254740992 is beyond"),
        ([1, {"n": -(2**53)}], "[1].n: -9007199254740992 is beyond"),
        ([10**5000], "[0]: a number of 16610 bits"),
        ({"score": float("nan")}, "score: NaN is not a number"),
        ({"score": float("-inf")}, "score: -Infinity is not"),
        ({"text": "cut \ud83d"}, "text: the text holds half of a character"),
        ({"a": {"\udc00": 1}}, r"a: the key \udc00 holds half"),
        ({1: 2}, "the value: the key 1 is not a text"),
        ({"when": object()}, "when: JSON has no object"),
        (deep(100_000), "the value: it is nested too deeply"),
    ],
)
def test_refused_values_are_named_with_their_place(value: object, message: str) -> None:
    with pytest.raises(NotCanonicalError, match=f"^{re.escape(message)}"):
        canonical_json(value)


odd = st.integers() | st.floats() | st.text(st.characters(exclude_categories=()))
odd_values = st.recursive(
    odd,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=())), inner),
)


@settings(max_examples=40)
@given(odd_values)
@example(float("inf"))
def test_every_json_value_has_an_exportable_form(value: object) -> None:
    written = canonical_json(exportable(value))
    assert canonical_form(value)[0] == written
    assert canonical_json(json.loads(written, parse_int=float)) == written


def test_keys_stay_apart_that_differ_by_half_of_a_character() -> None:
    value = {"\ud83d": 1, "\\ud83d": 2, "\ud83d\\ud83d": 3, "\\ud83d\ud83d": 4}
    assert canonical_form(value)[0] == canonical_form(dict(reversed(value.items())))[0]
    assert sorted(json.loads(canonical_form(value)[0]).values()) == [1, 2, 3, 4]


@settings(max_examples=20)
@given(values)
def test_the_exportable_form_of_a_canonical_value_is_the_value(value: object) -> None:
    assert exportable(value) == value
