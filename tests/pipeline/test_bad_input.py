"""Whatever a log holds, and whatever happens to it: it is named, nothing around it is lost, and mending it helps."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from aix.health import Status as CheckStatus
from aix.health import check
from aix.ids import ulid
from aix.importing import Problem, Rows, Source
from aix.pipeline.report import Outcome, Report, Status, Watcher
from aix.pipeline.run import Settings, import_histories
from aix.store.manifest import read_latest
from aix_importers.session_log import SessionLogImporter
from tests.importers.session_log.logs import entry
from tests.pipeline.test_import_run import give_up_root
from tests.support.row_batches import rows_of
from tests.support.sample_conversation import Row

pytestmark = pytest.mark.long

ALL = {"first", "middle", "last"}
MANY = 20_000
LARGE = 50_000_000
DEEP = b"[" * 100_000


@dataclass(frozen=True)
class Case:
    """A log of three entries, made bad."""

    spoil: Callable[[bytes, bytes, bytes], bytes]
    """Makes the log of the lines of the first, the middle and the last entry."""
    problems: Sequence[tuple[str, int]] = ()
    """Kind and line."""
    kept: str = "first last"
    mend: Callable[[bytes, bytes, bytes], bytes] = lambda *lines: b"".join(lines)


def with_fields(line: bytes, **fields: object) -> bytes:
    return json.dumps({**json.loads(line), **fields}).encode() + b"\n"


def with_message(line: bytes, **fields: object) -> bytes:
    return with_fields(line, message={**json.loads(line)["message"], **fields})


CASES = {
    "not_json": Case(lambda a, _, c: a + b"Traceback (most recent call last):\n" + c, [("not_json", 2)]),
    "half_a_line": Case(lambda a, b, c: a + c + b[:-30], [("truncated_line", 3)]),
    "half_a_line_inside": Case(lambda a, b, c: a + b[:-30] + b"\n" + c, [("not_json", 2)]),
    "two_objects_on_one_line": Case(lambda a, b, c: a + b[:-1] + c, [("several_values", 2)], kept="first middle last"),
    "nul_bytes": Case(
        lambda a, b, c: a + b"\0" * 4096 + b + b"\0" * 9 + b"\n" + c,
        [("nul_bytes", 2), ("nul_bytes", 3)],
        kept="first middle last",
    ),
    "bom": Case(lambda a, b, c: b"\xef\xbb\xbf" + a + b + c, kept="first middle last"),
    "invalid_utf8": Case(
        lambda a, b, c: a + b.replace(b"text of", b"\xff\xfe\xc3") + c, [("invalid_utf8", 2)], kept="first middle last"
    ),
    "wrong_types": Case(
        lambda a, b, c: a + with_fields(b, parentUuid=[7], latencyMs="long", provider={}, situation=1.5) + c,
        [("wrong_type", 2)],
        kept="first middle last",
    ),
    "wrong_type_of_the_message": Case(lambda a, b, c: a + with_fields(b, message=[]) + c, [("no_message", 2)]),
    "wrong_type_of_the_uuid": Case(lambda a, b, c: a + with_fields(b, uuid=5) + c, [("no_uuid", 2)]),
    "not_an_object": Case(lambda a, _, c: a + b"[1, 2]\n" + c, [("not_an_object", 2)]),
    "a_line_of_50_megabytes": Case(
        lambda a, b, c: a + with_message(b, content="x" * LARGE) + c, kept="first middle last"
    ),
    "a_broken_line_of_5_megabytes": Case(lambda a, _, c: a + b"x" * (LARGE // 10) + b"\n" + c, [("not_json", 2)]),
    "duplicate_uuid": Case(
        lambda a, b, c: a + b + with_message(a, content="something else") + c,
        [("duplicate_uuid", 3)],
        kept="first middle last",
    ),
    "a_parent_that_does_not_exist": Case(
        lambda a, b, c: a + with_fields(b, parentUuid="nobody") + c, [("unknown_parent", 2)], kept="first middle last"
    ),
    "a_cycle": Case(
        lambda a, b, c: (
            with_fields(a, parentUuid=json.loads(c)["uuid"])
            + with_fields(b, parentUuid=json.loads(a)["uuid"])
            + with_fields(c, parentUuid=json.loads(b)["uuid"])
        ),
        [("unknown_parent", 1)],
        kept="first middle last",
        mend=lambda a, b, c: (
            a + with_fields(b, parentUuid=json.loads(a)["uuid"]) + with_fields(c, parentUuid=json.loads(b)["uuid"])
        ),
    ),
    "its_own_parent": Case(
        lambda a, b, c: a + with_fields(b, parentUuid=json.loads(b)["uuid"]) + c,
        [("unknown_parent", 2)],
        kept="first middle last",
    ),
    "deep_nesting": Case(lambda a, _, c: a + b'{"a":' + DEEP + b"\n" + c, [("too_deep", 2)]),
    "deep_nesting_of_an_entry": Case(
        lambda a, b, c: a + b[:-2] + b',"x":' + DEEP + DEEP.replace(b"[", b"]") + b"}\n" + c, [("too_deep", 2)]
    ),
    "huge_numbers": Case(
        lambda a, b, c: (
            a
            + with_fields(b, latencyMs=10**400)
            + c.replace(b'"message"', b'"x": ' + b"9" * 5_000 + b', "y": 1e999, "z": -Infinity, "message"')
        ),
        [("wrong_type", 2)],
        kept="first middle last",
    ),
    "times_out_of_range": Case(
        lambda a, b, c: a + with_fields(b, timestamp=10**30) + with_fields(c, timestamp="9999-12-31T23:59:59-12:00"),
        [("no_timestamp", 2), ("no_timestamp", 3)],
        kept="first middle last",
    ),
    "lone_surrogates": Case(
        lambda a, b, c: a + with_message(b, content="\ud83d half", **{"\udc00": 1}) + c,
        [("lone_surrogate", 2)],
        kept="first middle last",
    ),
    "a_nul_in_a_text": Case(lambda a, b, c: a + with_message(b, content="a\0b") + c, kept="first middle last"),
    "many_bad_lines": Case(
        lambda a, _, c: a + b"bad\n" * MANY + c, [("not_json", line) for line in range(2, MANY + 2)]
    ),
}
NAMES = {
    "newline": b"new\nline.jsonl",
    "invalid_utf8": b"inv\xffalid.jsonl",
    "long": b"x" * 249 + b".jsonl",
    "key": b"a#b.jsonl",
}


def lines_of(name: str) -> tuple[bytes, bytes, bytes]:
    """Return the lines of a question, its answer and another question, as the real writer links them."""
    first, middle, last = (f"{name}-{which}" for which in ("first", "middle", "last"))
    entries = (entry(first), entry(middle, "assistant", first, second=1), entry(last, second=2))
    question, answer, another = (json.dumps({**each, "sessionId": name}).encode() + b"\n" for each in entries)
    return question, answer, another


def write_whole(path: Path, name: str) -> Path:
    path.write_bytes(b"".join(lines_of(name)))
    return path


def kept_entries(ledger: Path, names: Iterable[str]) -> dict[str, set[str]]:
    """Return which entries of these logs are in the ledger."""
    ids = {row["message_id"] for row in rows_of(ledger, "message_facts")}
    return {name: {which for which in ALL if ulid("msg", "session-log", f"{name}-{which}") in ids} for name in names}


def broken_promises(ledger: Path) -> list[str]:
    return [f"{each.name}: {each.reason}" for each in check(ledger) if each.status is CheckStatus.ALARM]


def import_here(ledger: Path, place: Path, watcher: Watcher | None = None) -> Report:
    return import_histories(ledger, [place], Settings(jobs=0), watcher)


class Imported:
    """All cases in one folder, imported when they are bad and again when they are mended."""

    def __init__(self, folder: Path) -> None:
        self.ledger, self.logs = folder / "ledger", folder / "logs"
        self.logs.mkdir()
        for name, case in CASES.items():
            (self.logs / f"{name}.jsonl").write_bytes(case.spoil(*lines_of(name)))
        for name, file in NAMES.items():
            write_whole(self.logs / os.fsdecode(file), f"name-{name}")
        self.outcomes = self._import()
        self.problems: dict[str, list[Row]] = {}
        for row in rows_of(self.ledger, "import_problems"):
            self.problems.setdefault(str(row["source_key"]), []).append(row)
        self.kept = kept_entries(self.ledger, self._sessions())
        self.broken_promises = broken_promises(self.ledger)

    def mend(self) -> None:
        for name, case in CASES.items():
            (self.logs / f"{name}.jsonl").write_bytes(case.mend(*lines_of(name)))
        self.outcomes_when_mended = self._import()
        self.kept_when_mended = kept_entries(self.ledger, self._sessions())
        self.broken_promises_when_mended = broken_promises(self.ledger)

    def _import(self) -> dict[str, Outcome]:
        report = import_here(self.ledger, self.logs)
        assert report.failures == []
        return {outcome.name: outcome for outcome in report.outcomes}

    def _sessions(self) -> list[str]:
        return [*CASES, *(f"name-{name}" for name in NAMES)]


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Imported:
    return Imported(tmp_path_factory.mktemp("bad"))


@pytest.fixture(scope="module")
def mended(imported: Imported) -> Imported:
    imported.mend()
    return imported


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_named_and_nothing_around_it_is_lost(imported: Imported, name: str) -> None:
    case, path = CASES[name], imported.logs / f"{name}.jsonl"
    outcome, problems = imported.outcomes[str(path)], imported.problems.get(str(path), [])
    assert (outcome.status, outcome.problems) == (Status.IMPORTED, len(case.problems))
    lines = case.spoil(*lines_of(name)).split(b"\n")
    offsets = [0]
    for line in lines:
        offsets.append(offsets[-1] + len(line) + 1)
    expected = sorted((kind, line, offsets[line - 1]) for kind, line in case.problems)
    assert sorted((row["kind"], row["line"], row["byte_offset"]) for row in problems) == expected
    for row in problems:
        assert re.fullmatch(r"[A-Z0-9].* .*\.", str(row["reason"]))
        assert row["sample"] is None or 0 < len(str(row["sample"])) <= 200
    assert imported.kept[name] == set(case.kept.split())


@pytest.mark.parametrize("name", NAMES)
def test_a_log_of_any_file_name_is_imported_and_then_skipped(mended: Imported, name: str) -> None:
    source = os.fsencode(mended.logs / os.fsdecode(NAMES[name])).decode("utf-8", "backslashreplace")
    assert mended.outcomes[source].status is Status.IMPORTED
    assert mended.kept[f"name-{name}"] == ALL
    assert mended.outcomes_when_mended[source].status is Status.SKIPPED


@pytest.mark.parametrize("name", CASES)
def test_mended_input_completes_what_was_imported(mended: Imported, name: str) -> None:
    outcome = mended.outcomes_when_mended[str(mended.logs / f"{name}.jsonl")]
    assert (outcome.status, outcome.problems) == (Status.UPSERTED, 0)
    assert mended.kept_when_mended[name] == ALL


def test_bad_input_breaks_no_promise_of_the_ledger(mended: Imported) -> None:
    assert (mended.broken_promises, mended.broken_promises_when_mended) == ([], [])


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with one good log."""
    folder = tmp_path / "logs"
    folder.mkdir()
    write_whole(folder / "good.jsonl", "good")
    return folder


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "ledger"


