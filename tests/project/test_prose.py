"""Docstrings and comments name the object they describe.

A docstring that begins with a bare "what" or "who" makes the reader find out what is meant, and phrases such as "is
none" or "passed over" say less than "not a rule" or "skipped".
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT

FOLDERS = ("aix", "importers", "benchmarks", "tests")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
_BARE = re.compile(r"\s*(what|who|whoever|that which)\b", re.IGNORECASE)
_PHRASES = re.compile(r"\bis none\b|\bpassed over\b|\bas (?:it|they) stood\b|\banew\b")
# The help of commands comes from docstrings, and its words are those of messages, which change together.
_HELP = "aix/cli"


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Go through the docstrings of a file, those of attributes too."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, node.value.value


def comments(path: Path) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_docstring_begins_with_a_bare_what_or_who(folder: str) -> None:
    files = [path for path in FILES if name_of(path).startswith(f"{folder}/")]
    found = [f"{name_of(path)}:{line}" for path in files for line, text in docstrings(path) if _BARE.match(text)]
    assert not found


@pytest.mark.parametrize("folder", ["aix", "importers", "benchmarks"])
def test_no_docstring_or_comment_has_a_phrase_that_says_little(folder: str) -> None:
    files = [path for path in FILES if name_of(path).startswith(f"{folder}/") and _HELP not in name_of(path)]
    found = [
        f"{name_of(path)}:{line}"
        for path in files
        for line, text in (*docstrings(path), *comments(path))
        if _PHRASES.search(text)
    ]
    assert not found
