"""Row ids: pure functions of what a row stands for.

The same record gives the same id on every machine and in every import, so rows that describe one thing meet. Ids hold
no time, because some clients stamp copies of a record again; order rows by `started_at` and `sequence`.
"""

from hashlib import sha256

_SEPARATOR = "\x1f"
_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_PAIRS = [first + second for first in _CROCKFORD for second in _CROCKFORD]
# Three characters at a look-up: ids are made by the million.
_TRIPLES = [pair + third for pair in _PAIRS for third in _CROCKFORD]


def ulid(*parts: str) -> str:
    r"""Return the ULID-shaped id of the row that `parts` name: 26 Crockford characters, no time in them.

    The first 128 bits of SHA-256 over `aix` and the parts, joined by the unit separator `\x1f`, as UTF-8.

    >>> ulid("turn", "session-log", "5b1f")
    '6TEMHVVNDY07HMQR8S0TER69NJ'
    """
    bits = int.from_bytes(_digest("aix", *parts)[:16])
    head, tail = _TRIPLES, _PAIRS
    return (
        f"{head[bits >> 115]}{head[bits >> 100 & 32767]}{head[bits >> 85 & 32767]}{head[bits >> 70 & 32767]}"
        f"{head[bits >> 55 & 32767]}{head[bits >> 40 & 32767]}{head[bits >> 25 & 32767]}{head[bits >> 10 & 32767]}"
        f"{tail[bits & 1023]}"
    )


def h63(*parts: str | int | None) -> int:
    r"""Return the 63-bit id of a row that is named by a natural key; it fits a signed BIGINT.

    The first 8 bytes of SHA-256 over the parts, joined by `\x1f`, shifted right by one bit. A number counts as its
    decimal digits, NULL as nothing.

    >>> h63("message_codeblocks", "6TEMHVVNDY07HMQR8S0TER69NJ", 0)
    8098258873277324489
    """
    texts = ["" if part is None else str(part) for part in parts]
    return int.from_bytes(_digest(*texts)[:8]) >> 1


def _digest(*parts: str) -> bytes:
    # Logs hold lone surrogates; they must give an id rather than an error.
    return sha256(_SEPARATOR.join(parts).encode("utf-8", "surrogatepass")).digest()