def test_what_holds_no_log_is_passed_over(logs: Path, ledger: Path, tmp_path: Path) -> None:
    (logs / "empty.jsonl").touch()
    os.mkfifo(logs / "pipe.jsonl")
    (logs / "loop").symlink_to(logs)
    (logs / "itself").symlink_to(logs / "itself")
    (logs / "itself.jsonl").symlink_to(logs / "itself.jsonl")
    (logs / "folder.jsonl").mkdir()
    report = import_here(ledger, logs)
    assert dict(report.statuses) == {Status.IMPORTED: 1, Status.SKIPPED: 1}
    assert kept_entries(ledger, ["good"]) == {"good": ALL}
    assert [path for path, _ in report.failures] == [str(logs / "itself.jsonl")]
    nothing = tmp_path / "nothing"
    (nothing / "below").mkdir(parents=True)
    assert import_here(ledger, nothing).failures == [(str(nothing), "there is nothing to import in it")]
    [skipped] = import_here(ledger, logs / "empty.jsonl").outcomes
    assert (skipped.status, skipped.reason) == (Status.SKIPPED, "it is empty")
    assert read_latest(ledger).version == 1
    write_whole(logs / "empty.jsonl", "empty")
    import_here(ledger, logs)
    assert kept_entries(ledger, ["empty"]) == {"empty": ALL}


