"""Problems of files that users write, in the words of these files."""

import re
from collections.abc import Iterable

from aix.declared_error import nearest_names

_UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(?P<name>[^`]*)`(?: - at `\$\.?(?P<place>.*)`)?")
_WRONG_TYPE = re.compile(r"Expected `(?P<wanted>[^`]*)`, got `(?P<got>[^`]*)`(?: - at `\$\.?(?P<place>.*)`)?")
_WORDS = {
    "array": "a list of texts",
    "str": "text",
    "int": "a number",
    "float": "a number",
    "object": "a table",
    "date": "a date",
    "datetime": "a moment",
    "bool": "true or false",
}


def in_plain_words(message: str, known: Iterable[str]) -> str:
    """Say what msgspec does, given the names of all settings that such a file can have.

    >>> in_plain_words("Expected `array | null`, got `str` - at `$.tools.deny`", ())
    'tools.deny must be a list of texts, not text'
    >>> in_plain_words("Object contains unknown field `titel`", ("title",))
    "there is no setting 'titel'; did you mean title?"
    """
    if found := _UNKNOWN_FIELD.fullmatch(message):
        nearest = nearest_names(found["name"], [name for name in known if name != found["name"]], 1)
        meant = f"; did you mean {nearest[0]}?" if nearest else ""
        return f"there is no setting {'.'.join(filter(None, (found['place'], found['name'])))!r}{meant}"
    if found := _WRONG_TYPE.fullmatch(message):
        wanted = " or ".join(_WORDS.get(each, each) for each in found["wanted"].split(" | ") if each != "null")
        return f"{found['place'] or 'it'} must be {wanted}, not {_WORDS.get(found['got'], found['got'])}"
    return message
