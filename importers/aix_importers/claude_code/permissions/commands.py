"""Parts of a shell command that the rules look at, behind wrappers too, and the files that it names."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from aix.permissions.programs import listed, program, programs_in
from aix.permissions.shell import Redirect, SimpleCommand, command_substitutions, split
from aix_importers.claude_code.permissions.patterns import spaced, written_words
from aix_importers.common import remembered

_MOST_STARTS = 8
_STRIPPED = listed("timeout time nice nohup stdbuf command builtin noglob xargs")
"""Those that every rule looks through, as the documentation says."""
_ALSO_RESTRICTED = listed("pkexec flock chrt taskset")
"""Those that rules which ask or deny look through besides, with all that the splitter of commands looks through."""
_BARE = frozenset(("xargs",))
"""Those that no rule looks through when they have options."""
_EXACT_ONLY = frozenset(("watch", "setsid", "ionice", "flock"))
_ACTIONS = frozenset(("-exec", "-execdir", "-ok", "-okdir", "-delete"))

_SAFE_VARIABLES = listed(
    """
    NODE_ENV NO_COLOR FORCE_COLOR COLORTERM TERM LANG LANGUAGE LC_ALL LC_CTYPE LC_TIME CHARSET TZ LS_COLORS LSCOLORS
    GREP_COLOR GREP_COLORS GCC_COLORS TIME_STYLE BLOCK_SIZE BLOCKSIZE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE
    PYTEST_DISABLE_PLUGIN_AUTOLOAD PYTEST_DEBUG RUST_BACKTRACE RUST_LOG GOOS GOARCH GOEXPERIMENT GO111MODULE CGO_ENABLED
    """
)
"""The client strips assignments of variables that it knows to be safe, and names two of them; the list is its own."""

LONGEST = 10_000
"""Characters of a command that the client takes apart."""
_LONGEST_FOLDER = 4096
_READING = listed(
    """
    cat head tail less more tac nl wc sort uniq cut paste column file stat diff cmp comm strings hexdump xxd od base64
    md5sum sha1sum sha256sum sha512sum ls cd bat
    """
)
_READING_BY_EXPRESSION = listed("grep egrep fgrep rg sed awk jq")
UNGUARDED_READERS = listed("egrep fgrep")
"""Programs whose files no `Read` rule guards: the documentation names `grep` alone of its family."""
_WRITING = listed("tee touch mkdir rm rmdir mv truncate")
_REMOVING = frozenset(("rm", "rmdir"))
_EXPRESSION_OPTIONS = ("-e", "-f", "--expression", "--regexp", "--file", "--from-file")
_OUTPUTS = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
_INPUTS = frozenset(("<", "<>"))
_GLOBS = frozenset("*?[{")
_EXPANSIONS = frozenset("$`")


def _inner_starts(words: Sequence[str], *, is_restricting: bool) -> list[int]:
    """Return where the commands within wrappers begin, from the outermost; of very many, some and the innermost.

    >>> _inner_starts(["nohup", "timeout", "-s", "KILL", "30s", "make"], is_restricting=False)
    [1, 5]
    """
    starts: list[int] = []
    start = 0
    while (inner := _inner_start(words, start, is_restricting=is_restricting)) is not None:
        if len(starts) == _MOST_STARTS:
            starts.pop()
        start = inner
        starts.append(start)
    return starts


def _inner_start(words: Sequence[str], start: int, *, is_restricting: bool) -> int | None:
    name = words[start] if start < len(words) else ""
    if name not in _STRIPPED:
        if not is_restricting or not (name in _ALSO_RESTRICTED or name in programs_in("wrappers")):
            return None
    elif name in _BARE and any(word.startswith("-") for word in words[start + 1 : start + 2]):
        return None
    inner = program(name).inner_command(words, start + 1)
    while inner is not None and inner.is_text and not inner.attached and words[inner.start].startswith("-"):
        inner = program(name).inner_command(words, inner.start)  # of `env -S -i rm`, env reads the options too
    if inner is None or inner.start >= len(words):
        return None
    # That the client knows abbreviated options is not documented, so no allow rule looks through them.
    is_abbreviated = any(map(program(name).is_abbreviation, words[start + 1 : inner.start]))
    return inner.start if is_restricting or not is_abbreviated else None


def _needs_exact_rule(words: Sequence[str]) -> bool:
    """Whether no rule with a star can let a command pass."""
    return bool(words) and (words[0] in _EXACT_ONLY or (words[0] == "find" and not _ACTIONS.isdisjoint(words)))


class FileUse(NamedTuple):
    """A file that a command names."""

    path: str
    """Relative to the folder of the call, after each `cd` before it."""
    is_written: bool
    by: str
    """The program, or `>` or `<` for a redirection."""
    is_certain: bool = True
    """Whether it is known which file is meant."""
    as_written: str | None = None
    """How the command names it, where a `cd` before it leads elsewhere; the client goes by that as well."""


class Part(NamedTuple):
    """One command of a call."""

    text: str
    """As it is written, with one space between its words."""
    allow_texts: tuple[str, ...]
    """The texts of which an allow rule must match one."""
    restricting_texts: tuple[str, ...]
    """The texts of which a rule that asks or denies must match one."""
    needs_exact: bool
    """Whether no rule with a star can let it pass."""
    words: tuple[str, ...]
    """Its assignments and words, quotes resolved."""
    files: tuple[FileUse, ...]
    is_in_argument: bool
    """Whether it runs in a command substitution within an argument of another part."""

    @property
    def has_expansions(self) -> bool:
        """Whether a word of it is known only when it runs."""
        return any(not _EXPANSIONS.isdisjoint(word) for word in self.words)


class ShellCommand(NamedTuple):
    """A shell command, taken apart."""

    text: str
    parts: tuple[Part, ...]
    files: tuple[FileUse, ...]
    removals: tuple[str, ...]
    is_whole: bool
    """Whether all of it could be read."""


@remembered(longest=2000)
def take_apart(command: str) -> ShellCommand:
    """Return the parts of a command."""
    script = split(command)
    parts: list[Part] = []
    files: list[FileUse] = []
    removals: list[str] = []
    folder: str | None = ""
    for simple, is_in_argument in _with_places(script.simple):
        words = _innermost(simple.words, is_restricting=True)
        named = (*_located(_named_files(words), folder), *_located(_redirected(simple.redirects), folder))
        files += named
        parts.append(_part(simple, named, is_in_argument=is_in_argument))
        if words and words[0].rpartition("/")[2] in _REMOVING:
            removed = (FileUse(path, is_written=True, by=words[0]) for path in _operands(words))
            removals += (use.path for use in _located(removed, folder))
        if words and words[0] == "cd":
            folder = _entered(folder, words)
    files += _located(_redirected(script.redirects), folder)
    return ShellCommand(
        spaced(command),
        tuple(parts),
        tuple(files),
        tuple(removals),
        script.is_whole and len(command) <= LONGEST,
    )


def _with_places(commands: Iterable[SimpleCommand]) -> Iterator[tuple[SimpleCommand, bool]]:
    """Yield commands, each with whether it is substituted into an argument of one before it."""
    substituted: Counter[SimpleCommand] = Counter()
    for command in commands:
        is_in_argument = substituted[command] > 0
        yield command, is_in_argument
        if is_in_argument:
            substituted[command] -= 1
        elif _EXPANSIONS.isdisjoint(command.words[0]) and not _EXPANSIONS.isdisjoint(command.source):
            for script in command_substitutions(command.source):
                substituted.update(split(script).simple)


def _part(simple: SimpleCommand, files: tuple[FileUse, ...], *, is_in_argument: bool) -> Part:
    words = written_words(simple.source)
    text = " ".join(words)
    assigned = " ".join((*simple.env, text))
    restricting = [text, *(" ".join(words[start:]) for start in _inner_starts(words, is_restricting=True))]
    if simple.env:
        restricting.append(assigned)
    allowing = [assigned]
    # An allow rule looks past the safe assignments before a command.
    unsafe = (place for place, each in enumerate(simple.env) if each.partition("=")[0] not in _SAFE_VARIABLES)
    safe = next(unsafe, len(simple.env))
    inner: Sequence[str] = simple.words
    if safe:
        allowing.append(" ".join((*simple.env[safe:], text)))
    if safe == len(simple.env):
        allowing += [" ".join(words[start:]) for start in _inner_starts(words, is_restricting=False)]
        inner = _innermost(simple.words, is_restricting=False)
    return Part(
        assigned,
        tuple(allowing),
        tuple(restricting),
        _needs_exact_rule(inner),
        (*simple.env, *simple.words),
        files,
        is_in_argument,
    )


def _innermost(words: Sequence[str], *, is_restricting: bool) -> Sequence[str]:
    starts = _inner_starts(words, is_restricting=is_restricting)
    return words[starts[-1] :] if starts else words


def _operands(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    for place, word in enumerate(words[1:], 1):
        if word == "--":
            return [*found, *words[place + 1 :]]
        if not word.startswith("-"):
            found.append(word)
    return found


def _named_files(words: Sequence[str]) -> Iterator[FileUse]:
    """Yield the files that a program known for it reads or writes by its arguments."""
    if not words:
        return
    program = words[0]
    if program in _READING:
        for path in _operands(words):
            yield FileUse(path, is_written=False, by=program)
    elif program in _READING_BY_EXPRESSION:
        has_expression = any(word.startswith(_EXPRESSION_OPTIONS) for word in words[1:])
        is_written = program == "sed" and any(word.startswith(("-i", "--in-place")) for word in words[1:])
        for path in _operands(words)[0 if has_expression else 1 :]:
            yield FileUse(path, is_written=False, by=program)
            if is_written:
                yield FileUse(path, is_written=True, by=program)
    elif program in _WRITING:
        for path in _operands(words):
            yield FileUse(path, is_written=True, by=program)
    elif program == "cp":
        *sources, target = _operands(words) or [""]
        yield from (FileUse(path, is_written=False, by=program) for path in sources)
        if target:
            yield FileUse(target, is_written=True, by=program)
    elif program == "find":
        for word in words[1:]:
            if word.startswith(("-", "(", "!")):
                return
            yield FileUse(word, is_written=False, by=program)


def _redirected(redirects: Sequence[Redirect]) -> Iterator[FileUse]:
    for op, target in redirects:
        if not target or target == "/dev/null" or (op in (">&", "<&") and (target == "-" or target.isdigit())):
            continue
        is_certain = _GLOBS.isdisjoint(target) and "$" not in target and "`" not in target
        if op in _OUTPUTS:
            yield FileUse(target, is_written=True, by=">", is_certain=is_certain and not target.startswith("~"))
        if op in _INPUTS:
            yield FileUse(target, is_written=False, by="<", is_certain=is_certain)


def _located(uses: Iterator[FileUse], folder: str | None) -> Iterator[FileUse]:
    """Yield files as they are seen from the folder of the call."""
    for use in uses:
        if folder == "" or _is_whole(use.path):
            yield use
        elif folder is None:
            yield use._replace(is_certain=False)
        else:
            is_certain = use.is_certain and use.by != "<"
            yield use._replace(path=f"{folder}/{use.path}", is_certain=is_certain, as_written=use.path)


def _entered(folder: str | None, words: Sequence[str]) -> str | None:
    """Return the folder that `cd` leads to; none when that is not known."""
    targets = _operands(words)
    target = targets[0] if targets else "~"
    if "$" in target or "`" in target:
        return None
    if _is_whole(target):
        return target
    if folder is None or len(folder) > _LONGEST_FOLDER:
        return None
    return f"{folder}/{target}" if folder else target


def _is_whole(path: str) -> bool:
    return path.startswith(("/", "~", "$HOME", "${HOME}"))
