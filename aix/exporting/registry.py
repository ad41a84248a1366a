"""The exporters that are installed."""

from importlib.metadata import entry_points

from aix.errors import UnknownNameError
from aix.exporting.contract import Exporter

_GROUP = "aix.exporters"


def exporter_names() -> list[str]:
    """Return the names of all exporters, without loading any."""
    return sorted({point.name for point in entry_points(group=_GROUP)})


def load_exporter(name: str) -> Exporter:
    """Load the exporter of that name."""
    for point in entry_points(group=_GROUP, name=name):
        made = point.load()()
        if isinstance(made, Exporter):
            return made
    raise UnknownNameError("export format", name, tuple(exporter_names()))
