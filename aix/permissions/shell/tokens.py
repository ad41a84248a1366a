"""The simple commands of a text, read by its tokens alone.

This is for texts that the grammar cannot follow, or not in proportionate time: it knows quotes, brackets, operators and
keywords, asks for no order among them, and so finds every program in a text that is broken or cut off.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import takewhile

import msgspec

from aix.permissions.shell.masking import HereDocument
from aix.permissions.shell.words import REDIRECT_OPERATOR, Redirect, Span, Statement, Word, resolve

MAX_DEPTH = 32
"""How deep commands are read within one another."""

MAX_TIMES = 2
"""How many times a text is read again as brackets, all that looked like arithmetic taken together."""

_EXPANSION = r"`|\$\(\(|\$\(|\$\{|\$(?:\w+|[@*#?$!-])"
_STRING = r"'[^']*+(?:'|\Z)|\$'(?:[^'\\]|\\.)*+(?:'|\Z)|\$?\""
_SCRIPT, _QUOTES, _BRACE, _QUOTED_BRACE, _ARITHMETIC = "script", "quotes", "brace", "quoted brace", "sum"
_TOKENS = {
    _SCRIPT: re.compile(
        r"(?P<blank>(?:[ \t]|\\\n)+|(?<![^\s;&|()`])#[^\n]*)"
        r"|(?P<redirect>(?:(?<![^\s;&|()`])[0-9]+)?(?:&>>|&>|<<<|>>|>\||[<>]&|[<>](?!\()))"
        r"|(?P<end>\n|&&|\|\||\|&|\||;;&|;;|;&|;|&)"
        r"|(?P<function>\(\s*\))"
        rf"|(?P<part>\\.|{_STRING}|{_EXPANSION}|[<>]\(|[^\s;&|<>()'\"\\$`]+|[\\$\r])"
        r"|(?P<bracket>\(\(|\(|\))",
        re.DOTALL,
    ),
    _QUOTES: re.compile(rf'\\.|"|{_EXPANSION}', re.DOTALL),
    _BRACE: re.compile(rf"\\.|{_STRING}|{_EXPANSION}|\}}", re.DOTALL),
    _QUOTED_BRACE: re.compile(rf'\\.|"|{_EXPANSION}|\}}', re.DOTALL),
    _ARITHMETIC: re.compile(rf"\\.|{_STRING}|{_EXPANSION}|\(|\)\)|\)", re.DOTALL),
}
_LEADING = frozenset(("if", "then", "elif", "else", "while", "until", "do", "!", "{", "}", "fi", "done"))
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^]]*\])?\+?=", re.ASCII)


class _Frame(msgspec.Struct):
    """Something open, and the command that is being read in it."""

    mode: str
    closer: str
    start: int = -1
    """Where the expansion begins that it is, if it is one."""
    owner: int = 0
    """The place among the frames of the one whose word it is a part of."""
    is_array: bool = False
    opened: int = 0
    """Where arithmetic begins."""
    found: int = 0
    """How many commands were found before it."""
    word_start: int = -1
    expansions: list[Span] = msgspec.field(default_factory=list)
    words: list[Word] = msgspec.field(default_factory=list)
    has_program: bool = False
    """Whether a word is more than a keyword before a command."""
    redirects: list[Redirect] = msgspec.field(default_factory=list)
    documents: list[str] = msgspec.field(default_factory=list)
    op: str = ""
    """The redirection whose target comes next."""
    pipe: int | None = None
    cases: int = 0
    is_pattern: bool = False
    """Whether the next words are patterns of `case`."""
    is_test: bool = False
    """Whether it is within `[[ … ]]`."""


class Tokens:
    """Reads a masked text to its end, in one pass."""

    def __init__(
        self,
        text: str,
        masked: str,
        pipelines: Iterator[int],
        pipe: int | None,
        here_documents: Mapping[int, HereDocument],
    ) -> None:
        self._text = text
        self._here_documents = here_documents
        self._masked = masked
        self._pipelines = pipelines
        self._pipe = pipe
        self._frames = [_Frame(_SCRIPT, "", pipe=pipe)]
        self._backticks = 0
        self._brackets_until = 0
        """Up to where two brackets are no arithmetic."""
        self._left_to_read_again = MAX_TIMES * len(masked)
        self.statements: list[Statement] = []
        self.assignments: list[str] = []
        position = 0
        while (token := _TOKENS[self._frames[-1].mode].search(masked, position)) is not None:
            position = self._take(token)
        while len(self._frames) > 1:
            self._close(len(text))
        self._end_word(len(text))
        self._end_command("")
        self.statements.sort(key=lambda statement: statement.words[0].start)

    def _take(self, token: re.Match[str]) -> int:
        """Take in a token, and return where to read on."""
        frame = self._frames[-1]
        text, start, end = token.group(), token.start(), token.end()
        if text == "`" and self._backticks:
            self._close_backtick(start)
            return end
        kind = token.lastgroup
        if frame.mode != _SCRIPT:
            return self._take_part(text, start, end)
        if kind == "part":
            if frame.word_start < 0:
                frame.word_start = start
            return self._take_part(text, start, end)
        if kind == "bracket":
            return self._take_bracket(text, start, end)
        if kind == "function" and frame.word_start >= 0 and self._masked[start - 1] == "=":
            return end
        self._end_word(start)
        if kind == "redirect":
            written = REDIRECT_OPERATOR.match(self._text, start)
            frame.op = written[1] if written else text
            document = self._here_documents.get(written.start(1)) if written else None
            if document is not None:
                frame.documents.append(document.text(self._text))
        elif kind == "end":
            self._end_command(text)
        elif kind == "function":
            self._clear(frame)
        return end

    def _take_part(self, text: str, start: int, end: int) -> int:
        """Take in a part of a word, which may open or close something within it, and return where to read on."""
        frame = self._frames[-1]
        if text == frame.closer:
            self._close(end)
        elif text == "))" and frame.closer == ")":
            self._close(end - 1)
            return end - 1
        elif text == ")" and frame.closer == "))":
            return self._take_back(frame, end)
        elif text in ('"', '$"'):
            self._open(_QUOTES, '"')
        elif text in ("$(", "<(", ">("):
            self._open(_SCRIPT, ")", start)
        elif text == "`":
            self._open(_SCRIPT, "`", start)
            self._backticks += 1
        elif text == "$((":
            if start < self._brackets_until:
                self._open(_SCRIPT, ")", start)
                return end - 1
            self._open(_ARITHMETIC, "))", start, opened=start)
        elif text == "(" and frame.mode == _ARITHMETIC:
            self._open(_ARITHMETIC, ")")
        elif text == "${":
            is_quoted = frame.mode in (_QUOTES, _QUOTED_BRACE)
            self._open(_QUOTED_BRACE if is_quoted else _BRACE, "}", start)
        elif text[0] == "$" and text[1:2] not in ("", "'"):
            self._owner().expansions.append((start, end))
        return end

    def _take_back(self, arithmetic: _Frame, end: int) -> int:
        """Read again, as brackets within brackets, what looked like arithmetic up to here."""
        self._left_to_read_again -= end - arithmetic.opened
        if self._left_to_read_again < 0:
            arithmetic.mode, arithmetic.closer = _SCRIPT, ")"
            return end
        self._brackets_until = end
        self._frames.pop()
        del self.statements[arithmetic.found :]
        return arithmetic.opened

    def _take_bracket(self, text: str, start: int, end: int) -> int:
        frame = self._frames[-1]
        if text == ")":
            self._end_word(start)
            was_pattern = frame.is_pattern
            self._end_command("")
            if frame.is_pattern:
                frame.is_pattern = False
            elif frame.closer == ")" and not (was_pattern and frame.cases):
                self._close(end)
            return end
        if frame.is_pattern:
            return end
        if frame.word_start >= 0 and self._masked[start - 1] == "=":
            self._open(_SCRIPT, ")", is_array=True)
            return start + 1
        self._end_word(start)
        if frame.is_test:
            self._open(_ARITHMETIC, ")")
            return start + 1
        if text == "((" and not frame.has_program and start >= self._brackets_until:
            self._open(_ARITHMETIC, "))", opened=start)
            return end
        self._end_command("|" if frame.pipe is not None else "")
        self._open(_SCRIPT, ")")
        return start + 1

    def _open(self, mode: str, closer: str, start: int = -1, *, is_array: bool = False, opened: int = 0) -> None:
        top = len(self._frames) - 1
        owner = top if self._frames[top].mode == _SCRIPT else self._frames[top].owner
        self._frames.append(_Frame(mode, closer, start, owner, is_array, opened, len(self.statements)))

    def _owner(self) -> _Frame:
        return self._frames[-1] if self._frames[-1].mode == _SCRIPT else self._frames[self._frames[-1].owner]

    def _close(self, end: int) -> None:
        frame = self._frames[-1]
        if frame.mode == _SCRIPT:
            self._end_word(end - len(frame.closer) if self._masked.endswith(frame.closer, 0, end) else end)
            self._end_command("")
        self._frames.pop()
        if frame.start >= 0:
            self._owner().expansions.append((frame.start, end))

    def _close_backtick(self, start: int) -> None:
        while self._frames[-1].closer != "`":
            self._close(start)
        self._close(start + 1)
        self._backticks -= 1

    def _end_word(self, end: int) -> None:
        frame = self._frames[-1]
        start, frame.word_start = frame.word_start, -1
        if start < 0:
            return
        expansions, frame.expansions = sorted(frame.expansions), []
        if len(self._frames) > MAX_DEPTH:
            return
        written = self._masked[start:end]
        if frame.is_test:
            frame.is_test = written != "]]"
        elif written == "[[" and not frame.has_program:
            frame.is_test = True
            self._clear(frame)
        elif frame.op:
            frame.redirects.append(Redirect(frame.op, resolve(self._text, start, end, expansions).text))
        else:
            frame.words.append(resolve(self._text, start, end, expansions))
            frame.has_program = frame.has_program or not (written in _LEADING or written == "for")
        frame.op = ""

    def _clear(self, frame: _Frame) -> None:
        frame.words = []
        frame.has_program = False

    def _end_command(self, op: str) -> None:
        frame = self._frames[-1]
        words = frame.words
        self._clear(frame)
        redirects, frame.redirects = frame.redirects, []
        documents, frame.documents = frame.documents, []
        frame.op = ""
        words = [] if frame.is_array else self._after_keywords(frame, words)
        if op in ("|", "|&") and frame.pipe is None:
            frame.pipe = next(self._pipelines)
        env = [word.text for word in takewhile(lambda word: _ASSIGNMENT.match(word.text), words)]
        words = words[len(env) :]
        if words and not frame.is_pattern:
            self.statements.append(Statement(self._text, frame.pipe, words, env, redirects, documents))
        elif not frame.is_pattern:
            self.assignments += env
        if op not in ("|", "|&"):
            frame.pipe = self._pipe if len(self._frames) == 1 else None
        if frame.cases and op in (";;", ";;&", ";&"):
            frame.is_pattern = True

    def _after_keywords(self, frame: _Frame, words: list[Word]) -> list[Word]:
        position = 0
        while position < len(words):
            written = self._masked[words[position].start : words[position].end]
            if written == "esac":
                frame.cases = max(0, frame.cases - 1)
                frame.is_pattern = False
            elif written == "case" and not frame.is_pattern:
                frame.cases += 1
                frame.is_pattern = True
                return []
            elif written in ("for", "select"):
                return []
            elif written == "function":
                position += 1
            elif written not in _LEADING:
                break
            position += 1
        return words[position:]
