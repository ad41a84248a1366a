"""Plots of results, for notebooks; they need matplotlib."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

from aix.errors import MissingExtraError, UnknownNameError, UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Kind = Literal["bars", "ranking", "line", "points"]
KINDS: tuple[Kind, ...] = ("bars", "ranking", "line", "points")
COLOURS = ("#4269d0", "#efb118", "#ff725c", "#3ca951", "#a463f2", "#6cc5b0", "#ff8ab7", "#9c6b4e")
_OTHER_COLOUR = "#9498a0"
_OTHERS = "others"
_MOST_BARS = 20
_MOST_LEVEL_TICKS = 12

Row = tuple[Any, ...]


def plot(
    names: Sequence[str], rows: Sequence[Row], kind: Kind, x: str, y: str, color: str | None, axes: "Axes | None"
) -> "Axes":
    """Draw two columns of these rows, coloured by a third, on these axes or on new ones."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("matplotlib", "notebook") from error
    if kind not in KINDS:
        raise UnknownNameError("kind of plot", kind, KINDS)
    for name in (x, y, *([color] if color else [])):
        if name not in names:
            raise UnknownNameError("column", name, tuple(names))
    if axes is None:
        axes = plt.subplots(figsize=(8, 3.5), layout="constrained")[1]
    third = names.index(color) if color else None
    groups = _groups(rows, names.index(x), names.index(y), third, is_ranking=kind == "ranking")
    {"bars": _bars, "ranking": _ranking, "line": _line, "points": _points}[kind](axes, groups)
    axes.set_xlabel(_label(x))
    axes.set_ylabel("" if kind == "ranking" else _label(y))
    axes.spines[["top", "right"]].set_visible(False)
    if color:
        axes.legend(title=_label(color), frameon=False)
    return axes


Groups = dict[str, list[tuple[Any, Any]]]


def _groups(rows: Sequence[Row], first: int, second: int, third: int | None, *, is_ranking: bool) -> Groups:
    """Return the points of each colour, the largest group first; rows with an unknown value are left out."""
    amount = first if is_ranking else second
    totals: dict[str, float] = {}
    found: dict[str, list[tuple[Any, Any]]] = {}
    for row in rows:
        if row[first] is None or row[second] is None:
            continue
        if not isinstance(row[amount], int | float | Decimal):
            raise UsageError(f"{row[amount]!r} is not a number: plot a column of numbers")
        name = "" if third is None else "unknown" if row[third] is None else str(row[third])
        totals[name] = totals.get(name, 0) + abs(float(row[amount]))
        found.setdefault(name, []).append((_drawn(row[first]), _drawn(row[second])))
    order = sorted(found, key=lambda name: -totals[name])
    if len(order) <= len(COLOURS):
        return {name: found[name] for name in order}
    kept = order[: len(COLOURS) - 1]
    rest = [point for name in order[len(kept) :] for point in found[name]]
    kept_groups = {name: found[name] for name in kept}
    return {**kept_groups, _OTHERS: [*kept_groups.get(_OTHERS, []), *rest]}


def _drawn(value: object) -> object:
    return float(value) if isinstance(value, Decimal) else value


def _shade(name: str, number: int) -> str:
    return _OTHER_COLOUR if name == _OTHERS else COLOURS[number]


def _bars(axes: "Axes", groups: Groups) -> None:
    keys = {key for points in groups.values() for key, _ in points}
    ordered = sorted(keys, key=lambda key: (str(type(key)), key))
    labels = [str(key) for key in ordered]
    floor = dict.fromkeys(labels, 0.0)
    for number, (name, points) in enumerate(groups.items()):
        sums = dict.fromkeys(labels, 0.0)
        for key, amount in points:
            sums[str(key)] += amount
        axes.bar(labels, list(sums.values()), bottom=list(floor.values()), color=_shade(name, number), label=name)
        floor = {label: floor[label] + sums[label] for label in labels}
    if len(labels) > _MOST_LEVEL_TICKS or any(isinstance(key, date) for key in ordered):
        axes.tick_params(axis="x", rotation=90, labelsize=7)


def _ranking(axes: "Axes", groups: Groups) -> None:
    totals: dict[str, float] = {}
    for points in groups.values():
        for amount, key in points:
            totals[str(key)] = totals.get(str(key), 0.0) + amount
    best = sorted(totals, key=lambda key: -totals[key])[:_MOST_BARS][::-1]
    floor = dict.fromkeys(best, 0.0)
    for number, (name, points) in enumerate(groups.items()):
        sums = dict.fromkeys(best, 0.0)
        for amount, key in points:
            if str(key) in sums:
                sums[str(key)] += amount
        axes.barh(best, list(sums.values()), left=list(floor.values()), color=_shade(name, number), label=name)
        floor = {key: floor[key] + sums[key] for key in best}


def _line(axes: "Axes", groups: Groups) -> None:
    for number, (name, points) in enumerate(groups.items()):
        ordered = sorted(points)
        axes.plot([x for x, _ in ordered], [y for _, y in ordered], color=_shade(name, number), label=name, marker=".")


def _points(axes: "Axes", groups: Groups) -> None:
    for number, (name, points) in enumerate(groups.items()):
        axes.scatter([x for x, _ in points], [y for _, y in points], color=_shade(name, number), label=name)


def _label(name: str) -> str:
    return name.replace("_usd", " (US dollars)").replace("_", " ")
