"""Ids that tools give, as far as their form can be told from that of any other text."""

import re

_UUID = re.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def is_uuid(text: str) -> bool:
    """Whether a text is a UUID, and so neither an option nor a path nor words for a shell.

    >>> is_uuid("5b1f03ab-0000-4000-8000-000000000001"), is_uuid("--delete")
    (True, False)
    """
    return _UUID.fullmatch(text) is not None
