"""Whether a rule fits a command, its neighbours in the same script seen too."""

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

from aix.permissions.globs import joined_words
from aix.permissions.programs import plain_name
from aix.permissions.risk_rules import Option, RiskRule
from aix.permissions.shell import Command, Script, split
from aix.permissions.shell.inline_code import file_run, runs_input, takes_program
from aix.permissions.shell.runners import runs
from aix.permissions.shell.splitting import split_words
from aix.permissions.targets import Part

_MOST_WORDS = 2000
_MOST_RENAMES = 50
_INPUT_RUNNERS = frozenset({"parallel", "crontab", "at", "batch"})
_MOST_RUNNERS = 3
_ADDRESS_FILE = re.compile(r"^[a-z][a-z0-9+.-]*://[^/?#]+/(?:[^?#]*/)?([^/?#]+)", re.IGNORECASE)


class Commands:
    """The commands of a script, with the paths that each touches."""

    def __init__(self, script: Script, parts: Sequence[Part]) -> None:
        self.script = script
        self._parts = parts
        self._joined: dict[int, str] = {}
        self._readers: dict[tuple[int, frozenset[str]], int] = {}

    def joined(self, place: int) -> str:
        """Return the words after a command's program as one text."""
        if place not in self._joined:
            self._joined[place] = joined_words(self.script.commands[place].words[1:_MOST_WORDS])
        return self._joined[place]

    @cached_property
    def paths(self) -> dict[int, list[Part]]:
        """The paths by the place of their command."""
        found: dict[int, list[Part]] = {}
        place = -1
        for part in self._parts:
            if part.kind == "command":
                place += 1
            elif part.kind == "path":
                found.setdefault(place, []).append(part)
        return found

    @cached_property
    def pipelines(self) -> dict[int, list[int]]:
        """The places of the commands that are joined by pipes."""
        found: dict[int, list[int]] = {}
        for place, command in enumerate(self.script.commands):
            found.setdefault(command.pipeline, []).append(place)
        return found

    @cached_property
    def last_run(self) -> dict[str, int]:
        """The names of files that are run, with the place of the last command that does."""
        return {name: place for place, command in enumerate(self.script.commands) for name in _files_run(command)}

    def last_reader(self, pipeline: int, programs: frozenset[str]) -> int:
        """Return the place of the last command of a pipeline that takes its program from what it is passed, else -1."""
        key = (pipeline, programs)
        if key not in self._readers:
            self._readers[key] = max(
                (
                    place
                    for place in self.pipelines.get(pipeline, ())
                    if _reads_program(self.script.commands[place], programs)
                ),
                default=-1,
            )
        return self._readers[key]


def fits_command(rule: RiskRule, commands: Commands, place: int) -> bool:
    """Whether a rule whose program is the command's own fits the command at a place of the script."""
    command = commands.script.commands[place]
    words = command.words[1:_MOST_WORDS]
    if rule.subcommand is not None and _subcommand(command) not in rule.subcommand:
        return False
    if rule.wrapper is not None and rule.wrapper.isdisjoint(command.wrappers):
        return False
    return (
        all(any(_has_flag(words, flag) for flag in group) for group in rule.flags)
        and (not rule.options or any(_has_option(words, option) for option in rule.options))
        and (rule.argument is None or any(rule.argument.fit(word) for word in words))
        and (rule.words is None or rule.words.are_in(commands.joined(place)))
        and (not rule.is_without_arguments or all(word[:1] == "-" for word in words))
        and (not rule.is_alone or not words)
        and (not rule.is_outside or _writes_outside(rule, commands, place))
        and (rule.substituted is None or _is_substituted(rule.substituted, command))
        and (rule.piped_into is None or commands.last_reader(command.pipeline, rule.piped_into) > place)
        and (not rule.is_run_later or _is_run_later(commands, place))
        and not _is_excepted(rule, command, words)
    )


def _subcommand(command: Command) -> str | None:
    """Return the subcommand; of a program that is not known to have one, its first word that is no option."""
    return command.sub or next((word for word in command.words[1:_MOST_WORDS] if word[:1] != "-"), None)


def _is_excepted(rule: RiskRule, command: Command, words: Sequence[str]) -> bool:
    return (
        (bool(rule.unless_subcommand) and _subcommand(command) in rule.unless_subcommand)
        or any(_has_flag(words, flag) for flag in rule.unless_flag)
        or (rule.unless_argument is not None and any(rule.unless_argument.fit(word) for word in words))
    )


