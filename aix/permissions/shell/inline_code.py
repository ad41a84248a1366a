"""Code within a command: the shell commands that it runs, and the files that it touches.

The code is an argument, or reaches a program by its input. Scripts of sed are read as sed reads them. Of other
languages, only calls with the command or file written out are seen: their code is searched, not parsed, and a call in
a comment counts too.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from aix.permissions.programs import program
from aix.permissions.shell.runners import Run, option_values
from aix.permissions.shell.splitting import split
from aix.permissions.shell.values import DECODERS, printed
from aix.permissions.shell.words import Command

MAX_CODE = 64 * 1024
"""How many characters of code are searched."""
_MOST_CALLS = 16

_CODE_OPTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("python", "python2", "python3", "py", "pypy", "pypy3"), ("-c",)),
    **dict.fromkeys(("node", "nodejs", "bun", "deno"), ("-e", "-p", "--eval", "--print")),
    **dict.fromkeys(("perl", "ruby", "lua", "luajit", "osascript", "Rscript"), ("-e", "-E")),
    "php": ("-r",),
    "emacs": ("--eval", "-eval"),
}
_ESCAPES = {
    **dict.fromkeys(
        ("sqlite3", "psql", "mysql", "mariadb", "gdb", "lldb", "sftp", "ftp"), r"\.shell|\.system|\\!|shell|system|!"
    ),
    "expect": "spawn",
}
"""By program, the words that begin a shell command among its own commands."""
_AWKS = frozenset(("awk", "gawk", "mawk", "nawk"))
_EDITORS = frozenset(("vim", "vi", "nvim", "ex", "view", "gvim", "vimdiff", "less", "more", "ed"))
_BACKTICKED = frozenset(("perl", "ruby", "php"))
LANGUAGES = frozenset((*_CODE_OPTIONS, *_AWKS, *_EDITORS, *_ESCAPES))
"""The programs whose arguments may be code of another language."""

_STRING = r"(?:\"((?:[^\"\\]|\\.)*+)\"|'((?:[^'\\]|\\.)*+)')"
_CALL = re.compile(
    r"(?:\b(?:system|popen|shell_exec|passthru|exec|execSync|getoutput|getstatusoutput|check_output|check_call|Popen"
    rf"|subprocess\.(?:run|call)|do shell script|os\.execute|shell-command))[\s(]\s*+(?:\(\s*+)?r?{_STRING}"
)
_LIST_CALL = re.compile(
    r"\b(?:check_output|check_call|Popen|subprocess\.(?:run|call)|execv|execvp|system|exec|spawn|spawnSync|execFile"
    rf"|execFileSync)\s*\(\s*(?:{_STRING}\s*,\s*)?\[([^\]]{{0,2000}})\]"
)
_BACKTICKS = re.compile(r"`([^`]+)`|\bqx\s*\{([^}]{0,2000})\}|%x\(([^)]{0,2000})\)")
_DELETE = re.compile(
    r"\b(?:(shutil\.rmtree|fs\.(?:promises\.)?rm|rmSync|rm_rf|rm_r|remove_tree|remove_entry_secure|rmtree|rimraf(?:\.sync)?"
    rf"|removeSync)|os\.remove|os\.unlink|unlinkSync|File\.(?:delete|unlink)|unlink)(?:\s*+\(\s*+|\s++(?=[\"']))(?:{_STRING}|([\w.]+))"
)
_OPEN = re.compile(
    rf"\b(?:open|readFileSync|readFile|File\.read|IO\.read|read_text|Path|file_get_contents)\s*\(\s*r?{_STRING}"
)
_AWK_PIPE = re.compile(rf"\|&?\s*{_STRING}|{_STRING}\s*\|&?\s*getline")
_AWK_COMPUTED = re.compile(r"\bsystem\s*\(\s*[^\"\s)]|\|&?\s*\"(?:/bin/|/usr/bin/)?(?:ba|z|da|k)?sh\"")
_STRINGS = re.compile(_STRING)
_HINT = re.compile(
    r"system|[pP]open|exec|subprocess|output|spawn|shell|unlink|rm[tS_]|rm\(|remove|delete|[oO]pen\(|ead|Path"
)
_MAX_SCRIPT = 4096
_ADDRESS = re.compile(r"(?:\d+(?:~\d+)?|\$|[+~]\d+|[\s,!;{}])+")
_LABEL = re.compile(r"[^;\n}]*")
_LINE = re.compile(r"[^\n]*")
_FLAGS = re.compile(r"[gpiImMe0-9]*")
SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "fish", "ash", "mksh", "csh", "tcsh", "rbash"))
_READING_SCRIPT = frozenset(("source", "."))
_SCHEDULERS = frozenset(("at", "batch"))
_GIVEN_PROGRAM = re.compile(r"^(?:-[A-Za-z0-9]*[cemnprE][A-Za-z0-9.]*|--eval|--print|--version|--help)$")
_GIVEN_TO_SHELL = re.compile(r"^(?:-[a-z]*c|--version|--help)$")
_INTERPRETER = re.compile(
    r"^(?:(?:ba|z|da|k|fi|a|mk|c|tc|rba|)sh|python[0-9.]*|node|ruby|perl|php|deno|bun|pwsh|powershell)$"
)
_INPUT_NAMES = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))
_READING_FILES = frozenset(("cat", "head", "tail", "bat", "gunzip", "zcat", "gzcat", "bzcat", "xzcat", "tac"))
_CRON_LINE = re.compile(r"^[ \t]*+(?:@\w++|(?:[*/,\w-]++[ \t]++){5})[ \t]*+(.+)$", re.MULTILINE)
_MOST_WORDS = 2000
_VERSIONED = re.compile(r"(?<=[a-z])-?[0-9.]+$|\.exe$")
MAX_FED = 64 * 1024
"""How many characters of a text that is run are read."""


def code_in(name: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the code that a command gives to an interpreter by its arguments."""
    yield from option_values(words, _CODE_OPTIONS.get(name, ()))
    if name in _CODE_OPTIONS:
        yield from (words[place + 1] for place in range(1, len(words) - 1) if _is_cluster(name, words[place]))
    if name in {"deno", "lua"} and words[1:2] == ("eval",):
        yield from words[2:3]


