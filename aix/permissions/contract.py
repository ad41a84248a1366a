"""The contract between AIX and a dialect: the language in which one tool's settings allow, ask for and deny calls.

A dialect reads the rules of a settings file and says what they decide about a call. It knows neither the ledger nor the
command line; which rules are in force where, and what was called, is AIX's to know. Its answers follow the tool's
documentation: what the tool itself did is in the log.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from functools import cache
from hashlib import sha256
from typing import ClassVar

import msgspec

_ENTRY_POINTS = "aix.permissions"


class Decision(StrEnum):
    """Decision of rules about a call."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    NONE = "none"
    """No rule decides: the mode, and what the tool does by itself, do."""


class Call(msgspec.Struct, frozen=True):
    """A call that rules are held against."""

    tool: str
    input: Mapping[str, object]
    """Its parameters by name."""
    cwd: str
    """The folder that its relative paths start from; empty when it is not known."""


class Rule(msgspec.Struct, frozen=True):
    """One line of a settings file."""

    kind: str
    """As in `permission_rules.kind`: allow, ask, deny, directory or mode."""
    text: str
    """As it is written."""
    scope: str
    """As in `permission_rules.scope`."""
    file: str
    """The settings file; empty for a rule given on the command line."""
    position: int
    """Place in its list, from 0."""
    folder: str
    """The folder that its paths start from; empty when that is where each call was made."""


class Verdict(msgspec.Struct, frozen=True):
    """Decision of rules about a call, and the reason."""

    decision: Decision
    rule: Rule | None
    """The rule that decides; the first where all parts of a call must be allowed. None where no rule decides."""
    rules: tuple[Rule, ...]
    """All rules that the decision rests on, in their order."""
    reason: str
    """A full sentence."""


class Judge(ABC):
    """A set of rules in force, ready to be held against many calls.

    It answers for any text, keeps nothing between two calls that changes an answer, and takes time in proportion to
    the length of a call.
    """

    whole_input_tools: Collection[str] = ()
    """Further tools whose calls must be given with all their parameters, because a rule speaks of them."""

    @abstractmethod
    def judge(self, call: Call) -> Verdict:
        """Say what the rules decide about a call."""

    @abstractmethod
    def matching(self, call: Call) -> Sequence[Rule]:
        """Return every rule that matches the call or a part of it, whether it decides or not, in their order."""

    def matched_parts(self, call: Call, rule: Rule) -> Sequence[int] | None:  # noqa: ARG002 - for those who can tell
        """Return the parts, as in `Dialect.patterns`, that a matching rule matches; None where that is not told."""
        return None

    def runs_by_itself(self, call: Call) -> bool:  # noqa: ARG002 - for those who can tell
        """Whether the tool, in its default mode, runs a call about which no rule decides without asking."""
        return False

    @abstractmethod
    def remarks(self) -> Sequence[tuple[Rule, str]]:
        """Return the rules that can never decide anything, each with the reason as a full sentence."""


class Dialect(ABC):
    """The permission rules of one tool. Its name is that of its entry point in the group `aix.permissions`.

    Its module is loaded by every import, also by one that finds nothing new: it imports what is heavy where it is used.
    """

    origin: ClassVar[str]
    """The origin whose calls it speaks of, as in `sessions.origin`."""
    version: ClassVar[int]
    """Goes up whenever an answer changes."""
    whole_input_tools: ClassVar[Collection[str]] = ()
    """Tools whose calls must be given with all their parameters, whatever the rules are."""
    own_files: ClassVar[Collection[str]] = ()
    """Files outside the workspace that the tool has its agents write, such as plans, as `path` in a rule on risks."""

    @abstractmethod
    def reads(self, path: str, content: bytes) -> bool:
        """Whether a settings file looks like one of its own."""

    @abstractmethod
    def read_settings(
        self, path: str, content: bytes, folder: str | None = None, report: Callable[[str], object] = lambda _: None
    ) -> list[Rule]:
        """Return the rules of a settings file, with the scope and folder that its path shows, unless a folder is given.

        An entry that is not a rule is reported in a sentence and skipped.

        Raises:
            ValueError: The file is no settings file.
        """

    @abstractmethod
    def folder_of(self, scope: str, file: str) -> str:
        """Return the folder that the paths in a file's rules start from, and where project and local rules hold."""

    def is_tool_wide(self, rule: Rule) -> bool:  # noqa: ARG002 - for those who can tell
        """Whether a rule speaks of all that a tool or a server can do."""
        return False

    @abstractmethod
    def input_of(self, tool: str, target: str) -> Mapping[str, object]:
        """Return the parameters of a call of which only `permission_decisions.raw_target` is known."""

    def access_of(self, call: Call) -> tuple[str | None, str | None]:  # noqa: ARG002 - for those who can tell
        """Return the class and the target of a call, as in `permission_decisions`; None for what is not known."""
        return None, None

    @abstractmethod
    def judge(self, rules: Sequence[Rule], home: str | None = None) -> Judge:
        """Make rules ready to be held against calls, in their order: by scope from the weakest, then as written.

        `~` in a rule or a call is the home folder given; without one it is the home that the call's own folder lies
        in, where the name of that folder shows it.
        """

    @abstractmethod
    def patterns(self, call: Call) -> Sequence[Sequence[str]]:
        """Return for every part of a call the allow rules that would let it pass, from the narrowest to the widest.

        A part that no allow rule can let pass has none. No rule is wider than one program with its subcommand, one
        folder, one host or one server.
        """

    def examples(self, rule: Rule) -> Sequence[Call]:  # noqa: ARG002 - for those who can tell
        """Return calls that stand for all that a rule matches: a rule that matches each of them matches what it does.

        There are none where no call can stand for all.
        """
        return ()

    @abstractmethod
    def write_settings(self, rules: Mapping[str, Sequence[str]]) -> str:
        """Return a settings file with these rules by kind: allow, ask, deny."""


@cache
def dialects() -> dict[str, Dialect]:
    """Return the dialects by the origin that they speak of; a dialect that cannot be loaded is skipped."""
    from aix.plugins import entry_points_of

    found: dict[str, Dialect] = {}
    for point in entry_points_of(_ENTRY_POINTS):
        with suppress(Exception):  # of another distribution: what it breaks must not end an import
            made = point.load()()
            if isinstance(made, Dialect):
                found.setdefault(made.origin, made)
    return found


def dialects_digest() -> str:
    """Return what changes when a dialect is new, is gone, or answers otherwise."""
    versions = (f"{origin} {getattr(dialect, 'version', None)}" for origin, dialect in sorted(dialects().items()))
    return sha256("\0".join(versions).encode()).hexdigest()[:16]
