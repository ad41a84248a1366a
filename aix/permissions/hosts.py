"""Which hosts the words of a command name: of programs that speak to a network, and of addresses given to others."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from aix.permissions.programs import Program, program

_LONGEST_HOST = 255
_ADDRESS = re.compile(r"^(?:git\+)?[a-z][a-z0-9+.-]{0,20}://", re.IGNORECASE)
_HOST = re.compile(r"^(?:\[[0-9a-f:.%]{2,45}\]|[a-z0-9_](?:[a-z0-9_.-]{0,253}[a-z0-9_])?\.?)$", re.IGNORECASE)
_REMOTE = re.compile(r"^(?:[^\s/@:]{1,64}@)?([A-Za-z0-9_.-]{2,255}|\[[0-9a-fA-F:.]+\]):(?!//|\\)")
_GIT_WITH_REMOTE = frozenset({"clone", "fetch", "pull", "push", "remote", "ls-remote", "submodule", "archive"})
_STREAM = re.compile(r"^/dev/(?:tcp|udp)/([^/]{1,255})/")


def hosts_named(name: str, sub: str | None, words: Sequence[str]) -> Iterator[str]:
    """Go through the hosts that a command names, the program being its first word.

    >>> list(hosts_named("curl", None, ("curl", "-H", "x: y", "https://example.org/a")))
    ['example.org']
    """
    known = program(name)
    given = words[1:]
    if "remote" in known.hosts or name == "git":
        found = (_REMOTE.match(word) for word in given if "://" not in word)
        yield from (each[1] for each in found if each and (name != "git" or sub in _GIT_WITH_REMOTE))
    if not known.hosts.isdisjoint(("address", "remote")):
        yield from (host for word in given if (host := host_of(word)))
    if "bare" in known.hosts:
        yield from (host for word in _operands(known, words) if "://" not in word and (host := _bare_host(word)))
    if "first" in known.hosts and "-l" not in given[:1]:
        first = next(iter(_operands(known, words)), "")
        host = first.rpartition("@")[2].partition(":")[0]
        if "://" not in first and _HOST.match(host) and not host.isdigit():
            yield host


def host_of(address: str) -> str | None:
    """Return the host of an address with a scheme.

    >>> host_of("git+https://user@Example.org:8443/x")
    'example.org'
    """
    start = _ADDRESS.match(address)
    if start is None or start[0].lower() == "file://":
        return None
    try:
        host = urlsplit(address[: _LONGEST_HOST * 8]).hostname
    except ValueError:
        return None
    return host if host and _HOST.match(host if ":" not in host else f"[{host}]") else None


def host_or_none(text: str) -> str | None:
    """Return the host that a text is, or whose address it is; none when it is anything else.

    >>> host_or_none("docs.example.org"), host_or_none("how to sort")
    ('docs.example.org', None)
    """
    if "://" in text:
        return host_of(text.strip())
    return _bare_host(text)


def host_of_stream(path: str) -> str | None:
    """Return the host that a shell connects to by the name of a file.

    >>> host_of_stream("/dev/tcp/192.0.2.1/443")
    '192.0.2.1'
    """
    found = _STREAM.match(path)
    return found[1] if found else None


def _bare_host(text: str) -> str | None:
    name = text.partition("/")[0].rpartition("@")[2]
    host, _, port = name.rpartition(":") if name.count(":") == 1 else (name, "", "")
    if port and not port.isdigit():
        return None
    is_named = "." in host.strip(".") or host.lower() == "localhost" or host.startswith("[")
    return host.lower() if is_named and len(host) <= _LONGEST_HOST and _HOST.match(host) else None


def _operands(known: Program, words: Sequence[str]) -> Iterator[str]:
    for option in known.arguments(words):
        if not option.name and option.value and option.value[0] not in "@-":
            yield option.value
