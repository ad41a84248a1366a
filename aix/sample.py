"""The invented team of `aix demo`, as a ledger to try things on."""

import atexit
import shutil
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from aix.errors import UsageError
from aix.plugins import entry_points_of

if TYPE_CHECKING:
    from aix.reading.ledger import Ledger

SAMPLES = "aix.samples"
"""Group of the entry points that write samples: each takes a folder and the last day of what it writes there."""
Sample = Callable[[Path, date], object]
_LAST_DAY = date(2026, 11, 16)


def installed_samples() -> list[Sample]:
    """Return the functions that write samples.

    >>> len(installed_samples())
    1
    """
    samples: list[Sample] = [point.load() for point in entry_points_of(SAMPLES)]
    if not samples:
        raise UsageError("No sample is installed; install aix-ledger again.")
    return samples


def sample_ledger(last_day: date = _LAST_DAY) -> "Ledger":
    """Import the logs of an invented team into a ledger that goes when Python ends, and open it.

    >>> sample_ledger().sql("select count(*) > 40 from sessions").rows()
    [(True,)]
    """
    from aix.pipeline.run import Settings, import_histories
    from aix.reading.ledger import open_ledger

    folder = Path(tempfile.mkdtemp(prefix="aix-sample-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for sample in installed_samples():
        sample(folder / "logs", last_day)
    import_histories(folder / "ledger", [folder / "logs"], Settings(jobs=0))
    return open_ledger(folder / "ledger")
