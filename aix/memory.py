"""How much memory a long run holds on to."""

import ctypes
import os
from contextlib import suppress

_MOST_ARENAS = -8


def hold_little_memory() -> None:
    """Make this process, and those it starts, give freed memory back to the system.

    Arrow's own pool keeps it, and so does glibc, apart for each thread. For programs, not for libraries: it changes the
    whole process, and must be called before Arrow is loaded.
    """
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")  # read when a process starts
    with suppress(AttributeError, OSError):  # another libc
        ctypes.CDLL(None).mallopt(_MOST_ARENAS, 1)
