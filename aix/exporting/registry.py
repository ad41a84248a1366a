"""The exporters that are installed."""

from aix.entry_points import entry_points
from aix.errors import UnknownNameError
from aix.exporting.contract import Exporter

_GROUP = "aix.exporters"


def exporter_names() -> list[str]:
    """Return the names of all exporters, without loading any."""
    return sorted({point.name for point in entry_points(_GROUP)})


def load_exporter(name: str) -> Exporter:
    """Load the exporter of that name."""
    for point in entry_points(_GROUP):
        kind = point.load() if point.name == name else None
        if isinstance(kind, type) and issubclass(kind, Exporter):
            return kind()
    raise UnknownNameError("export format", name, tuple(exporter_names()))
