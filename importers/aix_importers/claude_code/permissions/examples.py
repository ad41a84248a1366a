"""Calls that stand for all that a rule matches."""

from collections.abc import Iterator, Mapping

from aix.permissions import Call, Rule, home_of
from aix_importers.claude_code.permissions.rules import MalformedRuleError, McpName, parse_parameter, parse_rule

_ANY = "zz9zz"
"""Name that no rule contains, so that only a star matches it."""
_ELSEWHERE = f"/{_ANY}"
_OPERATORS = frozenset("|&;<>`$\n")


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
        if _OPERATORS.isdisjoint(detail):
            yield from ({"command": text} for text in _texts(detail))
    elif tool in ("Read", "Edit"):
        yield from ({"file_path": path} for path in _paths(detail.strip(), rule, cwd))
    elif tool == "Agent":
        yield {"subagent_type": detail.strip()}
    elif tool == "Skill":
        yield from ({"skill": text} for text in _texts(detail.strip().removeprefix("/")))


def _texts(pattern: str) -> Iterator[str]:
    prefix = pattern.removesuffix(":*") if pattern.endswith(":*") else pattern.removesuffix(" *")
    yield prefix.replace("*", _ANY)
    if prefix != pattern:
        yield f"{prefix.replace('*', _ANY)} {_ANY}"


def _paths(pattern: str, rule: Rule, cwd: str) -> Iterator[str]:
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
