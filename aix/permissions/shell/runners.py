"""Programs that run another program or a text that their arguments give them, and that are commands themselves.

The splitter looks through wrappers such as `sudo` and stops at these: what they run may run elsewhere, later, or only
sometimes. An audit of risks looks further, and into the settings and options by which git runs commands.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from aix.permissions.programs import Program, listed, program, programs_in, programs_with, subcommand

_CONTAINER_PROGRAMS = frozenset(("docker", "podman", "nerdctl", "docker-compose", "podman-compose"))
_CLUSTER_PROGRAMS = frozenset(("kubectl", "oc", "lxc", "incus", "multipass"))
_SETTING_BREAK = re.compile(r"[=\s]\s*")
_SSH_COMMANDS = frozenset(("proxycommand", "localcommand", "knownhostscommand"))
_COMMAND_SETTINGS = re.compile(
    r"(?:core\.(?:pager|editor|sshcommand|askpass|gitproxy|fsmonitor)|sequence\.editor|diff\.external|gpg\.program"
    r"|pager\.[\w-]+|(?:diff|merge|filter)\.[^=]+\.(?:command|textconv|driver|clean|smudge|process)"
    r"|(?:difftool|mergetool|browser|man)\.[^=]+\.cmd|credential\.(?:[^=]+\.)?helper|uploadpack\.packobjectshook"
    r"|ssh\.variant)=(.*)",
    re.IGNORECASE | re.DOTALL,
)
_ALIAS = re.compile(r"alias\.([\w-]+)=(.*)", re.IGNORECASE | re.DOTALL)
_HOOKS = re.compile(r"core\.hookspath=(.*)", re.IGNORECASE | re.DOTALL)
_NO_HOOKS = frozenset(("", "/dev/null", "NUL"))
_SWITCHES = frozenset(("", "true", "false", "1", "0", "cache", "store", "osxkeychain", "manager", "libsecret"))
_RUNNING_OPTIONS = {
    "rebase": listed("-x --exec"),
    "fetch": listed("--upload-pack"),
    "pull": listed("--upload-pack"),
    "clone": listed("-u --upload-pack"),
    "ls-remote": listed("--upload-pack --exec"),
    "push": listed("--receive-pack --exec"),
    "archive": listed("--exec"),
    "difftool": listed("-x --extcmd"),
    "grep": listed("-O --open-files-in-pager"),
    "filter-branch": listed(
        "--tree-filter --index-filter --env-filter --msg-filter --commit-filter --parent-filter --setup"
        " --tag-name-filter"
    ),
}
GIT_RUNNING = frozenset((*_RUNNING_OPTIONS, "bisect", "submodule", "config"))
"""Subcommands that may run other commands by their arguments."""


class Run(NamedTuple):
    """Something that a program runs: a text that a shell reads, or words of a command."""

    text: str | None = None
    words: tuple[str, ...] = ()
    is_elsewhere: bool = False
    """Whether it runs on another machine or in a container, so that its paths are not those of the workspace."""


def runs(name: str, words: Sequence[str]) -> Iterator[Run]:
    """Yield what a program runs by its arguments.

    >>> list(runs("flock", ("flock", "-n", "/tmp/l", "rm", "x")))
    [Run(text=None, words=('rm', 'x'), is_elsewhere=False)]
    """
    special = _SPECIAL.get(name)
    if special is not None:
        yield from special(words)
    if name.startswith(("ld-linux", "ld-musl")):
        name = "ld.so"
    known = program(name)
    if name in programs_in("runners"):
        yield from _run_by(known, words)
    elif known.subcommands and name not in _CONTAINER_PROGRAMS:
        yield from _run_by_subcommand(known, name, words)
    for text in option_values(words, known.commands):
        yield Run(text)


def option_values(words: Sequence[str], options: Collection[str]) -> Iterator[str]:
    """Yield the values of options, written as `-c x`, `-cx`, `-qc x`, `--name x` or `--name=x`."""
    if not options:
        return
    letters = {option[1] for option in options if len(option) == 2}
    for place, word in enumerate(words[1:], 1):
        if word == "--":
            return
        following = words[place + 1] if place + 1 < len(words) else None
        name, equals, value = word.partition("=")
        if name in options and (equals or following is not None):
            yield value if equals else following or ""
        elif word[:1] == "-" and word[1:2] in letters and len(word) > 2:
            yield word[2:]
        elif word[:1] == "-" and word[1:].isalpha() and word[-1] in letters and following is not None:
            yield following


def _run_by(runner: Program, words: Sequence[str]) -> Iterator[Run]:
    found = runner.inner_command(words)
    if found is None or found.is_text:
        return
    inner = tuple(words[found.start :])
    while inner and "=" in inner[0] and inner[0].partition("=")[0].isidentifier():
        inner = inner[1:]
    if inner and inner[0] not in ("-c", "--command"):
        yield Run(" ".join(inner), (), runner.is_elsewhere) if runner.is_text else Run(None, inner, runner.is_elsewhere)


def _run_by_subcommand(known: Program, name: str, words: Sequence[str]) -> Iterator[Run]:
    # Of programs that are listed without a subcommand, such as `op`, the first operand is one all the same.
    sub = subcommand(name, words) or next((each.value for each in known.arguments(words) if not each.name), None)
    if sub is not None and sub in known.subcommands:
        yield from _run_by(known.subcommands[sub], words[words.index(sub) :])


def _in_container(words: Sequence[str]) -> Iterator[Run]:
    containers = program("docker").subcommands
    for place, word in enumerate(words[1:8], 1):
        if word in containers and (place == 1 or words[place - 1] not in ("--name", "-f", "-p")):
            yield from _run_by(containers[word], words[place:])
            return


def _in_cluster(words: Sequence[str]) -> Iterator[Run]:
    if "--" in words and any(word in {"exec", "run", "debug"} for word in words[: words.index("--")]):
        inner = tuple(words[words.index("--") + 1 :])
        if inner:
            yield Run(None, inner, is_elsewhere=True)


def _in_parallel(words: Sequence[str]) -> Iterator[Run]:
    given = words[1:]
    sources = [place for place, word in enumerate(given) if word.startswith(":::")]
    command = list(given[: sources[0]]) if sources else list(given)
    inner = program("parallel").inner_command(command, 0)
    inputs = [word for word in given[sources[0] :] if not word.startswith(":::")] if sources else []
    if inner is not None:
        yield Run(" ".join((*command[inner.start :], *inputs)))
    elif inputs:
        yield from (Run(word) for word in inputs[:8])


def _by_ssh_option(words: Sequence[str]) -> Iterator[Run]:
    for option in option_values(words, ("-o",)):
        name, *value = _SETTING_BREAK.split(option.strip(), maxsplit=1)
        if value and name.lower() in _SSH_COMMANDS:
            yield Run(value[0])


def _by_user(words: Sequence[str]) -> Iterator[Run]:
    """`runuser -u name command`, also behind `--`."""
    found = program("runuser").inner_command(words)
    if found is not None and not found.is_text and not found.options.isdisjoint(("-u", "--user")):
        yield Run(None, tuple(words[found.start :]))


def _at_checkpoint(words: Sequence[str]) -> Iterator[Run]:
    for value in option_values(words, ("--checkpoint-action",)):
        if value.startswith("exec="):
            yield Run(value.removeprefix("exec="))


def _in_make(words: Sequence[str]) -> Iterator[Run]:
    for word in words[1:]:
        if word.startswith("SHELL="):
            yield Run(word.removeprefix("SHELL="))
    for text in option_values(words, ("--eval", "-E")):
        for piece in text.split("$(shell ")[1:]:
            yield Run(piece.rpartition(")")[0] or piece)


def _in_go(words: Sequence[str]) -> Iterator[Run]:
    """`go run -exec command`, which is given the program that was built."""
    yield from (Run(f"{text} program") for text in option_values(words, ("-exec",)))


def _in_trap(words: Sequence[str]) -> Iterator[Run]:
    given = words[2:] if words[1:2] == ("--",) else words[1:]
    if len(given) > 1 and given[0][:1] != "-":
        yield Run(given[0])


def _by_fd(words: Sequence[str]) -> Iterator[Run]:
    for option in ("-x", "-X", "--exec", "--exec-batch"):
        if option in words:
            inner = tuple(words[words.index(option) + 1 :])
            if inner:
                yield Run(None, inner)


def _in_terminal(words: Sequence[str]) -> Iterator[Run]:
    """`tmux new-session -d 'command'`, `tmux send-keys 'command' Enter`, `screen -dm command`."""
    if words[0].rpartition("/")[2] == "screen":
        if any(word.startswith("-") and "m" in word for word in words[1:3]):
            yield from _run_by(program("screen"), words)
    elif {"new-session", "new", "new-window", "neww", "split-window", "send-keys", "run-shell"} & set(words[:6]):
        yield from (Run(word) for word in words[2:] if " " in word)


_SPECIAL: dict[str, Callable[[Sequence[str]], Iterator[Run]]] = {
    **dict.fromkeys(_CONTAINER_PROGRAMS, _in_container),
    **dict.fromkeys(_CLUSTER_PROGRAMS, _in_cluster),
    **dict.fromkeys(("ssh", "scp", "sftp", "autossh"), _by_ssh_option),
    **dict.fromkeys(("tar", "bsdtar"), _at_checkpoint),
    **dict.fromkeys(("make", "gmake"), _in_make),
    **dict.fromkeys(("fd", "fdfind"), _by_fd),
    **dict.fromkeys(("tmux", "screen"), _in_terminal),
    "parallel": _in_parallel,
    "runuser": _by_user,
    "trap": _in_trap,
    "go": _in_go,
}


@cache
def running_programs() -> frozenset[str]:
    """Return the programs that may run others by their arguments."""
    return frozenset((*programs_in("runners"), *programs_with("sub"), *programs_with("commands"), *_SPECIAL))


def git_runs(words: Sequence[str]) -> Iterator[Run]:
    """Yield what a git command runs.

    >>> list(git_runs(("git", "-c", "alias.x=!rm x", "x")))
    [Run(text='rm x', words=(), is_elsewhere=False)]
    """
    sub = subcommand("git", words)
    for setting in _settings(words, sub):
        yield from _by_setting(setting, words, sub)
    if sub is None:
        return
    after = list(words[words.index(sub) + 1 :])
    for text in option_values((sub, *after), _RUNNING_OPTIONS.get(sub, ())):
        yield Run(text)
    if sub == "bisect" and after[:1] == ["run"] and len(after) > 1:
        yield Run(None, tuple(after[1:]))
    if sub == "submodule" and "foreach" in after:
        inner = [word for word in after[after.index("foreach") + 1 :] if word not in ("--recursive", "--quiet", "-q")]
        if inner:
            yield Run(" ".join(inner))
    for word in after:
        if word.startswith("ext::"):
            yield Run(word.removeprefix("ext::"))


def git_loads_code(words: Sequence[str]) -> bool:
    """Whether a setting of a git command names a folder whose programs it runs as hooks."""
    hooks = (_HOOKS.match(setting) for setting in _settings(words, subcommand("git", words)))
    return any(found is not None and found[1] not in _NO_HOOKS for found in hooks)


def _settings(words: Sequence[str], sub: str | None) -> Iterator[str]:
    """Yield settings as `name=value`: those of `-c`, and the one that `git config` writes."""
    for place, word in enumerate(words[1:-1], 1):
        if word == "-c":
            yield words[place + 1]
        elif word == sub:
            break
    if sub == "config":
        operands = [word for word in words[words.index(sub) + 1 :] if word[:1] != "-" and word != "set"]
        if len(operands) > 1:
            yield f"{operands[0]}={operands[1]}"


def _by_setting(setting: str, words: Sequence[str], sub: str | None) -> Iterator[Run]:
    alias = _ALIAS.match(setting)
    if alias is not None:
        name, text = alias.groups()
        if text.startswith("!"):
            yield Run(text[1:])
        elif sub is not None and sub == name:
            yield Run(None, ("git", *text.split(), *words[words.index(sub) + 1 :]))
        return
    command = _COMMAND_SETTINGS.match(setting)
    if command is not None:
        text = command[1].removeprefix("!")
        if text not in _SWITCHES:
            yield Run(text)
