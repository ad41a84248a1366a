"""References between programs: `@(id)`, with or without a version, and the settings that hold bare ids."""

import re
from collections.abc import Iterable, Iterator, Mapping

from aix_importers.common.json_text import is_text

_REFERENCE = re.compile(r"@\(([^()]*)\)")
_MOST_NAMED = 8
"""Programs of a cycle that a problem names."""
_SETTINGS_OF_IDS = frozenset(
    {
        *("assignee", "currentSession", "currentTask", "defaultModel", "dependsOn", "model", "onBehalfOf", "owner"),
        *("parent", "provider", "schema", "session", "sources", "task", "tools"),
    }
)
"""Settings whose texts are ids of programs even when they are not written as references."""


def referred_id(text: str) -> str | None:
    """Return the id in a reference; None for any other text, such as one that names two.

    >>> referred_id("@(claude-balanced)"), referred_id("claude-balanced"), referred_id("@(a) or @(b)")
    ('claude-balanced', None, None)
    """
    found = _REFERENCE.fullmatch(text.strip())
    return found[1].strip() or None if found else None


def bare_id(value: object) -> str | None:
    """Return an id that is written as such or as a reference; None for what is neither.

    >>> bare_id("@(ada)"), bare_id("ada"), bare_id(" "), bare_id(7)
    ('ada', 'ada', None, None)
    """
    return referred_id(value) or value.strip() or None if is_text(value) else None


def without_version(program_id: str) -> str | None:
    """Return the id of a reference that names a version too, as `@(id:version)`; None when it names none.

    >>> without_version("researcher:3"), without_version("researcher")
    ('researcher', None)
    """
    return program_id.rpartition(":")[0] or None


def references_of(config: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Go through the references in settings, at any depth: the setting, as a path, and the id that it names.

    >>> list(references_of({"provider": "@(p)", "currentTask": "t", "harness": {"judge": "@(j)"}, "name": "x"}))
    [('provider', 'p'), ('currentTask', 't'), ('harness.judge', 'j')]
    """
    for name, value in config.items():
        yield from _references(name, value, is_of_ids=name in _SETTINGS_OF_IDS)


def _references(place: str, value: object, *, is_of_ids: bool) -> Iterator[tuple[str, str]]:
    match value:
        case dict():
            for name, inner in value.items():
                yield from _references(f"{place}.{name}", inner, is_of_ids=False)
        case list():
            for inner in value:
                yield from _references(place, inner, is_of_ids=is_of_ids)
        case _ if is_text(value):
            found = bare_id(value) if is_of_ids else referred_id(value)
            if found is not None:
                yield place, found


def reference_cycles(references: Mapping[str, Iterable[tuple[str, str]]]) -> Iterator[tuple[str, list[str]]]:
    """Go through the cycles that references of one setting form: the setting, and the programs from one to itself.

    Settings that differ make no cycle: an agent names its task, and the task the agent it is assigned to.

    >>> list(reference_cycles({"a": [("schema", "b")], "b": [("schema", "a"), ("owner", "a")], "c": [("model", "c")]}))
    [('model', ['c', 'c']), ('schema', ['a', 'b', 'a'])]
    """
    by_setting: dict[str, dict[str, list[str]]] = {}
    for program_id, named in references.items():
        for setting, target in named:
            if target in references:
                by_setting.setdefault(setting, {}).setdefault(program_id, []).append(target)
    for setting, targets in sorted(by_setting.items()):
        yield from ((setting, cycle) for cycle in _cycles(targets))


def _cycles(targets: Mapping[str, list[str]]) -> Iterator[list[str]]:
    """Go through cycles of a graph, one for each edge that closes one in a walk from the smallest node on."""
    finished: set[str] = set()
    for start in sorted(targets):
        if start in finished:
            continue
        path, places = [start], {start: 0}
        waiting = [iter(sorted(targets[start]))]
        while path:
            target = next(waiting[-1], None)
            if target is None:
                finished.add(path[-1])
                del places[path.pop()]
                waiting.pop()
            elif target in places:
                yield [*_shortened(path, places[target]), target]
            elif target not in finished:
                places[target] = len(path)
                path.append(target)
                waiting.append(iter(sorted(targets.get(target, ()))))


def _shortened(path: list[str], begin: int) -> list[str]:
    if len(path) - begin <= _MOST_NAMED:
        return path[begin:]
    return [*path[begin : begin + _MOST_NAMED // 2], "…", *path[-_MOST_NAMED // 2 :]]
