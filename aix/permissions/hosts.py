"""Which hosts the words of a command name: of programs that speak to a network, and of addresses given to others."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

_LONGEST_HOST = 255
_ADDRESS = re.compile(r"^(?:git\+)?[a-z][a-z0-9+.-]{0,20}://", re.IGNORECASE)
_HOST = re.compile(r"^(?:\[[0-9a-f:.%]{2,45}\]|[a-z0-9_](?:[a-z0-9_.-]{0,253}[a-z0-9_])?\.?)$", re.IGNORECASE)
_REMOTE = re.compile(r"^(?:[^\s/@:]{1,64}@)?([A-Za-z0-9_.-]{2,255}|\[[0-9a-fA-F:.]+\]):(?!//|\\)")
_STREAM = re.compile(r"^/dev/(?:tcp|udp)/([^/]{1,255})/")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_ANY_ADDRESS = _listed(
    """
    curl wget http https xh httpie aria2c fetch lynx w3m git pip pip3 pipx uv npm pnpm yarn bun npx go cargo brew gem
    docker podman kubectl helm open xdg-open start ab wrk hey k6 psql pg_dump mysql mongosh redis-cli gh glab svn hg
    websocat grpcurl Invoke-WebRequest Invoke-RestMethod iwr irm deno ftp lftp yt-dlp
    """
)
_BARE_ADDRESS = _listed("curl wget http https xh httpie")
_FIRST_OPERAND = _listed("ssh sftp telnet nc ncat netcat ping ping6 dig nslookup host traceroute ftp mosh")
_REMOTE_OPERANDS = _listed("scp rsync sftp")
_VALUED = {
    "curl": """
        -H -d -X -o -u -A -e -b -c -F -T -m -x -w -E -K -D -r -C -y -Y -z -P -Q --header --data --data-raw --data-binary
        --data-urlencode --request --output --user --user-agent --referer --cookie --cookie-jar --form --upload-file
        --max-time --connect-timeout --proxy --write-out --cert --key --cacert --retry --retry-delay --config
        --dump-header --range --resolve --interface --output-dir --json --unix-socket --retry-max-time
    """,
    "wget": "-O -o -P -a -i -t -T -w -U -e -D -l -Q --header --post-data --user --password --timeout --tries",
    "ssh": "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w",
    "nc": "-p -s -w -i -I -O -T -V -X -x -q -e",
    "ping": "-c -i -s -t -W -w -I -l -p -S",
    "dig": "-t -p -b -k -c -x",
}


def hosts_named(program: str, sub: str | None, words: Sequence[str]) -> Iterator[str]:
    """Go through the hosts that a command names, the program being its first word.

    >>> list(hosts_named("curl", None, ("curl", "-H", "x: y", "https://example.org/a")))
    ['example.org']
    """
    given = words[1:]
    if program in _REMOTE_OPERANDS or program == "git":
        found = (_REMOTE.match(word) for word in given if "://" not in word)
        yield from (each[1] for each in found if each and (program != "git" or _takes_remote(sub)))
    if program in _ANY_ADDRESS or program in _REMOTE_OPERANDS:
        yield from (host for word in given if (host := host_of(word)))
    if program in _BARE_ADDRESS:
        operands = _operands(given, "wget" if program == "wget" else "curl")
        yield from (host for word in operands if "://" not in word and (host := _bare_host(word)))
    if program in _FIRST_OPERAND and "-l" not in given[:1]:
        kind = {"ncat": "nc", "netcat": "nc", "ping6": "ping", "sftp": "ssh", "mosh": "ssh"}.get(program, program)
        first = next(iter(_operands(given, kind)), "")
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


def _operands(words: Sequence[str], kind: str) -> Iterator[str]:
    valued = _VALUED_OPTIONS.get(kind, frozenset())
    rest = iter(words)
    for word in rest:
        if word in valued:
            next(rest, None)
        elif word[:1] != "-" and word[:1] != "@":
            yield word


def _takes_remote(sub: str | None) -> bool:
    return sub in {"clone", "fetch", "pull", "push", "remote", "ls-remote", "submodule", "archive"}


_VALUED_OPTIONS = {name: _listed(options) for name, options in _VALUED.items()}
