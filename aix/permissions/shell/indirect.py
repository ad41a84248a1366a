"""Commands that a script runs indirectly: by the values of its variables, and by programs and texts that run others.

`split` gives the commands as they are written. For each of them this says which further commands it runs
(`c=rm; $c x`, `flock lock rm x`, `bash <<END`, `git -c alias.x='!rm x' x`), and where a program or its code is not
known before it runs.
"""

import re
import shlex
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import takewhile
from typing import NamedTuple

from aix.permissions.programs import listed
from aix.permissions.shell import inline_code
from aix.permissions.shell.inline_code import sed_effects
from aix.permissions.shell.runners import GIT_RUNNING, Run, git_loads_code, git_runs, running_programs, runs
from aix.permissions.shell.splitting import split, split_words
from aix.permissions.shell.values import MAX_VARIANTS, Values, braces_expanded, classes_resolved, printed
from aix.permissions.shell.words import Command, Script

PROGRAM, SPELLING, CODE, DECODED, LOADED = "program", "spelling", "code", "decoded", "loaded"
"""Kinds of unknown things: a program; a name that a pattern spells; code; code that is decoded; code that is loaded."""

MAX_DEPTH = 5
"""How deep indirect commands are followed."""

_MOST_WORDS = 2000
_LONGEST_NAME = 256
_MOST_READ = 128 * 1024
"""How many characters of texts that are run indirectly are read, for all that a script runs."""
_EXPANDED = re.compile(r"[$`{]")
_UNFIXED = re.compile(r"[$`*?]|\[.+\]|\{.*\}|^<\(")
_COMMAND_VARIABLES = listed(
    """
    PAGER GIT_PAGER MANPAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_ASKPASS
    SSH_ASKPASS SUDO_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND RSYNC_RSH PROMPT_COMMAND BROWSER LESSOPEN LESSCLOSE
    SHELL
    """
)
"""Variables whose value programs run as a command."""
_CODE_VARIABLES = listed(
    "LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES BASH_ENV PYTHONSTARTUP PERL5OPT PERL5DB GIT_EXEC_PATH"
)
"""Variables that name code which programs load before their own."""
_CODE_OPTIONS = {
    "NODE_OPTIONS": re.compile(r"(?:^|\s)(?:--require|-r|--import|--loader|--experimental-loader)\b"),
    "RUBYOPT": re.compile(r"(?:^|\s)-r"),
    "JAVA_TOOL_OPTIONS": re.compile(r"-(?:javaagent|agentpath|agentlib)"),
    "TAR_OPTIONS": re.compile(r"--to-command|--checkpoint-action|--use-compress-program|-I"),
}
_DECLARING = frozenset(("export", "declare", "typeset", "local", "readonly"))
_PRINTING = _DECLARING | {"echo", "printf", "test", "[", "true", "false", ":", "sleep", "read", "alias", "cd", "exit"}
"""Programs whose arguments do no harm, whatever their values."""
_FIND_NAMES = frozenset(("-name", "-iname", "-path", "-wholename", "-ipath"))


class Inner(NamedTuple):
    """Commands that a command runs."""

    script: Script
    is_elsewhere: bool = False
    """Whether they run on another machine or in a container."""
    is_inferred: bool = False
    """Whether they follow from a value that may be another when it runs."""
    alias: str = ""
    """The alias that they stand for, which shells do not replace again within them."""


class Found(NamedTuple):
    """The answer about one command: all that it runs besides itself."""

    inner: tuple[Inner, ...] = ()
    unknown: frozenset[str] = frozenset()
    """Of `program`, `spelling`, `code`, `decoded` and `loaded`, those that hold."""


NOTHING = Found()
_UNREAD = Script((), (), is_whole=False)


