"""A text as the grammar reads it best, and where here-documents and substitutions stand in it.

It is as long as the text itself, so that places in both are the same.

Words are always cut from the text itself. Here, what the grammar would misread is overwritten: characters beyond ASCII,
here-documents, and a few forms that it does not know. Overwriting within quotes is therefore harmless.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

from aix.permissions.shell.words import Span, resolve

_SCRIPT, _QUOTES, _BODY, _BRACE, _QUOTED_BRACE, _ARITHMETIC = "script", "quotes", "body", "brace", "quoted brace", "sum"
_EXPANSION = r"`|\$\(\(|\$\(|\$\{"
_STRING = r"'[^']*+(?:'|\Z)|\$'(?:[^'\\]|\\.)*+(?:'|\Z)|\""
_TOKENS = {
    _SCRIPT: re.compile(
        rf"\\.|{_STRING}|{_EXPANSION}|\(\(|[<>]\(|\(|\)|<<<|<<-?|(?<![^\s;&|()`])#[^\n]*|\n", re.DOTALL
    ),
    _QUOTES: re.compile(rf'\\.|"|{_EXPANSION}', re.DOTALL),
    _BODY: re.compile(rf"\\.|{_EXPANSION}", re.DOTALL),
    _BRACE: re.compile(rf"\\.|{_STRING}|{_EXPANSION}|\}}", re.DOTALL),
    _QUOTED_BRACE: re.compile(rf'\\.|"|{_EXPANSION}|\}}', re.DOTALL),
    _ARITHMETIC: re.compile(rf"\\.|{_STRING}|{_EXPANSION}|\(|\)\)|\)", re.DOTALL),
}
_DELIMITER = re.compile(
    r"[ \t]*((?:\\.|'[^']*'|\$?\"(?:[^\"\\]|\\.)*+\"|\$'(?:[^'\\]|\\.)*+'|[^\s;&|<>()`'\"\\])++)", re.DOTALL
)
_INDENTATION = re.compile(r"^\t+", re.MULTILINE)
_FOREIGN = re.compile(r"[^\t\n\x20-\x7e]")
_LINE_END = re.compile(r"\\\r\n|\r\n")
# A line that goes on within a word. After a `#` it may be in a comment, which ends with its line all the same.
_CONTINUED_WORD = re.compile(r"^([^#\n]*[^\s;&|<>()\\#])\\\n(?=[^\s;&|<>()#])", re.MULTILINE)
# A word before `=`: only a name makes an assignment of it, while the grammar takes `--key=value` for one too.
_BEFORE_EQUALS = re.compile(r"(?<![^\s;&|])([\w./:@%,~-]*+)(?<=[\w.])=", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
# Digits at the end of a word before a redirection, which the grammar takes for its descriptor.
_GLUED_DIGITS = re.compile(r"(?<=[^\s;&|()<>0-9])[0-9]+(?=[<>])")
# An escape at the beginning of a line, which the grammar takes for a part of the line before.
_LEADING_ESCAPE = re.compile(r"^([ \t]*)\\(?=\w)", re.MULTILINE)
# A `#` within a word, which the grammar takes for a comment when the word is a program.
_HASH = re.compile(r"(?<![^\s;&|(])([A-Za-z_./-][\w./:-]*)#")
_START = r"(?:^|(?<=[\s;&|!({`]))"
# The grammar reads the inside of `[ … ]` as an expression; to the shell it is a command like any other.
_TEST = re.compile(rf"{_START}\[(?=\s)", re.MULTILINE)
# Keywords before a compound command, which the grammar takes for programs.
_PREFIX = re.compile(
    r"((?:^|[;&|(){`])[ \t]*+(?:(?:if|then|elif|else|while|until|do)[ \t]+)*+)"
    r"((?:(?:time(?:[ \t]+-p)?|coproc(?:[ \t]+\w+)?|!)[ \t]+){1,3})"
    r"(?=[{(]|(?:while|until|for|if|case|select)\s|\[\[)",
    re.MULTILINE,
)


class HereDocument(NamedTuple):
    """A here-document, with the places of its parts in the text."""

    op: str
    start: int
    """Where its operator stands."""
    end: int
    """Where its delimiter ends."""
    delimiter: str
    is_expanded: bool
    """Whether the shell expands its body: when no part of the delimiter is quoted."""
    body: Span
    closed: int
    """Where the delimiter ends that closes it."""

    def text(self, script: str) -> str:
        """Return the body as the program reads it, apart from expansions."""
        body = script[slice(*self.body)]
        return _INDENTATION.sub("", body) if self.op == "<<-" else body


class _Frame(NamedTuple):
    """Something open: how its inside reads, and what closes it."""

    mode: str
    closer: str
    start: int
    is_substitution: bool = False


def here_documents(text: str) -> list[HereDocument]:
    """Return the here-documents of a script, those in its substitutions among them."""
    return _Nesting(text, _SCRIPT).here_documents


def substitutions(body: str) -> list[str]:
    """Return the scripts that run when the body of a here-document is expanded."""
    return [body[start:end] for start, end in _Nesting(body, _BODY).substitutions]


def command_substitutions(script: str) -> list[str]:
    """Return the scripts of the outermost `$(…)` and backticks of a script.

    >>> command_substitutions("git log $(cat a) '$(cat b)' <(cat c)")
    ['cat a']
    """
    spans = _Nesting(script, _SCRIPT).substitutions
    return [script[start:end] for start, end in spans if script[max(start - 2, 0) : start].endswith(("$(", "`"))]


class _Nesting:
    """Follows a text to its end, in one pass."""

    def __init__(self, text: str, mode: str) -> None:
        self._text = text
        self._lines = _Lines(text)
        self._frames = [_Frame(mode, "", 0)]
        self._backticks = 0
        self._open_substitutions = 0
        self._waiting: list[tuple[str, int, int, int]] = []
        self.here_documents: list[HereDocument] = []
        self.substitutions: list[Span] = []
        position = 0
        while (token := _TOKENS[self._frames[-1].mode].search(text, position)) is not None:
            position = self._take(token.group(), token.start(), token.end())
        self._read_bodies(len(text))

    def _take(self, mark: str, start: int, end: int) -> int:
        """Open or close what a token opens or closes, and return where to read on."""
        frame = self._frames[-1]
        if mark == "`":
            self._close("`", end - 1) if self._backticks else self._open(_SCRIPT, "`", end, is_substitution=True)
        elif mark == '"':
            self._close('"', end - 1) if frame.closer == '"' else self._open(_QUOTES, '"', end)
        elif mark in ("$(", "<(", ">("):
            self._open(_SCRIPT, ")", end, is_substitution=True)
        elif mark in ("$((", "(("):
            self._open(_ARITHMETIC, "))", end)
        elif mark == "${":
            self._open(_BRACE if frame.mode in (_SCRIPT, _BRACE, _ARITHMETIC) else _QUOTED_BRACE, "}", end)
        elif mark == "(":
            self._open(frame.mode, ")", end)
        elif mark in (")", "))", "}"):
            return self._take_closer(mark, start, end)
        elif mark == "\n":
            return self._read_bodies(end)
        elif mark in ("<<", "<<-"):
            return self._expect_body(mark, start, end)
        return end

    def _take_closer(self, mark: str, start: int, end: int) -> int:
        closer = self._frames[-1].closer
        if closer == mark:
            self._close(mark, start)
        elif mark == "))" and closer == ")":
            self._close(")", start)
            return end - 1
        elif mark == ")" and closer == "))":
            # What began like arithmetic is a subshell within brackets.
            self._frames[-1] = self._frames[-1]._replace(mode=_SCRIPT, closer=")")
        return end

    def _open(self, mode: str, closer: str, start: int, *, is_substitution: bool = False) -> None:
        self._frames.append(_Frame(mode, closer, start, is_substitution))
        self._backticks += closer == "`"
        self._open_substitutions += is_substitution

    def _close(self, closer: str, end: int) -> None:
        """Close the innermost frame with a closer, and all that stayed open in it."""
        while True:
            frame = self._frames.pop()
            self._backticks -= frame.closer == "`"
            if frame.is_substitution:
                self._open_substitutions -= 1
                if not self._open_substitutions:
                    self.substitutions.append((frame.start, end))
            if frame.closer == closer:
                return

    def _expect_body(self, op: str, start: int, end: int) -> int:
        delimiter = _DELIMITER.match(self._text, end)
        if delimiter is None:
            self.here_documents.append(HereDocument(op, start, end, "", False, (end, end), end))
            return end
        self._waiting.append((op, start, *delimiter.span(1)))
        return delimiter.end()

    def _read_bodies(self, position: int) -> int:
        """Read the bodies that begin after the end of a line, and return where the last one is closed."""
        closed = position
        for op, start, word_start, word_end in self._waiting:
            written = self._text[word_start:word_end]
            delimiter = resolve(self._text, word_start, word_end, ()).text
            end, closed = self._lines.closing(delimiter, position, is_indented=op == "<<-")
            self.here_documents.append(
                HereDocument(op, start, word_end, delimiter, delimiter == written, (position, end), closed)
            )
            position = self._text.find("\n", closed) + 1 or len(self._text)
        self._waiting.clear()
        return closed


class _Lines:
    """Finds the line that closes a here-document without reading the text again for each."""

    def __init__(self, text: str) -> None:
        self._text = text

    def closing(self, delimiter: str, position: int, *, is_indented: bool) -> Span:
        """Return where the delimiter stands that closes a body, or the end of the text when no delimiter does."""
        for places in (self._indented if is_indented else self._exact, self._bracketed):
            starts = places.get(delimiter, [])
            following = bisect_left(starts, position)
            if following < len(starts):
                return starts[following], starts[following] + len(delimiter)
        return len(self._text), len(self._text)

    @cached_property
    def _lines(self) -> list[tuple[int, str]]:
        lines: list[tuple[int, str]] = []
        position = 0
        for line in self._text.split("\n"):
            lines.append((position, line.removesuffix("\r")))
            position += len(line) + 1
        return lines

    @cached_property
    def _exact(self) -> dict[str, list[int]]:
        return _places((line, start) for start, line in self._lines)

    @cached_property
    def _indented(self) -> dict[str, list[int]]:
        stripped = ((start, line, line.lstrip("\t")) for start, line in self._lines)
        return _places((inner, start + len(line) - len(inner)) for start, line, inner in stripped)

    @cached_property
    def _bracketed(self) -> dict[str, list[int]]:
        """Lines such as `EOF)`, which shells take for the end within a substitution."""
        return _places((line.split(")", 1)[0], start) for start, line in self._lines if ")" in line)


def _places(lines: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for line, start in lines:
        places[line].append(start)
    return places


class Masked(NamedTuple):
    """A text for the grammar, with the here-documents that were taken out, by the place of their operator."""

    text: str
    here_documents: dict[int, HereDocument]


def mask(text: str) -> Masked:
    """Return a text as the grammar reads it."""
    found: dict[int, HereDocument] = {}
    masked = text
    if "<<" in text:
        pieces: list[str] = []
        position = 0
        for document in here_documents(text):
            found[document.start] = document
        for start, end, filling in sorted(_fillings(found.values())):
            pieces += (masked[position:start], filling)
            position = end
        masked = "".join((*pieces, masked[position:]))
    if "\r" in masked:
        masked = _LINE_END.sub(lambda end: " \n" if len(end[0]) == 2 else " \\\n", masked)
    masked = _FOREIGN.sub(".", masked)
    if "\\\n" in masked:
        masked = _CONTINUED_WORD.sub(r"\1..", masked)
    if "\\" in masked:
        masked = _LEADING_ESCAPE.sub(r"\1.", masked)
    if "=" in masked:
        masked = _BEFORE_EQUALS.sub(lambda word: word[0] if _NAME.fullmatch(word[1]) else f"{word[1]}.", masked)
    if "[" in masked:
        masked = _TEST.sub(".", masked)
    if "&-" in masked:
        masked = masked.replace(">&-", ">&1").replace("<&-", "<&1")
    if "#" in masked:
        masked = _HASH.sub(r"\1.", masked)
    if "<" in masked or ">" in masked:
        masked = _GLUED_DIGITS.sub(lambda digits: "x" * len(digits[0]), masked)
    if "<>" in masked:
        masked = masked.replace("<>", "< ")
    if "time" in masked or "coproc" in masked or "!" in masked:
        masked = _PREFIX.sub(lambda prefix: prefix[1] + " " * len(prefix[2]), masked)
    return Masked(masked, found)


def _fillings(documents: Iterable[HereDocument]) -> Iterator[tuple[int, int, str]]:
    """Yield what takes the place of here-documents: a file for the delimiter, and nothing for the body."""
    for document in documents:
        blank = len(document.op) - 1
        yield document.start, document.end, "<" + " " * blank + "." * (document.end - document.start - 1 - blank)
        yield document.body[0], document.closed, " " * (document.closed - document.body[0])
