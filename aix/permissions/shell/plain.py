"""Plain texts, read without the grammar: most commands are words, simple quotes, and a few operators.

A text is plain only when every token is one that can mean a single thing here; then the answer is that of the grammar,
in a tenth of the time.
"""

import re
from collections.abc import Iterator

from aix.permissions.shell.model import Redirect
from aix.permissions.shell.statement import Statement
from aix.permissions.shell.words import Word

_WORD = r"(?:[A-Za-z0-9_./:=@%+,~^*?-]|'[^']*+'|\"[^\"\\$`]*+\")++"
_REDIRECT = r"(?:(?<![^ \t;&|])[0-9]+)?(?:>>|>&|>|<)(?![<>&|])"
_END = r"&&|\|\||\||;"
_PLAIN = re.compile(rf"(?:[ \t]+|{_REDIRECT}|{_WORD}|{_END})*+")
_TOKEN = re.compile(rf"(?P<redirect>{_REDIRECT})|(?P<word>{_WORD})|(?P<end>{_END})")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_UNLIKE_OTHERS = frozenset(
    (
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "select",
        "function",
        "time",
        "coproc",
        "in",
        "export",
        "declare",
        "typeset",
        "local",
        "readonly",
        "unset",
    )
)
_ASSIGNMENT = re.compile(r"\w+\+?=")


def read_plain(text: str) -> list[tuple[Statement, bool]] | None:
    """Return the simple commands of a plain text, each with whether a pipe follows it; None for any other text."""
    if _PLAIN.fullmatch(text) is None:
        return None
    found: list[tuple[Statement, bool]] = []
    statement = Statement(text, None)
    op = ""
    end = ""
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        written = token.group()
        if kind == "word":
            word = written
            if "'" in written or '"' in written:
                word = _QUOTED.sub(r"\1\2", written)
            if op:
                statement.redirects.append(Redirect(op, word))
                op = ""
                continue
            if not statement.words and (written in _UNLIKE_OTHERS or _ASSIGNMENT.match(written)):
                return None
            statement.words.append(Word(word, token.start(), token.end()))
        elif op:
            return None
        elif kind == "redirect":
            op = written.lstrip("0123456789")
        elif not statement.words:
            return None
        else:
            end = written
            found.append((statement, end == "|"))
            statement = Statement(text, None)
    if op or (not statement.words and (statement.redirects or end != ";")):
        return None if text.strip(" \t") else []
    if statement.words:
        found.append((statement, False))
    return found


def numbered(found: list[tuple[Statement, bool]], pipe: int | None, pipelines: Iterator[int]) -> Iterator[Statement]:
    """Yield the commands of a plain text, those joined by pipes with a common number."""
    current: int | None = None
    for statement, is_piped in found:
        if is_piped and current is None:
            current = next(pipelines) if pipe is None else pipe
        statement.pipe = pipe if current is None else current
        yield statement
        if not is_piped:
            current = None
