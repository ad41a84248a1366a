"""Canonical JSON (RFC 8785): one text for all spellings of a value, and the hash that names it.

Content hashes, such as the ids of events, are made of this text, so that the order of keys and the spelling of numbers
do not matter. The library `rfc8785` writes it; here are the errors that name the place, and the form for values that
RFC 8785 refuses.
"""

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from hashlib import sha256
from json import JSONDecoder, JSONEncoder
from math import isfinite, isnan

import rfc8785

from aix.errors import NotCanonicalError

LARGEST_INTEGER = 2**53 - 1
"""Largest whole number that JSON of every program keeps exactly."""
_SAFE_DIGITS = 15
"""Every whole number of so many digits is below 2^53."""
_MOST_DIGITS = 30
"""A number with more digits is never written out by a program that rounds it."""
_SHOWN_DIGITS = 40
_MOST_NOTES = 20
_SURROGATE = re.compile("[\ud800-\udfff]")
_ENCODER = JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True)
_BEHIND_PLAIN = re.compile("[\ud800-\U0010ffff]")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_NOT_PLAIN_NUMBER = re.compile(r"\d[.e]|\d{16}|N|I")


def canonical_json(value: object) -> str:
    """Write a value as canonical JSON; raise `NotCanonicalError` where RFC 8785 has no text for it.

    >>> canonical_json({"b": 1.0, "a": [1e21, "\u20ac"]})
    '{"a":[1e+21,"€"],"b":1}'
    >>> canonical_json({"params": {"seed": 2**53}})
    Traceback (most recent call last):
    ...
    aix.errors.NotCanonicalError: params.seed: 9007199254740992 is beyond 2^53-1, so that programs would round it
    """
    try:
        return rfc8785.dumps(value).decode()  # type: ignore[arg-type]  # a refused value is an error below
    except RecursionError:
        raise NotCanonicalError("the value", "it is nested too deeply") from None
    except ValueError:
        refusals: list[tuple[str, str]] = []
        _exported(value, "", refusals)
        place, problem = refusals[0]
        raise NotCanonicalError(place or "the value", problem) from None


def content_hash(text: str) -> str:
    """Return the SHA-256 of a canonical JSON text, in hexadecimal digits.

    >>> content_hash(canonical_json({"b": 1.0, "a": 2})) == content_hash('{"a":2,"b":1}')
    True
    """
    return sha256(text.encode()).hexdigest()


def exportable(value: object) -> object:
    r"""Return a value with strings in the place of everything that RFC 8785 refuses; other values stay equal.

    Whole numbers from 2^53 on become their digits, NaN and the infinities their names, and half of a character becomes
    its escape. A key that then equals another one of its object gets one more backslash.

    >>> exportable({"seed": 2**53, "score": float("nan"), "text": "cut \ud83d", "n": 1})
    {'seed': '9007199254740992', 'score': 'NaN', 'text': 'cut \\ud83d', 'n': 1}
    """
    return _exported(value, "", [])


def canonical_form(value: object) -> tuple[str, str | None]:
    """Write a value of JSON as canonical JSON, or else its exportable form.

    Return the text, and the reason where RFC 8785 refuses the value.

    >>> canonical_form({"seed": 1})
    ('{"seed":1}', None)
    >>> canonical_form({"score": float("nan")})
    ('{"score":"NaN"}', 'score: NaN is not a number that JSON has')
    """
    try:
        return _plain_text(value) or canonical_json(value), None
    except NotCanonicalError as error:
        return canonical_json(exportable(value)), str(error)


def _plain_text(value: object) -> str | None:
    """Write a value of JSON as Python does, three times as fast as by RFC 8785; None where the two could differ.

    They write real numbers differently, refuse different values, and sort keys differently behind U+D7FF.
    """
    try:
        text = _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        return None
    return None if _BEHIND_PLAIN.search(text) or _NOT_PLAIN_NUMBER.search(_STRING.sub("", text)) else text


