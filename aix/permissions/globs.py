"""Patterns with `*`, `?` and `[…]`, compared in time that grows only with the length of the text."""

import re
from collections.abc import Iterable, Sequence
from functools import cached_property

_SIGN = re.compile(r"[*?\[]")
_CLASS = re.compile(r"\[(!?)([^\]]+)\]")


class Words:
    """Patterns that fit a text as a whole; most are plain words, and the others are compiled when a text is looked at.

    >>> [Words(["of=*", "--"]).fit(text) for text in ("of=/dev/sda", "--", "if=x")]
    [True, True, False]
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        given = list(patterns)
        self._plain = frozenset(each for each in given if _SIGN.search(each) is None)
        self._others = _Compiled([each for each in given if each not in self._plain], ".")

    def fit(self, text: str) -> bool:
        """Whether one of them fits a text."""
        return text in self._plain or self._others.fit(text)


class _Compiled:
    """Patterns with signs, which are compiled when they are first needed."""

    def __init__(self, patterns: Sequence[str], any_text: str) -> None:
        self._patterns = patterns
        self._any_text = any_text
        if any("[" in pattern for pattern in patterns):
            self._expression  # noqa: B018 - a range may be wrong, which the reader of a file wants to know at once

    def fit(self, text: str) -> bool:
        """Whether one of them fits a text."""
        return bool(self._patterns) and self._expression.fullmatch(text) is not None

    @cached_property
    def _expression(self) -> re.Pattern[str]:
        return re.compile("|".join(_expression(each, any_text=self._any_text) for each in self._patterns), re.DOTALL)


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
            depth: _Names([each for each in ends if each.count("/") == depth])
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
        is_named = bool(start) and len(_CLASS.sub("", name).replace("*", "").replace("?", "")) > 1
        names = [
            plain
            for place, plain in self._plain
            if plain.startswith(start) and (folder.endswith(f"/{place}") if place else is_named)
        ]
        try:
            pattern = Words([name]) if names else None
        except re.error:
            return False
        return pattern is not None and any(map(pattern.fit, names))

    def fits(self, path: str) -> bool:
        """Whether one of them fits a path in its one form."""
        names = path.rsplit("/", self._depth + 1)
        return self._whole.fit(path) or any(
            end.fits("/".join(names[-depth - 1 :]) if depth else names[-1]) for depth, end in self._ends.items()
        )


class _Names:
    """Patterns of names, the plain ones kept apart: a file has hundreds of them, and most paths fit none."""

    def __init__(self, patterns: Iterable[str]) -> None:
        plain, ends, starts, others = set(), [], [], []
        for pattern in patterns:
            if _SIGN.search(pattern) is None:
                plain.add(pattern)
            elif pattern[0] == "*" and _SIGN.search(pattern, 1) is None and "/" not in pattern:
                ends.append(pattern[1:])
            elif pattern[-1] == "*" and _SIGN.search(pattern[:-1]) is None and "/" not in pattern:
                starts.append(pattern[:-1])
            else:
                others.append(pattern)
        self._plain, self._ends, self._starts = frozenset(plain), tuple(ends), tuple(starts)
        self._others = _Compiled(others, "[^/]")

    def fits(self, name: str) -> bool:
        """Whether one of them fits a name, or names with slashes between them."""
        return (
            name in self._plain or name.endswith(self._ends) or name.startswith(self._starts) or self._others.fit(name)
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
        sequences = ("\0".join(_expression(word, any_text=r"[^\0]") for word in each) for each in words)
        return re.compile("\0(?:" + "|".join(sequences) + ")(?=\0)", re.DOTALL)


def joined_words(words: Sequence[str]) -> str:
    """Return words as one text in which each stands between zeros."""
    return "\0" + "\0".join(words) + "\0"


def _expression(pattern: str, *, any_text: str) -> str:
    """Return a pattern as a regular expression that never goes back over what a star has passed, except the last."""
    first, *others = [_literal(piece, any_text) for piece in _pieces(pattern)]
    if not others:
        return first
    middle = "".join(f"(?>{any_text}*?{piece})" for piece in others[:-1])
    return f"{first}{middle}{any_text}*{others[-1]}"


def _pieces(pattern: str) -> list[str]:
    """Return what stands between the stars; a star within brackets is itself."""
    pieces = [""]
    place = 0
    while place < len(pattern):
        found = _CLASS.match(pattern, place)
        if found:
            pieces[-1] += found[0]
            place = found.end()
            continue
        if pattern[place] == "*":
            pieces.append("")
        else:
            pieces[-1] += pattern[place]
        place += 1
    return pieces


def _literal(piece: str, any_text: str) -> str:
    parts: list[str] = []
    place = 0
    while place < len(piece):
        found = _CLASS.match(piece, place)
        if found:
            inner = found[2].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
            parts.append(f"[{'^' if found[1] else ''}{inner}]")
            place = found.end()
        else:
            parts.append(any_text if piece[place] == "?" else re.escape(piece[place]))
            place += 1
    return "".join(parts)
