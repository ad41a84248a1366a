"""Settings without their secrets, which their names or texts show.

In doubt a setting is a secret: one that is missing can be looked up, one that got out cannot be taken back.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

from aix_importers.session_log.records import is_text


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_NUMBERED = re.compile(r"(?<=[a-z])[0-9]+$")
_SECRET_WORDS = _listed(
    "auth authorization bearer connstr cookie cred dsn hmac jwk jwt key oauth otp pass passcode pat pem pin pwd salt"
    " sig signature token totp"
)
_SECRET_PARTS = ("password", "passwd", "passphrase", "secret", "credential", "apikey", "privatekey", "webhook")
_SECRET_ENDS = ("token", "key", "cookie", "authorization", "connectionstring", "pwd")
_SECRET_PAIRS = frozenset({("connection", "string"), ("conn", "string"), ("conn", "str")})
_HARMLESS_WORDS = _listed("donkey hockey hotkey jockey monkey turkey whiskey")
_HARMLESS_PAIRS = frozenset(
    {
        *((word, "key") for word in _listed("cache foreign group hot order partition primary public routing sort")),
        *(("key", word) for word in _listed("binding board code down frame map press stroke up word")),
        *(("pass", word) for word in _listed("at count rate through threshold")),
    }
)
_DESCRIPTIONS = _listed("enabled endpoint flow kind lifetime method mode required scheme style ttl type")
_COUNTING_WORDS = _listed(
    "budget cached completion context count input limit max maximum min minimum num number output per prompt reasoning"
    " thinking threshold total used window"
)
_COUNTING_STARTS = ("max", "min", "num", "total")


def is_secret_name(name: str) -> bool:
    """Whether a setting of this name holds a secret.

    >>> is_secret_name("OPENAI_KEY"), is_secret_name("keyboard")
    (True, False)
    """
    words = _words(name)
    if words and words[-1] in _DESCRIPTIONS:
        return False
    pairs = list(pairwise(words))
    if any(pair in _SECRET_PAIRS for pair in pairs):
        return True
    harmless = {word for pair in pairs if pair in _HARMLESS_PAIRS for word in pair}
    return any(_is_secret_word(word) and word not in harmless for word in words)


def counts_tokens(name: str) -> bool:
    """Whether a name speaks of tokens as what texts are made of.

    >>> counts_tokens("max_tokens"), counts_tokens("accessToken")
    (True, False)
    """
    words = _words(name)
    tokens = [word for word in words if word.endswith("token")]
    others = [word for word in words if not word.endswith("token")]
    return bool(tokens) and (
        not _COUNTING_WORDS.isdisjoint(others) or all(word.startswith(_COUNTING_STARTS) for word in tokens)
    )


def _is_secret_word(word: str) -> bool:
    if word in _HARMLESS_WORDS:
        return False
    return word in _SECRET_WORDS or word.endswith(_SECRET_ENDS) or any(part in word for part in _SECRET_PARTS)


def _words(name: str) -> list[str]:
    return [_singular(word) for word in _WORD_BORDER.sub("_", name).lower().split("_") if word]


def _singular(word: str) -> str:
    plain = _NUMBERED.sub("", word)
    return plain[:-1] if plain.endswith("s") and not plain.endswith("ss") else plain


_PLAIN_REFERENCE = re.compile(r"(?:(?:bearer|basic|token) )?(\$\{[A-Za-z_][A-Za-z0-9_]*\})", re.IGNORECASE)
_COUNT = re.compile(r"[0-9]{1,9}[kKmM]?")
_LABELS = ("name", "key", "header", "field", "variable")
_LABELLED = frozenset({"content", "data", "default", "text", "val", "value", "values"})
# Lengths have bounds so that no text makes the search slow.
_SECRET_TEXT = re.compile(
    r"""
      (?i:^\s*bearer\s+\S+\s*$)
    | (?i:\bbearer\s+(?=[^\s0-9]{0,400}[0-9])[\w.~+/=-]{16,})
    | (?i:^\s*basic\s+[a-z0-9+/]{6,}={0,2}\s*$)
    | (?i:\bauthorization["']?\s{0,9}[:=]\s{0,9}\S)
    | \$\{\w{1,200}:?[-=]
    | ://[^\s/?\#@:]{0,400}:(?![0-9]{1,5}[/?\#])[^\s@]{0,400}@
    | ://(?!git@)[^\s/?\#@:]{1,400}@
    | hooks\.slack\.com/ | discord(?:app)?\.com/api/webhooks/ | webhook\.office\.com/
    | ^\s*[psr]k[-_]\S+\s*$
    | (?<![A-Za-z0-9])(?:
          [psr]k[-_][A-Za-z0-9_-]{16,}
        | gh[a-z]_[A-Za-z0-9]{6,} | github_pat_\w{6,} | gl[a-z]{2,5}-[\w-]{10,}
        | xox[a-z]-[\w-]{6,} | xapp-[\w-]{6,} | (?:AKIA|ASIA)[0-9A-Z]{12,} | AIza[\w-]{20,} | ya29\.[\w-]{10,}
        | hf_[A-Za-z0-9]{10,} | npm_[A-Za-z0-9]{16,} | gsk_[A-Za-z0-9]{16,} | xai-[A-Za-z0-9]{16,} | r8_[A-Za-z0-9]{16,}
        | pypi-[\w-]{16,} | dckr_pat_[\w-]{6,} | tvly-[\w-]{10,} | SG\.[\w-]{10,} | AGE-SECRET-KEY-
        | eyJ[\w-]{5,}\.[\w-]{5,}
      )
    | -----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY
    """,
    re.VERBOSE,
)
_NAME = r"(?P<name>[A-Za-z_][\w.-]{0,80})"
_NAMED_TEXTS = (
    re.compile(rf"""^\s*-{{0,2}}{_NAME}\s{{0,9}}(?:=|:\s)\s{{0,9}}[^\r\n]+$"""),
    re.compile(rf"""^\s*-{{0,2}}{_NAME}:(?=[^\s0-9]{{0,400}}[0-9])\S{{8,}}\s*$"""),
    re.compile(rf"""[?&;]\s?{_NAME}=[^\s&;]"""),
    re.compile(rf"""(?<![\w.-])-{{0,2}}{_NAME}["']?\s{{0,9}}(?:=|:\s{{0,9}}["'])\s{{0,9}}["']?[^\s"'&;,]{{6,}}"""),
    re.compile(rf"""(?<![\w.-])--{_NAME}\s{{1,9}}["']?[^\s"'-]"""),
)
_FLAG = re.compile(r"--?([A-Za-z][\w.-]*)")
_PAIR_LENGTH = 2


def without_secrets(config: Mapping[str, object]) -> dict[str, object]:
    """Return settings without what looks like a secret; names of environment variables are none.

    >>> without_secrets({"apiKey": "k", "authToken": "${AUTH_TOKEN}", "topP": 0.9})
    {'authToken': '${AUTH_TOKEN}', 'topP': 0.9}
    """
    label = _label(config)
    kept = {}
    for name, value in config.items():
        is_labelled = label is not None and name.lower() in _LABELLED
        judged_by = str(config[label]) if label is not None and is_labelled else name
        if (name == label or _may_be_named(judged_by, value)) and not _is_secret(name) and not _is_secret(value):
            kept[name] = _without_inner_secrets(value)
    return kept


def _label(config: Mapping[str, object]) -> str | None:
    """Return the key under which an object that is a name and a value has the name."""
    names = {name.lower(): name for name in config}
    if _LABELLED.isdisjoint(names):
        return None
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


def _is_secret(value: object) -> bool:
    if not is_text(value) or _is_plain_reference(value):
        return False
    return _SECRET_TEXT.search(value) is not None or any(
        is_secret_name(found["name"]) and not counts_tokens(found["name"])
        for pattern in _NAMED_TEXTS
        for found in pattern.finditer(value)
    )


def _without_inner_secrets(value: object, *, is_element: bool = False) -> object:
    match value:
        case dict():
            return without_secrets(value)
        case list():
            # Only in a list of pairs: two tools named auth and search are no pair.
            is_pair = is_element and len(value) == _PAIR_LENGTH
            return [
                _without_inner_secrets(each, is_element=True) for each in _harmless_elements(value, is_pair=is_pair)
            ]
        case _:
            return value


def _harmless_elements(values: list[object], *, is_pair: bool) -> Iterator[object]:
    """Go through a list without its secrets, such as what follows a flag of a command or the name of a header."""
    for before, value in zip([None, *values], values, strict=False):
        flag = _FLAG.fullmatch(before) if is_text(before) else None
        name = flag[1] if flag else before if is_pair else None
        if not _is_secret(value) and (not is_text(name) or _may_be_named(name, value)):
            yield value
