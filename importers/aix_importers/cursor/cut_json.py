"""JSON that ends in the middle."""

import re

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[{}\[\],]', re.DOTALL)
_ENDS = {b"{": b"}", b"[": b"]"}


def closed(data: bytes) -> bytes:
    r"""Return JSON up to its last complete value, with the lists and objects that are open at that place closed.

    >>> closed(b'{"tabs": [{"id": "a"}, {"id": "b", "text": "hel')
    b'{"tabs": [{"id": "a"}, {"id": "b"}]}'
    """
    ends: list[bytes] = []
    safe, open_ends = 0, b""
    for token in _TOKEN.finditer(data):
        found = token[0]
        if found in _ENDS:
            ends.append(_ENDS[found])
        elif found == b",":
            safe, open_ends = token.start(), b"".join(reversed(ends))
        elif found in (b"}", b"]"):
            if not ends or ends.pop() != found:
                break
            safe, open_ends = token.end(), b"".join(reversed(ends))
            if not ends:
                break
    return data[:safe] + open_ends
