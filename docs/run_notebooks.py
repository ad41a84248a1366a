"""Run the notebooks in docs/notebooks, and keep in them what they show.

python docs/run_notebooks.py
"""

from pathlib import Path

import nbclient
import nbformat

FOLDER = Path(__file__).parent / "notebooks"
_MADE_BY = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}


def run_notebook(path: Path) -> nbformat.NotebookNode:
    """Run the cells in the notebook's folder; return it with what they show, and nothing about the machine."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(path.parent)}})
    executed: nbformat.NotebookNode = client.execute()
    executed.metadata = nbformat.from_dict(_MADE_BY)  # type: ignore[no-untyped-call]
    for cell in executed.cells:
        cell.metadata.pop("execution", None)
    return executed


if __name__ == "__main__":
    for each in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(run_notebook(each), each)  # type: ignore[no-untyped-call]
        print(f"docs/notebooks/{each.name}: written")
