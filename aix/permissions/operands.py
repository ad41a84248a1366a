"""Which files the words of a command name: a small table of well-known programs.

A program that is not in the table names no files here. What it does say is what its words say, so a file that a script
opens by itself is not seen.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from aix.permissions.shell.sed_scripts import sed_effects


class FileUse(NamedTuple):
    """A file that a command names."""

    access: str
    """`read` or `write`; what is deleted, moved or changed is written."""
    path: str


class _Program(NamedTuple):
    operands: tuple[str, ...]
    """Of what is no option, from the left: read, write or skip; one with a star stands for any number."""
    valued: frozenset[str]
    """Options whose value is the next word, and no file."""
    files: Mapping[str, str]
    """Options whose value is a file, with what is done to it."""


_OPERANDS = {
    "read*": """
        cat head tail less more bat nl od xxd hexdump strings base64 base32 wc sort cut paste join comm column fold
        md5sum sha1sum sha256sum shasum cksum diff cmp tac rev file stat ls tree du zcat gunzip gzcat unzip Get-Content
        plutil readlink realpath iconv xmllint yq
    """,
    "read": "source .",
    "read skip*": "sh bash zsh dash ksh fish python python2 python3 node ruby perl php",
    "skip read*": "grep egrep fgrep rg ag ack awk gawk mawk sed jq",
    "read* write": "cp install ln rsync scp",
    "write* write": "mv",
    "read write": "uniq",
    "write*": """
        rm rmdir unlink shred touch mkdir tee truncate mkfifo trash gzip bzip2 xz Remove-Item del
        rimraf
    """,
    "skip write*": "chmod chown chgrp setfacl",
    "write read*": "zip",
}
_VALUED = {
    "head": "-n -c --lines --bytes",
    "tail": "-n -c -s --lines --bytes --pid",
    "sort": "-k -t -S -T --key --field-separator",
    "cut": "-d -f -c -b --delimiter --fields --characters --bytes",
    "grep": "-A -B -C -m -d -D --include --exclude --exclude-dir --color --max-count --label",
    "rg": "-A -B -C -m -g -t -T -j -M -r --glob --type --type-not --max-count --max-depth --replace --iglob --sort",
    "awk": "-F -v --field-separator --assign",
    "jq": "--indent --arg --argjson",
    "sed": "-l --line-length",
    "base64": "-w --wrap",
    "tree": "-L -I -P",
    "du": "-d --max-depth",
    "stat": "-c -f --format --printf",
    "xxd": "-l -s -c -g",
    "od": "-A -t -N -j -w",
    "ls": "-I -w --ignore",
    "touch": "-d -t --date",
    "mkdir": "-m --mode",
    "truncate": "-s --size",
    "shred": "-n -s --iterations --size",
    "install": "-m -o -g --mode --owner --group",
    "cp": "-S --suffix",
    "rsync": "-e --exclude --include --rsh --filter --bwlimit --port --chmod --max-size --info",
    "scp": "-P -i -o -l -c -F -J -S",
    "python": "-W -X",
    "node": "--max-old-space-size",
    "bash": "-o -O",
    "diff": "-U -C -I -x --exclude --label",
    "unzip": "-x -P",
    "zip": "-b -n -t -P -s -x -i",
}
_FILES = {
    "grep": {"-f": "read", "--file": "read"},
    "rg": {"-f": "read", "--file": "read"},
    "awk": {"-f": "read", "--file": "read"},
    "sed": {"-f": "read", "--file": "read"},
    "jq": {"-f": "read", "--from-file": "read", "--slurpfile": "skip read", "--rawfile": "skip read"},
    "cp": {"-t": "write", "--target-directory": "write"},
    "mv": {"-t": "write", "--target-directory": "write"},
    "ln": {"-t": "write", "--target-directory": "write"},
    "install": {"-t": "write", "--target-directory": "write"},
    "sort": {"-o": "write", "--output": "write"},
    "touch": {"-r": "read", "--reference": "read"},
    "node": {"-r": "read", "--require": "read", "--env-file": "read"},
    "unzip": {"-d": "write"},
    "rsync": {"--exclude-from": "read", "--files-from": "read", "--log-file": "write"},
    "curl": {
        "-o": "write", "--output": "write", "-T": "read", "--upload-file": "read", "-K": "read", "--config": "read",
        "-E": "read", "--cert": "read", "--key": "read", "-D": "write", "--dump-header": "write", "-c": "write",
        "--cookie-jar": "write", "--output-dir": "write", "--netrc-file": "read",
    },
    "wget": {"-O": "write", "--output-document": "write", "-P": "write", "--directory-prefix": "write",
             "-i": "read", "--input-file": "read", "--post-file": "read"},
    "docker": {"--env-file": "read"},
    "podman": {"--env-file": "read"},
}  # fmt: skip
_LIKE = {
    "egrep": "grep", "fgrep": "grep", "ag": "grep", "ack": "grep", "gawk": "awk", "mawk": "awk", "python2": "python",
    "python3": "python", "sh": "bash", "zsh": "bash", "gtail": "tail", "ghead": "head", "gsed": "sed", "gcp": "cp",
}  # fmt: skip
_PROGRAM_GIVEN = {
    "grep": ("-e", "-f", "--regexp", "--file"),
    "rg": ("-e", "-f", "--regexp", "--file", "--files"),
    "awk": ("-f", "--file"),
    "sed": ("-e", "-f", "--expression", "--file"),
    "jq": ("-f", "--from-file"),
    "python": ("-c", "-m"),
    "node": ("-e", "--eval", "-p", "--print"),
    "perl": ("-e", "-E", "-ne", "-pe", "-lne", "-i"),
    "ruby": ("-e", "-ne", "-pe"),
    "php": ("-r",),
    "bash": ("-c", "-s"),
    "chmod": ("--reference",),
}
"""Options that take the place of the first operand."""
_ATTACHED_BODY = frozenset({"-d", "--data", "--data-binary", "--data-raw", "--data-urlencode", "-F", "--form", "-H"})
_MOST_WORDS = 2000
_ENDING = re.compile(
    r"\.(?:exe|cmd|bat|com)$|(?<=python[23])\.\d+$|(?<=pip3)\.\d+$|(?<=^perl|^ruby|^node|^bash)-?[\d.]+$|(?<=^php)[\d.]+$",
    re.IGNORECASE,
)


def plain_name(program: str) -> str:
    """Return the name of a program without an ending such as `.cmd`, or its version.

    >>> plain_name("npm.cmd"), plain_name("python3.12")
    ('npm', 'python3')
    """
    return _ENDING.sub("", program)


def _table() -> dict[str, _Program]:
    programs: dict[str, _Program] = {}
    for operands, names in _OPERANDS.items():
        for name in names.split():
            programs[name] = _program(name, tuple(operands.split()))
    for name in _FILES.keys() - programs.keys():
        programs[name] = _program(name, ())
    return programs


def _program(name: str, operands: tuple[str, ...]) -> _Program:
    kind = _LIKE.get(name, name)
    return _Program(operands, frozenset(_VALUED.get(kind, "").split()), _FILES.get(kind, {}))


def files_named(program: str, words: Sequence[str]) -> Iterator[FileUse]:
    """Go through the files that a command names, the program being its first word.

    >>> list(files_named("cp", ("cp", "-r", "a", "b", "out/")))
    [FileUse(access='read', path='a'), FileUse(access='read', path='b'), FileUse(access='write', path='out/')]
    """
    given = words[1:_MOST_WORDS]
    special = _SPECIAL.get(program)
    if special is not None:
        yield from special(given)
        return
    known = _PROGRAMS.get(program)
    if known is None:
        return
    options, operands = _parted(given, known)
    kind = _LIKE.get(program, program)
    roles = known.operands
    has_program = any(name in _PROGRAM_GIVEN.get(kind, ()) for name, _ in options)
    if has_program and roles == ("read", "skip*"):
        yield from _lines_edited(kind, options, operands)
        return
    if has_program and roles[:1] == ("skip",):
        roles = roles[1:]
    if kind in _PACKERS and any(name in {"-c", "--stdout", "--to-stdout"} for name, _ in options):
        roles = ("read*",)
    if kind == "sed" and any(name == "--in-place" or name.startswith("-i") for name, _ in options):
        roles = tuple(role.replace("read", "write") for role in roles)
        operands = [operand for operand in operands if operand]  # on macOS -i takes a word, mostly an empty one
    if roles[-1:] == ("write",) and any(known.files.get(name) == "write" for name, _ in options):
        roles = roles[:-1]
    for name, value in options:
        access = known.files.get(name)
        if access and value is not None:
            yield FileUse(access.split()[-1], value)
        elif program == "curl" and name in _ATTACHED_BODY and value is not None and "@" in value:
            yield FileUse("read", value.rpartition("@")[2].partition(";")[0])
    if kind == "sed":
        yield from (FileUse("write", effect.text) for effect in sed_effects(words) if effect.kind == "write")
    for access, operand in _assigned(roles, operands):
        if access != "skip":
            yield FileUse(access, operand)


def _lines_edited(kind: str, options: Sequence[tuple[str, str | None]], operands: Sequence[str]) -> Iterator[FileUse]:
    """Go through the files whose lines `perl -ne` and `ruby -pe` read, or change with `-i`."""
    clusters = [name for name, _ in options if name[:1] == "-" and name[1:2] != "-"]
    if kind in {"perl", "ruby"} and any(letter in name for name in clusters for letter in "np"):
        is_script_first = any(len(name) > 2 and name[-1] in "eE" for name in clusters)
        access = "write" if any("i" in name for name in clusters) else "read"
        yield from (FileUse(access, operand) for operand in operands[is_script_first:])


def _parted(words: Sequence[str], known: _Program) -> tuple[list[tuple[str, str | None]], list[str]]:
    """Return the options with their values, and the operands."""
    options: list[tuple[str, str | None]] = []
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            operands.extend(rest)
        elif word[:1] != "-" or word == "-":
            operands.append(word)
        elif word.startswith("--") and "=" in word:
            name, _, value = word.partition("=")
            options.append((_whole_name(name, known), value))
        elif (word := _whole_name(word, known)) in known.files:
            if known.files[word].startswith("skip"):
                next(rest, None)
            options.append((word, next(rest, None)))
        elif word in known.valued:
            if word in {"--arg", "--argjson"}:
                next(rest, None)
            options.append((word, next(rest, None)))
        elif word in {"-e", "--regexp", "--expression", "--eval"} or (known.files and word in _ATTACHED_BODY):
            options.append((word, next(rest, None)))
        elif word[:2] in known.files and not word.startswith("--"):
            options.append((word[:2], word[2:]))
        elif f"-{word[-1]}" in known.files and not word.startswith("--"):
            options.append((f"-{word[-1]}", next(rest, None)))
        else:
            options.append((word, None))
    return options, operands


def _whole_name(word: str, known: _Program) -> str:
    """Return the long option that a word is the beginning of, when one of those that are known begins so."""
    if not word.startswith("--") or len(word) < 4 or word in known.files or word in known.valued:
        return word
    found = [name for names in (known.files, known.valued) for name in names if name.startswith(word)]
    return found[0] if len(found) == 1 else word


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
_FIND_OUTPUTS = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})
_PROGRAMS = _table()
