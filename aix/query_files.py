"""Where the SQL library lies: inside the installed package, or beside it in a checkout."""

from pathlib import Path


def query_root() -> Path:
    """Return the folder that holds the packs of SQL files."""
    package = Path(__file__).parent
    installed = package / "queries"
    return installed if installed.is_dir() else package.parent / "queries"


def query_names() -> list[str]:
    """Return the name of every query: its path below the root, without suffix.

    >>> "overview/table_rows" in query_names()
    True
    """
    root = query_root()
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.sql"))
