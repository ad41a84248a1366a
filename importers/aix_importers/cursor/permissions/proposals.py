"""Rules that would let a call pass."""

import re
from collections.abc import Sequence

from aix.permissions.contract import Call
from aix_importers.common.paths import Place
from aix_importers.cursor.permissions.asked import Asked, Kind, read_call
from aix_importers.cursor.permissions.commands import read_chain, rules_for

_PLAIN_NAME = re.compile(r"[\w.-]+")


def patterns_of(call: Call) -> Sequence[Sequence[str]]:
    """Return for every part of a call the allow rules that would let it pass, from the narrowest to the widest."""
    asked = read_call(call)
    match asked.kind:
        case Kind.SHELL:
            script = read_chain(asked.target).script
            return [rules_for(part) for part in script.simple] if script.is_whole and script.simple else [[]]
        case Kind.READ | Kind.WRITE:
            return [_for_path("Read" if asked.kind is Kind.READ else "Write", asked)]
        case Kind.FETCH:
            return [[f"WebFetch({asked.target})"] if _PLAIN_NAME.fullmatch(asked.target) else []]
        case Kind.MCP:
            return [_for_server(asked)]
        case Kind.MODE if _PLAIN_NAME.fullmatch(asked.target) and _PLAIN_NAME.fullmatch(asked.detail):
            return [[f"SwitchMode({asked.target}->{asked.detail})"]]
        case _:
            return [[]]


def _for_path(name: str, asked: Asked) -> list[str]:
    path = Place.of(asked.target, asked.cwd, None).written if asked.target else ""
    if not path:
        return []
    folder = path.rpartition("/")[0]
    return [f"{name}({path})", f"{name}({folder}/**)"] if folder else [f"{name}({path})"]


def _for_server(asked: Asked) -> list[str]:
    if not _PLAIN_NAME.fullmatch(asked.target):
        return []
    exact = [f"Mcp({asked.target}:{asked.detail})"] if _PLAIN_NAME.fullmatch(asked.detail) else []
    return [*exact, f"Mcp({asked.target}:*)"]
