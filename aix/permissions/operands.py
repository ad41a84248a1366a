"""Which files the words of a command name, as the table of programs says.

A program that is not in the table names no files here, and a file that a script opens by itself is not seen.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aix.permissions.programs import Argument, program
from aix.permissions.shell.sed_scripts import sed_effects


class FileUse(NamedTuple):
    """A file that a command names."""

    access: str
    """`read` or `write`; what is deleted, moved or changed is written."""
    path: str


_ATTACHED_BODY = frozenset({"-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "-F", "--form", "-H"})
_MOST_WORDS = 2000


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
_PACKERS = frozenset({"gzip", "bzip2", "xz"})
_SEDS = frozenset({"sed", "gsed"})
_LINE_EDITORS = frozenset({"perl", "ruby"})
"""Programs whose code goes through the lines of files with `-n` and `-p`."""
_FIND_OUTPUTS = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})
