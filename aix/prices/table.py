"""The price lines in force: those that come with AIX, and the user's own.

An import that finds nothing new asks only whether the files are those that the ledger's prices are from: the digest
says so, and nothing is parsed for it.
"""

import hashlib
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from aix.errors import PriceFileError

if TYPE_CHECKING:
    from aix.prices.choice import Chooser, Providers
    from aix.prices.lines import PriceLine

_EDITION = "1"
"""Of the way prices are chosen: when another price is chosen from the same lines, ledgers are to be renewed."""
_TABLE, _ADDITIONAL, _PROVIDERS = "genai_prices.csv", "additional_prices.csv", "providers.csv"


class PriceTable:
    """Price lines, and a digest of the files they are read from; the files are read first, their lines when needed."""

    def __init__(self, own: Path | None = None) -> None:
        self._own = own
        self._own_content = b"" if own is None else _read(own)
        bundled = [_bundled(name) for name in (_TABLE, _ADDITIONAL, _PROVIDERS)]
        digest = hashlib.sha256(_EDITION.encode())
        for content in (*bundled, str(own and own.name).encode(), self._own_content):
            digest.update(hashlib.sha256(content).digest())
        self.digest = digest.hexdigest()

    @cached_property
    def lines(self) -> "tuple[PriceLine, ...]":
        """All lines, those that are asked first before the others; raises `PriceFileError`."""
        from aix.prices.lines import ordered

        own = self.own_lines
        return ordered([own, *_bundled_lines()]) if own else _ordered_bundled_lines()

    @cached_property
    def own_lines(self) -> "list[PriceLine]":
        """The lines of the user's own file; raises `PriceFileError`."""
        from aix.prices.lines import parse_lines

        if self._own is None:
            return []
        try:
            text = self._own_content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            advice = "name a CSV file; docs/prices.md shows one"
            raise PriceFileError(str(self._own), "this is not a text file in UTF-8", advice) from error
        return parse_lines(text, self._own)

    def check(self) -> None:
        """Raise `PriceFileError` when the user's own file says something that cannot be meant."""
        _ = self.own_lines

    @cached_property
    def chooser(self) -> "Chooser":
        """The lines, ready to be asked."""
        from aix.prices.choice import Chooser

        return _bundled_chooser() if self._own is None else Chooser(self.lines, bundled_providers())


@lru_cache(maxsize=1)
def bundled_providers() -> "Providers":
    """Return the vendors that come with AIX."""
    from aix.prices.choice import parse_providers

    return parse_providers(_bundled(_PROVIDERS).decode())


@lru_cache(maxsize=1)
def _bundled_chooser() -> "Chooser":
    from aix.prices.choice import Chooser

    return Chooser(PriceTable().lines, bundled_providers())


@lru_cache(maxsize=1)
def _ordered_bundled_lines() -> "tuple[PriceLine, ...]":
    from aix.prices.lines import ordered

    return ordered([[], *_bundled_lines()])


@lru_cache(maxsize=1)
def _bundled_lines() -> "tuple[list[PriceLine], ...]":
    from aix.prices.lines import parse_lines

    return tuple(parse_lines(_bundled(name).decode(), Path(name)) for name in (_ADDITIONAL, _TABLE))


@lru_cache(maxsize=3)
def _bundled(name: str) -> bytes:
    return Path(__file__).with_name(name).read_bytes()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        advice = "name a CSV file with --prices, AIX_PRICES or `prices` in config.toml"
        raise PriceFileError(str(path), error.strerror or str(error), advice) from error
