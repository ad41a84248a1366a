"""Calls about which the client itself decides: those it runs without asking, and those no allow rule lets pass."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from aix.permissions import Call
from aix.permissions.programs import listed
from aix_importers.claude_code.permissions.commands import FileUse, Part, take_apart
from aix_importers.claude_code.permissions.paths import CallSite, below, has_drive, is_system_path
from aix_importers.claude_code.permissions.rules import canonical

_FREE_TOOLS = listed(
    """
    Agent AgentOutputTool AskUserQuestion BashOutput CronCreate CronDelete CronList EnterPlanMode EnterWorktree
    ExitWorktree KillShell ListMcpResourcesTool ReadMcpResourceTool SendMessage StructuredOutput TaskCreate TaskGet
    TaskList TaskOutput TaskStop TaskUpdate TodoRead TodoWrite ToolSearch
    """
)
_READING_TOOLS = {
    "Read": "file_path", "NotebookRead": "notebook_path", "LSP": "filePath",
    "Grep": "path", "Glob": "path", "LS": "path",
}  # fmt: skip
_READING_PROGRAMS = listed(
    """
    basename cal cat cd cksum cmp comm column cut date df diff dirname du echo expr false fgrep file find free grep
    groups head hexdump id jq less ls md5sum more nl nproc od paste printf ps pwd readlink realpath rev rg seq
    sha1sum sha256sum sleep sort stat strings tac tail test tr tree true type uname uniq uptime wc which whoami [
    """
)
_DOCUMENTED_PROGRAMS = listed("cat cd diff du echo find git grep head ls pwd stat tail wc which")
"""Those that the documentation names; a rule's decision rests on no others."""
_ACTING = {
    "date": re.compile(r"-[uR]*s|--set"),
    "find": re.compile(r"-fprint|-fls"),
    "git": re.compile(r"--output|--ext-diff"),
    "rg": re.compile(r"--pre|--hostname-bin"),
    "sort": re.compile(r"-[bcCdfghiMmnRrsuVz]*o|--output|--compress-program"),
    "tree": re.compile(r"-\w*o"),
}
"""With these, programs that else only read write a file, run another program or set something."""
_READING_GIT = listed(
    "blame cat-file describe diff log ls-files ls-tree merge-base rev-list rev-parse shortlog show show-ref status"
)

_PROTECTED_FOLDERS = listed(
    ".git .vscode .idea .husky .cargo .devcontainer .yarn .mvn .claude"
)  # `.config/git` stands below
_PROTECTED_FILES = listed(
    """
    .gitconfig .gitmodules .bashrc .bash_profile .bash_login .bash_aliases .bash_logout .zshrc .zprofile .zshenv .zlogin
    .zlogout .profile .envrc .npmrc .yarnrc .yarnrc.yml .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs bunfig.toml .bunfig.toml
    .bazelrc .bazelversion .bazeliskrc .pre-commit-config.yaml lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml
    gradle-wrapper.properties maven-wrapper.properties .devcontainer.json .ripgreprc pyrightconfig.json .mcp.json
    .claude.json
    """
)
_EXPANSIONS = re.compile(r"(?:\$[A-Za-z_0-9@*#?]+|\$\{[^}]*\})++", re.ASCII)
_GUARDED = re.compile(r"\$\{[A-Za-z_0-9]+:\?[^}]*\}", re.ASCII)
SHELLS = frozenset(("Bash", "Monitor"))
SKILLS = frozenset(("Skill", "SlashCommand"))
SEARCHING = frozenset(("Grep", "Glob", "LS"))
WRITING = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}
DEFAULT_AGENT = "general-purpose"
_SKILL_ALIASES = {"code-review": "review"}
_READING = {"Read": "file_path", "NotebookRead": "notebook_path", "LSP": "filePath"}


def runs_by_itself(call: Call, place: CallSite, directories: tuple[str, ...]) -> bool:
    """Whether the client runs a call without asking when no rule decides about it.

    The workspace is the folder of the call, with the further directories.
    """
    tool = canonical(call.tool)
    if tool in _FREE_TOOLS:
        return True
    if tool in _READING_TOOLS:
        path = call.input.get(_READING_TOOLS[tool], "")
        return isinstance(path, str) and _lies_inside(path, place, directories)
    command = call.input.get("command")
    return tool == "Bash" and isinstance(command, str) and _only_reads(command, place, directories)


def runs_in_argument(part: Part, place: CallSite, directories: Collection[str]) -> bool:
    """Whether a part needs no rule of its own: a read-only command whose output is an argument of another part."""
    return (
        part.is_in_argument
        and part.words[0] in _DOCUMENTED_PROGRAMS
        and not part.needs_exact
        and not part.has_expansions
        and _is_reading(*part.words)
        and _are_read_inside(part.files, place, directories)
    )


