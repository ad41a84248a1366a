"""Loading Arrow for a command: where pandas is installed, Arrow loads it too, which takes longer than Arrow itself."""

import sys


class _NoPandas:
    """Stands before the finders of modules, for the moment in which Arrow looks for pandas."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002 - as finders have it
        if name == "pandas":
            raise ModuleNotFoundError(name)


def load_arrow() -> None:
    """Load Arrow without pandas; a plugin that needs pandas can still load it.

    For programs, not for libraries: Arrow looks once, and converts nothing to pandas in this process any more.
    """
    if "pyarrow" in sys.modules:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.array([None])  # the moment in which it looks
    finally:
        sys.meta_path.remove(finder)
