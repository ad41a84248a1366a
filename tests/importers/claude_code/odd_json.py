"""JSON that no client writes, but that a log may hold."""

import json
from collections.abc import Iterable

import pytest
from hypothesis import strategies as st

_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 50),
    st.sampled_from([2**63, -(2**63) - 1, 10**40, 1.5, 1e300, float("nan"), float("inf")]),
    st.text(st.characters(codec=None), max_size=8),
    st.sampled_from(["", "12", "a.py:3:x", "\ud800", "a\0b", "content", "create", "diagnostics", "file", "/a/b.py"]),
)


def odd_json(*names: str) -> st.SearchStrategy[bytes]:
    """Draw the JSON of any value, most often of an object with these fields."""
    values = st.recursive(
        _LEAVES,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(st.sampled_from(names) | st.text(max_size=3), inner, max_size=4),
        ),
        max_leaves=12,
    )
    wanted = st.dictionaries(st.sampled_from(names), values, max_size=len(names))
    broken = st.binary(max_size=20) | st.sampled_from([b"", b"{", b'{"a":"\xff"}', b'{"a":"\t"}', b"[" * 20_000])
    return st.one_of((wanted | values).map(lambda value: json.dumps(value).encode()), broken)


def assert_storable(rows: Iterable[tuple[object, ...]]) -> None:
    """Assert that columns can hold the rows."""
    for row in rows:
        for value in row:
            if isinstance(value, str):
                value.encode()
            elif value is not None:
                assert isinstance(value, int)
                assert 0 <= value < 2**63


TOO_DEEP = b'{"file_path":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
NOT_OBJECTS = [
    pytest.param(data, id=name)
    for name, data in {
        "null": b"null",
        "list": b"[1]",
        "text": b'"x"',
        "number": b"1e999",
        "nothing": b"",
        "torn": b'{"a":',
        "too deep": TOO_DEEP,
    }.items()
]
