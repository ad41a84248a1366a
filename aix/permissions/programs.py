"""The table of programs: which options take values, what a program runs, and which files and hosts its words name.

The table is `programs.toml`. It is read when the first command needs it, and of each program only when it is asked for.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

_TABLE = Path(__file__).with_name("programs.toml")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=", re.ASCII)
_ENDING = re.compile(
    r"\.(?:exe|cmd|bat|com)$|(?<=python[23])\.\d+$|(?<=pip3)\.\d+$|(?<=^perl|^ruby|^node|^bash)-?[\d.]+$|(?<=^php)[\d.]+$",
    re.IGNORECASE,
)
_VERSIONED = re.compile(r"(pip)[0-9.]+|(.+)\.(?:exe|cmd)")


class Argument(NamedTuple):
    """An option or operand of a command line."""

    name: str
    """The option, in full where it is abbreviated and the table knows it; empty for an operand."""
    value: str | None
    """The operand, or the last value of the option; None for an option without."""
    attached: int
    """Where the value begins within the word; 0 where it is the next word."""


class InnerCommand(NamedTuple):
    """The command that a program runs by its arguments."""

    start: int
    """The place of its first word."""
    assignments: tuple[int, ...] = ()
    """The places of assignments before it."""
    options: frozenset[str] = frozenset()
    """The options before it."""
    attached: int = 0
    """Of a text that an option gives: where it begins in the word before `start`; 0 where `start` is its place."""
    is_text: bool = False
    """Whether it is a text that is read as a script, rather than words."""


class Program(msgspec.Struct, frozen=True):
    """Particulars of a program, as the table describes them; words that begin with `-` are options."""

    valued: Mapping[str, int]
    """Options with values, and how many words these are."""
    files: Mapping[str, str]
    """Options whose value is a file, with what is done to it."""
    commands: tuple[str, ...]
    optional: frozenset[str]
    expression: frozenset[str]
    refusing: frozenset[str]
    before: int
    takes_assignments: bool
    is_text: bool
    is_elsewhere: bool
    has_clusters: bool
    long_names: tuple[str, ...]
    """Long options that may be abbreviated; programs with subcommands mostly ask for the whole name."""
    has_lone_dash: bool
    operands: tuple[str, ...]
    hosts: frozenset[str]
    subcommands: "Mapping[str, Program]"

    def options_at(self, words: Sequence[str], place: int) -> tuple[list[Argument], int]:
        """Return the options that a word is, and where to read on."""
        word = words[place]
        if word.startswith("--") or not self.has_clusters or word in self.valued:
            written, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
            name = self._whole_name(written)
            if equals:
                return [Argument(name, value, len(written) + 1)], place + 1
            return self._with_next(name, words, place)
        found: list[Argument] = []
        for end, letter in enumerate(word[1:], 2):
            name = f"-{letter}"
            if name in self.valued and end == len(word):
                last, place = self._with_next(name, words, place)
                return found + last, place
            # No option is a colon: it begins the value of the option before it, as in `perl -d:Trace`.
            if name in self.valued or name in self.optional or word[end : end + 1] == ":":
                found.append(Argument(name, word[end:], end))
                break
            found.append(Argument(name, None, 0))
        return found, place + 1

    def _with_next(self, name: str, words: Sequence[str], place: int) -> tuple[list[Argument], int]:
        count = self.valued.get(name, 0)
        value = words[place + count] if count and place + count < len(words) else None
        return [Argument(name, value, 0)], place + 1 + count

    def is_abbreviation(self, word: str) -> bool:
        """Whether a word is the beginning of a long option rather than its whole name."""
        name = word.partition("=")[0]
        return self._whole_name(name) != name

    def _whole_name(self, word: str) -> str:
        """Return the long option that a word is the beginning of, when a single one of those that are known is."""
        if len(word) < 3 or not word.startswith("--") or word in self.long_names:
            return word
        found = [name for name in self.long_names if name.startswith(word)]
        return found[0] if len(found) == 1 else word

    def arguments(self, words: Sequence[str]) -> Iterator[Argument]:
        """Go through the options and operands after the program.

        >>> [(each.name, each.value) for each in program("tail").arguments(("tail", "-fn", "5", "a.log"))]
        [('-f', None), ('-n', '5'), ('', 'a.log')]
        """
        place = 1
        while place < len(words):
            word = words[place]
            if word == "--":
                yield from (Argument("", each, 0) for each in words[place + 1 :])
                return
            if word[:1] != "-" or word == "-":
                yield Argument("", word, 0)
                place += 1
            else:
                options, place = self.options_at(words, place)
                yield from options

    def inner_command(self, words: Sequence[str], place: int = 1) -> InnerCommand | None:
        """Return the command that it runs, reading from a place; None where it runs none.

        >>> program("timeout").inner_command(("timeout", "-s", "KILL", "30", "make", "-k"))[0]
        4
        """
        before = self.before
        assignments: list[int] = []
        names: set[str] = set()
        while place < len(words):
            word = words[place]
            if word == "--":
                place += 1 + before
                break
            if word[:1] == "-" and (len(word) > 1 or self.has_lone_dash):
                options, after = self.options_at(words, place)
                names.update(option.name for option in options)
                if not names.isdisjoint(self.refusing):
                    return None
                if options and options[-1].name in self.commands and options[-1].value is not None:
                    start = place + 1
                    return InnerCommand(start, tuple(assignments), frozenset(names), options[-1].attached, is_text=True)
                place = after
            elif self.takes_assignments and _ASSIGNMENT.match(word):
                assignments.append(place)
                place += 1
            elif before:
                before -= 1
                place += 1
            else:
                break
        while self.takes_assignments and place < len(words) and _ASSIGNMENT.match(words[place]):
            assignments.append(place)
            place += 1
        return InnerCommand(place, tuple(assignments), frozenset(names)) if place < len(words) else None


def listed(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


@cache
def _table() -> dict[str, Any]:
    import tomllib

    return tomllib.loads(_TABLE.read_text("utf-8"))


@cache
def programs_in(group: str) -> frozenset[str]:
    """Return the programs of a group, such as `wrappers` or `subcommands`."""
    return listed(_table()["groups"][group])


@cache
def programs_with(particular: str) -> frozenset[str]:
    """Return the programs whose own table has a particular, such as `commands` or `sub`."""
    return frozenset(name for name in _table()["program"] if particular in _given(name))


@cache
def _listed(section: str) -> dict[str, tuple[str, ...]]:
    """Return what the lists of a section say about each program."""
    found: dict[str, tuple[str, ...]] = {}
    for kind, names in _table()[section].items():
        for name in names.split():
            found[name] = (*found.get(name, ()), kind)
    return found


def program(name: str) -> Program:
    """Return what the table says about a program: nothing in particular for one that it does not know."""
    return _read_program(name if name in _known_names() else "")


@cache
def _known_names() -> frozenset[str]:
    groups = (name for group in _table()["groups"] for name in programs_in(group))
    return frozenset((*_table()["program"], *_listed("operands"), *_listed("hosts"), *groups))


@cache
def _read_program(name: str) -> Program:
    operands = _listed("operands").get(name, ("",))[0]
    hosts = frozenset(_listed("hosts").get(name, ()))
    return _program(_given(name), tuple(operands.split()), hosts, is_abbreviated=name not in programs_in("subcommands"))


def _given(name: str) -> dict[str, Any]:
    """Return the table of a program, with what it shares with another."""
    given: dict[str, Any] = _table()["program"].get(name, {})
    return {**_given(given["like"]), **given} if "like" in given else given


def _program(
    given: dict[str, Any],
    operands: tuple[str, ...] = (),
    hosts: frozenset[str] = frozenset(),
    *,
    is_abbreviated: bool = False,
) -> Program:
    words = {key: tuple(value.split()) for key, value in given.items() if isinstance(value, str)}
    files = {option: access for access, options in given.get("files", {}).items() for option in options.split()}
    commands = words.get("commands", ())
    pairs = (*words.get("pairs", ()), *(option for option, access in files.items() if " " in access))
    valued = {**dict.fromkeys((*words.get("valued", ()), *files, *commands), 1), **dict.fromkeys(pairs, 2)}
    flags = words.get("flags", ())
    refusing = words.get("refusing", ())
    return Program(
        valued,
        files,
        commands,
        frozenset(words.get("optional", ())),
        frozenset(words.get("expression", ())),
        frozenset(refusing),
        given.get("before", 0),
        given.get("assignments", False),
        given.get("text", False),
        given.get("elsewhere", False),
        given.get("clusters", True),
        tuple(option for option in (*valued, *flags, *refusing) if is_abbreviated and option.startswith("--")),
        "-" in flags,
        operands,
        hosts,
        {name: _program(sub) for name, sub in given.get("sub", {}).items()},
    )


def plain_name(name: str) -> str:
    """Return the name of a program without an ending such as `.cmd`, or its version.

    >>> plain_name("npm.cmd"), plain_name("python3.12")
    ('npm', 'python3')
    """
    return _ENDING.sub("", name)


def subcommand(name: str, words: Sequence[str]) -> str | None:
    """Return what a program is told to do by its first operand, when it is a program with subcommands."""
    names = programs_in("subcommands")
    if name not in names:
        versioned = _VERSIONED.fullmatch(name)
        name = (versioned[1] or versioned[2]) if versioned else ""
        if name not in names:
            return None
    known = program(name)
    place = 1
    while place < len(words):
        word = words[place]
        if word == "--":
            return words[place + 1] if place + 1 < len(words) else None
        if word[:1] == "-":
            place = known.options_at(words, place)[1]
        elif word[:1] == "+" or not word:
            place += 1
        else:
            return word
    return None


def naming_length(words: Sequence[str]) -> int | None:
    """Return how many words name a program and what it does; None where only all of them do.

    >>> naming_length(["git", "-C", "log", "log", "-1"]), naming_length([".venv/bin/python", "-m", "pytest", "-q"])
    (4, 3)
    >>> naming_length(["python3", "-c", "pass"]), naming_length(["/bin/rm", "x"]), naming_length(["ls", "-l"])
    (None, None, 1)
    """
    name = plain_name(words[0].rpartition("/")[2]) if words else ""
    if not name or name in programs_in("do_anything"):
        return None
    if name in programs_in("interpreters"):
        length = 3 if "-m" in words[1:2] else 2
        return length if len(words) >= length and not words[length - 1].startswith("-") else None
    sub = subcommand(name, words)
    if sub is None:
        return 1
    # Before it, an option may have a value that is the same word.
    lengths = (place + 1 for place, word in enumerate(words) if word == sub)
    return next(length for length in lengths if subcommand(name, words[:length]) == sub)
