"""Passages of a text that a client put between tags."""

from collections.abc import Iterator


def envelopes(text: str, tag: str) -> Iterator[str]:
    """Go through what stands between a tag and its end; a tag without an end holds nothing.

    >>> [*envelopes("<a>1</a> and <a>2</a> and <a>3", "a")]
    ['1', '2']
    """
    for start, end in _places(text, tag):
        yield text[start + len(tag) + 2 : end - len(tag) - 3]


def without_envelopes(text: str, *tags: str) -> str:
    """Leave out the tags and what stands between them.

    >>> without_envelopes("See <a>1</a>this <b>2</b>", "a", "b")
    'See  this  '
    """
    for tag in tags:
        kept = 0
        parts = []
        for start, end in _places(text, tag):
            parts.append(text[kept:start])
            kept = end
        text = " ".join([*parts, text[kept:]])
    return text


def _places(text: str, tag: str) -> Iterator[tuple[int, int]]:
    opening, closing = f"<{tag}>", f"</{tag}>"
    end = 0
    while (start := text.find(opening, end)) >= 0 and (found := text.find(closing, start)) >= 0:
        end = found + len(closing)
        yield start, end
