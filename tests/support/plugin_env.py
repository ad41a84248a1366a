"""An environment in which a distribution of another author is installed beside AIX."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

from tests import ROOT

PLUGIN = ROOT / "tests" / "plugin"


@dataclass(frozen=True)
class Plugged:
    """`aix` as it runs with the plugin installed."""

    python: Path

    def run(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `aix` with pipes for stdout and stderr."""
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, env=os.environ | environment)

    def command(self, *arguments: str | Path) -> list[str]:
        """Return the command line that runs `aix`."""
        return [str(self.python), "-m", "aix", *map(str, arguments)]

    def counts(self, *arguments: str | Path, code: int = 0, **environment: str) -> dict[tuple[str, str], int]:
        """Run `aix import` and return its summary, without what differs from run to run."""
        process = self.run("import", *arguments, "--json", **environment)
        assert process.returncode == code, process.stderr
        return {
            (row["what"], row["name"]): row["count"]
            for row in json.loads(process.stdout)
            if row["what"] not in ("time", "bytes")
        }


def plug_in(folder: Path, *projects: Path) -> Plugged:
    """Build distributions, install them into an environment of its own, and let that see AIX."""
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    for number, project in enumerate(projects or [PLUGIN]):
        built = folder / f"dist-{number}"
        build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(built), str(project)]
        subprocess.run(build, check=True, capture_output=True)
        options = ["--quiet", "--no-deps", "--no-index", "--disable-pip-version-check"]
        wheels = map(str, built.glob("*.whl"))
        subprocess.run([python, "-m", "pip", "install", *options, *wheels], check=True, capture_output=True)
    [packages] = (folder / "env" / "lib").glob("python*/site-packages")
    (packages / "aix.pth").write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
    return Plugged(python)
