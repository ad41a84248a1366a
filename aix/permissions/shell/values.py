"""Values of variables and words, and texts that commands print, as far as a script itself gives them.

An audit asks which program `$c -rf x` runs. Where the script says `c=rm`, or a word has its own default as in
`${x:-rm}`, the answer is known; elsewhere the expansion is left as it is written. Each step is bounded, because a
script may define variables by one another without end.
"""

import re
from base64 import b64decode
from binascii import Error as BinaryError
from binascii import unhexlify
from collections.abc import Callable, Iterable, Iterator, Sequence

from aix.permissions.shell.splitting import split
from aix.permissions.shell.words import Command, escapes_resolved

MAX_TEXT = 16 * 1024
"""How many characters of a printed text are followed."""

DECODERS = frozenset(("base64", "base32", "basenc", "xxd", "openssl", "rev", "tr", "uudecode", "gpg", "rot13"))
"""Programs whose output hides what went in."""

_FORMAT = re.compile(r"%(?:%|-?[0-9.]*+([sbdq]))|[^%]+|%", re.DOTALL)
_RANGE = re.compile(r"(.)-(.)|(.)", re.DOTALL)
_FINDING = frozenset(("which", "command", "type"))
MAX_VARIANTS = 4
"""How many values of a variable are tried, when a script assigns it several times."""
MAX_LENGTH = 4096
"""Texts that are longer are not expanded, and none is expanded to more."""
MAX_BRACES = 64
"""How many words a word with braces may stand for."""
_MAX_DEPTH = 6
_MAX_STEPS = 400
_MAX_VARIABLES = 500
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(\+?)=(.*)", re.DOTALL)
_EXPANSION = re.compile(r"\$(?:([A-Za-z_]\w*|[@*])|(\{)|(\((?!\()))|(`)")
_BRACED = re.compile(r"(!?)([A-Za-z_]\w*|[@*])(?:\[[@*0-9]+\])?(?:(:?[-=+?]|:|\^\^?|,,?)(.*))?", re.DOTALL)
_MAYBE = re.compile(r"\$\{?!?([A-Za-z_]\w*|[@*])(:?[-=+])?|(?:\$\(|`)(\s*(?:echo|printf|which|command|type)\s)")
_PART = re.compile(r"\s*(\d+)(?::\s*(\d+))?")
_PRINTING = re.compile(r"\s*(?:echo|printf|which|command\s+-v|type\s+-p|cat\s*<<)\s")
_GROUP = re.compile(r"(?<!\$)\{([^{},]*+,[^{}]*+)\}")
_SINGLE_CLASS = re.compile(r"\[(.)\]")
_BRACE_WORD = re.compile(r"[\w./~*?@%+=,{}-]+")
_BRACKETS = {"{": re.compile(r"[{}]"), "(": re.compile(r"[()]")}
_DECLARING = frozenset(("export", "declare", "typeset", "local", "readonly"))
_KNOWN = {
    "IFS": " ",
    "SHELL": "sh",
    "BASH": "bash",
    "PYTHON": "python",
    "NODE": "node",
    "NPM": "npm",
    "MAKE": "make",
    "CC": "cc",
    "CXX": "c++",
    "GO": "go",
    "CARGO": "cargo",
}
"""Variables that by convention name a program, where the script does not say another."""


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