class Indirect:
    """The indirect commands of one script, asked for by the place of the command that runs them."""

    def __init__(self, script: Script, outer: "Indirect | None" = None, alias: str = "") -> None:
        self._script = script
        self._unread: list[int] = [_MOST_READ] if outer is None else outer._unread
        """How much is left to be read; shared by the scripts within one another."""
        self._is_cut = False
        self.assignments: tuple[str, ...] = script.assignments
        """The assignments of the script and of those around it."""
        if outer is not None:
            self.assignments = (*outer.assignments, *script.assignments)
        self._aliases: dict[str, str] = {} if outer is None else dict(outer._aliases)
        for command in script.commands:
            if command.program == "alias":
                pairs = (word.partition("=") for word in command.words[1:_MOST_WORDS])
                self._aliases.update({name: text for name, equals, text in pairs if equals})
        self._aliases.pop(alias, None)

        self._made = self._files_made()

    def _files_made(self) -> dict[str, str | Command]:
        """Return the files that the script makes, by their names: their text, or the command that copies them."""
        made: dict[str, str | Command] = {}
        for command in self._script.commands if len(self._script.commands) > 1 else ():
            if command.program in ("cp", "ln", "mv") and len(command.words) > 2:
                made[_name(command.words[-1])] = command
            elif command.redirects and command.program in _TEXT_PRINTING:
                target = next((target for op, target in command.redirects if op in (">", ">>", ">|")), None)
                if target is not None and (text := printed([command._replace(redirects=())], str)) is not None:
                    made[_name(target)] = text
        return made

    def _by_file(self, command: Command) -> Iterator[Inner]:
        """Yield the commands of a file that the script has made and then runs."""
        is_program = "/" in command.words[0]
        file = command.words[0] if is_program else inline_code.file_run(command)
        made = self._made.get(_name(file)) if file else None
        if isinstance(made, Command):
            if is_program and _name(made.words[-2]) != command.program:
                yield Inner(self._read_words((made.words[-2], *command.words[1:]), command), is_inferred=True)
        elif made is not None:
            program = inline_code.plain_program(command.program)
            if inline_code.is_interpreter(program):
                yield from self._inner_of(inline_code.runs_in_code(program, made), command)
            else:
                yield Inner(self._read(made))

    @cached_property
    def _values(self) -> Values:
        return Values(self.assignments, self._script.commands)

    def of(self, place: int) -> Found:
        """Return what the command at a place runs besides itself."""
        command = self._script.commands[place]
        program = command.program
        unknown: set[str] = set()
        inner: list[Inner] = []
        if program in self._aliases:
            inner.append(self._by_alias(command))
        if program not in _PRINTING and (_EXPANDED.search("\0".join(command.words)) or _is_unknown(program)):
            inner += self._spelled_out(command, unknown)
        if program == "git":
            if command.sub in GIT_RUNNING or "-c" in command.words:
                inner += self._by_git(command, unknown)
        elif program in _running() or program[-1:].isdigit():
            inner += self._by_program(command, unknown)
        if command.env or program in _DECLARING:
            inner += self._by_environment(command, unknown)
        if self._made:
            inner += self._by_file(command)
        if program in _TEXT_RUNNERS:
            inner += self._by_text(command, place, unknown)
        if command.wrappers and command.wrappers[-1].startswith(("xargs", "find -")):
            inner += self._by_input_words(command, place)
        if self._is_cut:
            unknown.add(CODE)
            self._is_cut = False
        return Found(tuple(inner), frozenset(unknown)) if inner or unknown else NOTHING

    def _expand(self, text: str) -> str:
        return self._values.expand(text)

    def _by_alias(self, command: Command) -> Inner:
        text = f"{self._aliases[command.program]} {shlex.join(command.words[1:_MOST_WORDS])}"
        return Inner(self._read(text), alias=command.program)

    def _read(self, text: str) -> Script:
        self._is_cut = self._is_cut or len(text) > inline_code.MAX_FED
        text = text[: inline_code.MAX_FED]
        return split(text) if self._may_read(len(text)) else _UNREAD

    def _read_words(self, words: Sequence[str], command: Command) -> Script:
        return _of_words(words, command) if self._may_read(sum(map(len, words))) else _UNREAD

    def _may_read(self, length: int) -> bool:
        self._unread[0] -= length + 1
        self._is_cut = self._is_cut or self._unread[0] < 0
        return self._unread[0] >= 0

    def _spelled_out(self, command: Command, unknown: set[str]) -> Iterator[Inner]:
        """Yield a command with the values of its expansions; say whether its program stays unknown."""
        words = command.words[:_MOST_WORDS]
        first = words[0]
        if not _is_unknown(first) and not any(
            self._values.may_expand(word) for word in words if _EXPANDED.search(word)
        ):
            return
        is_known = not _is_unknown(command.program)
        variants: set[tuple[str, ...]] = {words}
        for variant in range(min(self._values.variants, MAX_VARIANTS)):
            spelled = self._variant(words, variant)
            if spelled in variants or not spelled:
                continue
            variants.add(spelled)
            is_known = not _is_unknown(spelled[0].rpartition("/")[2] or spelled[0])
            yield Inner(self._read_words(spelled, command), is_inferred=self._values.variants > 1 or ":-" in first)
        if first != "[" and (classes_resolved(first) != first or "IFS" in first or len(braces_expanded(first)) > 1):
            unknown.add(SPELLING)
        if not is_known:
            unknown.add(PROGRAM)

    def _variant(self, words: Sequence[str], variant: int) -> tuple[str, ...]:
        first = classes_resolved(words[0]) if words[0] != "[" else words[0]
        found: list[str] = []
        for each in braces_expanded(first):
            value = self._values.expand(each, variant)
            found += self._values.fields(value) if value != each else [value]
        for word in words[1:]:
            for each in braces_expanded(word):
                value = self._values.expand(each, variant)
                is_split = value != each and each[:1] == "$" and "$" not in each[1:] and _EXPANDED.search(value) is None
                found += value.split() if is_split else [value]
        return tuple(found)

    def _by_git(self, command: Command, unknown: set[str]) -> Iterator[Inner]:
        words = command.words[:_MOST_WORDS]
        if git_loads_code(words):
            unknown.add(LOADED)
        return self._inner_of(git_runs(words), command)

    def _by_program(self, command: Command, unknown: set[str]) -> Iterator[Inner]:
        program, words = inline_code.plain_program(command.program), command.words[:_MOST_WORDS]
        yield from self._inner_of(runs(program, words), command)
        if program in ("sed", "gsed"):
            for effect in sed_effects(words):
                if effect.kind == "run" and effect.text:
                    yield from self._inner_of([Run(effect.text)], command)
                elif effect.kind == "run":
                    unknown.add(CODE)
        elif (code := inline_code.awk_program(program, words)) is not None:
            yield from self._inner_of(inline_code.runs_in_awk(code), command)
            if inline_code.awk_computes_code(code):
                unknown.add(CODE)
        elif inline_code.is_interpreter(program):
            given = inline_code.code_in(program, words)
            documents = command.documents if inline_code.takes_program(command) else ()
            for text in (*given, *documents):
                yield from self._inner_of(inline_code.runs_in_code(program, text), command)
        else:
            texts = (*command.documents, *(target for op, target in command.redirects if op == "<<<"))
            yield from self._inner_of(inline_code.runs_in_editor(program, words, texts), command)
            yield from self._inner_of(inline_code.runs_in_prompt(program, words, texts), command)

    def _inner_of(self, found: "Iterator[Run] | Sequence[Run]", command: Command) -> Iterator[Inner]:
        for run in found:
            if run.text is not None:
                yield Inner(self._read(self._expand(run.text)), run.is_elsewhere)
            elif run.words:
                yield Inner(self._read_words(run.words, command), run.is_elsewhere)

    def _by_environment(self, command: Command, unknown: set[str]) -> Iterator[Inner]:
        given = command.env
        if command.program in _DECLARING:
            given = (*given, *command.words[1:])
        for assignment in given:
            name, equals, value = assignment.partition("=")
            if not equals or not value:
                continue
            if name in _COMMAND_VARIABLES:
                yield from self._inner_of([Run(value.lstrip("|"))], command)
            elif (
                name in _CODE_VARIABLES
                or (name == "ENV" and command.program in inline_code.SHELLS)
                or (name in _CODE_OPTIONS and _CODE_OPTIONS[name].search(value))
            ):
                unknown.add(LOADED)

    def _by_text(self, command: Command, place: int, unknown: set[str]) -> Iterator[Inner]:
        """Yield the commands of texts that a shell is fed with."""
        fed = list(inline_code.code_in_words(command, self._expand))
        if inline_code.runs_input(command):
            fed += inline_code.code_fed(command, self._before(command, place), self._expand)
        for text, is_decoded in fed:
            if is_decoded:
                unknown.add(DECODED)
            if text is None:
                unknown.add(CODE)
            elif text:
                script = inline_code.cron_commands(text) if command.program == "crontab" else text
                yield Inner(self._read(script), command.program == "ssh")

    def _before(self, command: Command, place: int) -> list[Command]:
        """Return the commands that are piped into a command."""
        commands = self._script.commands[max(0, place - 16) : place]
        return [each for each in commands if each.pipeline == command.pipeline]

    def _by_input_words(self, command: Command, place: int) -> Iterator[Inner]:
        """Yield a command of xargs or find with the names that it is given, where they are written out."""
        before = self._before(command, place)
        names: list[str] = []
        finds = [each for each in before if each.program in ("find", "ls")]
        if finds:
            names = _names_found(finds[-1].words[:_MOST_WORDS])
        elif (text := printed(before, self._expand)) is not None:
            names = text.split()[:_MOST_WORDS]
            if command.program in inline_code.SHELLS and inline_code.takes_program(command):
                yield Inner(self._read(text))
        if names:
            words = command.words[:_MOST_WORDS]
            if "{}" in words:
                spelled = tuple(each for word in words for each in (names if word == "{}" else [word]))
            else:
                spelled = (*words, *names)
            yield Inner(self._read_words(spelled, command), is_inferred=bool(finds))