def is_interpreter(name: str) -> bool:
    """Whether a program runs code of another language than the shell's."""
    return name in _CODE_OPTIONS


def runs_in_code(name: str, code: str) -> Iterator[Run]:
    """Yield the commands that code runs; a file that it reads or deletes counts as `cat` or `rm` of it."""
    code = code[:MAX_CODE]
    if _HINT.search(code) is not None or name in _BACKTICKED:
        yield from islice(_runs_in_code(name, code), _MOST_CALLS)


def _runs_in_code(name: str, code: str) -> Iterator[Run]:
    for call in _CALL.finditer(code):
        yield Run(_unescaped(call[1] or call[2] or ""))
    for call in _LIST_CALL.finditer(code):
        first = call[1] or call[2]
        words = [_unescaped(double or single) for double, single in _STRINGS.findall(call[3])]
        if first or words:
            yield Run(None, (first, *words) if first else tuple(words))
    if name in _BACKTICKED:
        for call in _BACKTICKS.finditer(code):
            yield Run(call[1] or call[2] or call[3] or "")
    for call in _DELETE.finditer(code):
        path = call[2] or call[3] or (f"${call[4]}" if call[4] else "")
        if path:
            yield Run(None, ("rm", "-r", path) if call[1] else ("rm", path))
    for call in _OPEN.finditer(code):
        path = call[1] or call[2] or ""
        if path:
            yield Run(None, ("cat", path))


def awk_program(name: str, words: Sequence[str]) -> str | None:
    """Return the code of an awk command."""
    if name not in _AWKS:
        return None
    for argument in program("awk").arguments(words):
        if argument.name in ("-f", "--file"):
            return None
        if argument.name in ("", "-e", "--source"):
            return argument.value
    return None


def runs_in_awk(code: str) -> Iterator[Run]:
    """Yield the commands that awk runs by `system`, and by pipes in its code."""
    code = code[:MAX_CODE]
    for pattern in (_CALL, _AWK_PIPE):
        for call in pattern.finditer(code):
            text = next((group for group in call.groups() if group), "")
            if text:
                yield Run(_unescaped(text))


def awk_computes_code(code: str) -> bool:
    """Whether awk runs a text that its program puts together."""
    return _AWK_COMPUTED.search(code[:MAX_CODE]) is not None


def runs_in_prompt(name: str, words: Sequence[str], texts: Sequence[str]) -> Iterator[Run]:
    """Yield the commands that a program with commands of its own runs in a shell, by its arguments and its input."""
    escape = _ESCAPES.get(name)
    if escape is not None:
        pattern = re.compile(rf"\s*(?:{escape})\s*(\S.*)", re.DOTALL)
        lines = (line for text in texts for line in text[:MAX_CODE].splitlines())
        yield from (Run(found[1]) for word in (*words[1:], *lines) if (found := pattern.match(word)))


