"""Nothing heavy is imported before it is needed."""

import subprocess
import sys
from pathlib import Path

import pytest

from aix.pipeline.run import Settings, import_histories
from tests.importers.session_log.logs import entry, write_log

HEAVY = {"duckdb", "polars", "pyarrow", "tree_sitter", "mcp", "mcp_types", "pydantic"}
RUN_MAIN = "from aix.cli import main\ntry: main()\nexcept SystemExit: pass"
SHOW_HEAVY = f"import sys; print(sorted({HEAVY} & set(sys.modules)))"


@pytest.mark.parametrize(
    "code",
    [
        "import aix",
        "import aix.schema",
        "import aix.config, aix.ids, aix.errors, aix.query.packs, aix.query.values, aix.query.views, aix.health",
        "import aix.importing, aix.exporting, aix_importers.session_log, aix_importers.session_log.export",
        "import aix.store.manifest, aix.store.views, aix.derived.catalog, aix.reading.ledger",
        *(
            f"import sys; sys.argv = {['aix', *arguments]}\n{RUN_MAIN}"
            for arguments in (
                ["--help"],
                ["schema", "--help"],
                ["sessions", "--help"],
                ["show", "--help"],
                ["cost", "--help"],
                ["status", "--help"],
                ["compactions", "--help"],
                ["context", "--help"],
                ["audit", "--help"],
                ["tag", "add", "--help"],
                ["problems", "--help"],
                ["sql", "--help"],
                ["query"],
                ["query", "overview/sessions", "--help"],
                ["check", "--help"],
                ["import", "--help"],
                ["export", "--help"],
                ["forget", "--help"],
                ["vacuum", "--help"],
                ["version"],
                ["schema"],
                ["audit", "split", "--help"],
                ["config", "--json"],
                ["mcp", "--help"],
            )
        ),
    ],
)
def test_no_heavy_library_is_loaded(code: str) -> None:
    output = subprocess.run(
        [sys.executable, "-c", f"{code}\n{SHOW_HEAVY}"], capture_output=True, text=True, check=True
    ).stdout
    assert output.splitlines()[-1] == "[]"


def test_an_import_of_what_has_not_changed_loads_nothing_that_reads_logs_or_draws(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [entry("u")])
    ledger = tmp_path / "ledger"
    import_histories(ledger, [log], Settings(jobs=0))
    code = f"import sys; sys.argv = {['aix', 'import', str(log), '--ledger', str(ledger)]}\n{RUN_MAIN}"
    unwanted = {*HEAVY, "jsonlines", "multiprocessing", "rich.console"}
    output = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint(sorted({unwanted} & set(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "Nothing new in 1 source" in output
    assert output.splitlines()[-1] == "[]"


def test_status_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [entry("u")])
    ledger = tmp_path / "ledger"
    import_histories(ledger, [log], Settings(jobs=0))
    code = f"import sys; sys.argv = {['aix', 'status', '--ledger', str(ledger)]}\n{RUN_MAIN}"
    unwanted = {*HEAVY, "importlib.metadata", "rich", "tomllib", "aix.schema", "aix.query", "aix.store.views"}
    unwanted |= {"aix.output.formats", "aix.output.paragraphs"}
    output = subprocess.run(
        [sys.executable, "-c", f"{code}\nprint(sorted({unwanted} & set(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert output.startswith("today")
    assert output.splitlines()[-1] == "[]"


def test_a_worker_loads_neither_duckdb_nor_pandas_to_read_logs() -> None:
    code = "import sys, aix.pipeline.extraction; print(sorted({'duckdb', 'pandas', 'polars'} & set(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output == "[]\n"


def test_the_check_above_would_see_a_heavy_library() -> None:
    code = f"import aix.schema.arrow\n{SHOW_HEAVY}"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "['pyarrow']"


@pytest.mark.long
def test_no_command_loads_pandas_because_arrow_would(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log.jsonl", [entry("u")])
    for command in (["import", str(log)], ["cost"], ["sessions"], ["cost"]):  # the first reader fills the cache
        arguments = [*command, "--ledger", str(tmp_path / "ledger")]
        loading = [sys.executable, "-X", "importtime", "-m", "aix", *arguments]
        loaded = subprocess.run(loading, capture_output=True, text=True, check=True).stderr
        assert "aix.cli" in loaded
        assert "pandas.core" not in loaded
