"""Charts made of characters, for cells and lines in a terminal."""

from collections.abc import Sequence
from decimal import Decimal

_NO_BAR = "·"
_BAR_WIDTH = 12
_FULL_BLOCK = "█"
_EIGHTHS = "▏▎▍▌▋▊▉"
_HEIGHTS = "▁▂▃▄▅▆▇█"


def bar(amount: Decimal | float | None, largest: Decimal | float) -> str:
    """Draw an amount as a bar, of which the largest has the full width; anything above nothing shows.

    >>> [bar(amount, 8) for amount in (8, 4, 1, 0.001, 0, None)]
    ['████████████', '██████', '█▌', '▏', '·', '·']
    """
    if amount is None or amount <= 0 or largest <= 0:
        return _NO_BAR
    eighths = max(1, round(float(amount) / float(largest) * _BAR_WIDTH * 8))
    whole, rest = divmod(eighths, 8)
    return _FULL_BLOCK * whole + (_EIGHTHS[rest - 1] if rest else "")


def sparkline(amounts: Sequence[Decimal | float]) -> str:
    """Draw amounts beside each other, each as high as its share of the largest; nothing is a dot.

    >>> sparkline([0, 1, 4, 8])
    '·▁▄█'
    """
    most = float(max(amounts, default=0))
    heights = (round(float(amount) / most * len(_HEIGHTS)) if amount > 0 else None for amount in amounts)
    return "".join(_NO_BAR if height is None else _HEIGHTS[max(0, height - 1)] for height in heights)
