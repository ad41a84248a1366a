"""Calls that the client runs without asking in its default mode, when no rule decides about them."""

import re
from collections.abc import Collection, Iterable

from aix.permissions import Call
from aix.permissions.programs import listed
from aix_importers.claude_code.permissions.commands import FileUse, Part, take_apart
from aix_importers.claude_code.permissions.paths import CallSite, below
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
