"""Files and hosts that the words of a command name, by the table of programs.

Of a program that is not in the table no file is known, and a file that a script opens by itself is not seen.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

from aix.permissions.programs import Argument, Program, program
from aix.permissions.shell.inline_code import sed_effects

_ATTACHED_BODY = frozenset({"-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "-F", "--form", "-H"})
_MOST_WORDS = 2000
_PACKERS = frozenset({"gzip", "bzip2", "xz"})
_SEDS = frozenset({"sed", "gsed"})
_LINE_EDITORS = frozenset({"perl", "ruby"})
"""Programs whose code goes through the lines of files with `-n` and `-p`."""
_FIND_OUTPUTS = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})
_LONGEST_HOST = 255
_ADDRESS = re.compile(r"^(?:git\+)?[a-z][a-z0-9+.-]{0,20}://", re.IGNORECASE)
_HOST = re.compile(r"^(?:\[[0-9a-f:.%]{2,45}\]|[a-z0-9_](?:[a-z0-9_.-]{0,253}[a-z0-9_])?\.?)$", re.IGNORECASE)
_REMOTE = re.compile(r"^(?:[^\s/@:]{1,64}@)?([A-Za-z0-9_.-]{2,255}|\[[0-9a-fA-F:.]+\]):(?!//|\\)")
_GIT_WITH_REMOTE = frozenset({"clone", "fetch", "pull", "push", "remote", "ls-remote", "submodule", "archive"})
_STREAM = re.compile(r"^/dev/(?:tcp|udp)/([^/]{1,255})/")


class FileUse(NamedTuple):
    """A file that a command names."""

    access: str
    """`read` or `write`; what is deleted, moved or changed is written."""
    path: str


def files_named(name: str, words: Sequence[str]) -> Iterator[FileUse]:
    """Go through the files that a command names, the program being its first word.

    >>> list(files_named("cp", ("cp", "-r", "a", "b", "out/")))
    [FileUse(access='read', path='a'), FileUse(access='read', path='b'), FileUse(access='write', path='out/')]
    """
    given = words[1:_MOST_WORDS]
    special = _SPECIAL.get(name)
    if special is not None:
        yield from special(given)
        return
    known = program(name)
    options: list[Argument] = []
    operands: list[str] = []
    if known.operands or known.files:
        for option in known.arguments(words[:_MOST_WORDS]):
            if option.name:
                options.append(option)
            else:
                operands.append(option.value or "")
    names = {option.name for option in options}
    roles = known.operands
    has_program = not names.isdisjoint(known.expression)
    if has_program and roles == ("read", "skip*"):
        if name in _LINE_EDITORS and not names.isdisjoint(("-n", "-p")):
            access = "write" if "-i" in names else "read"
            yield from (FileUse(access, operand) for operand in operands)
        return
    if has_program and roles[:1] == ("skip",):
        roles = roles[1:]
    if name in _PACKERS and not names.isdisjoint(("-c", "--stdout", "--to-stdout")):
        roles = ("read*",)
    if name in _SEDS and not names.isdisjoint(("-i", "--in-place")):
        roles = tuple(role.replace("read", "write") for role in roles)
        operands = [operand for operand in operands if operand]  # on macOS -i takes a word, mostly an empty one
    if roles[-1:] == ("write",) and any(known.files.get(each) == "write" for each in names):
        roles = roles[:-1]
    for option in options:
        access = known.files.get(option.name, "")
        if access and option.value is not None:
            yield FileUse(access.split()[-1], option.value)
        elif name == "curl" and option.name in _ATTACHED_BODY and option.value is not None and "@" in option.value:
            yield FileUse("read", option.value.rpartition("@")[2].partition(";")[0])
    if name in _SEDS:
        yield from (FileUse("write", effect.text) for effect in sed_effects(words) if effect.kind == "write")
    for access, operand in _assigned(roles, operands):
        if access != "skip":
            yield FileUse(access, operand)


def _assigned(roles: Sequence[str], operands: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Go through operands with what is done to them: a role with a star takes all but those that others need."""
    left = list(operands)
    for place, role in enumerate(roles):
        after = len(roles) - place - 1
        many = max(len(left) - after, 0) if role.endswith("*") else 1
        if role.endswith("*") and after and len(left) <= after:
            continue
        for operand in left[:many]:
            yield role.rstrip("*"), operand
        left = left[many:]


def _of_dd(words: Sequence[str]) -> Iterator[FileUse]:
    for word in words:
        name, _, value = word.partition("=")
        if name in {"if", "of"} and value:
            yield FileUse("read" if name == "if" else "write", value)


def _of_find(words: Sequence[str]) -> Iterator[FileUse]:
    access = "write" if "-delete" in words else "read"
    is_start = True
    for place, word in enumerate(words):
        if word in {"-H", "-L", "-P"} and is_start:
            continue
        is_start = is_start and word[:1] not in {"-", "(", "!"}
        if is_start:
            yield FileUse(access, word)
        elif word in _FIND_OUTPUTS and place + 1 < len(words):
            yield FileUse("write", words[place + 1])


def _of_tar(words: Sequence[str]) -> Iterator[FileUse]:
    mode = words[0] if words and not words[0].startswith("--") else ""
    makes = "--create" in words or any(letter in mode for letter in "cru")
    rest = iter(words)
    is_first = True
    for word in rest:
        is_cluster = (is_first and not word.startswith("--")) or (word[:1] == "-" and word[1:2] != "-")
        is_first = False
        if (is_cluster and word.endswith("f")) or word == "--file":
            archive = next(rest, None)
        elif word.startswith("--file="):
            archive = word.partition("=")[2]
        elif word in {"-C", "--directory"}:
            folder = next(rest, None)
            if folder:
                yield FileUse("read" if makes else "write", folder)
            continue
        else:
            if makes and word[:1] != "-" and not is_cluster:
                yield FileUse("read", word)
            continue
        if archive and ":" not in archive:
            yield FileUse("write" if makes else "read", archive)


def _of_editor(words: Sequence[str]) -> Iterator[FileUse]:
    """Files that are opened in an editor, whose options may be followed by commands."""
    rest = iter(words)
    for word in rest:
        if word[:1] == "-" and word[-1:] in {"c", "S", "u", "d", "T"}:
            next(rest, None)
        elif word[:1] not in {"-", "+"}:
            yield FileUse("read", word)


def _of_openssl(words: Sequence[str]) -> Iterator[FileUse]:
    if words and words[0] not in {"x509", "verify", "s_client", "req", "crl", "version"}:
        for place, word in enumerate(words[:-1]):
            if word in {"-in", "-out"}:
                yield FileUse("read" if word == "-in" else "write", words[place + 1])


def _of_git(words: Sequence[str]) -> Iterator[FileUse]:
    """Only a clone and `--output` name files of their own; all else happens in the repository."""
    yield from (FileUse("write", word.removeprefix("--output=")) for word in words if word.startswith("--output="))
    if "clone" in words:
        operands = [word for word in words[words.index("clone") + 1 :] if word[:1] != "-"]
        if len(operands) > 1 and ("://" in operands[-2] or ":" in operands[-2] or "/" in operands[-2]):
            yield FileUse("write", operands[-1])


_SPECIAL = {
    "dd": _of_dd,
    "find": _of_find,
    "tar": _of_tar,
    "bsdtar": _of_tar,
    "git": _of_git,
    "openssl": _of_openssl,
} | dict.fromkeys(("vim", "vi", "nvim", "ex", "view", "gvim", "nano", "emacs"), _of_editor)


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
