"""Records that are kept in columns come out as they went in."""

from hypothesis import given
from hypothesis import strategies as st

from aix_importers.claude_code.classification import Kind
from aix_importers.claude_code.scan import Entries, Entry, QueueStep

_TEXTS = st.text(max_size=5)
_DIGESTS = st.integers(-(2**63), 2**63 - 1)
_NAMES = st.lists(_TEXTS, max_size=3).map(tuple)


@st.composite
def entries(draw: st.DrawFn) -> Entry:
    results_of = draw(_NAMES)
    return Entry(
        kind=draw(st.sampled_from(Kind)),
        uuid=draw(_TEXTS),
        parent=draw(st.none() | _TEXTS),
        time=draw(st.none() | st.integers(0, 253_402_300_799_999)),
        byte_offset=draw(st.integers(0, 2**50)),
        line=draw(st.integers(1, 2**40)),
        session_id=draw(st.none() | _TEXTS),
        digest=draw(_DIGESTS),
        text_digest=draw(_DIGESTS),
        message_key=draw(st.none() | _TEXTS),
        block_digests=draw(st.lists(_DIGESTS, max_size=3).map(tuple)),
        calls=draw(_NAMES),
        results_of=results_of,
        errors=tuple(draw(st.booleans()) for _ in results_of),
    )


_STEPS = st.builds(QueueStep, _TEXTS, st.none() | _TEXTS, st.none() | _TEXTS, st.none() | _TEXTS, st.integers(0, 2**50))


@given(st.lists(entries() | _STEPS, max_size=6))
def test_entries_come_out_as_they_went_in(given_entries: list[Entry | QueueStep]) -> None:
    kept = Entries()
    for entry in given_entries:
        kept.append(entry)
    assert len(kept) == len(given_entries)
    assert list(kept) == list(kept) == given_entries
    assert kept.last_uuid == next((each.uuid for each in reversed(given_entries) if isinstance(each, Entry)), None)


def test_what_is_changed_outside_stays_outside() -> None:
    kept = Entries()
    kept.append(Entry(Kind.PROMPT, "a", None, 1, 0, 1, None))
    for entry in kept:
        assert isinstance(entry, Entry)
        entry.parent = "b"
    assert [entry.parent for entry in kept if isinstance(entry, Entry)] == [None]
