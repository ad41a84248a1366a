"""Every room keeps to itself: who may import whom, and who may touch stdout and stderr."""

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from tests import ROOT

CORE = sorted((ROOT / "aix").rglob("*.py"))
IMPORTERS = sorted((ROOT / "importers").rglob("*.py"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """Return the parts of a module that these tests look at."""
    kinds = (ast.Attribute, ast.If, ast.Import, ast.ImportFrom, ast.Name)
    return tuple(node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, kinds))


def imported_names(path: Path) -> Iterator[str]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name_of(path)} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def used_names(path: Path) -> set[str]:
    """Return the names that a module uses, and the attributes of these names, such as `sys.stdout`."""
    names = {node.id for node in nodes(path) if isinstance(node, ast.Name)}
    return names | {
        f"{node.value.id}.{node.attr}"
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


def importing(paths: list[Path], *forbidden: str) -> list[str]:
    return [
        f"{name_of(path)} imports {name}"
        for path in paths
        for name in imported_names(path)
        if any(name == module or name.startswith(f"{module}.") for module in forbidden)
    ]


def modules_imported(path: Path, modules: Mapping[str, Path]) -> set[str]:
    """Return the modules that one imports, wherever it does, but for those that only its types name."""
    for_types = {
        inner
        for node in nodes(path)
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in node.body
    }
    named: set[str] = set()
    for node in nodes(path):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            named.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            named.update((str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)))
    return named & modules.keys()


def imports_among(paths: list[Path]) -> dict[str, set[str]]:
    """Return for each module those of the others that it imports."""
    places = {path: name_of(path).removeprefix("importers/").removesuffix(".py") for path in paths}
    modules = {place.removesuffix("/__init__").replace("/", "."): path for path, place in places.items()}
    return {name: modules_imported(path, modules) - {name} for name, path in modules.items()}


@cache
def imports_in_the_core() -> dict[str, set[str]]:
    return imports_among(CORE)


@pytest.mark.parametrize("paths", [CORE, IMPORTERS], ids=["core", "importers"])
def test_no_module_imports_itself_by_way_of_others(paths: list[Path]) -> None:
    TopologicalSorter(imports_among(paths)).prepare()  # which raises CycleError


def reached_from(room: str) -> set[str]:
    """Return the modules that a room or a module imports, by way of others too."""
    imports = imports_in_the_core()
    reached: set[str] = set()
    waiting = [name for name in imports if f"{name}.".startswith(f"{room}.")]
    while waiting:
        reached.add(name := waiting.pop())
        waiting.extend(imports[name] - reached)
    return reached


MEANING = ("aix.derived", "aix.query", "aix.permissions", "aix.pipeline", "aix.prices", "aix.reading")


def test_the_store_knows_files_and_versions_and_no_meaning() -> None:
    assert not [name for name in sorted(reached_from("aix.store")) if name.startswith((*MEANING, "aix.merge"))]


def test_groups_of_files_know_no_meaning() -> None:
    assert not [name for name in sorted(reached_from("aix.merge.groups")) if name.startswith(MEANING)]


def test_the_core_knows_no_importer() -> None:
    assert not importing(CORE, "aix_importers")


def test_the_core_names_no_tool_whose_logs_are_imported() -> None:
    tools = re.compile(r"claude|\bCursor\b|codex|copilot", re.IGNORECASE)
    assert not [name_of(path) for path in CORE if tools.search(path.read_text("utf-8"))]


def test_importers_know_neither_store_nor_command_line() -> None:
    assert not importing(IMPORTERS, "aix.cli", "aix.merge", "aix.store", "click", "duckdb")


def test_only_the_command_line_knows_the_command_line() -> None:
    library = [path for path in CORE if "cli" not in path.parts and path.name != "__main__.py"]
    assert not importing(library, "aix.cli", "click")


def test_the_schema_stands_on_nothing_but_errors() -> None:
    schema = [path for path in CORE if "schema" in path.parts]
    assert not importing(schema, "aix.cli", "aix.config", "aix.output", "aix.merge", "aix.store", "duckdb", "polars")


@pytest.mark.parametrize(
    ("stream", "owner"), [("sys.stdout", "aix/cli/stdout.py"), ("sys.stderr", "aix/cli/diagnostics.py")]
)
def test_each_stream_has_one_owner(stream: str, owner: str) -> None:
    users = [name_of(path) for path in CORE + IMPORTERS if stream in used_names(path)]
    assert users == [owner]


def test_nothing_else_prints() -> None:
    printers = {"print", "click.echo", "click.secho", "sys.exit"}
    allowed = {"aix/cli/diagnostics.py", "aix/cli/__init__.py"}
    users = {name_of(path) for path in CORE + IMPORTERS if printers & used_names(path)}
    assert users <= allowed


def test_queries_hold_no_python() -> None:
    files = [path for path in (ROOT / "queries").rglob("*") if path.is_file()]
    assert {path.suffix for path in files if path.name != "README.md"} <= {".sql", ".toml", ".txt", ".csv"}
