"""Whether a source still holds what it held when it was last read."""

from pathlib import Path

import pytest

from aix.pipeline.contract import Source, content_hash, hash_file
from aix.pipeline.read_outcomes import Growth, growth_of
from aix.pipeline.worker_messages import Reading
from aix.store.sources import Fingerprint


def fingerprint(content: str = "c", failure: str = "", size_bytes: int = -1, head: str = "") -> Fingerprint:
    return Fingerprint("notes", "1", ("",), content, failure, size_bytes, head)


CONVERSATION = Reading(Source("/db", key="1"), content="d")
SAME_CONVERSATION = Reading(Source("/db", key="1"), content="c")


def log(head_hash: str | None, content: str = "d") -> Reading:
    return Reading(Source("/log"), content=content, main_hash="whole", size_bytes=9, head_hash=head_hash)


@pytest.mark.parametrize(
    ("before", "reading", "expected"),
    [
        (None, log(None), Growth.NEW),
        (fingerprint("", "it failed"), log(None), Growth.NEW),
        (fingerprint("c", "it failed", 3), log("c"), Growth.GROWN),
        (fingerprint("c", "", 3), log("c"), Growth.GROWN),
        (fingerprint("", "", 3, "main"), log("main"), Growth.GROWN),
        (fingerprint("c", "", 3), log("x"), Growth.REWRITTEN),
        (fingerprint("c", "", 3), log(None), Growth.REWRITTEN),
        (fingerprint("c"), log(None), Growth.UNKNOWN),
        (fingerprint("c"), log(None, "c"), Growth.GROWN),
        (fingerprint("c"), CONVERSATION, Growth.UNKNOWN),
        (fingerprint("c"), SAME_CONVERSATION, Growth.GROWN),
    ],
)
def test_what_begins_as_it_was_has_grown(before: Fingerprint | None, reading: Reading, expected: Growth) -> None:
    assert growth_of(before, reading, is_outdated=False) is expected


def test_what_another_version_reads_is_replaced_where_nobody_can_say_how_it_changed() -> None:
    assert growth_of(fingerprint("c"), CONVERSATION, is_outdated=True) is Growth.GROWN
    assert growth_of(fingerprint("c", "", 3), log("x"), is_outdated=True) is Growth.REWRITTEN


@pytest.mark.parametrize(
    ("stamps", "content", "expected"),
    [
        (("9", "1:1:1"), "d", Growth.GROWN),
        (("9", "2:2:2", "1:1:1"), "d", Growth.GROWN),
        (("9",), "d", Growth.REWRITTEN),
        (("9", "1:2:1"), "d", Growth.REWRITTEN),
        (("9", "1:2:1"), "c", Growth.GROWN),
    ],
)
def test_what_misses_a_sidecar_that_it_had_has_not_grown(
    stamps: tuple[str, ...], content: str, expected: Growth
) -> None:
    before = Fingerprint("notes", "1", ("3", "1:1:1"), "c", "", 3, "main")
    reading = Reading(Source("/log"), stamps, content, "whole", 9, "main")
    assert growth_of(before, reading, is_outdated=False) is expected


@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20])
def test_a_file_is_hashed_with_its_beginning(tmp_path: Path, size: int) -> None:
    whole, beginning = tmp_path / "whole", tmp_path / "beginning"
    whole.write_bytes(b"ab" * 2**20)
    beginning.write_bytes(whole.read_bytes()[:size])
    found = hash_file(str(whole), size)
    assert (found.whole, found.size_bytes) == (content_hash([str(whole)]), 2**21)
    assert found.head == (content_hash([str(beginning)]) if size <= 2**21 else None)
