"""Which names of settings stand for secrets.

In doubt a name does: a setting that is missing can be looked up, a secret that got out cannot be taken back.
"""

import re
from itertools import pairwise


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
