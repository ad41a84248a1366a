"""Allow rules that would let a call pass, and calls that stand for all that a rule matches."""

import re
from collections.abc import Iterator, Mapping, Sequence

from aix.permissions import Call, Rule, home_of
from aix.permissions.programs import naming_length
from aix_importers.claude_code.permissions.built_in_decisions import (
    DEFAULT_AGENT,
    SHELLS,
    SKILLS,
    WRITING,
    is_protected,
    needs_rule,
    path_of,
    removes_critical,
    runs_in_argument,
    skill_of,
)
from aix_importers.claude_code.permissions.commands import FileUse, Part, ShellCommand, take_apart
from aix_importers.claude_code.permissions.paths import CallSite, below, escaped, is_system_path
from aix_importers.claude_code.permissions.patterns import compile_pattern, host_of, written_words
from aix_importers.claude_code.permissions.powershell import PowerShellRemoval, commands_of, powershell_removal
from aix_importers.claude_code.permissions.rules import (
    MalformedRuleError,
    McpName,
    canonical,
    parse_parameter,
    parse_rule,
)

_LONGEST_RULE = 1000
_SCRIPT_RUNNERS = frozenset(("npm", "pnpm", "yarn", "bun"))
_RUNNING = frozenset(("run", "run-script", "exec"))
_AGENT = re.compile(r"(?!(?:model|isolation|mode|name|prompt|description):)[\w.-]+(?::[\w.-]+)*+")
_ANY = "zz9zz"
"""Name that no rule contains, so that only a star matches it."""
_ELSEWHERE = f"/{_ANY}"
_SHELL_SIGNS = frozenset("|&;<>`$\n")


def patterns_of(call: Call) -> Sequence[Sequence[str]]:
    """Return for every part of a call the rules that let it pass, from the narrowest."""
    tool = canonical(call.tool)
    place = CallSite.of(call.cwd, home_of(call.cwd))
    command = call.input.get("command")
    if tool in SHELLS:
        return _for_shell(take_apart(command), place) if isinstance(command, str) else [[]]
    if tool == "PowerShell":
        return _for_powershell(commands_of(command), place) if isinstance(command, str) else [[]]
    path = path_of(tool, call.input)
    if path is not None:
        whole = place.resolve(path)
        return [_for_path("Edit" if tool in WRITING else "Read", whole, place)]
    return [_for_others(tool, call)]


def _for_shell(shell: ShellCommand, place: CallSite) -> list[list[str]]:
    """Return the rules by part, in the order in which the parts must be let pass."""
    if not shell.is_whole or not shell.parts:
        is_exact = 0 < len(shell.text) <= _LONGEST_RULE and compile_pattern(shell.text).is_exact
        found = [[f"Bash({shell.text})"] if is_exact else []]
    else:
        needed = (use for use in shell.files if needs_rule(use, place, ()))
        parts = (part for part in shell.parts if not runs_in_argument(part, place, ()))
        found = [*map(_for_part, parts), *(_for_file(use, place) for use in needed)]
    written = (place.resolve(use.path) for use in shell.files if use.is_written)
    is_stopped = any(path is not None and is_protected(path) for path in written)
    return [*found, []] if is_stopped or removes_critical(shell.removals, place, ()) else found


def _for_file(use: FileUse, place: CallSite) -> list[str]:
    path = place.resolve(use.path) if use.is_certain else None
    return _for_path("Edit" if use.is_written else "Read", path, place)


def _for_part(part: Part) -> list[str]:
    text = part.allow_texts[-1]
    candidates = [text] if len(text) <= _LONGEST_RULE else []
    prefix = _prefix(text)
    if prefix and not part.needs_exact:
        candidates.append(f"{prefix} *")
    found = []
    for candidate in candidates:
        pattern = compile_pattern(candidate)
        if pattern.matches(text) and (not part.needs_exact or pattern.is_spelled(text)):
            found.append(f"Bash({candidate})")
    return found


def _prefix(text: str) -> str | None:
    """Return the beginning of a command that names its program and what it does; none when only all of it does."""
    words = written_words(text)
    length = naming_length(words)
    if length is None or "=" in words[0]:
        return None
    if words[0] in _SCRIPT_RUNNERS and words[length - 1] in _RUNNING:
        length += 1
    return " ".join(words[:length]) if length <= len(words) and all(map(_is_plain, words[:length])) else None


def _is_plain(word: str) -> bool:
    return not set(word) & set("*$`'\"\\")


def _for_powershell(commands: Sequence[str], place: CallSite) -> list[list[str]]:
    if not commands or powershell_removal(commands, place) is not PowerShellRemoval.NONE:
        return [[]]
    found = []
    for command in commands:
        program = command.partition(" ")[0]
        candidates = [command, *([] if program == "remove-item" or not _is_plain(program) else [f"{program} *"])]
        found.append([f"PowerShell({each})" for each in candidates if compile_pattern(each).matches(command)])
    return found


