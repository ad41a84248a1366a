"""Nothing heavy is imported before it is needed."""

import subprocess
import sys

import pytest

HEAVY = {"duckdb", "polars", "pyarrow"}
RUN_MAIN = "from aix.cli import main\ntry: main()\nexcept SystemExit: pass"
SHOW_HEAVY = f"import sys; print(sorted({HEAVY} & set(sys.modules)))"


@pytest.mark.parametrize(
    "code",
    [
        "import aix",
        "import aix.schema",
        "import aix.config, aix.ids, aix.errors, aix.query_files, aix.health",
        "import aix.importing, aix.exporting, aix_importers.session_log, aix_importers.session_log.export",
        "import aix.ledger.manifest, aix.ledger.views, aix.ledger.catalog, aix.reading.ledger",
        *(
            f"import sys; sys.argv = {['aix', *arguments]}\n{RUN_MAIN}"
            for arguments in (
                ["--help"],
                ["schema", "--help"],
                ["sessions", "--help"],
                ["show", "--help"],
                ["problems", "--help"],
                ["sql", "--help"],
                ["check", "--help"],
                ["import", "--help"],
                ["export", "--help"],
                ["forget", "--help"],
                ["vacuum", "--help"],
                ["version"],
                ["schema"],
                ["config", "--json"],
            )
        ),
    ],
)
def test_no_heavy_library_is_loaded(code: str) -> None:
    output = subprocess.run(
        [sys.executable, "-c", f"{code}\n{SHOW_HEAVY}"], capture_output=True, text=True, check=True
    ).stdout
    assert output.splitlines()[-1] == "[]"


def test_the_check_above_would_see_a_heavy_library() -> None:
    code = f"import aix.schema.arrow\n{SHOW_HEAVY}"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "['pyarrow']"
