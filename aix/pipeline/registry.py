"""The importers that are installed: built-in ones and those of other distributions register alike."""

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint
from inspect import isabstract

import msgspec

from aix.errors import UnknownNameError, UsageError
from aix.pipeline.contract import Importer
from aix.plugins import entry_points_of

GROUP = "aix.importers"

Options = Mapping[str, Mapping[str, str]]
"""By importer: its options and their values."""


class Registration(msgspec.Struct, frozen=True):
    """An importer as it is registered, whether or not it can be loaded."""

    name: str
    distribution: str
    kind: type[Importer] | None
    problem: str = ""
    """Why it cannot be used."""


def registrations() -> list[Registration]:
    """Return all importers that are registered, by name; one that cannot be loaded says why."""
    by_name: dict[str, list[EntryPoint]] = {}
    for point in entry_points_of(GROUP):
        by_name.setdefault(point.name, []).append(point)
    return [_registration(points) for points in by_name.values()]


def load_importers(options: Options, only: str | None = None) -> tuple[list[Importer], list[Registration]]:
    """Return the importers, or only the one of that name, with their options; and those that cannot be used."""
    known = registrations()
    names = tuple(each.name for each in known)
    options = {registered_name(name, names): given for name, given in options.items()}
    only = only and registered_name(only, names)
    for name in (*options, *([only] if only else [])):
        if name not in names:
            raise UnknownNameError("importer", name, names)
    chosen = [each for each in known if only in (None, each.name)]
    usable: list[Importer] = []
    broken: list[Registration] = []
    for each in chosen:
        made = _make(each, options.get(each.name, {}))
        if isinstance(made, Importer):
            usable.append(made)
        else:
            broken.append(msgspec.structs.replace(each, kind=None, problem=made))
    return usable, broken


def registered_name(name: str, names: Iterable[str] | None = None) -> str:
    """Return the name of an importer, in which `-` may stand for `_`; a name that is not registered stays as it is.

    >>> registered_name("agent-dag", ["agent_dag"]), registered_name("agent-dag", ["other"])
    ('agent_dag', 'agent-dag')
    """
    known = [point.name for point in entry_points_of(GROUP)] if names is None else [*names]
    return next((each for each in (name, name.replace("-", "_")) if each in known), name)


def load_importer(name: str, options: Mapping[str, str]) -> Importer:
    """Return one importer."""
    importers, broken = load_importers({name: options}, name)
    if broken:
        raise UsageError(broken[0].problem)
    return importers[0]


def _make(registered: Registration, options: Mapping[str, str]) -> Importer | str:
    """Return an importer, or why it cannot be used."""
    kind = registered.kind
    if kind is None:
        return registered.problem
    for option in options:
        if option not in kind.option_help:
            raise UnknownNameError(f"option of {kind.name}", option, tuple(kind.option_help))
    try:
        return kind(options)
    except UsageError:
        raise
    except Exception as error:  # a plugin may fail in any way; the others go on
        return f"it cannot be used: {type(error).__name__}: {error}"


def _registration(points: list[EntryPoint]) -> Registration:
    point = points[0]
    distribution = point.dist.name if point.dist else ""
    if len(points) > 1:
        owners = " and ".join(f"{each.dist.name if each.dist else '?'} ({each.value})" for each in points)
        return Registration(point.name, distribution, None, f"several distributions register it: {owners}")
    try:
        kind = point.load()
    except Exception as error:  # a plugin may fail in any way; the others go on
        return Registration(point.name, distribution, None, f"it cannot be loaded: {type(error).__name__}: {error}")
    problem = _fault(kind, point.name)
    return Registration(point.name, distribution, None if problem else kind, problem)


def _fault(kind: object, name: str) -> str:
    if not isinstance(kind, type) or not issubclass(kind, Importer):
        return "it is not an Importer"
    if isabstract(kind):
        return f"it lacks {', '.join(sorted(kind.__abstractmethods__))}"
    missing = [each for each in ("name", "version", "description", "capabilities") if not hasattr(kind, each)]
    if missing:
        return f"it does not say its {', '.join(missing)}"
    if kind.name != name:
        return f"it calls itself {kind.name}"
    return ""