class JsonReader:
    """Reads JSON texts into values that have canonical JSON, and notes what it had to change for that.

    A whole number from 2^53 on becomes the number that programs read where that has the same digits, and else its
    digits as a text. NaN, the infinities and numbers that are too large become texts. Of a key that an object repeats,
    the last value stays.

    >>> reader = JsonReader()
    >>> reader.read('{"seed": 9007199254740993, "score": NaN, "score": 1}')
    {'seed': '9007199254740993', 'score': 1}
    >>> for kind, reason in reader.notes:
    ...     print(kind, reason)
    not_canonical The number 9007199254740993 is beyond 2^53-1; it was kept as a text.
    not_canonical JSON has no number NaN; it was kept as a text.
    duplicate_key The key score is repeated in an object; its last value was taken.
    """

    def __init__(self) -> None:
        self.notes: list[tuple[str, str]] = []
        """Of the text that was read last: kinds of problem, and sentences."""
        self._decoder = JSONDecoder(
            parse_int=self._whole,
            parse_float=self._real,
            parse_constant=self._constant,
            object_pairs_hook=self._object,
            strict=False,
        )

    def read(self, text: str) -> object:
        """Return the value of a JSON text; raise ValueError or RecursionError where it has none."""
        self.notes = []
        return self._decoder.decode(text)

    def read_all(self, text: str) -> Iterator[object]:
        """Go through the values of a text that stand one after the other; the notes are those of each."""
        at = 0
        while at < len(text):
            self.notes = []
            value, end = self._decoder.raw_decode(text, at)
            yield value
            at = len(text) - len(text[end:].lstrip(" \t\r\n"))

    def _whole(self, digits: str) -> int | float | str:
        if len(digits) <= _SAFE_DIGITS:
            return int(digits)
        value = int(digits) if len(digits) <= _MOST_DIGITS else None
        if value is not None and abs(value) <= LARGEST_INTEGER:
            return value
        shown = digits if len(digits) <= _SHOWN_DIGITS else f"{digits[:_SHOWN_DIGITS]}…"
        if value is not None and canonical_json(float(value)) == digits:
            self._note("not_canonical", f"The number {shown} is beyond 2^53-1; programs may round it.")
            return float(value)
        self._note("not_canonical", f"The number {shown} is beyond 2^53-1; it was kept as a text.")
        return digits

    def _real(self, digits: str) -> float | str:
        value = float(digits)
        if isfinite(value):
            return value
        self._note("not_canonical", f"The number {digits[:_SHOWN_DIGITS]} is too large; it was kept as a text.")
        return digits

    def _constant(self, name: str) -> str:
        self._note("not_canonical", f"JSON has no number {name}; it was kept as a text.")
        return name

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        fields = dict(pairs)
        if len(fields) < len(pairs):
            for name, times in Counter(name for name, _ in pairs).items():
                if times > 1:
                    self._note("duplicate_key", f"The key {name} is repeated in an object; its last value was taken.")
        return fields

    def _note(self, kind: str, reason: str) -> None:
        if len(self.notes) < _MOST_NOTES and (kind, reason) not in self.notes:
            self.notes.append((kind, reason))


def _escaped(surrogate: re.Match[str]) -> str:
    return f"\\u{ord(surrogate[0]):04x}"


def _name(value: float) -> str:
    return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _exported(value: object, place: str, refusals: list[tuple[str, str]]) -> object:
    """Return the exportable form of a value; what RFC 8785 refuses is noted by its place, as keys and positions."""
    match value:
        case str():
            if value.isascii() or not _SURROGATE.search(value):
                return value
            refusals.append((place, "the text holds half of a character (a lone surrogate)"))
            return _SURROGATE.sub(_escaped, value)
        case dict():
            return _exported_object(value, place, refusals)
        case list() | tuple():
            return [_exported(inner, f"{place}[{number}]", refusals) for number, inner in enumerate(value)]
        case int() if abs(value) > LARGEST_INTEGER:
            shown = str(value) if abs(value) < 10**30 else f"a number of {value.bit_length()} bits"
            refusals.append((place, f"{shown} is beyond 2^53-1, so that programs would round it"))
            return str(Decimal(value))  # which has no limit of digits
        case float() if not isfinite(value):
            refusals.append((place, f"{_name(value)} is not a number that JSON has"))
            return _name(value)
        case bool() | int() | float() | None:
            return value
        case _:
            refusals.append((place, f"JSON has no {type(value).__name__}"))
            return value


def _exported_object(value: dict[object, object], place: str, refusals: list[tuple[str, str]]) -> dict[object, object]:
    made: dict[object, object] = {}
    halved: dict[str, object] = {}
    for name, inner in value.items():
        if not isinstance(name, str):
            refusals.append((place, f"the key {name!r} is not a text"))
            made[name] = _exported(inner, place, refusals)
        elif name.isascii() or not _SURROGATE.search(name):
            made[name] = _exported(inner, f"{place}.{name}" if place else name, refusals)
        else:
            escaped = _SURROGATE.sub(_escaped, name)
            refusals.append((place, f"the key {escaped} holds half of a character (a lone surrogate)"))
            halved[name] = _exported(inner, place, refusals)
    for name in sorted(halved):
        escaped = _SURROGATE.sub(_escaped, name)
        while escaped in made:
            escaped = f"\\{escaped}"
        made[escaped] = halved[name]
    return made
