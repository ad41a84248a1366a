"""Documents that cannot lie: what they name exists, what they show is what happens."""

import doctest
import inspect
import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import click
import pytest

import aix.importing
import aix.testing
from aix.cli.root import COMMANDS
from aix.cli.root import aix as root_command
from aix.reading.ledger import Ledger
from aix.reading.result import Result
from aix.schema import TABLES
from docs.screens import PAGES as SCREENS
from tests import ROOT
from tests.support.command_line import run_aix, run_in_process
from tests.test_ids import slow_h63, slow_ulid

PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        *(ROOT / "importers").rglob("README.md"),
        ROOT / "fixtures" / "README.md",
        ROOT / "queries" / "README.md",
    ]
)
LEDGER = (ROOT / "docs" / "ledger.md").read_text("utf-8")
COMMAND_LINE = (ROOT / "docs" / "cli.md").read_text("utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def all_commands() -> dict[str, click.Command]:
    """Every command, and every command of a command, by how it is called."""
    with click.Context(root_command) as context:
        commands = {f"aix {name}": root_command.get_command(context, name) for name in COMMANDS}
        inner = {
            f"{path} {name}": command.get_command(context, name)
            for path, command in commands.items()
            if isinstance(command, click.Group)
            for name in command.list_commands(context)
        }
    return {"aix": root_command, **{path: command for path, command in (commands | inner).items() if command}}


def test_generated_pages_are_current() -> None:
    process = subprocess.run([sys.executable, "docs/generate.py", "--check"], cwd=ROOT, capture_output=True, text=True)
    assert process.returncode == 0, process.stdout


def test_every_column_is_documented() -> None:
    for table in TABLES.values():
        section = LEDGER.split(f"\n### {table.name}\n")[1].split("\n### ")[0]
        for column in table:
            [row] = [line for line in section.splitlines() if line.startswith(f"| `{column.name}` |")]
            assert column.description in row


def test_every_command_and_option_is_documented_and_has_help() -> None:
    for path, command in all_commands().items():
        section = COMMAND_LINE.split(f"\n## {path}\n")[1].split("\n## ")[0]
        assert command.help, path
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, f"{path} {parameter.name}"
                assert parameter.opts[0] in section


def test_published_ids_equal_their_definition() -> None:
    vectors = re.findall(r"^\| `(\[.*\])` \| `(\w+)` \|$", LEDGER, re.MULTILINE)
    assert len(vectors) == 8
    for parts, published in vectors:
        texts = ["" if part is None else str(part) for part in json.loads(parts)]
        expected = str(slow_h63(*texts)) if published.isdigit() else slow_ulid(*texts)
        assert published == expected, parts


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    folders = "aix|importers|queries|fixtures|tests|benchmarks|docs|constraints"
    for path in re.findall(rf"`((?:{folders})/[\w./-]*)`", text):
        if not re.search(r"\b(NAME|PACK)\b", path):
            assert (ROOT / path).exists(), path
    prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^):#]+)\)", prose):
        assert (page.parent / link).exists(), link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_targets_and_commands_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)`|^\$ make ([a-z-]+)$", text, re.MULTILINE)) <= {
        pair for target in targets for pair in ((target, ""), ("", target))
    }
    assert set(re.findall(r"`aix ([a-z][a-z-]*)[^`]*`", text)) <= set(COMMANDS)


def console_examples(page: Path) -> list[tuple[str, str]]:
    """The commands of a page's console blocks, each with the output shown for it."""
    blocks = re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    examples = [example for block in blocks for example in re.split(r"^\$ ", block, flags=re.MULTILINE) if example]
    return [(command, output) for command, _, output in (example.partition("\n") for example in examples)]


TOP_TO_BOTTOM = (
    *("docs/agent-graph.md", "docs/chats.md", "docs/personas.md", "docs/programs.md", "docs/redaction.md"),
    *("docs/reports.md", "docs/routing.md", "docs/search.md", "docs/similar.md", "docs/tree.md"),
)
"""Pages whose commands build on those before them; tests/project/test_screens.py runs those of the tutorial."""
AIX_EXAMPLES = [
    example
    for page in PAGES
    if name_of(page) not in (*SCREENS, *TOP_TO_BOTTOM)  # whose commands run one after the other
    for example in console_examples(page)
    if example[0].startswith("aix ")
]


@pytest.mark.parametrize(("command", "shown"), AIX_EXAMPLES)
def test_examples_do_what_the_page_shows(
    command: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    monkeypatch.chdir(tmp_path)
    process = run_aix(*shlex.split(command)[1:])
    assert (process.returncode, process.stderr) == (0, "")
    assert doctest.OutputChecker().check_output(shown, process.stdout, doctest.ELLIPSIS), process.stdout


@pytest.mark.long
@pytest.mark.parametrize("page", TOP_TO_BOTTOM)
def test_pages_show_what_their_commands_do_one_after_the_other(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("agent_dag", "chat", "claude_code", "programs"):
        shutil.copytree(ROOT / "fixtures" / name, tmp_path / "fixtures" / name)
    monkeypatch.chdir(tmp_path)
    for file, content in re.findall(
        r"^```(?:jsonl|python|toml) (\S+)\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.DOTALL | re.MULTILINE
    ):
        (tmp_path / file).write_text(content, "utf-8")
    for command, shown in console_examples(ROOT / page):
        process = run_in_process(*shlex.split(command)[1:])
        assert process.returncode == 0, process.stderr
        assert doctest.OutputChecker().check_output(shown, process.stdout, doctest.ELLIPSIS), process.stdout


PYTHON_EXAMPLES = [
    example for page in PAGES for example in re.findall(r"```python\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
]


@pytest.mark.long
@pytest.mark.parametrize("program", PYTHON_EXAMPLES)
def test_python_examples_run(program: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    process = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.parametrize("public", [Ledger, Result])
def test_every_public_name_has_an_example_that_runs(public: type) -> None:
    names = {name: inspect.getdoc(value) for name, value in vars(public).items() if not name.startswith("_")}
    assert names
    assert not [name for name, text in names.items() if ">>> " not in (text or "")]
    assert ">>> " in (inspect.getdoc(public) or "")
    assert ">>> " in (inspect.getdoc(aix.open) or "")


def test_the_readme_has_examples_that_run() -> None:
    assert len(AIX_EXAMPLES) >= 4
    assert PYTHON_EXAMPLES


def test_ci_runs_what_contributing_says() -> None:
    documented = [command for command, _ in console_examples(ROOT / "CONTRIBUTING.md")]
    script = (ROOT / ".ci" / "run").read_text()
    assert re.findall(r"^make .*$", script, re.MULTILINE) == documented


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_page_names_a_machine(page: Path) -> None:
    assert not re.search(r"/(root|home|Users|work)/", page.read_text("utf-8"))


@pytest.mark.parametrize("module", [aix, aix.importing, aix.testing])
def test_every_public_function_and_class_has_an_example_that_runs(module: ModuleType) -> None:
    public = [name for name in module.__all__ if not name.startswith("_")]
    assert public
    assert not [name for name in public if ">>> " not in (inspect.getdoc(getattr(module, name)) or "")]
