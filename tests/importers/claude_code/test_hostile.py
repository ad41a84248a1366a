"""Whatever a transcript holds: it is named, nothing around it is lost, and the ledger keeps its promises."""

import json
import os
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from aix.health import Severity, check
from aix.health import Status as CheckStatus
from aix.ids import ulid
from aix.importing import Problem, Rows, Source, Ties
from aix.schema import TABLES
from aix.schema.arrow import batch_from_columns
from aix_importers.claude_code import ClaudeCodeImporter
from benchmarks.mutated_lines import mutated
from tests.importers.claude_code.outlines import SITUATIONS
from tests.importers.claude_code.trees import Tree, import_here, tree_of, write_tree
from tests.support.row_batches import rows_of
from tests.support.sample_conversation import Row

EXAMPLES = settings(
    max_examples=int(os.environ.get("AIX_PROPERTY_EXAMPLES", "40")),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
IMPORTS = settings(
    EXAMPLES,
    max_examples=int(os.environ.get("AIX_PROPERTY_EXAMPLES", "1")),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # an example takes seconds: to shrink one would take minutes
)
CHANCES = st.integers(0, 2**32).map(random.Random)
"""Also the simplest of them does something."""
TRANSCRIPTS = [path for path in tree_of(*SITUATIONS) if path.endswith(".jsonl")]
DEEP = b"[" * 100_000
LARGE = 3_000_000


@dataclass(frozen=True)
class Case:
    """A transcript of a question, its answer and another question, made bad."""

    spoil: Callable[[bytes, bytes, bytes], bytes]
    problems: Sequence[tuple[str, int]] = ()
    """Kind and line."""
    kept: str = "ask answer on"


def record(session: str, name: str, parent: str | None, second: int, **fields: object) -> dict[str, object]:
    return {
        "parentUuid": parent and f"{session}-{parent}",
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ada/bad",
        "sessionId": session,
        "version": "2.1.60",
        "type": "user",
        "message": {"role": "user", "content": f"text of {name}"},
        "uuid": f"{session}-{name}",
        "timestamp": f"2026-02-10T09:00:{second:02}.000Z",
        **fields,
    }


def lines_of(session: str) -> tuple[bytes, bytes, bytes]:
    message = {
        "id": f"{session}-answer",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": [{"type": "text", "text": "text of answer"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "output_tokens": 6},
    }
    records = (
        record(session, "ask", None, 1),
        record(session, "answer", "ask", 2, type="assistant", message=message),
        record(session, "on", "answer", 3),
    )
    first, second, third = (json.dumps(each).encode() + b"\n" for each in records)
    return first, second, third


def with_fields(line: bytes, **fields: object) -> bytes:
    return json.dumps({**json.loads(line), **fields}).encode() + b"\n"


CASES = {
    "not_json": Case(lambda a, _, c: a + b"Traceback (most recent call last):\n" + c, [("not_json", 2)], "ask on"),
    "a_comment": Case(lambda a, b, c: b"// exported\n" + a + b + c, [("not_json", 1)]),
    "half_a_line": Case(lambda a, b, c: a + b + c[:-40], [("truncated_line", 3)], "ask answer"),
    "half_a_line_inside": Case(lambda a, b, c: a + b[:-40] + b"\n" + c, [("not_json", 2)], "ask on"),
    "two_objects_on_one_line": Case(lambda a, b, c: a + b[:-1] + c, [("several_values", 2)]),
    "two_objects_of_which_one_is_odd": Case(
        lambda a, b, c: a + with_fields(b, novel=1)[:-1] + c, [("several_values", 2), ("unknown_field", 0)]
    ),
    "a_scrubbed_number": Case(
        lambda a, b, c: a + b'{"phone":[REDACTED_PHONE],"uuid":"x"}\n' + b + c, [("not_json", 2)]
    ),
    "an_invalid_escape": Case(lambda a, b, c: a + b'{"type":"user","x":"\\["}\n' + b + c, [("not_json", 2)]),
    "a_raw_newline": Case(
        lambda a, b, c: a + b'{"type":"user","x":"REDACTED\n more"}\n' + b + c, [("not_json", 2), ("not_json", 3)]
    ),
    "nul_bytes": Case(
        lambda a, b, c: a + b"\0" * 4096 + b + b"\0" * 9 + b"\n" + c, [("nul_bytes", 2), ("nul_bytes", 3)]
    ),
    "bom": Case(lambda a, b, c: b"\xef\xbb\xbf" + a + b + c, [("bom", 1)]),
    "invalid_utf8": Case(lambda a, b, c: a + b.replace(b"text of", b"\xff\xfe\xc3") + c, [("invalid_utf8", 2)]),
    "invalid_utf8_around_the_message": Case(
        lambda a, b, c: a + b.replace(b"/home/ada", b"/home/\xff") + c, [("invalid_utf8", 2)]
    ),
    "lone_surrogates": Case(lambda a, b, c: a + b.replace(b"text of", b"\\ud83d half") + c, [("lone_surrogate", 2)]),
    "crlf": Case(lambda a, b, c: (a + b + c).replace(b"\n", b"\r\n")),
    "empty_lines": Case(lambda a, b, c: b"\n\n" + a + b"\n \t\n" + b + c),
    "not_an_object": Case(lambda a, b, c: a + b"[1, 2]\n" + b + c, [("not_an_object", 2)]),
    "wrong_types": Case(
        lambda a, b, c: a + with_fields(b, isMeta="no", requestId=[7], cwd={}) + c, [("wrong_type", 2)]
    ),
    "a_uuid_that_is_no_text": Case(lambda a, b, c: a + with_fields(b, uuid=5) + c, [("wrong_type", 2)], "ask on"),
    "a_spread_message": Case(
        lambda a, b, c: (
            a + with_fields(b, message={**{str(n): each for n, each in enumerate("event: x")}, "content": []}) + c
        ),
        [("spread_message", 2)],
    ),
    "a_message_that_is_a_text": Case(lambda a, b, c: a + with_fields(b, message="text of answer") + c),
    "a_large_line": Case(lambda a, b, c: a + b.replace(b"text of", b"x" * LARGE) + c),
    "a_large_broken_line": Case(lambda a, _, c: a + b"x" * LARGE + b"\n" + c, [("not_json", 2)], "ask on"),
    "deep_nesting": Case(lambda a, b, c: a + b'{"a":' + DEEP + b"\n" + b + c, [("too_deep", 2)]),
    "huge_numbers": Case(
        lambda a, b, c: a + b.replace(b'"input_tokens": 5', b'"input_tokens": ' + b"9" * 5_000) + c, [("wrong_type", 2)]
    ),
    "a_time_that_is_none": Case(lambda a, b, c: a + with_fields(b, timestamp="never") + c),
    "times_that_go_back": Case(lambda a, b, c: a + b + with_fields(c, timestamp="2020-01-01T00:00:00.000Z")),
    "a_parent_that_is_not_there": Case(lambda a, b, c: a + b + with_fields(c, parentUuid="nobody")),
    "its_own_parent": Case(lambda a, b, c: a + b + with_fields(c, parentUuid=json.loads(c)["uuid"])),
    "a_cycle": Case(lambda a, b, c: with_fields(a, parentUuid=json.loads(c)["uuid"]) + b + c),
    "a_line_twice": Case(lambda a, b, c: a + b + b + c),
    "a_uuid_twice": Case(
        lambda a, b, c: a + b + with_fields(a, message={"role": "user", "content": "else"}) + c, [("copies_differ", 3)]
    ),
    "a_uuid_twice_on_a_line": Case(
        lambda a, b, c: a[:-1] + with_fields(b, uuid=json.loads(a)["uuid"]) + c,
        [("several_values", 1), ("copies_differ", 1)],
        "ask on",
    ),
    "a_copy_that_is_another_message": Case(
        lambda a, b, c: a + b + b.replace(b'-answer", "type"', b'-other", "type"').replace(b"text of", b"longer") + c,
        [("copies_differ", 3)],
    ),
    "a_compaction_that_keeps_what_comes_later": Case(
        lambda a, b, c: (
            a
            + b
            + with_fields(
                c,
                type="system",
                subtype="compact_boundary",
                uuid="cut",
                compactMetadata={"trigger": "auto", "preservedSegment": {"headUuid": json.loads(c)["uuid"]}},
            )
            + c
        )
    ),
    "another_session": Case(lambda a, b, c: a + b + with_fields(c, sessionId="somebody")),
    "a_session_that_is_no_uuid": Case(
        lambda a, b, c: b"".join(with_fields(line, sessionId="2026-01-05-x/..") for line in (a, b, c))
    ),
    "an_unknown_record": Case(
        lambda a, b, c: a + with_fields(b, type="tomorrow") + c, [("unknown_type", 0)], kept="ask on"
    ),
}


class Imported:
    """All cases, imported at once."""

    def __init__(self, folder: Path) -> None:
        self.logs = folder / "logs"
        write_tree(self.logs, {f"{name}.jsonl": case.spoil(*lines_of(name)) for name, case in CASES.items()})
        import_here(folder / "ledger", self.logs)
        self.ids = {row["id"] for row in rows_of(folder / "ledger", "messages")}
        self.problems: dict[str, list[Row]] = {}
        for row in rows_of(folder / "ledger", "import_problems"):
            self.problems.setdefault(Path(str(row["source_key"])).stem, []).append(row)
        self.broken_promises = broken_promises(folder / "ledger")


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    return Imported(tmp_path_factory.mktemp("bad"))


def broken_promises(ledger: Path) -> list[str]:
    return [
        f"{each.name}: {each.reason}"
        for each in check(ledger)
        if each.severity is Severity.HARD and each.status is CheckStatus.ALARM
    ]


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named_and_nothing_around_it_is_lost(imported: Imported, name: str) -> None:
    case = CASES[name]
    offsets = [0]
    for line in case.spoil(*lines_of(name)).split(b"\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    expected = [(kind, line or None, offsets[line - 1] if line else None) for kind, line in case.problems]
    problems = imported.problems.get(name, [])
    found = [(row["kind"], row["line"], row["byte_offset"]) for row in problems]
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert all(str(row["reason"]).endswith(".") for row in problems)
    keys = {"ask": f"{name}-ask", "answer": f"{name}-answer@{name}-answer", "on": f"{name}-on"}
    if name in ("a_spread_message", "a_message_that_is_a_text"):
        keys["answer"] = f"{name}-answer"
    kept = {which for which, key in keys.items() if ulid("msg", "claude-code", key) in imported.ids}
    assert kept == set(case.kept.split())


def test_bad_input_breaks_no_promise(imported: Imported) -> None:
    assert imported.broken_promises == []


def extract(folder: Path, tree: Tree) -> list[Rows | Problem | Ties]:
    """Read files as transcripts, all of them together, and expect rows that the ledger can take."""
    write_tree(folder, tree)
    sources = [Source(str(folder / name)) for name in tree]
    given = list(ClaudeCodeImporter({}).extract(sources))
    for each in given:
        if isinstance(each, Rows):
            batch_from_columns(TABLES[each.table], each.columns)
    return given


@EXAMPLES
@given(path=st.sampled_from(TRANSCRIPTS), chance=CHANCES)
def test_a_transcript_may_be_wrong_in_any_way(
    tmp_path_factory: pytest.TempPathFactory, path: str, chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("wrong")
    case, _, _ = path.partition("/")
    tree = {name: content for name, content in tree_of(case).items() if name.endswith(".jsonl")}
    extract(folder, {**tree, path: mutated(tree[path], chance)})


@pytest.mark.long
@pytest.mark.parametrize("number", ["-1", "9223372036854775806", "9223372036854775808", "1" + "0" * 30, "1e300", "0.5"])
def test_numbers_may_have_any_size(tmp_path: Path, number: str) -> None:
    for name in SITUATIONS:
        tree = {path: content for path, content in tree_of(name).items() if path.endswith(".jsonl")}
        changed = {path: re.sub(rb'(?<=":)[0-9.]+(?=[,}])', number.encode(), content) for path, content in tree.items()}
        extract(tmp_path / name, changed)


@EXAMPLES
@given(content=st.binary(max_size=300))
def test_any_bytes_may_be_a_transcript(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    extract(tmp_path_factory.mktemp("any"), {"any.jsonl": content})


@pytest.mark.long
@IMPORTS
@given(chance=CHANCES)
def test_a_ledger_of_wrong_transcripts_keeps_its_promises(
    tmp_path_factory: pytest.TempPathFactory, chance: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("wrong")
    tree = tree_of(*SITUATIONS)
    wrong = {name: mutated(content, chance) if name in TRANSCRIPTS else content for name, content in tree.items()}
    write_tree(folder / "logs", wrong)
    import_here(folder / "ledger", folder / "logs")
    assert broken_promises(folder / "ledger") == []
