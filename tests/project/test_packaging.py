"""Installations of users: a wheel, a wheel built from the source distribution, and a checkout in editable mode."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from tests import ROOT

pytestmark = pytest.mark.long

QUERIES = {
    path.relative_to(ROOT / "queries").as_posix(): path.read_bytes()
    for suffix in ("sql", "toml", "txt")
    for path in (ROOT / "queries").rglob(f"*.{suffix}")
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project without what a developer's tools have left lying about."""
    left_lying = shutil.ignore_patterns(".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "build", "dist")
    return shutil.copytree(ROOT, tmp_path_factory.mktemp("checkout") / "aix", ignore=left_lying)


def build(project: Path, what: str) -> Path:
    output = project / "dist"
    subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", f"--{what}", "--outdir", str(output), str(project)],
        check=True,
        capture_output=True,
    )
    [built] = output.glob("*.whl" if what == "wheel" else "*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheels(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel built from the checkout, and the one built from the source distribution."""
    unpacked = tmp_path_factory.mktemp("sdist")
    shutil.unpack_archive(build(checkout, "sdist"), unpacked, filter="data")
    [source] = unpacked.iterdir()
    return {"checkout": build(checkout, "wheel"), "sdist": build(source, "wheel")}


def make_environment(folder: Path) -> Path:
    """Make a clean environment and return its folder of programs."""
    venv.create(folder, with_pip=True)
    return folder / "bin"


def install(programs: Path, *what: str) -> None:
    command = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *what]
    subprocess.run(command, check=True, capture_output=True)


@pytest.mark.parametrize("origin", ["checkout", "sdist"])
def test_a_wheel_holds_the_two_packages_and_nothing_else(wheels: dict[str, Path], origin: str) -> None:
    names = zipfile.ZipFile(wheels[origin]).namelist()
    top_level = {PurePosixPath(name).parts[0] for name in names}
    assert {name for name in top_level if not name.endswith(".dist-info")} == {"aix", "aix_importers"}
    assert "aix/py.typed" in names
    assert "aix_importers/py.typed" in names
    assert not [name for name in names if "__pycache__" in name or name.endswith(".expected.csv")]


@pytest.mark.parametrize("origin", ["checkout", "sdist"])
def test_the_sql_in_a_wheel_equals_the_queries_folder(wheels: dict[str, Path], origin: str) -> None:
    archive = zipfile.ZipFile(wheels[origin])
    packed = {
        name.removeprefix("aix/queries/"): archive.read(name)
        for name in archive.namelist()
        if name.startswith("aix/queries/") and name.endswith((".sql", ".toml", ".txt"))
    }
    assert packed == QUERIES


@pytest.mark.parametrize("origin", ["checkout", "sdist"])
def test_a_wheel_has_the_notebooks_and_what_pages_are_made_of(wheels: dict[str, Path], origin: str) -> None:
    archive = zipfile.ZipFile(wheels[origin])
    for folder, inside in (("docs/notebooks", "aix/notebooks"), ("aix/reports/page", "aix/reports/page")):
        for path in (ROOT / folder).iterdir():
            assert archive.read(f"{inside}/{path.name}") == path.read_bytes()


@pytest.mark.parametrize("origin", ["checkout", "sdist"])
def test_a_wheel_holds_the_prices_with_their_notice(wheels: dict[str, Path], origin: str) -> None:
    names = zipfile.ZipFile(wheels[origin]).namelist()
    assert {
        f"aix/prices/{name}" for name in ("genai_prices.csv", "additional_prices.csv", "providers.csv", "NOTICE")
    } <= set(names)


def test_both_wheels_hold_the_same_files(wheels: dict[str, Path]) -> None:
    contents = [
        {name: archive.read(name) for name in archive.namelist() if not name.endswith("RECORD")}
        for archive in map(zipfile.ZipFile, wheels.values())
    ]
    assert contents[0] == contents[1]


def test_the_command_runs_from_the_wheel_in_a_clean_environment(wheels: dict[str, Path], tmp_path: Path) -> None:
    programs = make_environment(tmp_path / "environment")
    install(programs, "--constraint", str(ROOT / "constraints" / "dev.txt"), str(wheels["sdist"]))
    assert output_of(tmp_path, programs / "aix", "--help").startswith("Usage: aix ")
    imports = "from aix.query.packs import query_names; from aix.query.query_file import query_root"
    code = f"{imports}; print(query_root(), *query_names())"
    root, *names = output_of(tmp_path, programs / "python", "-c", code).split()
    assert Path(root).is_relative_to(tmp_path / "environment")
    assert [f"{name}.sql" for name in names] == sorted(
        name for name in QUERIES if name.endswith(".sql") and not name.startswith("views/")
    )


def test_a_newcomer_with_uv_sees_the_demo_from_the_wheel(wheels: dict[str, Path], tmp_path: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    cache = subprocess.run([uv, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    constraints = ["--constraints", str(ROOT / "constraints" / "dev.txt")]
    options = ["--python", sys.executable, *constraints, "--from", str(wheels["checkout"])]
    without_settings = {name: value for name, value in os.environ.items() if not name.startswith(("AIX_", "XDG_"))}
    process = subprocess.run(
        [uv, "tool", "run", *options, "aix", "demo"],
        cwd=tmp_path,
        env={**without_settings, "HOME": str(tmp_path), "UV_CACHE_DIR": cache},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout
    assert (tmp_path / ".local" / "share" / "aix" / "demo" / "ledger").is_dir()


def test_an_editable_install_sees_a_new_sql_file_at_once(checkout: Path, tmp_path: Path) -> None:
    programs = make_environment(tmp_path / "environment")
    install(programs, "--constraint", str(ROOT / "constraints" / "dev.txt"), "hatchling", "msgspec")
    install(programs, "--no-deps", "--no-build-isolation", "--editable", str(checkout))
    code = "from aix.query.packs import query_names; import aix_importers; print(*query_names())"
    before = output_of(tmp_path, programs / "python", "-c", code).split()
    new = checkout / "queries" / "overview" / "brand_new.sql"
    new.write_text("select 1\n")
    after = output_of(tmp_path, programs / "python", "-c", code).split()
    new.unlink()
    assert set(after) - set(before) == {"overview/brand_new"}


def output_of(folder: Path, program: Path, *arguments: str) -> str:
    """Run a program in a folder of its own, with nothing of this process's environment."""
    environment = {"HOME": str(folder), "PATH": os.defpath}
    command = [str(program), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout
