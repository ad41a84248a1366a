"""Words of a text, as the index sees them.

A word is a run of letters and digits, without regard to case and accents; everything else, also `_`, divides words. In
scripts that are written without blanks each character is a word of its own.
"""

import re
import unicodedata

TOKENIZER = "unicode61 remove_diacritics 2"
"""The tokenizer of SQLite's FTS5 that divides texts so, once `spaced` has set single characters apart."""
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff"
# These are compiled when they are first used: Python goes through each range, and most texts need none of them.
_FOREIGN = "[^\0-\u303f]"
"""Fewer ranges are looked for faster; most texts have no such character."""
_UNSPACED_CHARACTER = f"[{_UNSPACED}]"
_LETTER = rf"[^\W_{_UNSPACED}]"
_MARK = "[\u0300-\u0331]"
"""Accents that stand behind their letter, as in names of files on some systems."""
_WORD = f"[{_UNSPACED}]|{_LETTER}+"
_ASCII_WORD = "[a-z0-9]+"
_PICTURE = "[\ue000-\uf8ff\U0001f000-\U0001fbff]"
"""Glyphs of prompts and emoji, which FTS5 takes for letters where they are newer than it knows."""
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def spaced(text: str) -> str:
    """Return a text with blanks around the characters that are words of their own, and in place of colours.

    >>> spaced("検索 v2")
    ' 検  索  v2'
    """
    text = _without_colours(text)
    if text.isascii() or not re.search(_FOREIGN, text):
        return text
    return re.sub(_UNSPACED_CHARACTER, r" \g<0> ", re.sub(_PICTURE, " ", text))


def words_of(text: str) -> list[str]:
    """Return the words of a text.

    >>> words_of("Café_au-lait.py")
    ['cafe', 'au', 'lait', 'py']
    """
    plain = folded(text)
    return re.findall(_ASCII_WORD if plain.isascii() else _WORD, re.sub(_MARK, "", plain))


def folded(text: str) -> str:
    """Return a text of the same length in lower case, without colours and without the accents of Latin letters.

    >>> folded("Ünïcode")
    'unicode'
    """
    text = _without_colours(text)
    return text.lower() if text.isascii() else text.translate(_FOLDING)


def _without_colours(text: str) -> str:
    """Put blanks in place of what colours a text: its last letter would be part of the next word."""
    return _COLOUR.sub(lambda found: " " * len(found[0]), text) if "\x1b" in text else text


class _Folding(dict[int, str]):
    """A character by the code of another, found when it is first asked for."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        letters = unicodedata.normalize("NFD", character)
        is_accented = letters[0].isascii() and all(map(unicodedata.combining, letters[1:]))
        lower = letters[0].lower() if is_accented else character.lower()
        self[code] = lower if len(lower) == 1 else character
        return self[code]


_FOLDING = _Folding()


def pattern_of(words: list[str], *, is_prefix: bool) -> str:
    """Return a regular expression that finds these words beside each other in a folded text."""
    parts: list[str] = []
    for place, word in enumerate(words):
        is_single = _is_single(word)
        if place:
            was_single = _is_single(words[place - 1])
            parts.append(r"[\W_]*" if is_single or was_single else r"[\W_]+")
        elif not is_single:
            parts.append(f"(?<!{_LETTER})(?<!{_MARK})")
        parts.append("".join(f"{re.escape(letter)}{_MARK}*+" for letter in word))
    if not is_prefix and words and not _is_single(words[-1]):
        parts.append(f"(?!{_LETTER})")
    return "".join(parts)


def _is_single(word: str) -> bool:
    return not word.isascii() and re.match(_UNSPACED_CHARACTER, word) is not None