def test_a_log_that_may_not_be_read_is_named_until_it_may(logs: Path, ledger: Path) -> None:
    closed = write_whole(logs / "closed.jsonl", "closed")
    import_here(ledger, logs)
    closed.write_bytes(closed.read_bytes() + lines_of("more")[0])
    closed.chmod(0)
    code = (
        "import sys; from pathlib import Path; from aix.pipeline.run import *\n"
        "print(import_histories(Path(sys.argv[1]), [Path(sys.argv[2])], Settings(jobs=0)).failures)"
    )
    command = [sys.executable, "-c", code, str(ledger), str(logs)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=give_up_root).stdout
    assert str(closed) in said
    assert "cannot be read: Permission denied" in said
    assert kept_entries(ledger, ["closed"]) == {"closed": ALL}
    closed.chmod(0o600)
    assert dict(import_here(ledger, logs).statuses) == {Status.SKIPPED: 1, Status.UPSERTED: 1}
    assert kept_entries(ledger, ["more"]) == {"more": {"first"}}


def test_a_log_that_vanishes_before_it_is_read_fails_alone(logs: Path, ledger: Path) -> None:
    lost = write_whole(logs / "lost.jsonl", "lost")

    class Remover(Watcher):
        def begin(self, sources: int, size_bytes: int) -> None:  # noqa: ARG002
            lost.unlink()

    report = import_here(ledger, logs, Remover())
    assert report.failures == [(str(lost), f"{lost} has vanished")]
    [problem] = rows_of(ledger, "import_problems")
    assert (problem["source_key"], problem["kind"]) == (str(lost), "source_failed")
    assert kept_entries(ledger, ["good", "lost"]) == {"good": ALL, "lost": set()}
    write_whole(lost, "lost")
    assert dict(import_here(ledger, logs).statuses) == {Status.SKIPPED: 1, Status.IMPORTED: 1}
    assert kept_entries(ledger, ["lost"]) == {"lost": ALL}
    assert broken_promises(ledger) == []


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"".join(lines_of("more")))


