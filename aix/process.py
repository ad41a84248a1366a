"""Settings of a whole process, for those that AIX owns: the program `aix` and its workers. Not for libraries."""

import gc
import os
import sys
from contextlib import suppress

_MOST_ARENAS = -8
_LEAST_MAPPED_BYTES = -3
_OBJECTS_PER_COLLECTION = 50_000
"""Python looks for cycles after every 700 new objects: of a small import, that was a thirtieth of its time."""
_is_owned = False


def own_process() -> None:
    """Note that this process is AIX's own."""
    global _is_owned
    _is_owned = True


def hold_little_memory() -> None:
    """Make this process, and those it starts, give freed memory back to the system.

    Arrow's own pool keeps it, and so does glibc, apart for each thread. It must be called before Arrow is loaded.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")  # read when a process starts
    _set_malloc(_MOST_ARENAS, 1)


def return_large_blocks() -> None:
    """Make glibc give every large block back to the system as soon as it is free; in a process of AIX, from now on.

    It learns to keep blocks of the sizes that it is asked for most. That is faster, but what is large stays in pieces
    between what is small: a third of all memory, where much is copied.
    """
    if _is_owned:
        _set_malloc(_LEAST_MAPPED_BYTES, 2**20)


def _set_malloc(name: int, value: int) -> None:
    import ctypes

    with suppress(AttributeError, OSError):  # another libc
        ctypes.CDLL(None).mallopt(name, value)


def collect_garbage_rarely() -> None:
    """Look for garbage less often, and never in what is loaded by now, which stays to the end."""
    gc.freeze()
    gc.set_threshold(_OBJECTS_PER_COLLECTION)


def load_arrow() -> None:
    """Load Arrow; in a process of AIX without pandas, which takes longer to load, and more memory, than Arrow itself.

    Where pandas is installed, Arrow loads it when it first makes an array. It looks once, and converts nothing to
    pandas in this process any more; a plugin that needs pandas can still load it.
    """
    if not _is_owned:
        return
    finder = _NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        import pyarrow as pa

        pa.array([None])  # the moment in which it looks
    finally:
        sys.meta_path.remove(finder)


class _NoPandas:
    """Stands before the finders of modules, for the moment in which Arrow looks for pandas."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002 - as finders have it
        if name == "pandas":
            raise ModuleNotFoundError(name)
