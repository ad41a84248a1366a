"""How much memory a long run holds on to."""

import pyarrow as pa


def give_back_what_is_free() -> None:
    """Let Arrow hand freed memory to the system at once: its own pool keeps it, and each process has one."""
    pa.set_memory_pool(pa.system_memory_pool())