class Values:
    """The variables of a script."""

    def __init__(self, assignments: Iterable[str] = (), commands: Iterable[Command] = ()) -> None:
        self._values: dict[str, list[str]] = {}
        self._steps = _MAX_STEPS
        for text in assignments:
            self._assign(text)
        for command in commands:
            self._take(command)

    def fields(self, text: str) -> list[str]:
        """Return the words that an expanded text is cut into, by the separators that the script sets."""
        for separators in self._values.get("IFS", ()):
            text = text.translate({ord(letter): " " for letter in separators[:16]})
        return text.split()

    def may_expand(self, text: str) -> bool:
        """Whether something in a text may have a known value; quick, and true for some texts that stay as they are."""
        if "{" in text and _GROUP.search(text) is not None:
            return True
        return any(
            name in self._values or name in _KNOWN or bool(default) or bool(printing)
            for name, default, printing in _MAYBE.findall(text)
        )

    @property
    def variants(self) -> int:
        """How many variants of the values are to be tried."""
        return max((len(values) for values in self._values.values()), default=1)

    def expand(self, text: str, variant: int = 0, *, within: tuple[str, ...] = ()) -> str:
        """Return a text with the expansions replaced whose values are known.

        >>> Values(["c=curl"]).expand("$c ${x:-rm} $y")
        'curl rm $y'
        """
        if ("$" not in text and "`" not in text) or len(text) > MAX_LENGTH or len(within) > _MAX_DEPTH:
            return text
        pieces: list[str] = []
        length = position = 0
        for start, end, value in self._expansions(text, variant, within):
            pieces += (text[position:start], value)
            length += len(value)
            position = end
            if length > MAX_LENGTH:
                return text
        return "".join((*pieces, text[position:]))

    def _expansions(self, text: str, variant: int, within: tuple[str, ...]) -> Iterator[tuple[int, int, str]]:
        position = 0
        while (found := _EXPANSION.search(text, position)) is not None:
            self._steps -= 1
            if self._steps < 0:
                return
            name, brace, bracket, _ = found.groups()
            if name:
                end = found.end()
                value = self._value(name, variant, within)
            else:
                end = _closing(text, found.end(), brace or bracket)
                if end < 0:
                    return
                inner = text[found.end() : end - 1]
                value = self._braced(inner, variant, within) if brace else self._printed(inner, variant, within)
            if value is not None:
                yield found.start(), end, value
            position = end

    def _value(self, name: str, variant: int, within: tuple[str, ...]) -> str | None:
        values = self._values.get(name)
        if not values:
            return _KNOWN.get(name)
        if len(values) > MAX_VARIANTS or name in within:
            return None
        return self.expand(values[min(variant, len(values) - 1)], variant, within=(*within, name))

    def _braced(self, inner: str, variant: int, within: tuple[str, ...]) -> str | None:
        found = _BRACED.fullmatch(inner)
        if found is None:
            return None
        is_indirect, name, operator, rest = found.groups()
        value = self._value(name, variant, within)
        if is_indirect:
            value = None if value is None else self._value(value, variant, within)
        if operator is None or value is None:
            is_default = operator is not None and operator[-1] in "-=+"
            return self.expand(rest, variant, within=(*within, "")) if value is None and is_default else value
        if operator[-1] == "+":
            return self.expand(rest, variant, within=(*within, ""))
        if operator == ":":
            part = _PART.fullmatch(rest)
            if part is None:
                return None
            start = int(part[1][:6])
            return value[start : start + int(part[2][:6])] if part[2] else value[start:]
        if operator[0] in "^,":
            changed = value.upper() if operator[0] == "^" else value.lower()
            return changed if len(operator) == 2 else changed[:1] + value[1:]
        return value

    def _printed(self, inner: str, variant: int, within: tuple[str, ...]) -> str | None:
        """Return what a substitution is replaced by, when it only prints what it says itself."""
        if _PRINTING.match(inner) is None:
            return None
        self._steps -= 20
        commands = split(inner).commands
        if len({command.pipeline for command in commands}) != 1:
            return None
        text = printed(commands, lambda word: self.expand(word, variant, within=(*within, "")))
        return None if text is None else text.rstrip("\n")

    def _assign(self, text: str) -> None:
        found = _ASSIGNMENT.match(text)
        if found is None or len(self._values) > _MAX_VARIABLES:
            return
        name, plus, value = found.groups()
        if value[:1] == "(" and value[-1:] == ")":
            value = value[1:-1]
        values = self._values.setdefault(name, [])
        if plus and values:
            value = values[-1] + value
        if f"${name}" in value or f"${{{name}}}" in value:
            if not values:
                return
            value = value.replace(f"${{{name}}}", values[-1]).replace(f"${name}", values[-1])
        if value not in values and len(values) <= MAX_VARIANTS and len(value) <= MAX_LENGTH:
            values.append(value)

    def _take(self, command: Command) -> None:
        """Keep what a command assigns: `export c=rm`, `printf -v c rm`, `set -- rm`, `read c <<< rm`."""
        words = command.words
        if command.program in _DECLARING:
            for word in words[1:]:
                self._assign(word)
        elif command.program == "printf" and words[1:2] == ("-v",) and len(words) > 3:
            self._assign(f"{words[2]}={formatted(words[3:])}")
        elif command.program == "set" and words[1:2] == ("--",):
            self._values["@"] = self._values["*"] = [" ".join(words[2:])]
        elif command.program == "read" and len(words) > 1:
            for _, target in (each for each in command.redirects if each.op == "<<<"):
                self._assign(f"{words[-1]}={target}")


def _closing(text: str, start: int, bracket: str | None) -> int:
    """Return where an expansion ends, or -1 when it stays open."""
    if bracket is None:
        return text.find("`", start) + 1 or -1
    opening = bracket[0]
    depth = 1
    for found in _BRACKETS[opening].finditer(text, start):
        depth += 1 if found[0] == opening else -1
        if not depth:
            return found.end()
    return -1


def braces_expanded(word: str) -> list[str]:
    """Return the words that a word with braces stands for, or the word alone.

    >>> braces_expanded("{rm,-rf,/x}")
    ['rm', '-rf', '/x']
    """
    if "{" not in word or _BRACE_WORD.fullmatch(word) is None or len(word) > MAX_LENGTH:
        return [word]
    words = [word]
    for _ in range(MAX_BRACES):
        found: list[str] = []
        for each in words:
            group = _GROUP.search(each)
            if group is None:
                found.append(each)
            else:
                found += [each[: group.start()] + choice + each[group.end() :] for choice in group[1].split(",")]
        if found == words or len(found) > MAX_BRACES:
            break
        words = found
    return [each for each in words if each] or [word]


def classes_resolved(pattern: str) -> str:
    """Return a pattern without classes of a single character.

    >>> classes_resolved("/bin/[r]m")
    '/bin/rm'
    """
    return pattern if "$" in pattern else _SINGLE_CLASS.sub(r"\1", pattern)