def runs_in_editor(name: str, words: Sequence[str], texts: Sequence[str]) -> Iterator[Run]:
    """Yield the commands that an editor runs by `-c '!command'`, `+'!command'` and lines of its input."""
    if name not in _EDITORS:
        return
    commands = [word[1:] for word in words[1:] if word[:1] == "+"]
    commands += [line for text in texts for line in text[:MAX_CODE].splitlines() if "!" in line]
    for command in (*commands, *option_values(words, ("-c", "--cmd"))):
        _, mark, text = command.partition("!")
        if mark and re.fullmatch(r":?\s*+[%\d.,$]*+\s*+(?:w|r|read|write|silent)?+\s*+", command[: -len(text) - 1]):
            yield Run(text)
        else:
            yield from (Run(_unescaped(call[1] or call[2] or "")) for call in _CALL.finditer(command))


def _is_cluster(name: str, word: str) -> bool:
    """Whether a word is a cluster of options before code, such as `-ne` of perl."""
    return name in {"perl", "ruby"} and re.fullmatch(r"-[a-z0-9]*[eE]", word) is not None and len(word) > 2


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\'", "'") if "\\" in text else text


class SedEffect(NamedTuple):
    """Something that a script does beside editing."""

    kind: str
    """`write` of a file, or `run` of a command."""
    text: str
    """The file or the command; empty for a command that comes from the input."""


def sed_script(words: Sequence[str]) -> list[str]:
    """Return the scripts that a sed command is given by its arguments."""
    arguments = list(program("sed").arguments(words))
    given = [each.value for each in arguments if each.name in ("-e", "--expression") and each.value is not None]
    if given or any(each.name in ("-f", "--file") for each in arguments):
        return given
    return [next((each.value for each in arguments if not each.name and each.value), "")]


def sed_effects(words: Sequence[str]) -> Iterator[SedEffect]:
    """Yield what the scripts of a sed command write and run.

    >>> list(sed_effects(("sed", "-n", "/a w b/p; w out", "f")))
    [SedEffect(kind='write', text='out')]
    """
    for script in sed_script(words):
        if ("w" in script or "e" in script) and len(script) <= _MAX_SCRIPT:
            yield from _effects(script)


def _effects(script: str) -> Iterator[SedEffect]:
    position = 0
    while position < len(script):
        address = _ADDRESS.match(script, position)
        if address is not None:
            position = address.end()
            continue
        letter = script[position]
        position += 1
        if letter in "/\\":
            position = _after(script, position, 1, letter)
        elif letter in "sy":
            end = _after(script, position, 3, "")
            flags = _FLAGS.match(script, end)
            position = flags.end() if flags else end
            if letter == "s" and flags and "e" in flags[0]:
                yield SedEffect("run", "")
            if letter == "s" and script[position : position + 1] == "w":
                position, target = _rest(script, position + 1)
                yield SedEffect("write", target)
        elif letter in "wWerRaic":
            position, target = _rest(script, position)
            if letter in "wW":
                yield SedEffect("write", target)
            elif letter == "e":
                yield SedEffect("run", target)
        elif letter in ":btT":
            label = _LABEL.match(script, position)
            position = label.end() if label else position


def _after(script: str, position: int, parts: int, delimiter: str) -> int:
    """Return where an address or a substitution ends, which may choose its own delimiter."""
    if delimiter in ("", "\\"):
        delimiter = script[position : position + 1]
        position += 1
        parts -= delimiter != "" and parts == 3
    while parts and position < len(script):
        if script[position] == "\\":
            position += 1
        elif script[position] == delimiter:
            parts -= 1
        position += 1
    return position


def _rest(script: str, position: int) -> tuple[int, str]:
    """Return the end of a line, and the text up to there."""
    line = _LINE.match(script, position)
    return (line.end(), line[0].strip()) if line else (position, "")


class Fed(NamedTuple):
    """A text that reaches a program as its code."""

    text: str | None
    """None where the words of the script do not say it."""
    is_decoded: bool = False
    """Whether a decoder makes the text of another."""


def plain_program(program: str) -> str:
    """Return the name of an interpreter without its version: `python3` for `python3.12`.

    >>> plain_program("python3.12"), plain_program("perl5.34"), plain_program("md5sum")
    ('python', 'perl', 'md5sum')
    """
    if not program[-1:].isdigit() and not program.endswith(".exe"):
        return program
    bare = _VERSIONED.sub("", program)
    return bare if _INTERPRETER.match(bare) else program


