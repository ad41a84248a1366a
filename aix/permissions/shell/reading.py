"""The simple commands of a text and of all texts that run within it.

The grammar of bash is the reader (`tree`). Two others stand beside it, for measured reasons
(`python -m benchmarks.shell_readers FILE`; the figures are of 2,581 commands that agents ran in published logs, and of
4,889 with the cases of the tests):

- A text is plain when every token can mean a single thing: words, simple quotes and a few operators. 2,006 of the 2,581
  are; `read_plain` reads them in a sixth of the time, so that splitting all takes 0.33 s instead of 0.58 s.
- `tokens` reads what the grammar cannot: none of the 2,581, but 41 of the 4,889, among them commands that are cut off
  or made to hide a program. Without it an audit would see no program in them.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import count

from aix.permissions.programs import listed
from aix.permissions.shell.masking import HereDocument, Masked, mask, substitutions
from aix.permissions.shell.tokens import Tokens
from aix.permissions.shell.tree import Walk, parse
from aix.permissions.shell.words import Redirect, Span, Statement, Word

_WORD = r"(?:[A-Za-z0-9_./:=@%+,~^*?-]|'[^']*+'|\"[^\"\\$`]*+\")++"
_REDIRECT = r"(?:(?<![^ \t;&|])[0-9]+)?(?:>>|>&|>|<)(?![<>&|])"
_END = r"&&|\|\||\||;"
_PLAIN = re.compile(rf"(?:[ \t]+|{_REDIRECT}|{_WORD}|{_END})*+")
_TOKEN = re.compile(rf"(?P<redirect>{_REDIRECT})|(?P<word>{_WORD})|(?P<end>{_END})")
_QUOTED = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_UNLIKE_OTHERS = listed(
    """
    if then elif else fi for while until do done case esac select function time coproc in export declare typeset local
    readonly unset
    """
)
_ASSIGNMENT = re.compile(r"\w+\+?=")
MAX_NESTING = 16
"""How deep texts within texts are read: scripts of scripts, backticks in backticks."""
MAX_READ = 512 * 1024
"""How many characters are read in all, those of texts within texts counted again."""
MAX_PARSED = 16 * 1024
"""How many characters the grammar is given."""
MAX_BRANCHES = 400
"""How many brackets and pipes, and how many closing brackets, it is given: its time grows with the square of them."""
MAX_HANDED_ON = 10_000
"""How many assignments and redirections wrappers hand on, those for each program counted again."""


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


def _numbered(found: list[tuple[Statement, bool]], pipe: int | None, pipelines: Iterator[int]) -> Iterator[Statement]:
    """Yield the commands of a plain text, those joined by pipes with a common number."""
    current: int | None = None
    for statement, is_piped in found:
        if is_piped and current is None:
            current = next(pipelines) if pipe is None else pipe
        statement.pipe = pipe if current is None else current
        yield statement
        if not is_piped:
            current = None


class Reader:
    """Reads texts, and keeps what all of them have in common."""

    def __init__(self) -> None:
        self.is_whole = True
        self.redirects: list[Redirect] = []
        self.assignments: list[str] = []
        self.pipelines = count()
        self._unread = MAX_READ
        self._handed_on = 0

    def read(
        self, text: str, pipe: int | None = None, expanded: Sequence[Span] = (), depth: int = 0
    ) -> Iterator[Statement]:
        """Yield the simple commands of a text; those in what was expanded before it became a script are skipped."""
        if depth > MAX_NESTING:
            self.is_whole = False
            return
        self._unread -= len(text)
        if self._unread < 0:
            self.is_whole = False
            return
        plain = read_plain(text)
        if plain is not None:
            yield from _numbered(plain, pipe, self.pipelines)
            return
        masked = mask(text)
        by_tokens = Tokens(text, masked.text, self.pipelines, pipe, masked.here_documents)
        tokens = by_tokens.statements
        if _is_moderate(masked.text):
            root = parse(masked.text).root_node
            if not root.has_error:
                starts = {start for start, _ in expanded}
                inner = partial(self.read, depth=depth + 1)
                walk = Walk(text, masked.here_documents, starts, self.pipelines, inner)
                statements = list(walk.statements(root, pipe))
                if expanded or "\\`" in text or _are_all_in(tokens, statements):
                    yield from statements
                    self.redirects += walk.redirects
                    self.assignments += walk.assignments
                    self.is_whole = self.is_whole and not walk.is_cut
                    return
        self.is_whole = False
        self.assignments += by_tokens.assignments
        yield from self._with_bodies(text, masked, tokens, expanded, depth)

    def may_hand_on(self, things: int) -> bool:
        """Whether a wrapper may hand so many things on; when there were too many, the answer is not whole."""
        self._handed_on += things
        if self._handed_on > MAX_HANDED_ON:
            self.is_whole = False
        return self._handed_on <= MAX_HANDED_ON

    def _with_bodies(
        self, text: str, masked: Masked, statements: Iterable[Statement], expanded: Sequence[Span], depth: int
    ) -> Iterator[Statement]:
        """Yield statements read by tokens, and what runs in here-documents between them."""
        ends = [end for _, end in expanded]
        documents = deque(sorted(masked.here_documents.values(), key=lambda document: document.start))
        for statement in statements:
            start = statement.words[0].start
            while documents and documents[0].start < start:
                yield from self._read_body(text, documents.popleft(), depth)
            following = bisect_left(ends, start)
            if following == len(ends) or start <= expanded[following][0]:
                yield statement
        for document in documents:
            yield from self._read_body(text, document, depth)

    def _read_body(self, text: str, document: HereDocument, depth: int) -> Iterator[Statement]:
        if document.is_expanded:
            for script in substitutions(text[slice(*document.body)]):
                yield from self.read(script, depth=depth + 1)


def _are_all_in(tokens: Iterable[Statement], statements: Iterable[Statement]) -> bool:
    """Whether every program that the tokens show is there: the grammar reads some valid texts amiss."""
    found = {statement.words[0].start for statement in statements}
    return all(statement.words[0].start in found for statement in tokens)


def _is_moderate(masked: str) -> bool:
    if len(masked) > MAX_PARSED or masked.count(")") > MAX_BRANCHES:
        return False
    return sum(map(masked.count, "({[`|<")) <= MAX_BRANCHES
