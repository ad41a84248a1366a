"""Beginnings of texts, by which a pattern that names one is found among thousands."""

from collections.abc import Iterator


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