def takes_program(command: Command) -> bool:
    """Whether an interpreter runs the code that is passed to its input."""
    is_shell = command.program in SHELLS
    given = _GIVEN_TO_SHELL if is_shell else _GIVEN_PROGRAM
    if is_shell and "xargs" in command.wrappers and _GIVEN_TO_SHELL.match(command.words[-1]):
        return True
    words = iter(command.words[1:_MOST_WORDS])
    for word in words:
        if word == "-" or (is_shell and word == "-s"):
            return True
        if given.match(word):
            return False
        if word[:1] != "-":
            return word in _INPUT_NAMES or word == "run"
        if is_shell and word.endswith("o"):
            next(words, None)
    return True


def file_run(command: Command) -> str | None:
    """Return the name of the file whose code a command runs."""
    if command.program in _READING_SCRIPT or _INTERPRETER.match(command.program):
        given = _GIVEN_TO_SHELL if command.program in SHELLS else _GIVEN_PROGRAM
        for word in command.words[1:_MOST_WORDS]:
            if given.match(word):
                return None
            if word[:1] != "-" and word != "run":
                return word
        if command.program in SHELLS:
            return next((redirect.target for redirect in command.redirects if redirect.op == "<"), None)
    return None


def runs_input(command: Command) -> bool:
    """Whether a command runs the text of its input as shell commands."""
    program, words = command.program, command.words
    if program in SHELLS:
        return takes_program(command)
    if program in _READING_SCRIPT:
        return len(words) > 1 and words[1] in _INPUT_NAMES
    if program in _SCHEDULERS:
        return not {"-f", "-l", "-r", "-d", "-c", "-q"} & set(words)
    if program == "crontab":
        return all(word in _INPUT_NAMES for word in words[1:])
    if program == "parallel":
        return all(word[:1] == "-" for word in words[1:])
    if program == "ssh":
        return sum(word[:1] != "-" for word in words[1:]) == 1
    return False


def code_fed(command: Command, before: Sequence[Command], expand: Callable[[str], str]) -> Iterator[Fed]:
    """Yield the texts that a command which runs its input is given, by the commands that are piped into it."""
    yield from (Fed(text) for text in command.documents)
    for redirect in command.redirects:
        if redirect.op == "<<<":
            yield _of_word(redirect.target, expand)
        elif redirect.op == "<" and redirect.target.startswith("<("):
            yield from _of_substitution(redirect.target, expand)
    if before and not command.documents:
        yield from _of_pipeline(command, before, expand)


def code_in_words(command: Command, expand: Callable[[str], str]) -> Iterator[Fed]:
    """Yield the texts that a command runs although its words name them only by expansions."""
    words = command.words
    if command.program in _READING_SCRIPT or command.program in SHELLS:
        for word in words[1:]:
            if word.startswith("<("):
                yield from _of_substitution(word, expand)
    if command.program == "eval" and len(words) > 1:
        yield _of_word(" ".join(words[1:]), expand)
    elif command.program in SHELLS:
        place = next((place for place, word in enumerate(words) if place and _GIVEN_TO_SHELL.match(word)), 0)
        if place and place + 1 < len(words):
            yield _of_word(words[place + 1], expand)


def cron_commands(table: str) -> str:
    """Return the commands of a table of cron, one on a line."""
    return "\n".join(_CRON_LINE.findall(table))


def _of_word(word: str, expand: Callable[[str], str]) -> Fed:
    text = expand(word)
    if text[:1] not in ("$", "`"):
        return Fed(text, text != word and any(decoder in word for decoder in ("base64", "xxd", "rev", "tr ")))
    if text[:2] in ("$(",) or text[:1] == "`":
        programs = [command.program for command in split(text[:1024].strip("$()`")).commands]
        is_decoded = not DECODERS.isdisjoint(programs)
        return Fed(None if is_decoded else "", is_decoded)
    return Fed(None)


def _of_substitution(word: str, expand: Callable[[str], str]) -> Iterator[Fed]:
    commands = split(word[2:-1]).commands
    if len({command.pipeline for command in commands}) == 1:
        text = printed(commands, expand)
        is_decoded = not DECODERS.isdisjoint(command.program for command in commands)
        if text is not None or is_decoded:
            yield Fed(text, is_decoded)


def _of_pipeline(command: Command, before: Sequence[Command], expand: Callable[[str], str]) -> Iterator[Fed]:
    is_decoded = any(each.program in DECODERS for each in before)
    whole = printed(before, expand)
    if whole is not None:
        yield Fed(whole, is_decoded)
        return
    said = [text for each in before if (text := printed([each], expand)) is not None]
    yield from (Fed(text, is_decoded) for text in said)
    is_file = all(each.program in _READING_FILES for each in before)
    if is_decoded or not (said or is_file or (command.program == "crontab" and before[0].program == "crontab")):
        yield Fed(None, is_decoded)
