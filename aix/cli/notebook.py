"""`aix notebook`."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from shlex import quote

import click

from aix.cli.command import Command
from aix.cli.diagnostics import say
from aix.errors import MissingExtraError, OutputError


@click.command(cls=Command)
@click.argument("folder", default="aix-notebooks", type=click.Path(file_okay=False, path_type=Path))
@click.option("--no-open", is_flag=True, help="Only copy the notebooks; do not start Jupyter.")
def command(folder: Path, no_open: bool) -> None:
    """Copy notebooks to start from into FOLDER, and open them in Jupyter.

    There is one on token economics, one on compaction, one on permissions, and one for a question of your own. Each
    asks an invented team until you name your ledger in its first cell. Notebooks that FOLDER has already stay as they
    are. Jupyter needs `pip install 'aix-ledger[notebook]'`.

    \b
      aix notebook
      aix notebook analysis --no-open
    """
    try:
        _copy_notebooks(folder)
    except OSError as error:
        raise OutputError(str(folder), error.strerror or str(error), "name another folder") from error
    if no_open:
        say(f"next: jupyter lab {quote(str(folder))}")
        return
    found = shutil.which("jupyter-lab")
    # The Jupyter beside AIX has a kernel that can import it, also where its programs are not on the PATH.
    jupyter = [sys.executable, "-m", "jupyterlab"] if find_spec("jupyterlab") else [found] if found else None
    if jupyter is None:
        raise MissingExtraError("Jupyter", "notebook")
    subprocess.run([*jupyter, str(folder)], check=False)  # noqa: S603 - the user's own Jupyter


def _copy_notebooks(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for notebook in sorted(notebook_folder().glob("*.ipynb")):
        path = target / notebook.name
        if path.exists():
            say(f"{path} is there already, and stays as it is")
        else:
            shutil.copyfile(notebook, path)
            say(f"wrote {path}")


def notebook_folder() -> Path:
    """Return the folder of the notebooks: in an installed AIX its own, else that of the checkout."""
    package = Path(__file__).parent.parent
    installed = package / "notebooks"
    return installed if installed.is_dir() else package.parent / "docs" / "notebooks"
