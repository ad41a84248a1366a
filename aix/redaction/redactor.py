"""Texts without what should not leave a machine, each part replaced by a mark such as `[secret:3f9c01b2aa]`.

A mark names the kind of what it hides and has a fingerprint of it, computed with a key: within a ledger the same secret
has the same mark, and without the key nobody can try guesses.
"""

import hmac
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from hashlib import sha256

from aix.redaction.people import email_addresses, home_folders, kind_of_setting, logins, names_pattern
from aix.redaction.secret_names import is_certain_name
from aix.redaction.secret_texts import is_secret_value, looks_like_password, secrets
from aix.redaction.tokens import credentials, private_keys

_KINDS = {
    "secret": ("secret", "secrets"),
    "private-key": ("private key", "private keys"),
    "email": ("e-mail address", "e-mail addresses"),
    "home": ("home folder", "home folders"),
    "user": ("user name", "user names"),
    "host": ("host name", "host names"),
    "name": ("listed name", "listed names"),
}
KINDS = tuple(_KINDS)
"""Kinds of hidden texts, in the order in which they are counted for people."""
_MARK = re.compile(rf"\[(?P<kind>{'|'.join(KINDS)}):[0-9a-f]{{10}}\]")
_FINGERPRINT_CHARACTERS = 10
_MOST_REMEMBERED = 20_000
_LONGEST_REMEMBERED = 400
_DEEPEST_TEXT = 8
"""How deep JSON is looked for in texts of JSON; below, it is searched as any text."""
_JSON = re.compile(r"\s*(?:\{.*\}|\[.*\])\s*", re.DOTALL)
_JSON_LINE = re.compile(r"^[ \t]*(?:\{.*\}|\[.*\])[ \t]*$", re.MULTILINE)
_LABELS = ("name", "key", "k", "header", "field", "variable", "setting", "property", "parameter", "option")
_VALUES = frozenset({"v", "val", "value", "values", "content", "data", "default", "text"})
_FLAG = re.compile(r"--?[A-Za-z][\w.-]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
_PAIR = 2
_LOGIN_FLAGS = ("-u", "--user", "--proxy-user")
_COLOUR = re.compile(r"(?:\x1b|\\+(?:u001b|x1b|e|033))\[[0-9;]{0,12}m", re.IGNORECASE)
_ESCAPE = re.compile(r"""(?P<path>\b[A-Za-z]:\\[^\s"']{0,400})|\\+[nrt](?![A-Za-z]:\\)""")
"""Line ends and tabs as JSON and programs write them, but not in the paths of Windows."""
_ENCODED_BLANK = re.compile(r"%(?:20|0[AaDd]|09|22|27)")
_FOLDER_END = re.compile(r"[/\\-]|%(?:2F|5C)", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s._+-]|%20|\\|&nbsp;")
_INDENT = re.compile(r"\s*[{\[]\r?\n([ \t]+)")
_BLANK_AFTER_NAME = re.compile(r'"[:,]\s')
_PROBED = 2_000

_Hidden = tuple[int, int, str]
"""Where a text is hidden, from and to, and of which kind it is."""


class Redactor:
    """Hides secrets and names in texts, and counts by kind how often it did.

    >>> redactor = Redactor(bytes(32), names=["Mara Lindt"])
    >>> redactor.text("Mara Lindt has token=abc123def456")
    '[name:145c2fe205] has token=[secret:b214c83f36]'
    >>> dict(redactor.counts)
    {'name': 1, 'secret': 1}
    """

    def __init__(
        self,
        key: bytes,
        *,
        users: Iterable[str] = (),
        hosts: Iterable[str] = (),
        names: Iterable[str] = (),
        people: Iterable[str] = (),
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._key = key
        patterns = (
            ("name", names_pattern(names)),
            ("user", names_pattern(people, is_case_kept=True)),  # Will is a name, and will is a word
            ("user", names_pattern(users)),
            ("host", names_pattern(hosts)),
        )
        self._names = [(kind, pattern) for kind, pattern in patterns if pattern is not None]
        self._remembered = lru_cache(_MOST_REMEMBERED)(self._redact)

    def text(self, text: str) -> str:
        """Return a text without its secrets and names; JSON stays JSON."""
        redacted, counts = (self._remembered if len(text) <= _LONGEST_REMEMBERED else self._redact)(text)
        self.counts.update(counts)
        return redacted

    def record(self, values: Mapping[str, object]) -> dict[str, object]:
        """Return the values of a row with its texts redacted; a name such as `password` says what a text is."""
        redacted: dict[str, object] = {}
        for name, value in values.items():
            # One by one: two names may have the same mark.
            [(shown, text)] = self._of_object({name: value if isinstance(value, str) else ""}, self.counts, 0).items()
            while shown in redacted:
                shown += "'"
            redacted[shown] = text if isinstance(value, str) else value
        return redacted

    def mark(self, kind: str, text: str) -> str:
        """Return the mark that stands for a text."""
        return f"[{kind}:{self.digest(kind, text)[:_FINGERPRINT_CHARACTERS]}]"

    def digest(self, kind: str, text: str) -> str:
        """Return the whole fingerprint of a text, in hexadecimal digits."""
        return hmac.digest(self._key, f"{kind}\0{text}".encode("utf-8", "surrogatepass"), sha256).hex()

    def _redact(self, text: str) -> tuple[str, Counter[str]]:
        counts: Counter[str] = Counter()
        return self._of_text(text, counts, 0), counts

    def _of_text(self, text: str, counts: Counter[str], depth: int) -> str:
        if depth >= _DEEPEST_TEXT:
            return self._of_plain(text, counts)
        if _JSON.fullmatch(text):
            found = self._of_json(text, counts, depth)
            if found is not None:
                return found
        parts: list[str] = []
        position = 0
        # Lines of JSON stand in many outputs of tools; all between them stays together, as a private key must.
        for line in _JSON_LINE.finditer(text):
            found = self._of_json(line[0], counts, depth)
            if found is not None:
                parts += [self._of_plain(text[position : line.start()], counts), found]
                position = line.end()
        return "".join([*parts, self._of_plain(text[position:], counts)])

    def _of_json(self, text: str, counts: Counter[str], depth: int) -> str | None:
        """Return JSON without secrets and names; None where a text is not JSON, or names a key twice."""
        hidden: Counter[str] = Counter()
        try:
            value = json.loads(text, object_pairs_hook=_object_of, parse_float=_float_of, parse_constant=_float_of)
            redacted = self._of_value(value, hidden, depth + 1)
        except (ValueError, RecursionError):
            return None
        counts.update(hidden)
        return text if redacted == value else _written_as(redacted, text)

    def _of_plain(self, text: str, counts: Counter[str]) -> str:
        parts: list[str] = []
        position = 0
        for start, end, kind in _apart(self._hidden_in(_searchable(text))):
            parts += [text[position:start], self._counted_mark(kind, text[start:end], counts)]
            position = end
        return "".join([*parts, text[position:]])

    def _hidden_in(self, text: str) -> Iterator[_Hidden]:
        for start, end in private_keys(text):
            yield start, end, "private-key"
        known = [*credentials(text), *secrets(text)]
        for start, end in known:
            yield start, end, "secret"
        for start, end in email_addresses(text):
            # What follows the login of a URL is the name of a server.
            if not any(first <= start < last for first, last in known):
                yield start, end, "email"
        for start, end in home_folders(text):
            yield start, end, "home"
        for kind, (start, end) in logins(text):
            yield start, end, kind
        for kind, pattern in self._names:
            for found in pattern.finditer(text):
                yield *found.span(), kind

    def _counted_mark(self, kind: str, text: str, counts: Counter[str]) -> str:
        counts[kind] += 1
        return self.mark(kind, _plain_form(kind, text))

    def _of_value(self, value: object, counts: Counter[str], depth: int) -> object:
        match value:
            case str():
                return self._of_text(value, counts, depth)
            case dict():
                return self._of_object(value, counts, depth)
            case list():
                return self._of_list(value, counts, depth)
            case _:
                return value

    def _of_object(
        self, value: Mapping[str, object], counts: Counter[str], depth: int, *, of_secret: str = ""
    ) -> dict[str, object]:
        """Hide values by their names, by the label beside them, or by the name of the object they are in."""
        label = next((str(value[name]) for name in _LABELS if isinstance(value.get(name), str)), None)
        redacted: dict[str, object] = {}
        for name, each in value.items():
            judged_by = name
            if label is not None and name.lower() in _VALUES:
                judged_by = label
            elif of_secret and (name.lower() in _VALUES or looks_like_password(str(each))):
                judged_by = of_secret
            redacted[self._of_plain(name, counts)] = self._named(judged_by, each, counts, depth)
        return redacted

    def _of_list(self, values: list[object], counts: Counter[str], depth: int) -> list[object]:
        """Hide elements too that follow a flag of a command, or the name of a header in a pair."""
        is_pair = len(values) == _PAIR and all(isinstance(value, str) for value in values)
        redacted: list[object] = []
        before: object = None
        for value in values:
            is_name = isinstance(before, str) and (is_pair or _FLAG.fullmatch(before) is not None)
            if before in _LOGIN_FLAGS and isinstance(value, str) and ":" in value:
                user, _, password = value.partition(":")
                redacted.append(f"{self._of_plain(user, counts)}:{self._named('password', password, counts, depth)}")
            else:
                redacted.append(self._named(str(before) if is_name else "", value, counts, depth))
            before = value
        return redacted

    def _named(self, name: str, value: object, counts: Counter[str], depth: int) -> object:
        """Hide a value of that name, or the secrets and names in it."""
        match value:
            case bool() | None:
                return value
            case str() if is_secret_value(name, value) and not _MARK.fullmatch(value):
                return self._counted_mark("secret", value, counts)
            case str() if kind := kind_of_setting(name, value):
                return self._counted_mark(kind, value, counts)
            case int() | float() if is_certain_name(name):
                return self._counted_mark("secret", str(value), counts)
            case list() if is_certain_name(name):
                return [self._named(name, each, counts, depth) for each in value]
            case dict() if is_certain_name(name):
                return self._of_object(value, counts, depth, of_secret=name)
            case _:
                return self._of_value(value, counts, depth)


def marks_in(text: str) -> Counter[str]:
    """Count the marks in a text by their kind.

    >>> dict(marks_in("[name:145c2fe205] has token=[secret:b214c83f36]"))
    {'name': 1, 'secret': 1}
    """
    return Counter(found["kind"] for found in _MARK.finditer(text))


def counts_in_words(counts: Mapping[str, int]) -> str:
    """Say how much of each kind was hidden.

    >>> counts_in_words({"email": 1, "secret": 1200}), counts_in_words({})
    ('1,200 secrets, 1 e-mail address', 'nothing')
    """
    known = [(counts.get(kind, 0), names) for kind, names in _KINDS.items()]
    listed = (f"{count:,} {one if count == 1 else several}" for count, (one, several) in known if count)
    return ", ".join(listed) or "nothing"


def _object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make an object; the first of two values of a key would be searched by nobody."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands twice")
    return made


def _float_of(text: str) -> float:
    """Read a number that Python would write in the same way."""
    number = float(text)
    if repr(number) != text:
        raise ValueError("a number would change")
    return number


def _searchable(text: str) -> str:
    """Return a text of the same length in which marks and what programs write between words are no part of words."""
    if "[" in text:
        text = _MARK.sub(lambda found: f"[{'x' * (len(found[0]) - 2)}]", text)
        text = _COLOUR.sub(_blanks, text)
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: found[0] if found["path"] else f"{' ' * (len(found[0]) - 1)}\n", text)
    return _ENCODED_BLANK.sub("   ", text) if "%" in text else text


