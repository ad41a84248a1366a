"""Patterns with `*` and other signs, compared in time that grows only with the length of the text.

One compiler serves every language of patterns. A language chooses the signs that it knows, the characters that a star
stands for, and how a match ends. What follows a star never needs it to be longer, so that all stars but the last are
atomic: a library that goes back over them took half a minute for five stars and 200 characters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import groupby

STARS = re.compile(r"(?P<star>\*+)|(?P<text>[^*]+)")
"""Signs of a language in which `*` stands for any text."""
NAMES = re.compile(r"(?P<star>\*+)|(?P<any>\?)|(?P<text>[^*?]+)")
"""The same with `?` for one character."""
CLASSES = re.compile(r"(?P<star>\*+)|(?P<any>\?)|\[(?P<not>!?)(?P<members>[^\]]+)\]|(?P<text>\[|[^*?\[]+)")
"""The same with `[ab]` for one of these characters and `[!ab]` for any other; a bracket alone is itself."""
GITIGNORE = re.compile(
    r"(?P<star>\*+)|(?P<any>\?)|\[(?P<not>[!^]?+)(?P<members>.[^\]]*)\]|\\(?P<escaped>.)|(?P<text>[^*?\[\\]+)|(?P<open>.)",
    re.DOTALL,
)
"""The same with a backslash before a character that stands for itself; every bracket must be closed."""
_SIGN = re.compile(r"[*?\[]")
_MEMBER = re.compile(r"(.)(?:-(.))?", re.DOTALL)
_ESCAPED_MEMBER = re.compile(r"(\\.|.)(?:-(.))?", re.DOTALL)


class GlobError(ValueError):
    """A text is no pattern: a bracket is not closed, a range runs backwards, or nothing follows a backslash."""


def has_wildcards(pattern: str) -> bool:
    """Whether a pattern of names stands for more than itself."""
    return "*" in pattern or "?" in pattern


def glob_expression(pattern: str, signs: re.Pattern[str], character: str = ".", end: str = r"\Z") -> str:
    """Return a pattern as a regular expression in which signs stand for one of these characters, or any number.

    Raises:
        GlobError: The text is no pattern.
    """
    pieces = [""]
    for token in signs.finditer(pattern):
        match token.lastgroup:
            case "star":
                pieces.append("")
            case "any":
                pieces[-1] += character
            case "members":
                pieces[-1] += _one_of(token, character, _ESCAPED_MEMBER if signs is GITIGNORE else _MEMBER)
            case "open":
                raise GlobError(pattern)
            case _:
                pieces[-1] += re.escape(token[token.lastgroup or 0])
    first, *others = pieces
    if not others:
        return first + end
    middle = "".join(f"(?>{character}*?{piece})" for piece in others[:-1])
    return f"{first}{middle}{character}*{others[-1]}{end}"


def _one_of(token: re.Match[str], character: str, member: re.Pattern[str]) -> str:
    """Return the expression of the characters in brackets."""
    written = ""
    for found in member.finditer(token["members"]):
        first, last = found[1][-1], found[2]
        if last is not None and last < first:
            raise GlobError(token.string)
        written += re.escape(first) if last is None else f"{re.escape(first)}-{re.escape(last)}"
    limit = "" if character == "." else f"(?={character})"
    return f"{limit}[{'^' if token['not'] else ''}{written}]"


def name_glob(pattern: str, signs: re.Pattern[str] = NAMES) -> re.Pattern[str]:
    """Return what whole names are matched with: `*` stands for any text, `?` for one character.

    >>> bool(name_glob("list_*").match("list_issues")), bool(name_glob("list_*").match("get_list_x"))
    (True, False)
    """
    return re.compile(glob_expression(pattern, signs), re.DOTALL)


def host_glob(pattern: str) -> re.Pattern[str]:
    """Return what hosts are matched with: `*` stays between two dots.

    >>> bool(host_glob("docs*.org").match("docs2.org")), bool(host_glob("*.org").match("a.b.org"))
    (True, False)
    """
    labels = (glob_expression(label, STARS, "[^.]", "") for label in pattern.split("."))
    return re.compile(r"\.".join(labels) + r"\Z", re.DOTALL)


def command_glob(pattern: str) -> re.Pattern[str]:
    """Return what the beginning of a command is matched with, up to the end of a word.

    In the first word `*` stays within that word.

    >>> bool(command_glob("npm run *").match("npm run x y")), bool(command_glob("*sh").match("rm a.sh"))
    (True, False)
    """
    first, space, rest = pattern.partition(" ")
    end = r"(?= |\Z)"
    following = glob_expression(rest, NAMES, end=end) if space else ""
    return re.compile(glob_expression(first, NAMES, "[^ ]", space or end) + following, re.DOTALL)


def path_glob(pattern: str, *, covers_below: bool) -> re.Pattern[str]:
    """Return what relative paths are matched with: `**` stands for any folders, `*` and `?` stay within a name.

    With `covers_below` everything in a folder that matches is matched too.

    >>> bool(path_glob("src/**/*.ts", covers_below=False).match("src/a/b.ts"))
    True
    """
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    end = "" if covers_below else r"\Z"
    return re.compile(path_expression(names, NAMES, end) if names else end, re.DOTALL)


def path_expression(names: Sequence[str], signs: re.Pattern[str], end: str) -> str:
    """Return the names of a path's pattern as a regular expression; the end follows the last, unless that is `**`."""
    blocks = [(is_any, list(group)) for is_any, group in groupby(names, lambda name: name == "**")]
    written = ""
    for number, (is_any, group) in enumerate(blocks):
        if not is_any:
            block = "/".join(glob_expression(name, signs, "[^/]", r"(?=/|\Z)") for name in group)
            following = len(blocks) - 1 - number
            block += end if not following else "" if following == 1 else "/"
            written += rf"(?>(?:[^/]*+/)*?{block})" if number else block
    return written