def truncate(path: Path) -> None:
    os.truncate(path, 10)


def replace(path: Path) -> None:
    path.unlink()
    path.write_bytes(b"".join(lines_of("more")))


CHANGES: dict[str, tuple[Callable[[Path], None], set[str]]] = {
    "vanishing": (Path.unlink, ALL),
    "growing": (grow, ALL),
    "truncated": (truncate, {"first"}),
    "replaced": (replace, ALL),
}
"""A change of a log while it is read, and the entries that are read nevertheless."""


def test_what_happens_to_logs_while_they_are_read_costs_nothing_that_was_read(
    logs: Path, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log changes at its first problem: then its beginning was read, and its rest was not."""
    for name in CHANGES:
        first, middle, last = lines_of(name)
        far_behind_what_is_buffered = b" " * 2_000_000 + b"\n"
        (logs / f"{name}.jsonl").write_bytes(first + b"bad\n" + far_behind_what_is_buffered + middle + last)
    extract = SessionLogImporter.extract

    def extract_and_change(self: SessionLogImporter, sources: Sequence[Source]) -> Iterator[Rows | Problem]:
        changed = set()
        for piece in extract(self, sources):
            yield piece
            path = Path(piece.source.path)
            if isinstance(piece, Problem) and path not in changed:
                change, _ = CHANGES[path.stem]
                change(path)
                changed.add(path)

    with monkeypatch.context() as patch:
        patch.setattr(SessionLogImporter, "extract", extract_and_change)
        report = import_here(ledger, logs)
    assert (report.failures, dict(report.statuses)) == ([], {Status.IMPORTED: 5})
    kept = kept_entries(ledger, ["good", *CHANGES])
    assert kept == {"good": ALL, **{name: read for name, (_, read) in CHANGES.items()}}
    for name in CHANGES:
        write_whole(logs / f"{name}.jsonl", name)
    assert dict(import_here(ledger, logs).statuses) == {Status.SKIPPED: 1, Status.UPSERTED: 4}
    assert dict(import_here(ledger, logs).statuses) == {Status.SKIPPED: 5}
    assert kept_entries(ledger, CHANGES) == dict.fromkeys(CHANGES, ALL)
    assert broken_promises(ledger) == []
