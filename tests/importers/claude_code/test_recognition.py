"""Files are recognised by their records, wherever these stand, and by one importer only."""

import gzip
import json
from collections.abc import Callable, Iterator, Sequence
from io import RawIOBase
from itertools import cycle
from pathlib import Path

import pyarrow
import pytest

from aix.importing import Importer, Problem, Rows, Source
from aix.pipeline.run import Settings, import_histories
from aix_importers.claude_code import ClaudeCodeImporter
from aix_importers.common.recognition import recognise_file
from aix_importers.cursor import CursorImporter
from aix_importers.session_log import SessionLogImporter
from tests import ROOT
from tests.importers.claude_code.test_hostile import lines_of, record
from tests.importers.claude_code.trees import write_tree
from tests.importers.session_log.logs import candidates, entry
from tests.support.row_batches import rows_of

FIXTURES = ROOT / "fixtures"
IMPORTERS = (ClaudeCodeImporter(), SessionLogImporter(), CursorImporter())
LINES = lines_of("s")
WHOLE = b"".join(LINES)
ENTRIES = b"".join(json.dumps(each).encode() + b"\n" for each in (entry("u1"), entry("u2", "assistant", "u1")))
TURNS = b"".join(
    json.dumps({"role": role, "message": {"content": [{"type": "text", "text": "hello"}]}}).encode() + b"\n"
    for role in ("user", "assistant")
)
UNTYPED = (
    b'{"uuid":"x","sessionId":"s","timestamp":"2026-02-10T08:00:00.000Z","message":{"role":"user","content":"x"}}\n'
)
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 5_000_000}}


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def claims(path: Path) -> list[tuple[Importer, Source]]:
    """Return the importers that claim a file or files of a folder, with the sources."""
    files = candidates(path)
    return [(importer, source) for importer in IMPORTERS for source in importer.discover(files)]


def read(path: Path) -> tuple[str, dict[str, int], list[Problem]]:
    """Return the only importer that claims a file, how many rows of each table it gives, and the problems."""
    [(importer, source)] = claims(path)
    given = list(importer.extract([source]))
    counts: dict[str, int] = {}
    for each in given:
        if isinstance(each, Rows):
            counts[each.table] = counts.get(each.table, 0) + len(next(iter(each.columns.values())))
    return importer.name, counts, [each for each in given if isinstance(each, Problem)]


def of_image() -> bytes:
    """Return a prompt with an image, before the fields by which a record is recognised."""
    pasted = record("s", "ask", None, 1, message={"role": "user", "content": [IMAGE]})
    return line(message=pasted.pop("message"), **pasted)


BEFORE = {
    "a_long_queue_operation": (
        line(type="queue-operation", operation="enqueue", sessionId="s", content="pasted " * 11_000),
        [],
    ),
    "a_long_summary": (line(type="summary", leafUuid="none", summary="long " * 20_000), []),
    "a_long_record_with_its_type_last": (line(summary="long " * 20_000, leafUuid="none", type="summary"), []),
    "a_pasted_image_of_5_mb": (of_image(), ["copies_differ"]),
    "blank_lines": (b"\n \t\r\n" * 20_000, []),
    "log_noise": (b"warning {no record} of anything\n" * 2_000, ["not_json"]),
    "records_of_another_tool": (b'{"level":"info","type":"note","text":"starting"}\n' * 900, ["unknown_type"]),
    "a_line_in_utf_16": ("notes".encode("utf-16") + b"\n", ["invalid_utf8", "not_json", "nul_bytes"]),
    "nul_bytes": (b"\0" * 300_000, ["nul_bytes"]),
    "lines_of_nul_bytes": ((b"\0" * 4_095 + b"\n") * 70, ["nul_bytes"]),
    "a_cut_line": (LINES[0][:-60] + b"\n", ["not_json"]),
    "a_cut_line_of_100_kb": (b'{"summary":"' + b"cut " * 25_000 + b"\n", ["not_json"]),
    "the_end_of_a_line": (LINES[0][40:], ["not_json"]),
    "a_byte_order_mark": (b"\xef\xbb\xbf", ["bom"]),
    "two_byte_order_marks": (b"\xef\xbb\xbf\xef\xbb\xbf", ["bom"]),
    "deep_nesting": (b'{"a":' + b"[" * 70_000 + b"\n", ["too_deep"]),
    "a_record_without_type": (UNTYPED, ["unknown_type"]),
}