def _for_path(tool: str, path: str | None, place: CallSite) -> list[str]:
    if path is None or "\0" in path or (tool == "Edit" and is_protected(path)):
        return []
    seen = below(path, place.cwd)
    if seen == "":
        return [f"{tool}(/**)"]
    pattern = escaped(f"/{seen}" if seen is not None else f"/{path}")
    folder = path.rpartition("/")[0] or "/"
    is_narrow = folder != place.cwd and not is_system_path(folder, place)
    wide = [f"{tool}({pattern.rpartition('/')[0]}/**)"] if is_narrow else []
    return [f"{tool}({pattern})", *wide] if path == path.rstrip() else wide


def _for_others(tool: str, call: Call) -> list[str]:
    name = McpName.of(tool)
    if name is not None:
        return [] if name.tool is None or "*" in tool else [tool, f"mcp__{name.server}"]
    if tool == "WebFetch":
        host = host_of(call.input.get("url"))
        return [] if host is None or "*" in host else [f"WebFetch(domain:{host})"]
    if tool == "Agent":
        name_given = call.input.get("subagent_type") or DEFAULT_AGENT
        is_name = isinstance(name_given, str) and _AGENT.fullmatch(name_given) is not None
        return [f"Agent({name_given})"] if is_name else []
    if tool in SKILLS:
        skill, text = skill_of(call.input)
        if not skill or skill.startswith("/") or not _is_plain(skill):  # a rule's own first slash does not count
            return []
        return [f"{tool}({skill})", *([f"{tool}({skill} *)"] if text != skill else [])]
    is_name = tool.isidentifier() and tool.isascii()
    return [tool] if is_name and tool not in WRITING else []


def examples_of(rule: Rule) -> tuple[Call, ...]:
    """Return the calls that stand for all that a rule matches; none where no call can."""
    try:
        parsed = parse_rule(rule.text)
    except MalformedRuleError:
        return ()
    # Below the folder of the settings, where paths from there and from the folder of the call are not the same.
    cwd = f"{rule.folder}{_ELSEWHERE}"
    tool = parsed.tool.replace("*", _ANY)
    if parsed.detail is None:
        server = McpName.of(tool)
        tool = f"{tool}__{_ANY}" if server is not None and server.tool is None else tool
        return (Call(tool, _anything(tool), cwd),)
    if tool == "WebFetch" and parsed.detail.strip().startswith("domain:"):
        host = parsed.detail.partition(":")[2].strip().replace("*", _ANY)
        return (Call(tool, {"url": f"https://{host}/"}, cwd),)
    if parse_parameter(tool, parsed.detail) is not None and rule.kind != "allow":
        return ()
    return tuple(Call(tool, parameters, cwd) for parameters in _parameters(tool, parsed.detail, rule, cwd))


def _anything(tool: str) -> Mapping[str, object]:
    match tool:
        case "Bash" | "PowerShell":
            return {"command": f"{_ANY} {_ANY}"}
        case "Read" | "Edit" | "Write" | "MultiEdit":
            return {"file_path": f"{_ELSEWHERE}/{_ANY}"}
        case "NotebookEdit":
            return {"notebook_path": f"{_ELSEWHERE}/{_ANY}"}
        case "WebFetch":
            return {"url": f"https://{_ANY}.{_ANY}/"}
        case "Agent":
            return {"subagent_type": _ANY}
        case "Skill":
            return {"skill": _ANY}
        case _:
            return {}


def _parameters(tool: str, detail: str, rule: Rule, cwd: str) -> Iterator[Mapping[str, object]]:
    if tool in ("Bash", "PowerShell"):
        if _SHELL_SIGNS.isdisjoint(detail):
            yield from ({"command": text} for text in _example_texts(detail))
    elif tool in ("Read", "Edit"):
        yield from ({"file_path": path} for path in _example_paths(detail.strip(), rule, cwd))
    elif tool == "Agent":
        yield {"subagent_type": detail.strip()}
    elif tool == "Skill":
        yield from ({"skill": text} for text in _example_texts(detail.strip().removeprefix("/")))


def _example_texts(pattern: str) -> Iterator[str]:
    prefix = pattern.removesuffix(":*") if pattern.endswith(":*") else pattern.removesuffix(" *")
    yield prefix.replace("*", _ANY)
    if prefix != pattern:
        yield f"{prefix.replace('*', _ANY)} {_ANY}"


def _example_paths(pattern: str, rule: Rule, cwd: str) -> Iterator[str]:
    if pattern.startswith("!") or not frozenset("[?\\").isdisjoint(pattern):
        return
    path = pattern.replace("**", f"{_ANY}/{_ANY}").replace("*", _ANY)
    home = home_of(rule.file) or home_of(cwd)
    if pattern.startswith("//"):
        yield path[1:]
    elif pattern.startswith("~/"):
        if home:
            yield home + path[1:]
    elif pattern.startswith("/"):
        yield (rule.folder or cwd) + path
    else:
        yield f"{cwd}/{path.removeprefix('./')}"
        if "/" not in pattern:
            yield f"{cwd}/{_ANY}/{path}"
