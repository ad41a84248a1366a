"""Notes below a table of costs: how certain the figures are, where their prices come from, and what is not counted."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from decimal import Decimal
from typing import Any

from aix.output.humanise import counted, dollars, local_time, one_line, per_cent, short_count

_Row = Mapping[str, Any]
_MODELS_NAMED = 5
_MODEL_CHARACTERS = 48
_BASIS = re.compile(r"computed[^:]*: (?P<table>.+?) [^ ;]+(?:;.*)?(?: and others)?")


def block_notes(running: Sequence[_Row], zone: tzinfo) -> Iterator[str]:
    """Say where the running block leads."""
    for block in running:
        started, ends = (local_time(block[name], zone)[-len("10:00") :] for name in ("started_at", "ends_at"))
        if block["projected_usd"] is None:
            yield f"The block of {started} to {ends} is running; it is too short for a pace"
            continue
        yield (
            f"The block of {started} to {ends} is running:"
            f" {dollars(block['cost_per_hour_usd'])} and {short_count(round(block['tokens_per_hour']))} tokens an hour;"
            f" about {dollars(block['projected_usd'])} and {short_count(block['projected_tokens'])} tokens at its end"
        )


def certainty_notes(models: Sequence[_Row]) -> list[str]:
    """Say how certain the figures are and whose prices were taken, given what each model cost."""
    return [*_lower_bound(models), *_unpriced(models), *_reported(models), *_price_tables(models)]


def turn_notes(totals: _Row) -> Iterator[str]:
    """Say how many turns the column `turns` leaves out."""
    without = totals["turns_without_requests"]
    if without:
        turns, verb = counted(without + totals["turns"], "turn"), "is" if without == 1 else "are"
        yield f"{without:,} of {turns} made no request, and {verb} not counted above"


def _sum(models: Sequence[_Row], column: str) -> Decimal:
    return sum((amount for model in models if (amount := model[column]) is not None), Decimal(0))


def _lower_bound(models: Sequence[_Row]) -> Iterator[str]:
    cost, estimate = _sum(models, "cost_usd"), _sum(models, "cost_estimated_usd")
    if estimate > cost:
        more = f" (+{per_cent((estimate - cost) / cost)})" if cost else ""
        yield f"At least {dollars(cost)}; about {dollars(estimate)}{more} because some logs omit final output counts"


def _unpriced(models: Sequence[_Row]) -> Iterator[str]:
    without = sorted(
        (model for model in models if model["unpriced_requests"]),
        key=lambda model: model["unpriced_tokens"],
        reverse=True,
    )
    if not without:
        return
    names = [one_line(model["model"] or "no model named", _MODEL_CHARACTERS) for model in without[:_MODELS_NAMED]]
    more = [f"{len(without) - _MODELS_NAMED} more"] if len(without) > _MODELS_NAMED else []
    requests, tokens = (int(_sum(without, name)) for name in ("unpriced_requests", "unpriced_tokens"))
    yield (
        f"No price is known for {counted(requests, 'request')} with {short_count(tokens)} tokens"
        f" ({', '.join([*names, *more])}); not included above"
    )


def _reported(models: Sequence[_Row]) -> Iterator[str]:
    reported = _sum(models, "reported_cost_usd")
    if reported:
        yield f"The logs themselves report {dollars(reported)} (not included above)"


def _price_tables(models: Sequence[_Row]) -> Iterator[str]:
    bases = [model["price_basis"] for model in models if model["price_basis"] and model["cost_usd"] is not None]
    tables = sorted({match["table"] if (match := _BASIS.fullmatch(basis)) else basis for basis in bases})
    if tables:
        yield f"Computed at the list prices of {', '.join(tables)}; see `aix prices`"