_TEXT_PRINTING = frozenset(("echo", "printf", "cat"))
_TEXT_RUNNERS = inline_code.SHELLS | {"eval", "source", ".", "at", "batch", "crontab", "parallel", "ssh"}


@cache
def _running() -> frozenset[str]:
    return running_programs() | inline_code.LANGUAGES | {"sed", "gsed"}


def commands_run(script: Script, *, most: int = 100) -> list[Command]:
    """Return the commands that a script runs, directly and indirectly, no more than `most`.

    >>> [command.program for command in commands_run(split("c=rm; $c -rf x; flock lock curl y"))]
    ['$c', 'flock', 'rm', 'curl']
    """
    found: list[Command] = []
    waiting: list[tuple[Inner, Indirect | None, int]] = [(Inner(script), None, 0)]
    while waiting and len(found) < most:
        inner, outer, depth = waiting.pop(0)
        indirect = Indirect(inner.script, outer, inner.alias)
        for place, command in enumerate(inner.script.commands[:most]):
            found.append(command)
            if depth < MAX_DEPTH:
                waiting += [(each, indirect, depth + 1) for each in indirect.of(place).inner]
                waiting = waiting[:most]
    return found[:most]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _names_found(words: Sequence[str]) -> list[str]:
    """Return the names that `find` or `ls` may print: patterns within its folders, or the folders."""
    folders = list(takewhile(lambda word: word[:1] not in ("-", "(", "!"), words[1:]))
    if words[0].endswith("ls"):
        return [word for word in words[1:] if word[:1] != "-"]
    names = [words[at + 1] for at, word in enumerate(words[:-1]) if word in _FIND_NAMES]
    if not names:
        return folders
    return [name if folder in (".", "./") else f"{folder}/{name}" for folder in folders[:8] or ["."] for name in names]


def _is_unknown(program: str) -> bool:
    return program not in ("[", "[[") and (_UNFIXED.search(program[:_LONGEST_NAME]) is not None or "$" in program)


def _of_words(words: Sequence[str], command: Command) -> Script:
    """Return the script of words that are run as they are, with the input of the command that runs them."""
    script = split_words(words)
    inputs = tuple(redirect for redirect in command.redirects if redirect.op in ("<", "<<<"))
    if not (inputs or command.documents or command.wrappers):
        return script
    commands = tuple(
        each._replace(
            redirects=(*inputs, *each.redirects),
            documents=(*command.documents, *each.documents),
            wrappers=(*command.wrappers, *each.wrappers),
        )
        for each in script.commands
    )
    return script._replace(commands=commands)
