"""Bars of characters, for amounts that people would rather look at than read."""

from decimal import Decimal

_EIGHTHS = "▏▎▍▌▋▊▉"
_FULL = "█"
NO_BAR = "·"
WIDTH = 12


def bar(amount: Decimal | float | None, largest: Decimal | float) -> str:
    """Draw an amount as a bar, of which the largest has the full width; anything above nothing shows.

    >>> [bar(amount, 8) for amount in (8, 4, 1, 0.001, 0, None)]
    ['████████████', '██████', '█▌', '▏', '·', '·']
    """
    if amount is None or amount <= 0 or largest <= 0:
        return NO_BAR
    eighths = max(1, round(float(amount) / float(largest) * WIDTH * 8))
    whole, rest = divmod(eighths, 8)
    return _FULL * whole + (_EIGHTHS[rest - 1] if rest else "")
