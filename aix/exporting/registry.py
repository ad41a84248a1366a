"""The exporters that are installed."""

from aix.errors import UnknownNameError
from aix.exporting.contract import Exporter
from aix.plugins import entry_points_of

_GROUP = "aix.exporters"


def exporter_names() -> list[str]:
    """Return the names of all exporters, without loading any."""
    return sorted({point.name for point in entry_points_of(_GROUP)})


def load_exporter(name: str) -> Exporter:
    """Load the exporter of that name."""
    for point in entry_points_of(_GROUP):
        if point.name == name and isinstance(made := point.load()(), Exporter):
            return made
    raise UnknownNameError("export format", name, tuple(exporter_names()))