def beginnings(text: str, separator: str, longest: int) -> Iterator[str]:
    """Go through the beginnings of a text that end where a separator stands, and itself, up to a length.

    By them a pattern that names one is found among thousands.

    >>> list(beginnings("git log -p", " ", 7)), list(beginnings("src/a", "/", 9))
    (['git', 'git log'], ['src', 'src/a'])
    """
    end = text.find(separator)
    while 0 <= end <= longest:
        yield text[:end]
        end = text.find(separator, end + 1)
    if len(text) <= longest:
        yield text


class Words:
    """Patterns that fit a text as a whole; most are plain words, and few are compiled, when a text is looked at.

    >>> [Words(["of=*", "--"]).fit(text) for text in ("of=/dev/sda", "--", "if=x")]
    [True, True, False]
    """

    def __init__(self, patterns: Iterable[str], character: str = ".") -> None:
        plain, ends, starts, others = set(), [], [], []
        for pattern in patterns:
            is_any_text = character == "." or "/" not in pattern
            if _SIGN.search(pattern) is None:
                plain.add(pattern)
            elif is_any_text and pattern[0] == "*" and _SIGN.search(pattern, 1) is None:
                ends.append(pattern[1:])
            elif is_any_text and pattern[-1] == "*" and _SIGN.search(pattern[:-1]) is None:
                starts.append(pattern[:-1])
            else:
                others.append(pattern)
        self._plain, self._ends, self._starts = frozenset(plain), tuple(ends), tuple(starts)
        self._others, self._character = tuple(others), character
        if any("[" in pattern for pattern in others):
            self._expression  # noqa: B018 - a range may be wrong, which the reader of a file wants to know at once

    def fit(self, text: str) -> bool:
        """Whether one of them fits a text."""
        return (
            text in self._plain
            or text.endswith(self._ends)
            or text.startswith(self._starts)
            or (bool(self._others) and self._expression.match(text) is not None)
        )

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        written = (glob_expression(each, CLASSES, self._character) for each in self._others)
        return re.compile("|".join(written), re.DOTALL)


class PathPatterns:
    """Patterns of paths: one fits a path's end, in whole names, or the whole path when it begins with a root.

    >>> secrets = PathPatterns([".env", ".aws/*", "/etc/*"])
    >>> [secrets.fits(path) for path in ("/w/.env", "/w/x.env", "/h/.aws/config", "/etc/a/b")]
    [True, False, True, True]
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        given = list(patterns)
        rooted = [pattern for pattern in given if pattern.startswith("/") or ":/" in pattern]
        ends = [pattern for pattern in given if pattern not in rooted]
        self._whole = Words(rooted)
        self._ends = {
            depth: Words([each for each in ends if each.count("/") == depth], "[^/]")
            for depth in sorted({each.count("/") for each in ends})
        }
        self._depth = max(self._ends, default=0)
        self._plain = [each.rpartition("/")[::2] for each in ends if _SIGN.search(each) is None]

    def may_fit(self, path: str) -> bool:
        """Whether the name at the end of a path is a pattern for one of the plain names here.

        A pattern counts when it begins with letters that it shares with the name: `.en*` may be `.env`, while `*` and
        `*.json` may be anything.

        >>> secrets = PathPatterns([".env", ".aws/credentials"])
        >>> [secrets.may_fit(path) for path in ("/w/.en?", "/h/.aws/*", "/w/*", "/w/.e[m-o]v")]
        [True, True, False, True]
        """
        folder, _, name = path.rpartition("/")
        sign = _SIGN.search(name)
        if sign is None:
            return False
        start = name[: sign.start()]
        fixed = sum(len(token["text"] or "") for token in CLASSES.finditer(name))
        is_named = bool(start) and fixed > 1
        names = [
            plain
            for place, plain in self._plain
            if plain.startswith(start) and (folder.endswith(f"/{place}") if place else is_named)
        ]
        try:
            return bool(names) and any(map(Words([name]).fit, names))
        except GlobError:
            return False

    def fits(self, path: str) -> bool:
        """Whether one of them fits a path in its one form."""
        names = path.rsplit("/", self._depth + 1)
        return self._whole.fit(path) or any(
            end.fit("/".join(names[-depth - 1 :]) if depth else names[-1]) for depth, end in self._ends.items()
        )


class Sequences:
    """Patterns of words that follow one another in `joined_words`; compiled when a text is looked at.

    >>> Sequences(["auth token"]).are_in(joined_words(("-q", "auth", "token")))
    True
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = tuple(patterns)
        if any("[" in pattern for pattern in self._patterns):
            self._expression  # noqa: B018 - a range may be wrong, which the reader of a file wants to know at once

    def are_in(self, joined: str) -> bool:
        """Whether one of them is there."""
        return self._expression.search(joined) is not None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        words = (pattern.split() for pattern in self._patterns)
        sequences = ("\0".join(glob_expression(word, CLASSES, r"[^\0]", "") for word in each) for each in words)
        return re.compile("\0(?:" + "|".join(sequences) + ")(?=\0)", re.DOTALL)


def joined_words(words: Sequence[str]) -> str:
    """Return words as one text in which each stands between zeros."""
    return "\0" + "\0".join(words) + "\0"
