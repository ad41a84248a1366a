"""The shell grammar, loaded when the first command needs it."""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(text: str) -> "Tree":
    """Return the syntax tree of a text of ASCII characters; its places are those of the text."""
    return _parser().parse(text.encode("ascii"))
