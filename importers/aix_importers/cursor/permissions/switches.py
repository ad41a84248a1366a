"""The switches of the editor: whether it runs anything by itself, and what it asks for all the same."""

from collections.abc import Sequence

from aix.permissions.contract import Rule
from aix_importers.common.paths import Place
from aix_importers.cursor.permissions.asked import Asked, Kind
from aix_importers.cursor.permissions.commands import read_chain

_RUNNING = ("agent.fullAutoRun", "agent.smartModeAutoRun", "agent.autoRun", "useYoloMode")
_EVERYTHING = ("agent.fullAutoRun", "yoloEnableRunEverything")
_DOT_FILES, _DELETION, _OUTSIDE = "yoloDotFilesDisabled", "yoloDeleteFileDisabled", "yoloOutsideWorkspaceDisabled"
_SERVERS, _BROWSER = "yoloMcpToolsDisabled", "playwrightProtection"
_PROTECTIONS = (_DOT_FILES, _DELETION, _OUTSIDE, _SERVERS, _BROWSER)
_SEARCH = "autoAcceptWebSearchTool"
_KNOWN = {*_RUNNING, *_EVERYTHING, *_PROTECTIONS, _SEARCH}
_ASKED_FOR = {Kind.SHELL, Kind.MCP, Kind.FETCH, Kind.SEARCH}


class Switches:
    """How the switches stand; of two settings of one the stronger counts, which comes later."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.remarks: list[tuple[int, str]] = []
        self._on: dict[str, int] = {}
        self._off: dict[str, int] = {}
        for number, rule in enumerate(rules):
            if rule.kind == "mode":
                self._set(number, rule.text.strip())
        running = [self._on[name] for name in _RUNNING if name in self._on]
        stopped = [self._off[name] for name in _RUNNING if name in self._off]
        self.off = min(stopped) if stopped and not running else None
        """The switch that makes the editor ask every time."""
        everything = [self._on[name] for name in _EVERYTHING if name in self._on]
        self.everything = min(everything) if everything and self.off is None else None
        """The switch that makes the editor run everything."""
        self.search = self._on.get(_SEARCH)
        """The switch that lets searches of the web pass."""

    def _set(self, number: int, text: str) -> None:
        name, _, value = text.partition("=")
        if name not in _KNOWN:
            mode, dot, _ = name.partition(".")
            reason = (
                "It is about another mode than agent, and a call does not say its mode."
                if dot and mode != "agent"
                else "What this switch does to calls is not documented."
            )
            self.remarks.append((number, reason))
        elif value not in ("true", "false"):
            self.remarks.append((number, "It is neither true nor false."))
        else:
            here, there = (self._on, self._off) if value == "true" else (self._off, self._on)
            there.pop(name, None)
            here[name] = number
            if value == "false" and name in _PROTECTIONS:
                self.remarks.append((number, "The protection is switched off."))

    def asking(self, asked: Asked) -> int | None:
        """Return the switch for which a call is asked about that no rule allows."""
        if asked.kind is Kind.SEARCH and _SEARCH in self._off:
            return self._off[_SEARCH]
        return self.off if asked.kind in _ASKED_FOR or asked.is_deletion else None

    def protections(self, asked: Asked, place: Place | None) -> list[int]:
        """Return the protections that a call falls under."""
        if not self._on.keys() & set(_PROTECTIONS):
            return []
        return sorted(self._on[name] for name in _reasons(asked, place) if name in self._on)


def _reasons(asked: Asked, place: Place | None) -> list[str]:
    match asked.kind:
        case Kind.SHELL:
            return [_DELETION] if read_chain(asked.target).deletes else []
        case Kind.MCP:
            named = f"{asked.target} {asked.detail}".lower()
            return [_SERVERS, _BROWSER] if "playwright" in named or "browser" in named else [_SERVERS]
        case Kind.WRITE if place is not None:
            inside = place.below(place.cwd) if place.cwd else None
            names = (place.path if inside is None else inside).split("/")
            found = [_DELETION] if asked.is_deletion else []
            found += [_DOT_FILES] if any(name.startswith(".") and name != ".." for name in names) else []
            return [*found, _OUTSIDE] if (place.cwd and inside is None) or ".." in names else found
        case _:
            return []