def _only_reads(command: str, place: CallSite, directories: tuple[str, ...]) -> bool:
    shell = take_apart(command)
    if not shell.is_whole or not shell.parts or any(part.needs_exact for part in shell.parts):
        return False
    if not _are_read_inside(shell.files, place, directories):
        return False
    return all(_is_reading(*part.words) for part in shell.parts)


def _are_read_inside(files: Iterable[FileUse], place: CallSite, directories: Collection[str]) -> bool:
    return all(use.is_certain and not use.is_written and _lies_inside(use.path, place, directories) for use in files)


def _is_reading(program: str, *rest: str) -> bool:
    acting = _ACTING.get(program)
    if acting is not None and any(map(acting.match, rest)):
        return False
    if program == "git":
        return bool(rest) and rest[0] in _READING_GIT
    if program == "uniq":  # a second file is written
        return sum(not word.startswith("-") for word in rest) <= 1
    return program in _READING_PROGRAMS


def _lies_inside(path: str, place: CallSite, directories: Collection[str]) -> bool:
    whole = place.resolve(path) if path else place.cwd
    return whole is not None and any(below(whole, folder) is not None for folder in (place.cwd, *directories))


def is_protected(path: str) -> bool:
    """Whether a whole path is one that only the user may let be written."""
    segments = path.lower().split("/")
    if segments[-1] in _PROTECTED_FILES:
        return True
    for place, name in enumerate(segments):
        following = segments[place + 1 : place + 2]
        if name in _PROTECTED_FOLDERS and not (name == ".claude" and following == ["worktrees"]):
            return True
        if name == ".config" and following == ["git"]:
            return True
    return False


def removes_critical(targets: Sequence[str], place: CallSite, directories: Collection[str]) -> bool:
    """Whether `rm` or `rmdir` is given a path whose loss cannot be meant."""
    return any(_is_critical(target, place, directories) for target in targets)


def _is_critical(target: str, place: CallSite, directories: Collection[str]) -> bool:
    if _hangs_on_variable(target):
        return True
    is_glob = target == "*" or target.endswith("/*")
    path = place.resolve(target[:-1] if is_glob else target)
    if path is None:
        return target in ("~", "~/", "~/*", "$HOME", "${HOME}")
    if is_system_path(path, place, is_on_drive=has_drive(target)) or _holds(path, place.cwd):
        return True
    return is_glob and any(_holds(path, directory) for directory in directories)


def _hangs_on_variable(target: str) -> bool:
    """Whether an empty variable would make it the root, or what lies there."""
    folder = target.rstrip("*")
    variables = folder.rstrip("/")
    if variables == folder or _EXPANSIONS.fullmatch(variables) is None:
        return False
    return bool(_GUARDED.sub("", variables))


def _holds(folder: str, path: str) -> bool:
    return folder == path or path.startswith(f"{folder}/")


def path_of(tool: str, given: Mapping[str, object]) -> str | None:
    """Return the path that a file tool is given; a search without one is made where the call is."""
    if tool in SEARCHING:
        path = given.get("path", "")
        return path if isinstance(path, str) else None
    name = _READING.get(tool) or WRITING.get(tool)
    path = given.get(name) if name is not None else None
    return path if isinstance(path, str) and path else None


def skill_of(given: Mapping[str, object]) -> tuple[str, str]:
    """Return the name of a skill, and the name with what it is given."""
    name = given.get("skill") or given.get("command")
    words = name.strip().removeprefix("/") if isinstance(name, str) else ""
    arguments = given.get("args")
    text = f"{words} {arguments}" if isinstance(arguments, str) and arguments else words
    return words.partition(" ")[0], text


def other_skill_name(name: str) -> str | None:
    """Return the other name by which a deny rule finds a skill: its alias, or its own without the folder it lies in.

    >>> other_skill_name("apps/web:deploy"), other_skill_name("code-review"), other_skill_name("plugin:deploy")
    ('deploy', 'review', None)
    """
    folder, colon, rest = name.rpartition(":")
    return rest if colon and "/" in folder else _SKILL_ALIASES.get(name)


def needs_rule(use: FileUse, place: CallSite, directories: Collection[str]) -> bool:
    """Whether a file that a command names must be let pass by a rule of its own."""
    if not use.is_certain:
        return use.by in (">", "<")
    if use.by not in (">", "<", "tee"):
        return False
    path = place.resolve(use.path)
    if path == "/dev/null":
        return False
    return path is None or all(below(path, folder) is None for folder in (place.cwd, *directories))
