"""A text as the grammar reads it best: as long as the text itself, so that places in both are the same.

Words are always cut from the text itself. Here, what the grammar would misread is overwritten: characters beyond ASCII,
here-documents, and a few forms that it does not know. Overwriting within quotes is therefore harmless.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from aix.permissions.shell.nesting import HereDocument, here_documents


class Masked(NamedTuple):
    """A text for the grammar, with the here-documents that were taken out, by the place of their operator."""

    text: str
    here_documents: dict[int, HereDocument]


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
