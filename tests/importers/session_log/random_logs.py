"""Random session logs, with everything that can be wrong with one."""

import json

from hypothesis import strategies as st

_UUIDS = [f"e{number}" for number in range(8)]
_TIMES = st.one_of(
    st.integers(0, 59).map(lambda second: f"2026-01-05T10:00:{second:02}.000Z"),
    st.sampled_from(["2026-01-05T12:00:03+02:00", 1767607205000, "never", None, True]),
)
_COUNTS = st.one_of(st.integers(0, 50), st.sampled_from([None, -1, True, "5", 2**63]))


@st.composite
def entries(draw: st.DrawFn, uuids: st.SearchStrategy[str] | None = None, sessions: int = 2) -> dict[str, object]:
    """Draw an entry that refers to others of a few names."""
    role = draw(st.sampled_from(["user", "user", "assistant"]))
    message: dict[str, object] = {
        "role": role,
        "content": draw(st.sampled_from(["", "text", "```x\ny\n```", "é\0", None])),
    }
    if role == "assistant":
        message["model"] = draw(st.sampled_from(["m-1", "@(m)", None]))
        message["usage"] = {
            "inputTokens": draw(_COUNTS),
            "output_tokens": draw(_COUNTS),
            "cacheReadTokens": draw(_COUNTS),
        }
    made: dict[str, object] = {
        "uuid": draw(uuids or st.sampled_from(_UUIDS)),
        "sessionId": draw(st.sampled_from([f"s{number}" for number in range(sessions)])),
        "timestamp": draw(_TIMES),
        "message": message,
    }
    if draw(st.booleans()):
        made["parentUuid"] = draw(st.sampled_from([*_UUIDS, "unknown", None, 5]))
    if draw(st.booleans()):
        made["situation"] = draw(st.sampled_from(["coding", "quick"]))
        made["latencyMs"] = draw(st.sampled_from([0, 3, 2.6, "long"]))
    return made


def as_line(entry: dict[str, object]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode()


_ENDS = st.sampled_from([b"\n", b"\n", b"\n", b"", b"\r\n", b"\0\0\n", b"\n\n", b" junk\n", b"\xff\n"])
_PIECES = st.one_of(
    entries().map(as_line),
    entries().map(as_line),
    st.tuples(entries().map(as_line), st.integers(1, 40)).map(lambda cut: cut[0][: -cut[1]]),
    st.sampled_from([b"[]", b"{}", b'{"a":', b"\0\0\0", b"\xef\xbb\xbf", b'"\\ud800"', b"NaN"]),
)
logs = st.lists(st.tuples(_PIECES, _ENDS).map(b"".join), max_size=9).map(b"".join)
"""Whole files as bytes."""


def clean_logs() -> st.SearchStrategy[list[dict[str, object]]]:
    """Return entries of one session, no two with the same uuid."""
    return st.lists(entries(sessions=1), max_size=8, unique_by=lambda entry: str(entry["uuid"]))