@pytest.mark.parametrize("name", BEFORE)
def test_records_are_found_behind(tmp_path: Path, name: str) -> None:
    before, kinds = BEFORE[name]
    path = tmp_path / "s.jsonl"
    path.write_bytes(before + WHOLE)
    importer, counts, problems = read(path)
    assert (importer, counts["messages"]) == ("claude_code", 3)
    assert {problem.kind for problem in problems} - {"unknown_field"} == set(kinds)


@pytest.mark.parametrize(
    "name", ["blank_lines", "log_noise", "nul_bytes", "lines_of_nul_bytes", "two_byte_order_marks"]
)
def test_entries_are_found_behind(tmp_path: Path, name: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(BEFORE[name][0] + ENTRIES)
    importer, counts, _ = read(path)
    assert (importer, counts["messages"]) == ("session_log", 2)


@pytest.mark.parametrize("name", ["a_byte_order_mark", "log_noise", "nul_bytes", "lines_of_nul_bytes"])
def test_cursor_transcripts_are_found_behind(tmp_path: Path, name: str) -> None:
    path = tmp_path / "agent-transcripts" / "s.jsonl"
    path.parent.mkdir()
    path.write_bytes(BEFORE[name][0] + b"\n" + TURNS)
    importer, counts, _ = read(path)
    assert (importer, counts["messages"]) == ("cursor", 2)


def test_a_long_first_entry_is_found(tmp_path: Path) -> None:
    first = entry("u1", message={"content": "pasted " * 30_000})
    path = tmp_path / "s.jsonl"
    path.write_bytes(line(message=first.pop("message"), **first) + ENTRIES.partition(b"\n")[2])
    importer, counts, _ = read(path)
    assert (importer, counts["messages"]) == ("session_log", 2)


def test_a_capture_may_begin_with_stream_events(tmp_path: Path) -> None:
    path = tmp_path / "capture.jsonl"
    event = line(type="stream_event", event={"type": "ping"}, parent_tool_use_id=None, uuid="e", session_id="s")
    answer = json.loads(LINES[1])["message"]
    path.write_bytes(
        event * 3_000
        + line(type="user", message={"role": "user", "content": "ask"}, parent_tool_use_id=None, session_id="s")
        + line(type="assistant", message=answer, parent_tool_use_id=None, session_id="s")
    )
    importer, counts, problems = read(path)
    assert (importer, counts["messages"]) == ("claude_code", 2)
    assert "unknown_type" not in {problem.kind for problem in problems}


@pytest.mark.parametrize("name", ["a.JSONL", "a.ndjson", "a.NDJSON", "agent-1f.NdJson"])
def test_names_may_have_other_suffixes(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "agent-transcripts"
    folder.mkdir()
    for number, (content, importer) in enumerate(((WHOLE, "claude_code"), (ENTRIES, "session_log"), (TURNS, "cursor"))):
        path = folder / f"{number}-{name}"
        path.write_bytes(content)
        found, counts, problems = read(path)
        assert (found, "messages" in counts, problems) == (importer, True, [])


def test_a_subagent_is_known_by_its_name_whatever_the_suffix(tmp_path: Path) -> None:
    (tmp_path / "agent-1f.NDJSON").write_bytes(WHOLE)
    (tmp_path / "agent-1f.meta.json").write_text('{"agentType":"Explore"}')
    [(_, source)] = claims(tmp_path)
    assert source.sidecars == (str(tmp_path / "agent-1f.meta.json"),)


def array(data: bytes, separator: bytes = b",") -> bytes:
    return b"[" + separator.join(data.splitlines()) + b"]"


def spread(data: bytes) -> bytes:
    return "\n".join(json.dumps(json.loads(each), indent=2) for each in data.splitlines()).encode()


FORMS: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "gzip": ("s.jsonl.gz", gzip.compress, "gunzip"),
    "gzip_by_content": ("s.jsonl", gzip.compress, "gunzip"),
    "a_cut_gzip_file": ("s.JSONL.GZ", lambda data: gzip.compress(data)[:-12], "gunzip"),
    "zstd": ("s.ndjson.zst", lambda data: pyarrow.compress(data, "zstd", asbytes=True), "zstd -d"),
    "utf_16": ("s.jsonl", lambda data: data.decode().encode("utf-16"), "UTF-16LE"),
    "utf_16_le": ("s.jsonl", lambda data: data.decode().encode("utf-16-le"), "UTF-16LE"),
    "utf_16_be": ("s.jsonl", lambda data: data.decode().encode("utf-16-be"), "UTF-16BE"),
    "utf_16_be_with_bom": ("s.jsonl", lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be"), "UTF-16BE"),
    "an_array": ("s.jsonl", array, "jq"),
    "an_array_over_several_lines": (
        "s.jsonl",
        lambda data: json.dumps(json.loads(array(data)), indent=1).encode(),
        "jq",
    ),
    "spread_objects": ("s.jsonl", spread, "jq"),
}


def test_of_an_array_with_a_record_per_line_the_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"[\n" + array(WHOLE, b",\n").strip(b"[]") + b"\n]\n")
    importer, counts, problems = read(path)
    assert (importer, counts["messages"]) == ("claude_code", 3)
    assert {problem.kind for problem in problems} == {"not_json", "not_an_object"}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(
    ("content", "importer"),
    [(WHOLE, "claude_code"), (ENTRIES, "session_log"), (TURNS, "cursor")],
    ids=["claude_code", "session_log", "cursor"],
)
def test_a_form_that_is_not_read_is_named(tmp_path: Path, name: str, content: bytes, importer: str) -> None:
    file_name, form, remedy = FORMS[name]
    path = tmp_path / "agent-transcripts" / file_name
    path.parent.mkdir()
    path.write_bytes(form(content * 20))
    found, counts, [problem] = read(path)
    assert (found, counts, problem.kind, problem.is_of_whole_source) == (importer, {}, "unread_form", True)
    assert remedy in problem.reason


def test_a_form_that_is_not_read_is_named_by_the_import(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    path = tmp_path / "logs" / "s.jsonl.gz"
    path.write_bytes(gzip.compress(WHOLE))
    (tmp_path / "logs" / "other.jsonl.gz").write_bytes(gzip.compress(b"hello\n"))
    report = import_histories(tmp_path / "ledger", [tmp_path / "logs"], Settings(jobs=0))
    assert [(name, "gunzip" in reason) for name, reason in report.unread] == [(str(path), True)]
    assert [Path(refusal.path).name for refusal in report.refusals] == ["other.jsonl.gz"]
    assert [row["kind"] for row in rows_of(tmp_path / "ledger", "import_problems")] == ["unread_form"]


def test_an_unread_file_of_its_own_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
    for place, importers in (("config", ["claude_code"]), (".claude", ["claude_code"]), ("elsewhere", [])):
        path = tmp_path / place / "projects" / "p" / "s.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"nothing of this\nis a record\n" * 3)
        (path.parent / "empty.jsonl").touch()
        (path.parent / "history.jsonl").write_bytes(b'{"display":"x"}\n')
        assert [importer.name for importer, _ in claims(path.parent)] == importers
    _, counts, problems = read(tmp_path / ".claude" / "projects" / "p" / "s.jsonl")
    assert [problem.kind for problem in problems if problem.is_of_whole_source] == ["no_record"]
    assert counts == {}


def mixtures() -> Iterator[tuple[str, bytes]]:
    one, other = WHOLE.splitlines(keepends=True), ENTRIES.splitlines(keepends=True)
    untyped = [line(**{name: value for name, value in json.loads(each).items() if name != "type"}) for each in one]
    for number in range(3):
        yield f"untyped-{number}", b"".join([*one[:number], untyped[number], *one[number + 1 :]])
        yield f"entry-{number}", b"".join([*one[:number], other[0], *one[number:]])
        yield f"record-{number}", b"".join([*other[:number], one[0], *other[number:]])
    yield "all-untyped", b"".join(untyped)
    yield "halves", WHOLE * 5 + ENTRIES * 5
    yield "other-halves", ENTRIES * 5 + WHOLE * 5
    yield "alternating", b"".join(a + b for a, b in zip(one * 9, other * 9, strict=False))
    yield "turns", TURNS + ENTRIES + WHOLE


@pytest.mark.parametrize("folder", ["logs", "agent-transcripts"])
def test_mixed_files_have_one_importer(tmp_path: Path, folder: str) -> None:
    place = tmp_path / folder
    place.mkdir()
    files = dict(mixtures())
    for name, content in files.items():
        (place / f"{name}.jsonl").write_bytes(content)
    found = [Path(source.path).stem for _, source in claims(place)]
    assert sorted(found) == sorted(files)


def test_a_transcript_with_a_record_without_type_is_the_one_of_its_other_records(tmp_path: Path) -> None:
    for name, content in mixtures():
        if name.startswith(("untyped", "entry")):
            path = tmp_path / f"{name}.jsonl"
            path.write_bytes(content)
            assert [importer.name for importer, _ in claims(path)] == ["claude_code"], name


def test_no_file_of_the_fixtures_has_two_importers() -> None:
    importers: dict[str, set[str]] = {}
    for importer, source in claims(FIXTURES):
        importers.setdefault(source.path, set()).add(importer.name)
    assert [path for path, names in importers.items() if len(names) > 1] == []
    assert {name for names in importers.values() for name in names} == {importer.name for importer in IMPORTERS}


@pytest.mark.long
def test_a_file_is_looked_at_again_when_it_has_grown(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    (logs / "other.jsonl").write_bytes(b"".join(lines_of("other")))
    cut = b"".join(lines_of("cut"))
    befores = {"cut.jsonl": cut[:20], "s.jsonl": UNTYPED}
    wholes = {"cut.jsonl": cut, "s.jsonl": UNTYPED + WHOLE}
    tables = []
    for ledger, contents in (("grown", (befores, befores, wholes)), ("whole", (wholes,))):
        for files in contents:
            write_tree(logs, files)
            import_histories(tmp_path / ledger, [logs], Settings(jobs=0))
        names = ("sessions", "turns", "messages")
        tables.append([sorted(map(str, rows_of(tmp_path / ledger, name))) for name in names])
    assert tables[0] == tables[1]


def test_a_file_of_programs_in_the_folder_of_another_tool_has_one_importer(tmp_path: Path) -> None:
    for folder in (".claude/projects", "agent-transcripts"):
        path = tmp_path / folder / "programs.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(line(id="m", type="program", text="long " * 9_000, programType="model"))
        assert [importer.name for importer, _ in claims(path)] == ["session_log"]


class Endless(RawIOBase):
    """A file without an end that counts how much of it was read."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = cycle(pieces)
        self.read_bytes = 0

    def read(self, size: int = -1) -> bytes:
        data = bytearray()
        while len(data) < size:
            data += next(self._pieces)
        self.read_bytes += size
        return bytes(data[:size])


@pytest.mark.parametrize(
    ("piece", "most_bytes"),
    [
        (b'{"level":"info","text":"another tool"}\n', 2**17),
        (b'{"text":"' + b"long " * 4_000 + b'"}\n', 2**22),
        (b"plain text {of a log}\n", 2**22),
        (b"\n", 2**22),
        (b"\0" * 4_096, 2**26),
        (b'{"text":"' + b"one line " * 100, 2**26),
    ],
    ids=["small_objects", "large_objects", "text", "blank_lines", "nul_bytes", "one_line"],
)
def test_little_is_read_of_what_is_nobodys(piece: bytes, most_bytes: int) -> None:
    file = Endless([piece])
    assert recognise_file(file).family is None  # type: ignore[arg-type]
    assert file.read_bytes <= most_bytes
