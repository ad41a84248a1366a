"""Texts that commands print, where the commands themselves say them: `echo`, `printf`, here-documents and decoders."""

import re
from base64 import b64decode
from binascii import Error as BinaryError
from binascii import unhexlify
from collections.abc import Callable, Sequence

from aix.permissions.shell.model import Command
from aix.permissions.shell.words import escapes_resolved

MAX_TEXT = 16 * 1024
"""How many characters of a printed text are followed."""

DECODERS = frozenset(("base64", "base32", "basenc", "xxd", "openssl", "rev", "tr", "uudecode", "gpg", "rot13"))
"""Programs whose output hides what went in."""

_FORMAT = re.compile(r"%(?:%|-?[0-9.]*+([sbdq]))|[^%]+|%", re.DOTALL)
_RANGE = re.compile(r"(.)-(.)|(.)", re.DOTALL)
_FINDING = frozenset(("which", "command", "type"))


def printed(commands: Sequence[Command], expand: Callable[[str], str]) -> str | None:
    """Return what a pipeline prints, or None where its words do not say it."""
    if not commands:
        return None
    text = _source(commands[0], expand)
    for command in commands[1:]:
        if text is None or len(text) > MAX_TEXT:
            return None
        text = _filtered(command, text)
    return text


def _source(command: Command, expand: Callable[[str], str]) -> str | None:
    words = [expand(word) for word in command.words[1:]]
    if command.program == "echo":
        return _echoed(words)
    if command.program == "printf" and words[:1] != ["-v"]:
        return formatted(words)
    if command.program in _FINDING and words and words[-1][:1] != "-":
        return words[-1]
    if command.program == "cat" and not words:
        if command.documents:
            return command.documents[-1]
        return next((expand(target) for op, target in command.redirects if op == "<<<"), None)
    if command.program in DECODERS and command.documents:
        return _filtered(command, command.documents[-1])
    if command.program in DECODERS:
        given = next((expand(target) for op, target in command.redirects if op == "<<<"), None)
        return None if given is None else _filtered(command, given)
    return None


def _echoed(words: Sequence[str]) -> str:
    options = 0
    is_escaped = False
    while options < len(words) and re.fullmatch(r"-[neE]+", words[options]):
        is_escaped = is_escaped or "e" in words[options]
        options += 1
    text = " ".join(words[options:])
    return escapes_resolved(text) if is_escaped else text


def formatted(words: Sequence[str]) -> str | None:
    """Return what `printf` prints for a format and its arguments."""
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        return None
    arguments = list(words[1:])
    pieces: list[str] = []
    length = 0
    while True:
        taken = 0
        for piece in _FORMAT.finditer(escapes_resolved(words[0][:MAX_TEXT])):
            written = piece[0]
            if piece[1]:
                written = arguments.pop(0) if arguments else ""
                taken += 1
                written = escapes_resolved(written) if piece[1] == "b" else written
            elif written == "%%":
                written = "%"
            pieces.append(written)
            length += len(written)
        if not arguments or not taken or length > MAX_TEXT:
            return "".join(pieces)


def _filtered(command: Command, text: str) -> str | None:
    words = command.words[1:]
    program = command.program
    if program in {"cat", "tee"}:
        return text
    if program == "rev":
        return "\n".join(line[::-1] for line in text.splitlines())
    if program == "tr":
        return _translated(words, text)
    try:
        if program in {"base64", "openssl"} and any(word in {"-d", "-D", "--decode", "-di"} for word in words):
            return b64decode(text, validate=False).decode("utf-8", "replace")
        if program == "xxd" and any(word[:1] == "-" and "r" in word for word in words):
            return unhexlify("".join(text.split())).decode("utf-8", "replace")
    except (BinaryError, ValueError):
        return None
    return None


def _translated(words: Sequence[str], text: str) -> str | None:
    sets = [word for word in words if word[:1] != "-" or len(word) == 1]
    if "-d" in words and len(sets) == 1:
        return text.translate({ord(letter): None for letter in _letters(sets[0])})
    if len(sets) != 2 or len(words) != 2:
        return None
    before, after = _letters(sets[0]), _letters(sets[1])
    if not after:
        return None
    return text.translate({ord(a): after[min(place, len(after) - 1)] for place, a in reversed(list(enumerate(before)))})


def _letters(written: str) -> str:
    """Return the characters of a set of `tr`, its ranges written out."""
    found: list[str] = []
    for first, last, single in _RANGE.findall(escapes_resolved(written.strip("[]"))[:256]):
        found.append(single or "".join(map(chr, range(ord(first), min(ord(last), ord(first) + 255) + 1))))
    return "".join(found)