def _has_flag(words: Sequence[str], flag: str) -> bool:
    is_letter = len(flag) == 2 and flag[1] != "-"
    for word in words:
        if word == "--":
            return False
        if word == flag or (word.startswith(flag) and word[len(flag) : len(flag) + 1] == "="):
            return True
        if word.startswith("--") and _is_abbreviated(word.partition("=")[0], flag):
            return True
        if is_letter and word[:1] == "-" and word[1:2] != "-" and flag[1] in word and word[1:].isalpha():
            return True
    return False


def _is_abbreviated(word: str, flag: str) -> bool:
    """Whether a word is the beginning of a long option, which programs take for it when no other begins so."""
    return len(word) > 2 and len(word) < len(flag) and flag.startswith(word)


def _has_option(words: Sequence[str], option: Option) -> bool:
    name = option.name
    for place, word in enumerate(words):
        if word == name:
            if place + 1 < len(words) and option.value.fit(words[place + 1]):
                return True
        elif word.startswith(f"{name}="):
            if option.value.fit(word[len(name) + 1 :]):
                return True
        elif word.startswith("--") and _is_abbreviated(word.partition("=")[0], name):
            _, equals, value = word.partition("=")
            following = words[place + 1] if place + 1 < len(words) else ""
            if option.value.fit(value if equals else following):
                return True
        elif not name.startswith("--") and word.startswith(name) and option.value.fit(word[len(name) :]):
            return True
    return False


def _writes_outside(rule: RiskRule, commands: Commands, place: int) -> bool:
    return any(
        path.access == "write"
        and path.is_outside is True
        and (rule.unless_path is None or not rule.unless_path.fits(path.target))
        for path in commands.paths.get(place, ())
    )


@cache
def _substituted(programs: frozenset[str]) -> re.Pattern[str]:
    """Return what finds one of these programs at the start of what a word is replaced by."""
    names = "|".join(re.escape(program) for program in sorted(programs))
    return re.compile(rf"\s*(?:\$\(|`|<\()\s*(?:sudo\s+)?(?:{names})(?![\w.-])")


def _is_substituted(programs: frozenset[str], command: Command) -> bool:
    pattern = _substituted(programs)
    return any(pattern.match(word) for word in command.words[:_MOST_WORDS]) or any(
        redirect.op == "<<<" and pattern.match(redirect.target) for redirect in command.redirects
    )


def _reads_program(command: Command, programs: frozenset[str], depth: int = 0) -> bool:
    """Whether a command is one of these programs and runs its input, or passes its input to one that does."""
    program = plain_name(command.program)
    if program in programs and (runs_input(command) if program in _INPUT_RUNNERS else takes_program(command)):
        return True
    if depth == _MOST_RUNNERS:
        return False
    inner = [split_words(run.words) for run in runs(command.program, command.words[:_MOST_WORDS]) if run.words]
    inner += [split(word[2:-1]) for word in command.words[:_MOST_WORDS] if word.startswith(">(")]
    return any(_reads_program(each, programs, depth + 1) for script in inner for each in script.commands[:1])


def _is_run_later(commands: Commands, place: int) -> bool:
    names = set(_files_saved(commands, place))
    if any(commands.last_run.get(name, -1) > place for name in names):
        return True
    for later in commands.script.commands[place + 1 : place + 1 + _MOST_RENAMES] if names else ():
        moved = [word.rpartition("/")[2] for word in later.words[1:] if word[:1] != "-"]
        if later.program in {"mv", "cp", "ln"} and len(moved) > 1 and not names.isdisjoint(moved[:-1]):
            names.add(moved[-1])
    return any(commands.last_run.get(name, -1) > place for name in names)


def _files_saved(commands: Commands, place: int) -> Iterator[str]:
    """Go through the names of the files that a download is saved as."""
    command = commands.script.commands[place]
    written = [path.target for path in commands.paths.get(place, ()) if path.access == "write"]
    yield from (path.rpartition("/")[2] for path in written)
    if not written:
        found = (_ADDRESS_FILE.match(word[:_MOST_WORDS]) for word in command.words[1:_MOST_WORDS])
        yield from (address[1] for address in found if address)


def _files_run(command: Command) -> Iterator[str]:
    if "/" in command.words[0]:
        yield command.words[0].rpartition("/")[2]
    script = file_run(command)
    if script is not None:
        yield script.rpartition("/")[2]
