"""Programs that run another program or a text that their arguments give them, and that are commands themselves.

The splitter looks through wrappers such as `sudo` and stops at these: what they run may run elsewhere, later, or only
sometimes. An audit of risks looks further.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from aix.permissions.shell.subcommands import subcommand


class Run(NamedTuple):
    """Something that a program runs: a text that a shell reads, or words of a command."""

    text: str | None = None
    words: tuple[str, ...] = ()
    is_elsewhere: bool = False
    """Whether it runs on another machine or in a container, so that its paths are not those of the workspace."""


def listed(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


class _Runner(NamedTuple):
    valued: str = ""
    """The letters of options that take a value."""
    long_valued: frozenset[str] = frozenset()
    operands: int = 0
    """How many operands stand before the program."""
    refusing: frozenset[str] = frozenset()
    """Options with which it runs no program."""
    is_text: bool = False
    """Whether it hands its arguments to a shell."""
    is_elsewhere: bool = False


def _runner(
    valued: str = "",
    long_valued: str = "",
    operands: int = 0,
    refusing: str = "",
    *,
    is_text: bool = False,
    is_elsewhere: bool = False,
) -> _Runner:
    return _Runner(valued, listed(long_valued), operands, listed(refusing), is_text, is_elsewhere)


_FLOCK = _runner("wE", "--timeout --wait --conflict-exit-code", 1)
_SSH = _runner("BbcDEeFIiJLlmOoPpQRSWw", operands=1, is_text=True, is_elsewhere=True)
_TRACE = _runner("abeEIoOpPsSuUX", "--output --trace --attach --env --user")
_PLAIN = _runner()
_RUNNERS: dict[str, _Runner] = {
    "flock": _FLOCK,
    "taskset": _runner(operands=1, refusing="-p --pid"),
    "chrt": _runner("TPD", operands=1, refusing="-p --pid -m --max"),
    "numactl": _runner("NCmpi", refusing="-s -H --show --hardware"),
    "prlimit": _runner("p", refusing="-p --pid"),
    "chroot": _runner(operands=1, is_elsewhere=True),
    "unshare": _runner("SGRw", "--setuid --setgid --root --wd --propagation --map-user --map-group"),
    "nsenter": _runner("tSG", "--target --setuid --setgid", is_elsewhere=True),
    "strace": _TRACE,
    "ltrace": _TRACE,
    "valgrind": _PLAIN,
    "systemd-run": _runner(
        "pHMuE",
        "--unit --property --description --slice --setenv --uid --gid --working-directory --on-active --on-boot"
        " --on-startup --on-unit-active --on-calendar --host --machine --nice --timer-property",
    ),
    "script": _runner("cEIOTBmo", "--command", 1),
    "ld.so": _PLAIN,
    "systemd-inhibit": _runner(long_valued="--what --who --why --mode", refusing="--list"),
    "toybox": _runner(refusing="--help --version"),
    "setpriv": _runner(long_valued="--reuid --regid --groups --inh-caps --ambient-caps --bounding-set"),
    "pkexec": _runner(long_valued="--user"),
    "run0": _runner("ug", "--user --group --unit"),
    "gosu": _runner(operands=1),
    "su-exec": _runner(operands=1),
    "setarch": _runner(operands=1),
    "sshpass": _runner("pfdP"),
    "ssh": _SSH,
    "autossh": _SSH._replace(valued=f"{_SSH.valued}M"),
    "hyperfine": _runner("wrmMpcSNDnLs", "--warmup --runs --prepare --cleanup --setup --shell", is_text=True),
    "entr": _PLAIN,
    "cross-env": _PLAIN,
    "npx": _runner("pc", "--package --call --workspace"),
    "pnpx": _runner("p", "--package"),
    "bunx": _runner("p", "--package"),
    "uvx": _runner("pwC", "--from --with --python --index-url --index"),
    "start-stop-daemon": _runner("xanpuc", "--exec --startas --name --pidfile --user --chuid"),
}
_RUNNERS.update(
    dict.fromkeys(
        listed(
            "fakeroot eatmydata chronic torsocks proxychains proxychains4 linux32 linux64 i386 rlwrap dbus-run-session"
            " xvfb-run firejail catchsegv cpulimit winpty"
        ),
        _PLAIN,
    )
)
_SUBCOMMANDS: dict[str, dict[str, _Runner]] = {
    "npm": {"exec": _runner("wpc", "--package --workspace --call"), "x": _runner("wpc", "--package --workspace")},
    "pnpm": {"exec": _PLAIN, "dlx": _runner(long_valued="--package")},
    "yarn": {"exec": _PLAIN, "dlx": _runner("p", "--package")},
    "bun": {"x": _PLAIN},
    "pipx": {"run": _runner(long_valued="--spec --python --pip-args")},
    "uv": {"run": _runner("pm", "--with --python --package --extra --group --env-file --project --directory")},
    "poetry": {"run": _PLAIN},
    "pipenv": {"run": _PLAIN},
    "pdm": {"run": _PLAIN},
    "hatch": {"run": _PLAIN},
    "rye": {"run": _PLAIN},
    "pixi": {"run": _PLAIN},
    "conda": {"run": _runner("np", "--name --prefix")},
    "mamba": {"run": _runner("np", "--name --prefix")},
    "bundle": {"exec": _PLAIN},
    "asdf": {"exec": _PLAIN},
    "mise": {"exec": _runner("Cj", "--jobs"), "x": _runner("Cj", "--jobs")},
    "direnv": {"exec": _runner(operands=1)},
    "op": {"run": _runner(long_valued="--env-file --account")},
    "doppler": {"run": _runner("pc", "--project --config")},
}
_CONTAINER_EXEC = _runner("euwD", "--env --env-file --user --workdir --detach-keys --index", 1, is_elsewhere=True)
_CONTAINER_RUN = _runner(
    "acehlmpuvw",
    "--add-host --annotation --attach --blkio-weight --cap-add --cap-drop --cgroup-parent --cgroupns --cidfile --cpus"
    " --cpuset-cpus --device --dns --entrypoint --env --env-file --expose --gpus --group-add --health-cmd --hostname"
    " --ip --ipc --label --link --log-driver --log-opt --mac-address --memory --mount --name --net --network --pid"
    " --platform --publish --pull --restart --runtime --security-opt --shm-size --stop-signal --stop-timeout"
    " --storage-opt --sysctl --tmpfs --ulimit --user --userns --uts --volume --volume-driver --volumes-from --workdir",
    1,
    is_elsewhere=True,
)
_CONTAINERS = {"exec": _CONTAINER_EXEC, "run": _CONTAINER_RUN}
_CONTAINER_PROGRAMS = frozenset(("docker", "podman", "nerdctl", "docker-compose", "podman-compose"))
_CLUSTER_PROGRAMS = frozenset(("kubectl", "oc", "lxc", "incus", "multipass"))
_COMMAND_OPTIONS: dict[str, tuple[str, ...]] = {
    program: tuple(options.split())
    for program, options in {
        "flock": "-c --command",
        "su": "-c --command --session-command",
        "runuser": "-c --command",
        "sg": "-c",
        "script": "-c --command",
        "fish": "-c --command",
        "csh": "-c",
        "tcsh": "-c",
        "rbash": "-c",
        "nix-shell": "--run --command",
        "npx": "-c --call",
        "npm": "--script-shell -c --call",
        "pnpm": "--script-shell",
        "nodemon": "-x --exec",
        "vagrant": "-c --command",
        "zip": "-TT --unzip-command",
        "tar": "-I --use-compress-program --to-command -F --info-script --new-volume-script --rsh-command"
        " --rmt-command",
        "bsdtar": "--use-compress-program",
        "rsync": "-e --rsh --rsync-path",
        "scp": "-S",
        "sftp": "-S",
        "man": "-P --pager",
        "sort": "--compress-program",
        "split": "--filter",
        "rg": "--pre",
        "docker": "--entrypoint",
        "podman": "--entrypoint",
    }.items()
}
"""Options whose value is run as a command."""
_PARALLEL = _runner(
    "jSaNnLPIdEsc",
    "--jobs --sshlogin --arg-file --max-args --max-replace-args --colsep --delimiter --joblog --results --tmpdir"
    " --delay --timeout --retries --workdir --load --memfree --nice --halt --tag-string --basefile --transfer"
    " --return --env",
)
_SETTING_BREAK = re.compile(r"[=\s]\s*")
_SSH_COMMANDS = frozenset(("proxycommand", "localcommand", "knownhostscommand"))


def runs(program: str, words: Sequence[str]) -> Iterator[Run]:
    """Yield what a program runs by its arguments.

    >>> list(runs("flock", ("flock", "-n", "/tmp/l", "rm", "x")))
    [Run(text=None, words=('rm', 'x'), is_elsewhere=False)]
    """
    special = _SPECIAL.get(program)
    if special is not None:
        yield from special(words)
    runner = _RUNNERS.get("ld.so" if program.startswith(("ld-linux", "ld-musl")) else program)
    if runner is not None:
        yield from _run_by(runner, words[1:])
    elif program in _SUBCOMMANDS:
        yield from _run_by_subcommand(_SUBCOMMANDS[program], program, words)
    for text in option_values(words, _COMMAND_OPTIONS.get(program, ())):
        yield Run(text)


def option_values(words: Sequence[str], options: Sequence[str]) -> Iterator[str]:
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


def _run_by(runner: _Runner, words: Sequence[str]) -> Iterator[Run]:
    start = _operand(runner, words)
    if start is None:
        return
    inner = tuple(words[start:])
    while inner and "=" in inner[0] and inner[0].partition("=")[0].isidentifier():
        inner = inner[1:]
    if inner and inner[0] not in ("-c", "--command"):
        yield Run(" ".join(inner), (), runner.is_elsewhere) if runner.is_text else Run(None, inner, runner.is_elsewhere)


def _operand(runner: _Runner, words: Sequence[str]) -> int | None:
    """Return where the program stands, after options and the operands before it."""
    place = 0
    operands = runner.operands
    while place < len(words):
        word = words[place]
        if word == "--":
            place += 1
            if not operands:
                break
        elif word[:1] == "-" and len(word) > 1:
            if word in runner.refusing:
                return None
            if runner is _FLOCK and operands == 0 and word in ("-c", "--command"):
                break
            is_long = word.startswith("--")
            place += 2 if (word in runner.long_valued if is_long else word[-1] in runner.valued) else 1
        elif operands:
            operands -= 1
            place += 1
        else:
            break
    return place if place < len(words) else None


def _run_by_subcommand(runners: dict[str, _Runner], program: str, words: Sequence[str]) -> Iterator[Run]:
    sub = subcommand(program, words)
    runner = runners.get(sub or "")
    if runner is not None and sub is not None:
        yield from _run_by(runner, words[words.index(sub) + 1 :])


def _in_container(words: Sequence[str]) -> Iterator[Run]:
    for place, word in enumerate(words[1:8], 1):
        if word in _CONTAINERS and (place == 1 or words[place - 1] not in ("--name", "-f", "-p")):
            yield from _run_by(_CONTAINERS[word], words[place + 1 :])
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
    start = _operand(_PARALLEL, command)
    inputs = [word for word in given[sources[0] :] if not word.startswith(":::")] if sources else []
    if start is not None:
        yield Run(" ".join((*command[start:], *inputs)))
    elif inputs:
        yield from (Run(word) for word in inputs[:8])


def _by_ssh_option(words: Sequence[str]) -> Iterator[Run]:
    for option in option_values(words, ("-o",)):
        name, *value = _SETTING_BREAK.split(option.strip(), maxsplit=1)
        if value and name.lower() in _SSH_COMMANDS:
            yield Run(value[0])


def _by_user(words: Sequence[str]) -> Iterator[Run]:
    """`runuser -u name -- command`."""
    if "--" in words and words.index("--") + 1 < len(words):
        yield Run(None, tuple(words[words.index("--") + 1 :]))


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
            yield from _run_by(_runner("SctT"), words[1:])
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

RUNNING = frozenset((*_RUNNERS, *_SUBCOMMANDS, *_COMMAND_OPTIONS, *_SPECIAL))
"""The programs that may run others by their arguments."""
