"""The importers that are installed: built-in ones and those of other distributions register alike."""

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import isabstract

from aix.entry_points import EntryPoint, entry_points
from aix.errors import UnknownNameError, UsageError
from aix.importing.contract import Importer

GROUP = "aix.importers"

Options = Mapping[str, Mapping[str, str]]
"""By importer: its options and their values."""


@dataclass(frozen=True)
class Registration:
    """An importer as it is registered, whether or not it can be loaded."""

    name: str
    distribution: str
    kind: type[Importer] | None
    problem: str = ""
    """Why it cannot be used."""


def registrations() -> list[Registration]:
    """Return all importers that are registered, by name; one that cannot be loaded says why."""
    found = sorted(entry_points(GROUP), key=lambda point: (point.name, point.value))
    by_name: dict[str, list[EntryPoint]] = {}
    for point in found:
        by_name.setdefault(point.name, []).append(point)
    return [_registration(points) for points in by_name.values()]


def importer_names() -> tuple[str, ...]:
    """Return the names of the importers that can be used."""
    return tuple(each.name for each in registrations() if each.kind)


def load_importers(options: Options, only: str | None = None) -> tuple[list[Importer], list[Registration]]:
    """Return the importers, or only the one of that name, with their options; and those that cannot be used."""
    known = registrations()
    names = tuple(each.name for each in known)
    for name in (*options, *([only] if only else [])):
        if name not in names:
            raise UnknownNameError("importer", name, names)
    chosen = [each for each in known if only in (None, each.name)]
    usable = [_make(each.kind, options.get(each.name, {})) for each in chosen if each.kind]
    return usable, [each for each in chosen if not each.kind]


def load_importer(name: str, options: Mapping[str, str]) -> Importer:
    """Return one importer."""
    importers, broken = load_importers({name: options}, name)
    if broken:
        raise UsageError(broken[0].problem)
    return importers[0]


def _make(kind: type[Importer], options: Mapping[str, str]) -> Importer:
    for option in options:
        if option not in kind.option_help:
            raise UnknownNameError(f"option of {kind.name}", option, tuple(kind.option_help))
    return kind(options)


def _registration(points: list[EntryPoint]) -> Registration:
    point = points[0]
    distribution = point.distribution
    if len(points) > 1:
        owners = " and ".join(f"{each.distribution} ({each.value})" for each in points)
        return Registration(point.name, distribution, None, f"several distributions register it: {owners}")
    try:
        kind = point.load()
    except Exception as error:  # a plugin may fail in any way; the others go on
        return Registration(point.name, distribution, None, f"it cannot be loaded: {type(error).__name__}: {error}")
    if not isinstance(kind, type) or not issubclass(kind, Importer):
        return Registration(point.name, distribution, None, "it is not an Importer")
    problem = _fault(kind, point.name)
    return Registration(point.name, distribution, None if problem else kind, problem)


def _fault(kind: type[Importer], name: str) -> str:
    if isabstract(kind):
        return f"it lacks {', '.join(sorted(kind.__abstractmethods__))}"
    missing = [each for each in ("name", "version", "description", "capabilities") if not hasattr(kind, each)]
    if missing:
        return f"it does not say its {', '.join(missing)}"
    if kind.name != name:
        return f"it calls itself {kind.name}"
    return ""
