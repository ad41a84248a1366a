"""Settings without their secrets, which their names or texts show.

In doubt a setting is a secret: one that is missing can be looked up, one that got out cannot be taken back.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from aix.redaction.secret_names import counts_tokens, is_secret_name
from aix.redaction.tokens import CREDENTIAL_FORMS, PRIVATE_KEY_START
from aix_importers.common.json_text import is_text

_PLAIN_REFERENCE = re.compile(r"(?:(?:bearer|basic|token) )?(\$\{[A-Za-z_][A-Za-z0-9_]*\})", re.IGNORECASE)
_COUNT = re.compile(r"[0-9]{1,9}[kKmM]?")
_LABELS = ("name", "key", "k", "header", "field", "variable", "setting", "property", "parameter", "option", "path")
_VALUES = frozenset({"v", "val", "value", "values", "oldvalue", "newvalue", "old", "new", "previousvalue"})
_LABELLED = _VALUES | {"content", "data", "default", "text"}
_PATH = "path"
"""A label of values alone: beside a content it is rather the path of a file."""
_CRITERION_KEY = re.compile(r"[A-Za-z][A-Za-z_.]{0,40}")
# Lengths have bounds so that no text makes the search slow.
_URL_WITH_LOGIN = r"://[^\s/?\#@:]{0,400}:(?![0-9]{1,5}[/?\#])[^\s@]{0,400}@"
_SECRET_TEXT = re.compile(
    rf"""
      (?i:^\s*bearer\s+\S+\s*$)
    | (?i:^\s*basic\s+[a-z0-9+/]{{6,}}={{0,2}}\s*$)
    | (?i:\bauthorization["']?\s{{0,9}}[:=]\s{{0,9}}\S)
    | (?i:^\s*(?:set-)?cookie\s{{0,9}}:\s{{0,9}}\S)
    | (?:^|\s)(?:-u|--user|--proxy-user)[\s=]{{1,9}}["']?[^\s:"'/]{{1,200}}:(?![0-9]{{1,9}}["']?(?:\s|$))[^\s"'/]
    | \$\{{\w{{1,200}}:?[-=]
    | {_URL_WITH_LOGIN}
    | ://(?!git@)[^\s/?\#@:]{{1,400}}@
    | hooks\.slack\.com/ | discord(?:app)?\.com/api/webhooks/ | webhook\.office\.com/
    | ^\s*[psr]k[-_]\S+\s*$
    | {CREDENTIAL_FORMS}
    | {PRIVATE_KEY_START}
    """,
    re.VERBOSE,
)
_SECRET_IN_PROSE = re.compile(
    rf"""
      (?i:\bauthorization\s{{0,9}}[:=]\s{{0,9}}(?:basic|bearer)\s{{1,9}})\S+
    | (?: {CREDENTIAL_FORMS} | {_URL_WITH_LOGIN} ) \S*
    | {PRIVATE_KEY_START} (?:[\s\S]*? -----END [^\n]* | [\s\S]*)
    """,
    re.VERBOSE,
)
_NAME = r"(?P<name>[A-Za-z_][\w.-]{0,80})"
_NAMED_TEXTS = (
    re.compile(rf"""^\s*-{{0,2}}{_NAME}\s{{0,9}}=\s{{0,9}}[^\r\n]+$"""),
    # With blanks it is rather a sentence, as in "auth: add a page", but for what may have them.
    re.compile(rf"""^\s*-{{0,2}}{_NAME}\s{{0,9}}:\s{{1,9}}\S+\s*$"""),
    re.compile(
        rf"""(?i)^\s*-{{0,2}}(?=[\w.-]{{0,80}}(?:passw|passphrase|mnemonic|secret)){_NAME}\s{{0,9}}:\s{{1,9}}\S"""
    ),
    # In one of several lines, one word after such a name, or any that looks random: a prompt may have "Auth: required".
    re.compile(
        rf"""(?im)^[ \t]*-{{0,2}}(?=[\w.-]{{0,80}}(?:passw|passphrase|secret)){_NAME}\s{{0,9}}:[ \t]{{1,9}}\S+[ \t]*$"""
    ),
    re.compile(rf"""(?m)^[ \t]*-{{0,2}}{_NAME}\s{{0,9}}:\s{{0,9}}(?=[^\s0-9]{{0,400}}[0-9])\S{{8,}}[ \t]*$"""),
    re.compile(rf"""(?:\s|^)(?:-H|--header)[\s=]{{0,9}}["']?{_NAME}\s{{0,9}}:\s{{0,9}}[^\s"']"""),
    re.compile(rf"""[?&;]\s?{_NAME}=[^\s&;]"""),
    re.compile(rf"""(?<![\w.-])-{{0,2}}{_NAME}["']?\s{{0,9}}(?:=|:\s{{0,9}}["'])\s{{0,9}}["']?[^\s"'&;,]{{6,}}"""),
    re.compile(rf"""(?<![\w.-])--{_NAME}\s{{1,9}}["']?[^\s"'-]"""),
)
_ASSIGNED = re.compile(rf"""(?<![\w.-]){_NAME}=["']?[^\s"'&;,]{{6,}}""")
_FLAG = re.compile(r"--?([A-Za-z][\w.-]*)")
_USER_FLAGS = ("u", "user", "proxy-user")
_PAIR_LENGTH = 2
_MOST_PLACES = 5
_LONGEST_NAME = 80
_UNNAMED = "…"
"""Stands for a secret where something must stand: a name, or a word of a sentence."""


def _ignore(_: str) -> None:
    pass


def without_secrets(config: Mapping[str, object], report: Callable[[str], object] = _ignore) -> dict[str, object]:
    """Return settings without what looks like a secret; a name of an environment variable stays.

    `report` gets the place of each setting that is left out, such as `headers.x-api-key`.

    >>> places = []
    >>> without_secrets({"apiKey": "k", "authToken": "${AUTH_TOKEN}", "nested": [{"pwd": "x"}]}, places.append)
    {'authToken': '${AUTH_TOKEN}', 'nested': [{}]}
    >>> places
    ['apiKey', 'nested[0].pwd']
    """
    return _Cleaning(report).of_object(config, "")


def credentials_reason(places: Sequence[str]) -> str:
    """Return the reason of the problem that names what was left out.

    >>> credentials_reason(["apiKey", "nested[0].pwd"])
    'Not stored, because it looks like credentials: apiKey, nested[0].pwd.'
    """
    named = ", ".join(map(shortened, places[:_MOST_PLACES]))
    more = f" and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return f"Not stored, because it looks like credentials: {named}{more}."


def shortened(name: str) -> str:
    """Return a name for a sentence, which may be very long in a log."""
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


class _Cleaning:
    """Goes through settings and leaves secrets out."""

    def __init__(self, report: Callable[[str], object]) -> None:
        self._report = report

    def of_object(self, config: Mapping[str, object], place: str) -> dict[str, object]:
        label = _label(config)
        kept = {}
        for name, value in config.items():
            is_labelled = label is not None and name.lower() in (_VALUES if label.lower() == _PATH else _LABELLED)
            judged_by = str(config[label]) if label is not None and is_labelled else name
            is_name_secret = is_secret_text(name)
            inner = f"{place}.{_UNNAMED if is_name_secret else name}".removeprefix(".")
            is_named = name == label or _may_be_named(judged_by, value) or _is_of_criterion(config, name, place)
            if is_named and not is_name_secret and not is_secret_text(value):
                kept[name] = self._of_value(value, inner)
            else:
                self._report(inner)
        return kept

    def _of_value(self, value: object, place: str, *, is_element: bool = False) -> object:
        match value:
            case dict():
                return self.of_object(value, place)
            case list():
                # Only in a list of pairs: two tools named auth and search are no pair.
                return list(self._of_elements(value, place, is_pair=is_element and len(value) == _PAIR_LENGTH))
            case _:
                return value

    def _of_elements(self, values: list[object], place: str, *, is_pair: bool) -> Iterator[object]:
        """Go through a list without its secrets, such as what follows a flag of a command or the name of a header."""
        for position, (before, value) in enumerate(zip([None, *values], values, strict=False)):
            flag = _FLAG.fullmatch(before) if is_text(before) else None
            name = flag[1] if flag else before if is_pair else None
            inner = f"{place}[{position}]"
            is_login = flag is not None and flag[1] in _USER_FLAGS and is_secret_text(f"{before} {value}")
            if not is_login and not is_secret_text(value) and (not is_text(name) or _may_be_named(name, value)):
                yield self._of_value(value, inner, is_element=True)
            else:
                self._report(inner)


def _is_of_criterion(config: Mapping[str, object], name: str, place: str) -> bool:
    """Whether a `key` is a field that a criterion in a list looks at, as in `{"type": "json", "key": "title"}`."""
    kind, value = config.get("type"), config[name]
    return (
        (name == "key" and place.endswith("]") and is_text(kind) and not is_secret_name(kind))
        and is_text(value)
        and _CRITERION_KEY.fullmatch(value) is not None
    )


def _label(config: Mapping[str, object]) -> str | None:
    """Return the key under which an object that is a name and a value has the name."""
    names = {name.lower(): name for name in config}
    if _LABELLED.isdisjoint(names):
        return None
    if is_text(kind := config.get("type")) and "file" in kind.lower():
        names.pop(_PATH, None)  # of a criterion about the content of a file
    return next((names[label] for label in _LABELS if label in names and is_text(config[names[label]])), None)


def _may_be_named(name: str, value: object) -> bool:
    if not is_secret_name(name) or value is None or isinstance(value, bool) or _is_plain_reference(value):
        return True
    return counts_tokens(name) and _is_count(value)


def _is_count(value: object) -> bool:
    return _COUNT.fullmatch(value) is not None if is_text(value) else isinstance(value, int | float)


def _is_plain_reference(value: object) -> bool:
    found = _PLAIN_REFERENCE.fullmatch(value.strip()) if is_text(value) else None
    return found is not None and _SECRET_TEXT.search(found[1]) is None


def is_secret_text(value: object) -> bool:
    """Whether a value is a text that is or holds a secret.

    >>> is_secret_text("Bearer abc"), is_secret_text("a bear")
    (True, False)
    """
    if not is_text(value) or _is_plain_reference(value):
        return False
    return _SECRET_TEXT.search(value) is not None or any(
        is_secret_name(found["name"]) and not counts_tokens(found["name"])
        for pattern in _NAMED_TEXTS
        for found in pattern.finditer(value)
    )


def without_tokens(text: str) -> str:
    """Return prose without the credentials in it; there, words such as "password:" say nothing about what follows.

    >>> without_tokens("Auth: rework of token=abcdef, and of sk-live-0123456789abcdef too")
    'Auth: rework of token=…, and of … too'
    """
    return _ASSIGNED.sub(_without_value, _SECRET_IN_PROSE.sub(_UNNAMED, text))


def _without_value(found: re.Match[str]) -> str:
    is_secret = is_secret_name(found["name"]) and not counts_tokens(found["name"])
    return f"{found['name']}={_UNNAMED}" if is_secret else found[0]
