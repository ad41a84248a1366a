"""The simple commands of a text, read from its syntax tree in the order in which they are written.

The grammar is loaded when the first text needs it. The tree is walked with a stack of our own, because its depth is the
text's to choose.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from aix.permissions.shell.masking import HereDocument, substitutions
from aix.permissions.shell.words import QUOTING, REDIRECT_OPERATOR, Redirect, Span, Statement, Word, resolve

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

MAX_DEPTH = 32
"""How deep substitutions are read within one another: the words of each hold all that is inside it."""

MAX_VALUES = 8
"""How many values of a loop are kept."""

_COMMANDS = frozenset(("command", "declaration_command", "unset_command"))
_CHAINS = frozenset(("list", "pipeline", "negated_command"))
_SUBSTITUTIONS = frozenset(("command_substitution", "process_substitution"))
_EXPANSIONS = frozenset((*_SUBSTITUTIONS, "expansion", "simple_expansion", "arithmetic_expansion"))
_REDIRECTS = frozenset(("file_redirect", "herestring_redirect", "heredoc_redirect"))
_COMPOUNDS = frozenset(("subshell", "compound_statement", "test_command"))
_BACKTICK_ESCAPE = re.compile(r"\\([\\`$])")
_DESCRIPTOR = re.compile(r"\{[A-Za-z_]\w*\}")


@cache
def _parser() -> "Parser":
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(text: str) -> "Tree":
    """Return the syntax tree of a text of ASCII characters; its places are those of the text."""
    return _parser().parse(text.encode("ascii"))


@dataclass(eq=False)
class Walk:
    """Goes through the tree of one text."""

    _text: str
    _here_documents: Mapping[int, HereDocument]
    _expanded: Collection[int]
    """Where what was expanded before the text became a script begins."""
    _pipelines: Iterator[int]
    _read: Callable[[str], Iterator[Statement]]
    """Reads a text that runs within this one."""
    _handed_down: "dict[int, list[Node]]" = field(default_factory=dict)
    _apart: dict[int, int | None] = field(default_factory=dict)
    """Statements in a pipeline by the grammar that are none of it, with the pipeline that they are in."""
    redirects: list[Redirect] = field(default_factory=list)
    """Those of no simple command."""
    assignments: list[str] = field(default_factory=list)
    is_cut: bool = False

    def statements(self, root: "Node", pipe: int | None) -> Iterator[Statement]:
        """Yield the simple commands, each before those in its substitutions."""
        stack: list[tuple[Node, int | None, int]] = [(root, pipe, 0)]
        while stack:
            node, pipe, depth = stack.pop()
            kind = node.type
            if node.id in self._apart:
                pipe = self._apart.pop(node.id)
            if kind in _COMMANDS or (kind == "redirected_statement" and node.child_by_field_name("body") is None):
                statement = self._statement(node, pipe)
                if statement.words:
                    yield statement
                else:
                    self.redirects += statement.redirects
            elif kind == "redirected_statement":
                self._hand_down(node)
            elif kind == "pipeline":
                self._keep_apart(node, pipe)
                pipe = next(self._pipelines) if pipe is None else pipe
            elif kind in _SUBSTITUTIONS:
                if node.start_byte in self._expanded:
                    continue
                if depth == MAX_DEPTH:
                    self.is_cut = True
                    continue
                pipe = None
                depth += 1
                for child in node.named_children:
                    if child.type == "file_redirect":
                        self._redirect(child, self.redirects)
                if (script := self._escaped_script(node)) is not None:
                    yield from self._read(script)
                    continue
            elif kind == "variable_assignment":
                self.assignments.append(self._word(node.start_byte, node.end_byte, [node]).text)
            elif kind == "for_statement":
                self._take_loop(node)
            elif kind == "file_redirect":
                document = self._here_document(node)
                if document is not None and document.is_expanded:
                    for script in substitutions(self._text[slice(*document.body)]):
                        yield from self._read(script)
            stack.extend((child, pipe, depth) for child in reversed(node.named_children))

    def _take_loop(self, node: "Node") -> None:
        """Keep the values of a loop over words as assignments to its variable."""
        variable = node.child_by_field_name("variable")
        if variable is not None:
            name = self._text[variable.start_byte : variable.end_byte]
            for value in node.children_by_field_name("value")[:MAX_VALUES]:
                self.assignments.append(f"{name}={self._word(value.start_byte, value.end_byte, [value]).text}")

    def _keep_apart(self, pipeline: "Node", pipe: int | None) -> None:
        """Mark what stands before `b` in `a && b > c | d`, all of which the grammar puts into the pipeline."""
        first = pipeline.named_children[0]
        body = first.child_by_field_name("body") if first.type == "redirected_statement" else first
        if body is not None and body.type == "list":
            for child in body.named_children[:-1]:
                self._apart[child.id] = pipe

    def _escaped_script(self, node: "Node") -> str | None:
        """Return the script between backticks when the grammar has not read what is escaped in it."""
        inner = self._text[node.start_byte + 1 : node.end_byte - 1]
        if self._text[node.start_byte] == "`" and "\\" in inner:
            return _BACKTICK_ESCAPE.sub(r"\1", inner)
        return None

    def _statement(self, node: "Node", pipe: int | None) -> Statement:
        statement = Statement(self._text, pipe)
        places: list[Span] = []
        nodes: list[Node] = []
        is_declaration = node.type != "command"
        pending = self._handed_down.pop(node.id, [])
        for child in (*node.children, *pending):
            kind = child.type
            if kind in _REDIRECTS:
                if places and places[-1][1] == child.start_byte and self._names_descriptor(nodes[-1]):
                    places.pop()
                    nodes.pop()
                if (document := self._here_document(child)) is not None:
                    statement.documents.append(document.text(self._text))
                for word in self._redirect(child, statement.redirects):
                    places.append((word.start_byte, word.end_byte))
                    nodes.append(word)
            elif kind == "variable_assignment" and not is_declaration and not places:
                statement.env.append(self._word(child.start_byte, child.end_byte, [child]).text)
            elif kind not in _COMPOUNDS and kind != "ERROR" and child.end_byte > child.start_byte:
                places.append((child.start_byte, child.end_byte))
                nodes.append(child)
        start = end = -1
        parts: list[Node] = []
        for (first, last), part in zip(places, nodes, strict=True):
            if first == end:
                end = last
                parts.append(part)
                continue
            if parts:
                statement.words.append(self._word(start, end, parts))
            start, end, parts = first, last, [part]
        if parts:
            statement.words.append(self._word(start, end, parts))
        return statement

    def _names_descriptor(self, node: "Node") -> bool:
        """Whether a word is the `{name}` of `{name}> file`."""
        return _DESCRIPTOR.fullmatch(self._text, node.start_byte, node.end_byte) is not None

    def _redirect(self, node: "Node", redirects: list[Redirect]) -> "list[Node]":
        """Add a redirection, and return what the grammar took for more targets: words of the command."""
        operator = REDIRECT_OPERATOR.match(self._text, node.start_byte, node.end_byte)
        op = operator[1] if operator else ">"
        document = self._here_document(node)
        targets = [child for child in node.named_children if child.type != "file_descriptor"]
        if targets:
            target = targets.pop(0)
            if document is not None:
                redirects.append(Redirect(document.op, document.delimiter))
                return targets
            redirects.append(Redirect(op, self._word(target.start_byte, target.end_byte, [target]).text))
        return targets

    def _here_document(self, node: "Node") -> HereDocument | None:
        if not self._here_documents:
            return None
        operator = REDIRECT_OPERATOR.match(self._text, node.start_byte, node.end_byte)
        return self._here_documents.get(operator.start(1)) if operator else None

    def _hand_down(self, node: "Node") -> None:
        """Give the redirections after a statement to the command that they belong to."""
        redirects = [child for child in node.named_children if child.type in _REDIRECTS]
        body = node.child_by_field_name("body")
        while body is not None and body.type in _CHAINS and body.named_children:
            body = body.named_children[-1]
        if body is not None and body.type in _COMMANDS:
            self._handed_down[body.id] = redirects
        else:
            for redirect in redirects:
                self._redirect(redirect, self.redirects)

    def _word(self, start: int, end: int, nodes: "list[Node]") -> Word:
        text = self._text[start:end]
        if QUOTING.isdisjoint(text):
            return Word(text, start, end)
        return resolve(self._text, start, end, [place for node in nodes for place in _expansions(node)])


def _expansions(node: "Node") -> Iterator[Span]:
    stack = [node]
    while stack:
        node = stack.pop()
        if node.type in _EXPANSIONS:
            yield node.start_byte, node.end_byte
        else:
            stack.extend(reversed(node.named_children))
