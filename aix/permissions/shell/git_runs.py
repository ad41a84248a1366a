"""Commands that git runs by its options, settings and subcommands."""

import re
from collections.abc import Iterator, Sequence

from aix.permissions.programs import subcommand
from aix.permissions.shell.runners import Run, option_values

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
    "rebase": ("-x", "--exec"),
    "fetch": ("--upload-pack",),
    "pull": ("--upload-pack",),
    "clone": ("-u", "--upload-pack"),
    "ls-remote": ("--upload-pack", "--exec"),
    "push": ("--receive-pack", "--exec"),
    "archive": ("--exec",),
    "difftool": ("-x", "--extcmd"),
    "grep": ("-O", "--open-files-in-pager"),
    "filter-branch": (
        "--tree-filter",
        "--index-filter",
        "--env-filter",
        "--msg-filter",
        "--commit-filter",
        "--parent-filter",
        "--tag-name-filter",
        "--setup",
    ),
}
GIT_RUNNING = frozenset((*_RUNNING_OPTIONS, "bisect", "submodule", "config"))
"""Subcommands that may run other commands by their arguments."""


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
