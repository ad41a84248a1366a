"""Words of a text, as the index sees them.

A word is a run of letters and digits, without regard to case and accents; everything else, also `_`, divides words. In
scripts that are written without blanks each character is a word of its own.
"""

import re
import unicodedata

TOKENIZER = "unicode61 remove_diacritics 2"
"""The tokenizer of SQLite's FTS5 that divides texts so, once `spaced` has set single characters apart."""
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
_FOREIGN = re.compile("[\u3040-\U0003ffff]")
"""Fewer ranges are looked for faster; most texts have no such character."""
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_LETTER = rf"[^\W_{_UNSPACED}]"
_WORD = re.compile(f"[{_UNSPACED}]|{_LETTER}+")


def spaced(text: str) -> str:
    """Return a text with blanks around the characters that are words of their own.

    >>> spaced("検索 v2")
    ' 検  索  v2'
    """
    if text.isascii() or not _FOREIGN.search(text):
        return text
    return _UNSPACED_CHARACTER.sub(r" \g<0> ", text)


def words_of(text: str) -> list[str]:
    """Return the words of a text.

    >>> words_of("Café_au-lait.py")
    ['cafe', 'au', 'lait', 'py']
    """
    return _WORD.findall(folded(text))


def folded(text: str) -> str:
    """Return a text of the same length in lower case and without accents.

    >>> folded("Ünïcode")
    'unicode'
    """
    return text.lower() if text.isascii() else text.translate(_FOLDING)


class _Folding(dict[int, str]):
    """A character by the code of another, found when it is first asked for."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        plain = unicodedata.normalize("NFKD", character)[0].lower()
        self[code] = plain if len(plain) == 1 and plain.isalnum() else character
        return self[code]


_FOLDING = _Folding()


def pattern_of(words: list[str], *, is_prefix: bool) -> str:
    """Return a regular expression that finds these words beside each other in a folded text."""
    parts: list[str] = []
    for place, word in enumerate(words):
        is_single = _UNSPACED_CHARACTER.match(word) is not None
        if place:
            was_single = _UNSPACED_CHARACTER.match(words[place - 1]) is not None
            parts.append(r"[\W_]*" if is_single or was_single else r"[\W_]+")
        elif not is_single:
            parts.append(f"(?<!{_LETTER})")
        parts.append(re.escape(word))
    if not is_prefix and words and not _UNSPACED_CHARACTER.match(words[-1]):
        parts.append(f"(?!{_LETTER})")
    return "".join(parts)
