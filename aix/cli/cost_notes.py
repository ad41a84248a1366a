"""Notes for people on figures of cost: how much is certain, and whose prices they are."""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from aix.output.humanise import counted, dollars, one_line, per_cent, short_count

_MODELS_NAMED = 5
_NAME_CHARACTERS = 48
_BASIS = re.compile(r"computed[^:]*: (?P<table>.+?) [^ ;]+(?:;.*)?(?: and others)?")

Row = dict[str, Any]


def cost_notes(models: Sequence[Row]) -> list[str]:
    """Say what is a lower bound, what has no price, and whose prices were taken, given what each model cost."""
    if not models:
        return ["no request in the ledger matches that"]
    return [*_lower_bound(models), *_unpriced(models), *_reported(models), *_price_tables(models)]


def _sum(models: Sequence[Row], column: str) -> Decimal:
    return sum((amount for model in models if (amount := model[column]) is not None), Decimal(0))


def _lower_bound(models: Sequence[Row]) -> Iterator[str]:
    cost, likely = _sum(models, "cost_usd"), _sum(models, "cost_estimated_usd")
    if likely > cost:
        more = f", {per_cent((likely - cost) / cost)} more" if cost else ""
        yield (
            f"{dollars(cost)} is a lower bound: not all logs say how much the models wrote in the end;"
            f" estimated from what they wrote, it is {dollars(likely)}{more}"
        )


def _unpriced(models: Sequence[Row]) -> Iterator[str]:
    without = sorted(
        (model for model in models if model["unpriced_requests"]),
        key=lambda model: model["unpriced_tokens"],
        reverse=True,
    )
    if not without:
        return
    names = [one_line(model["model"] or "no model named", _NAME_CHARACTERS) for model in without[:_MODELS_NAMED]]
    more = [f"{len(without) - _MODELS_NAMED} more"] if len(without) > _MODELS_NAMED else []
    requests, tokens = (int(_sum(without, name)) for name in ("unpriced_requests", "unpriced_tokens"))
    yield (
        f"unpriced, and in no cost: {counted(requests, 'request')} with {short_count(tokens)} tokens"
        f" ({', '.join([*names, *more])})"
    )


def _reported(models: Sequence[Row]) -> Iterator[str]:
    reported = _sum(models, "reported_cost_usd")
    if reported:
        yield f"{dollars(reported)} is what sources themselves report; it is no part of the other figures"


def _price_tables(models: Sequence[Row]) -> Iterator[str]:
    bases = [model["price_basis"] for model in models if model["price_basis"] and model["cost_usd"] is not None]
    tables = sorted({match["table"] if (match := _BASIS.fullmatch(basis)) else basis for basis in bases})
    if tables:
        yield f"computed at the list prices of {', '.join(tables)}; `aix prices` shows them"