def _blanks(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _plain_form(kind: str, text: str) -> str:
    """Return what the fingerprint of a text is made of: the same for all ways to write a name, an address, a home."""
    match kind:
        case "home":
            return _FOLDER_END.split(text)[-1].casefold()
        case "name" | "user":
            return _BETWEEN.sub("", text).casefold()
        case "email" | "host":
            return text.casefold()
        case _:
            return text


def _apart(hidden: Iterable[_Hidden]) -> Iterator[_Hidden]:
    """Put places that overlap together, under the kind of the first."""
    start, end, kind = -1, -1, ""
    for place in sorted(hidden, key=lambda place: (place[0], -place[1])):
        if place[0] >= end:
            if end > start:
                yield start, end, kind
            start, end, kind = place
        else:
            end = max(end, place[1])
    if end > start:
        yield start, end, kind


def _written_as(value: object, text: str) -> str:
    """Write JSON with the blanks of a text that it stands for."""
    indent = _INDENT.match(text)
    separators = None if indent or _BLANK_AFTER_NAME.search(text[:_PROBED]) else (",", ":")
    written = json.dumps(value, ensure_ascii=False, indent=len(indent[1]) if indent else None, separators=separators)
    return (
        json.dumps(value, indent=len(indent[1]) if indent else None, separators=separators)
        if _SURROGATE.search(written)
        else written
    )
