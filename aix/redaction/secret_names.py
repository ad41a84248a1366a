"""Names of settings that hold secrets, such as `OPENAI_KEY` or `dbPassword`.

In doubt a name speaks of a secret: a setting that is hidden can be looked up, one that got out cannot be taken back.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from aix.redaction.words import listed

_WORD_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+")
_NUMBERED = re.compile(r"(?<=[a-z])[0-9]+$")
_SECRET_WORDS = listed(
    "auth authentication authorisation authorization authtok bearer connstr cookie cred dsn hmac jwk jwt key mnemonic"
    " oauth otp pass passcode passw pat pem pin psk pswd pw pwd pword salt sas sig signature tkn token totp"
)
_SECRET_PARTS = (
    *("password", "passwort", "passwd", "passphrase", "secret", "credential", "apikey", "privatekey", "webhook"),
)
_SECRET_ENDS = ("token", "key", "cookie", "authorization", "connectionstring", "pass", "pw", "pwd")
_SECRET_PAIRS = frozenset(
    {
        *(("connection", "string"), ("conn", "string"), ("conn", "str"), ("access", "code"), ("seed", "phrase")),
        *(("recovery", "code"), ("recovery", "phrase")),
    }
)
_HARMLESS_WORDS = listed(
    "bypass compass donkey encompass hockey hotkey jockey monkey surpass trespass turkey underpass whiskey"
)
_HARMLESS_PAIRS = frozenset(
    {
        *((word, "key") for word in listed("cache foreign group hot order partition primary public routing sort")),
        *(
            ("key", word)
            for word in listed("binding board code down exist finding frame map point press stroke takeaway up word")
        ),
        *(("pass", word) for word in listed("at count rate through threshold")),
    }
)
_DESCRIPTIONS = listed("algorithm enabled endpoint flow kind lifetime method mode required scheme style ttl type")
_COUNTING_WORDS = listed(
    "budget cached completion context count input limit max maximum min minimum num number output per prompt reasoning"
    " thinking threshold total used window"
)
_CACHE_COUNT = re.compile(r"cache\w*tokens", re.IGNORECASE)
"""Only in the plural: a cache token is a secret."""
_COUNTING_STARTS = ("max", "min", "num", "total")

_CERTAIN_WORDS = listed("authtok bearer connstr dsn jwt passcode passw pswd pwd pword tkn totp")
_KEYS = listed("access account admin api app auth client encryption license master private secret service signing ssh")
"""Before "key", they make it a secret; a key alone is rather the name of a field."""
_BARE_TOKENS = ["token"]
_ABOUT = _DESCRIPTIONS | listed(
    "age arn at attempt class column count description env error expiry expire expires expiration field file filename"
    " folder form format handler header help hint id index input label left length list location manager message name"
    " page param parameter path pattern placeholder policy prefix prompt provider ref reference regex reset rule screen"
    " size state status store string suffix template test title tries url uri validation validator var variable version"
)
"""Last words of names that say something about a secret: `secretName`, `passwordField`."""
_LONGEST_REMEMBERED = 200


def is_secret_name(name: str) -> bool:
    """Whether a setting of this name holds a secret.

    >>> is_secret_name("OPENAI_KEY"), is_secret_name("keyboard")
    (True, False)
    """
    return _judgement(name)[0]


def is_certain_name(name: str) -> bool:
    """Whether a text of this name is a secret whatever it looks like; a mere key, a signature or a pin may be none.

    >>> [is_certain_name(name) for name in ("dbPassword", "api_key", "access_token", "key", "token", "secretName")]
    [True, True, True, False, False, False]
    """
    return _judgement(name)[1]


def counts_tokens(name: str) -> bool:
    """Whether a name speaks of tokens as what texts are made of.

    >>> [counts_tokens(name) for name in ("max_tokens", "cacheReadTokens", "accessToken", "CACHE_TOKEN")]
    [True, True, False, False]
    """
    words = _words(name)
    tokens = [word for word in words if word.endswith("token")]
    others = [word for word in words if not word.endswith("token")]
    return bool(tokens) and (
        not _COUNTING_WORDS.isdisjoint(others)
        or _CACHE_COUNT.fullmatch(name) is not None
        or all(word.startswith(_COUNTING_STARTS) for word in tokens)
    )


def _judgement(name: str) -> tuple[bool, bool]:
    return _remembered_judgement(name) if len(name) <= _LONGEST_REMEMBERED else _judge(name)


def _judge(name: str) -> tuple[bool, bool]:
    words = _words(name)
    is_secret = _is_secret(words)
    return is_secret, is_secret and not counts_tokens(name) and _is_certain(words)


_remembered_judgement = lru_cache(10_000)(_judge)


def _is_secret(words: Sequence[str]) -> bool:
    if words and words[-1] in _DESCRIPTIONS:
        return False
    pairs = list(pairwise(words))
    if any(pair in _SECRET_PAIRS for pair in pairs):
        return True
    harmless = {word for pair in pairs if pair in _HARMLESS_PAIRS for word in pair}
    return any(_is_secret_word(word) and word not in harmless for word in words)


def _is_certain(words: Sequence[str]) -> bool:
    last = words[-1]
    if any(pair in _SECRET_PAIRS for pair in pairwise(words)):
        return True
    return last not in _ABOUT and (
        any(word in _CERTAIN_WORDS or any(part in word for part in _SECRET_PARTS) for word in words)
        or (last == "key" and not _KEYS.isdisjoint(words))
        or (last.endswith("token") and words != _BARE_TOKENS)
        or last in ("authorization", "cookie")
        or (last in ("pass", "pw") and len(words) > 1)
    )


def _is_secret_word(word: str) -> bool:
    if word in _HARMLESS_WORDS:
        return False
    return word in _SECRET_WORDS or word.endswith(_SECRET_ENDS) or any(part in word for part in _SECRET_PARTS)


def _words(name: str) -> list[str]:
    return [_singular(word) for word in _WORD_BORDER.sub("_", name).lower().split("_") if word]


def _singular(word: str) -> str:
    plain = _NUMBERED.sub("", word)
    is_plural = plain.endswith("s") and not plain.endswith("ss") and plain not in _SECRET_WORDS
    return plain[:-1] if is_plural else plain
