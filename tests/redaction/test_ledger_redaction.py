"""Secrets and names planted in every column of a ledger: none is in any output of `--redact`."""

import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from aix.reading.ledger import open_ledger
from aix.redaction.ledger_redactor import KEY_FILE, open_redactor
from aix.reports.library import report_files
from aix.schema import TABLES
from tests.support.command_line import run_in_process
from tests.support.planted_ledger import PLANTED, make_planted_ledger
from tests.support.sample_ledger import SAMPLE_ROWS, write_ledger

FORMATS = ("parquet", "duckdb", "sqlite", "session-log", "agent-dag")


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a ledger of which every column of texts has a secret of its own."""
    return make_planted_ledger(tmp_path_factory.mktemp("planted") / "ledger")


def names_file(folder: Path) -> Path:
    path = folder / "names.txt"
    path.write_text("# of the team\n\nMara Lindt  # who leads it\n", "utf-8")
    return path


def bytes_of(path: Path) -> Iterator[tuple[Path, bytes]]:
    for each in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if each.is_file():
            yield each, each.read_bytes()


def texts_of(path: Path, form: str) -> bytes:
    """Return all values of an export as text; Parquet and DuckDB compress theirs."""
    if form == "parquet":
        return "\n".join(str(pq.read_table(each).to_pylist()) for each in sorted(path.glob("*.parquet"))).encode()
    if form == "duckdb":
        with duckdb.connect(str(path), read_only=True) as connection:
            names = [name for (name,) in connection.execute("select table_name from duckdb_tables()").fetchall()]
            return "\n".join(str(connection.execute(f'from "{name}"').fetchall()) for name in names).encode()
    return b"\n".join(content for _, content in bytes_of(path))


@pytest.mark.parametrize("form", FORMATS)
def test_no_export_has_anything_that_was_planted(ledger: Path, tmp_path: Path, form: str) -> None:
    target = tmp_path / "exported"
    arguments = ("export", "--format", form, "-o", str(target), "--ledger", str(ledger))
    process = run_in_process(*arguments, "--redact", "--redact-names", str(names_file(tmp_path)))
    assert process.returncode == 0, process.stderr
    assert re.search(
        r"hidden: \d[\d,]* secrets, .*e-mail addresses, .*home folders, .*user names, .*names", process.stderr
    )
    assert not set(PLANTED.findall(texts_of(target, form)))
    assert not [path for path, content in bytes_of(target) if PLANTED.search(content)]
    assert not [path for path, _ in bytes_of(target) if path.name == KEY_FILE]
    assert (ledger / KEY_FILE).read_bytes().strip() not in texts_of(target, form)


@pytest.mark.parametrize("form", FORMATS)
def test_an_export_without_the_option_has_all(ledger: Path, tmp_path: Path, form: str) -> None:
    target = tmp_path / "exported"
    process = run_in_process("export", "--format", form, "-o", str(target), "--ledger", str(ledger))
    assert process.returncode == 0, process.stderr
    assert "hidden" not in process.stderr
    assert {b"mara.lindt@example.org", b"mlindt", b"Mara Lindt"} <= set(PLANTED.findall(texts_of(target, form)))


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "form"),
    [*((name, "json") for name in sorted(report_files())), ("overview", "html"), ("session", "markdown")],
)
def test_no_report_has_anything_that_was_planted(ledger: Path, tmp_path: Path, name: str, form: str) -> None:
    session = [str(SAMPLE_ROWS["sessions"][0]["label"])] if name == "session" else []
    arguments = ("report", name, *session, "--format", form, "--ledger", str(ledger))
    process = run_in_process(*arguments, "--redact", "--redact-names", str(names_file(tmp_path)))
    assert process.returncode == 0, process.stderr
    assert not set(PLANTED.findall(process.stdout.encode()))
    plain = run_in_process(*arguments)
    assert set(PLANTED.findall(plain.stdout.encode()))
    if form == "json":
        assert numbers_of(json.loads(process.stdout)) == numbers_of(json.loads(plain.stdout))


def numbers_of(value: object) -> list[object]:
    """Return all numbers of a document, in its order."""
    if isinstance(value, dict):
        return [each for inner in value.values() for each in numbers_of(inner)]
    if isinstance(value, list):
        return [each for inner in value for each in numbers_of(inner)]
    return [value] if isinstance(value, int | float) else []


@pytest.mark.long
@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("extent", [["--full"], []], ids=["full", "folded"])
def test_no_transcript_has_anything_that_was_planted(
    ledger: Path, tmp_path: Path, form: str, extent: list[str]
) -> None:
    with open_ledger(ledger) as opened:
        labels = [label for (label,) in opened.sql("select label from sessions order by label")]
    for label in labels:
        arguments = ["show", str(label), "--format", form, "--ledger", str(ledger), *extent]
        plain = run_in_process(*arguments)
        assert PLANTED.search(plain.stdout.encode())
        process = run_in_process(*arguments, "--redact-names", str(names_file(tmp_path)))
        assert process.returncode == 0, process.stderr
        assert not PLANTED.search(process.stdout.encode())
        assert "aix: hidden: " in process.stderr
        if form == "json":
            assert len(json.loads(process.stdout)) == len(json.loads(plain.stdout))


def test_joins_hold_in_a_redacted_export(ledger: Path, tmp_path: Path) -> None:
    target = tmp_path / "exported"
    run_in_process("export", "--format", "parquet", "-o", str(target), "--redact", "--ledger", str(ledger))
    with open_ledger(ledger) as opened:
        for table in TABLES.values():
            for column in table:
                if column.references is None:
                    continue
                other, _, key = column.references.partition(".")
                missing = f"select count(*) from {{}} a anti join {{}} b on a.{column.name} = b.{key}"
                before = opened.sql(missing.format(table.name, other)).rows()
                files = [f"read_parquet('{target / name}.parquet')" for name in (table.name, other)]
                assert duckdb.execute(missing.format(*files)).fetchall() == before, f"{table.name}.{column.name}"


def test_a_secret_at_the_end_of_what_is_shown_is_hidden_whole(tmp_path: Path) -> None:
    """A text is redacted before it is cut: half a secret has no form."""
    rows = {name: [dict(row) for row in table] for name, table in SAMPLE_ROWS.items()}
    secret = "sk-live-" + "a1b2c3d4" * 4
    for row in rows["messages"]:
        row["content"] = "x " * 9_990 + secret
    write_ledger(tmp_path / "ledger", rows)
    label = str(rows["sessions"][0]["label"])
    process = run_in_process("show", label, "--redact", "--format", "markdown", "--ledger", str(tmp_path / "ledger"))
    assert process.returncode == 0
    assert secret[:10] not in process.stdout


def test_the_key_is_private_and_stays(ledger: Path) -> None:
    with open_ledger(ledger) as opened:
        first = open_redactor(opened).text("to mara@example.org")
        path = ledger / KEY_FILE
        key = path.read_bytes()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        path.chmod(0o644)
        assert open_redactor(opened).text("to mara@example.org") == first
        assert path.read_bytes() == key
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_ledger_has_another_key(ledger: Path, tmp_path: Path) -> None:
    write_ledger(tmp_path / "other", dict(SAMPLE_ROWS))
    with open_ledger(ledger) as one, open_ledger(tmp_path / "other") as other:
        assert open_redactor(one).text("mara@example.org") != open_redactor(other).text("mara@example.org")


@pytest.mark.parametrize("content", [b"", b"no key\n", b"00" * 31, b"\xff" * 64])
def test_a_broken_key_is_named_and_nothing_is_written(tmp_path: Path, content: bytes) -> None:
    write_ledger(tmp_path / "ledger", dict(SAMPLE_ROWS))
    (tmp_path / "ledger" / KEY_FILE).write_bytes(content)
    arguments = ("export", "--format", "parquet", "-o", str(tmp_path / "out"), "--redact")
    process = run_in_process(*arguments, "--ledger", str(tmp_path / "ledger"))
    assert process.returncode == 2
    assert f"{KEY_FILE}: is not a key" in process.stderr
    assert not (tmp_path / "out").exists()


def test_a_link_in_the_place_of_the_key_is_not_followed(tmp_path: Path) -> None:
    write_ledger(tmp_path / "ledger", dict(SAMPLE_ROWS))
    (tmp_path / "elsewhere").write_text("00" * 32)
    (tmp_path / "ledger" / KEY_FILE).symlink_to(tmp_path / "elsewhere")
    process = run_in_process(
        "show", str(SAMPLE_ROWS["sessions"][0]["label"]), "--redact", "--ledger", str(tmp_path / "ledger")
    )
    assert process.returncode == 2
    assert KEY_FILE in process.stderr


def test_where_no_key_can_be_kept_the_output_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ledger(tmp_path / "ledger", dict(SAMPLE_ROWS))
    real_open = os.open

    def refuse(path: str | Path, flags: int, *rest: int, **named: int) -> int:
        if flags & os.O_CREAT and Path(path).parent == tmp_path / "ledger":
            raise PermissionError(13, "Permission denied")
        return real_open(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refuse)
    label = str(SAMPLE_ROWS["sessions"][0]["label"])
    process = run_in_process("show", label, "--redact", "--ledger", str(tmp_path / "ledger"))
    assert process.returncode == 0, process.stderr
    assert "cannot keep a key" in process.stderr
    assert not (tmp_path / "ledger" / KEY_FILE).exists()


@pytest.mark.long
def test_forgetting_and_collecting_leave_the_key(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    write_ledger(folder, dict(SAMPLE_ROWS))
    label = str(SAMPLE_ROWS["sessions"][0]["label"])
    run_in_process("show", label, "--redact", "--ledger", str(folder))
    key = (folder / KEY_FILE).read_bytes()
    assert run_in_process("check", "--ledger", str(folder)).returncode == 0
    assert run_in_process("forget", label, "--yes", "--ledger", str(folder)).returncode == 0
    assert (folder / KEY_FILE).read_bytes() == key


@pytest.mark.parametrize(
    ("content", "problem"), [(b"x\n", "'x' is too short"), (b"\xff\xfe", "is not UTF-8"), (None, "No such file")]
)
def test_a_list_of_names_that_cannot_be_used(ledger: Path, tmp_path: Path, content: bytes | None, problem: str) -> None:
    path = tmp_path / "names.txt"
    if content is not None:
        path.write_bytes(content)
    process = run_in_process("show", "x", "--redact-names", str(path), "--ledger", str(ledger))
    assert process.returncode == 2
    assert problem in process.stderr
    assert "one name to a line" in process.stderr


def test_the_names_of_the_configuration_are_hidden(ledger: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('redact_names = "people.txt"\n')
    (tmp_path / "people.txt").write_text("Mara Lindt\n")
    label = str(SAMPLE_ROWS["sessions"][0]["label"])
    arguments = ("--config", str(config), "show", label, "--full", "--redact", "--ledger", str(ledger))
    process = run_in_process(*arguments)
    assert process.returncode == 0, process.stderr
    assert "Mara Lindt" not in process.stdout
