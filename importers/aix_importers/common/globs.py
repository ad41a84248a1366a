"""Beginnings of texts, by which a pattern that names one is found among thousands."""

import re
from collections.abc import Iterator
from itertools import groupby

WILDCARDS = frozenset("*?")


def has_wildcards(pattern: str) -> bool:
    """Whether a pattern stands for more than itself."""
    return not WILDCARDS.isdisjoint(pattern)


def name_glob(pattern: str, *, ignores_case: bool = False) -> re.Pattern[str]:
    """Return what whole names are matched with: `*` stands for any text, `?` for one character.

    >>> bool(name_glob("list_*").match("list_issues")), bool(name_glob("list_*").match("get_list_x"))
    (True, False)
    """
    return re.compile(_run(pattern, ".", r"\Z"), re.DOTALL | (re.IGNORECASE if ignores_case else re.NOFLAG))


def command_glob(pattern: str) -> re.Pattern[str]:
    """Return what the beginning of a command is matched with, up to the end of a word.

    In the first word `*` stays within that word.

    >>> bool(command_glob("npm run *").match("npm run x y")), bool(command_glob("*sh").match("rm a.sh"))
    (True, False)
    """
    first, space, rest = pattern.partition(" ")
    end = r"(?= |\Z)"
    if not space:
        return re.compile(_run(first, "[^ ]", end), re.DOTALL)
    return re.compile(_run(first, "[^ ]", " ") + _run(rest, ".", end), re.DOTALL)


def path_glob(pattern: str, *, covers_below: bool) -> re.Pattern[str]:
    """Return what relative paths are matched with: `**` stands for any folders, `*` and `?` stay within a name.

    With `covers_below` everything in a folder that matches is matched too.

    >>> bool(path_glob("src/**/*.ts", covers_below=False).match("src/a/b.ts"))
    True
    """
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    blocks = [
        None if is_any else "/".join(_run(part, "[^/]", r"(?=/|\Z)") for part in group)
        for is_any, group in groupby(parts, lambda part: part == "**")
    ]
    end = "" if covers_below else r"\Z"
    written = ""
    for number, block in enumerate(blocks):
        is_last = number == len(blocks) - 1
        if block is None:
            continue
        closing = end if is_last else "" if number == len(blocks) - 2 else "/"
        is_found = number > 0
        written += rf"(?>(?:[^/]*+/)*?{block}{closing})" if is_found else block + closing
    return re.compile(written or ("" if parts else end), re.DOTALL)


def _run(pattern: str, character: str, end: str) -> str:
    first, *others = re.split(r"\*+", pattern)
    written = _fixed(first, character)
    if not others:
        return written + end
    *middle, last = others
    written += "".join(f"(?>{character}*?{_fixed(each, character)})" for each in middle)
    return f"{written}(?>{character}*?{_fixed(last, character)}{end})"


def _fixed(text: str, character: str) -> str:
    return "".join(character if each == "?" else re.escape(each) for each in text)


def beginnings(text: str, separator: str, longest: int) -> Iterator[str]:
    """Go through the beginnings of a text that end where a separator stands, and itself, up to a length.

    >>> list(beginnings("git log -p", " ", 7)), list(beginnings("src/a", "/", 9))
    (['git', 'git log'], ['src', 'src/a'])
    """
    end = text.find(separator)
    while 0 <= end <= longest:
        yield text[:end]
        end = text.find(separator, end + 1)
    if len(text) <= longest:
        yield text
