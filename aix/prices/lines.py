"""Price lines: what one edition of a price list says of a model, and the CSV files they are read from.

A rule says which names a line is for. It is one of five words, with the text that it compares a name with: `equals`,
`starts_with`, `ends_with`, `contains`, `regex`. Written alone, a word is about the `model` of its line; several are
written with their texts:

    starts_with:model-4-5 or contains:model and ends_with:-preview

`and` binds closer than `or`. Capitals make no difference.
"""

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Context, Decimal, InvalidOperation
from functools import lru_cache
from pathlib import Path

import msgspec

from aix.errors import PriceFileError, nearest_names

LONGEST_NAME = 200
"""No model has a longer name; what is longer is text from somewhere else, and no rule looks at it."""
_MOST_REPETITIONS = 2
_MOST_ALTERNATIVES = 16
_LITERAL = re.compile(r"\\.|\[\^?\]?[^\]]*\]|\(\?[:=!]|\{\d{1,3}\}")
_REPETITION = re.compile(r"[*+?]|\{\d*,\d*\}")
Test = Callable[[str], bool]
_COMPARISONS: dict[str, Callable[[str, str], bool]] = {
    "equals": str.__eq__,
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": str.__contains__,
}
_WORDS = (*_COMPARISONS, "regex")
FOREVER = 2**63 - 1
STANDARD = "standard"
VARIANTS = (STANDARD, "batch", "priority", "flex", "fast")
UNITS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "web_search")
COLUMNS = (
    "provider",
    "model",
    "match_rule",
    "valid_from",
    "valid_to",
    "tier_start_tokens",
    "variant",
    *UNITS,
    "source",
    "source_version",
    "checked_on",
)
_PER = dict.fromkeys(UNITS, 6) | {"web_search": 3}
"""Price lists are per million tokens, and per thousand searches: how many decimals further one unit is."""
_STORED = Context(prec=18)
_DECIMALS = 12
_LONGEST_NUMBER = 40
_HIGHEST_PRICE = 1_000_000
"""As price lists have it: far above any real one, so that what is higher is a slip."""
_CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class Rule(msgspec.Struct, frozen=True):
    """Tests, of which all of one alternative must hold."""

    alternatives: tuple[tuple[Test, ...], ...]

    def fits(self, name: str) -> bool:
        """Whether the rule is about that name.

        >>> parse_rule("starts_with:gpt-5 or equals:o3", "").fits("O3")
        True
        """
        if len(name) > LONGEST_NAME:
            return False
        lowered = name.lower()
        return any(all(test(lowered) for test in tests) for tests in self.alternatives)


@lru_cache(maxsize=4096)
def parse_rule(text: str, model: str) -> Rule:
    """Return the rule that a text stands for; raises ValueError with what is wrong with it."""
    if text in _WORDS:
        return Rule(((_test(text, model),),))
    return Rule(tuple(tuple(_parse_clause(clause) for clause in part.split(" and ")) for part in text.split(" or ")))


def _parse_clause(clause: str) -> Test:
    word, has_text, text = clause.strip().partition(":")
    if word not in _WORDS:
        nearest = nearest_names(word, _WORDS, 1) or _WORDS
        raise ValueError(f"there is no rule {word!r}; use {' or '.join(nearest)}")
    if not has_text or not text:
        raise ValueError(f"{word!r} needs a text: {word}:TEXT")
    return _test(word, text)


def _test(word: str, text: str) -> Test:
    if word == "regex":
        return _regex(text)
    compare, wanted = _COMPARISONS[word], text.lower()
    return lambda name: compare(name, wanted)


def _regex(text: str) -> Test:
    """Compile a pattern that takes no time to speak of, whatever name it is tried on: names come from logs."""
    bare = _LITERAL.sub("", text)
    if len(text) > LONGEST_NAME:
        raise ValueError(f"a pattern has at most {LONGEST_NAME} characters")
    if re.search(r"\)[*+{]", bare):
        raise ValueError("a group in a pattern cannot be repeated")
    if len(_REPETITION.findall(bare)) > _MOST_REPETITIONS:
        raise ValueError(f"a pattern can repeat at most {_MOST_REPETITIONS} of its parts")
    if bare.count("|") > _MOST_ALTERNATIVES:
        raise ValueError(f"a pattern has at most {_MOST_ALTERNATIVES} alternatives")
    try:
        pattern = re.compile(text)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"this is no pattern: {error}") from error
    return lambda name: pattern.search(name) is not None


class PriceLine(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One line: a model, when and for which requests the prices hold, and the prices of one unit each."""

    model: str
    prices: Mapping[str, Decimal]
    """By unit, in USD for one token or one search; a unit that is not listed has no price."""
    source: str
    provider: str = ""
    """Empty for any."""
    match_rule: str = "equals"
    valid_from: int = 0
    valid_to: int = FOREVER
    tier_start_tokens: int = 0
    variant: str = STANDARD
    source_version: str | None = None
    checked_at: int | None = None
    precedence: int = 0
    """Lines with the same one speak of the same model in the same list; a smaller one is asked first."""

    @property
    def name(self) -> str:
        """The name of the model in the line."""
        return f"{self.provider}/{self.model}" if self.provider else self.model

    @property
    def edition(self) -> str:
        """Where the prices are from."""
        return f"{self.source} {self.source_version}" if self.source_version else self.source


def parse_lines(text: str, path: Path) -> list[PriceLine]:
    """Read the text of a file of prices; raises `PriceFileError` for the first thing in it that cannot be meant."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows = _rows(reader, path)
    _, header = next(rows, (1, []))
    _check_header(header, path)
    lines = []
    at: dict[tuple[object, ...], int] = {}
    for number, cells in rows:
        place = f"{path}:{number}"
        if len(cells) != len(header):
            advice = "quote texts that hold a comma"
            raise PriceFileError(place, f"there are {len(cells)} cells, and {len(header)} columns", advice)
        line = _line({name: cell.strip() for name, cell in zip(header, cells, strict=True)}, path, place)
        same = _key(line)
        if same in at:
            raise PriceFileError(place, f"line {at[same]} says the same", "leave one of them out, or tell them apart")
        at[same] = number
        lines.append(line)
    _check_tiers(lines, at, path)
    return lines


def _rows(reader: Iterator[list[str]], path: Path) -> Iterator[tuple[int, list[str]]]:
    while True:
        try:
            cells = next(reader, None)
        except csv.Error as error:
            place = f"{path}:{reader.line_num}"  # type: ignore[attr-defined]  # a reader of the module csv
            raise PriceFileError(place, f"this is not CSV: {error}", "docs/prices.md shows such a file") from error
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells  # type: ignore[attr-defined]


def _check_header(header: Sequence[str], path: Path) -> None:
    place = f"{path}:1"
    for name in header:
        if name not in COLUMNS:
            nearest = nearest_names(name, COLUMNS, 1)
            advice = f"did you mean {nearest[0]}?" if nearest else f"the columns are: {', '.join(COLUMNS)}"
            raise PriceFileError(place, f"there is no column {name!r}", advice)
    if len(set(header)) < len(header):
        raise PriceFileError(place, "a column is there twice", "leave one of them out")
    if "model" not in header or not set(UNITS) & set(header):
        advice = f"the first line names the columns: model, and at least one of {', '.join(UNITS)}"
        raise PriceFileError(place, "there is no model, or no price", advice)


def _line(cells: Mapping[str, str], path: Path, place: str) -> PriceLine:
    model, provider = cells["model"], cells.get("provider", "")
    if not model or max(len(model), len(provider)) > LONGEST_NAME:
        raise PriceFileError(place, f"{model[:40]!r} is no name of a model", "write the name that the log has for it")
    for name in (model, provider):
        if _CONTROL_CHARACTER.search(name):
            raise PriceFileError(place, f"{name[:40]!r} has a control character", "write the name that the log has")
    prices = {unit: _price(cells[unit], unit, place) for unit in UNITS if cells.get(unit)}
    if not prices:
        raise PriceFileError(place, f"{model} has no price", f"fill in at least one of {', '.join(UNITS)}")
    variant = cells.get("variant") or STANDARD
    if variant not in VARIANTS:
        nearest = nearest_names(variant, VARIANTS, 1) or VARIANTS
        raise PriceFileError(place, f"there is no variant {variant!r}", f"use {' or '.join(nearest)}")
    line = PriceLine(
        model=model,
        provider=provider.lower(),
        match_rule=cells.get("match_rule") or "equals",
        valid_from=_day(cells.get("valid_from", ""), "valid_from", place) or 0,
        valid_to=_day(cells.get("valid_to", ""), "valid_to", place) or FOREVER,
        tier_start_tokens=_count(cells.get("tier_start_tokens", ""), place),
        variant=variant,
        prices=prices,
        source=cells.get("source") or path.name,
        source_version=cells.get("source_version") or None,
        checked_at=_day(cells.get("checked_on", ""), "checked_on", place),
    )
    if line.valid_to <= line.valid_from:
        raise PriceFileError(place, "valid_to is not after valid_from", "valid_to is the first day without the price")
    try:
        parse_rule(line.match_rule, line.model)
    except ValueError as error:
        raise PriceFileError(place, f"the match_rule {line.match_rule[:40]!r} cannot be used", str(error)) from error
    return line


def _price(text: str, unit: str, place: str) -> Decimal:
    """Return the price of one token or search."""
    quoted = "thousand searches" if unit == "web_search" else "million tokens"
    advice = f"write USD per {quoted}, such as 2.5, and {_HIGHEST_PRICE} at most"
    try:
        price = Decimal(text) if len(text) <= _LONGEST_NUMBER else None
    except InvalidOperation:
        price = None
    if price is None or not price.is_finite() or not text.isascii() or "_" in text:
        raise PriceFileError(place, f"{unit}: {text[:_LONGEST_NUMBER]!r} is not a number", advice)
    if price < 0:
        raise PriceFileError(place, f"{unit}: {text} is negative", advice)
    if price > _HIGHEST_PRICE:
        raise PriceFileError(place, f"{unit}: {text} is too large for a price", advice)
    one = price.scaleb(-_PER[unit]).normalize()
    exponent = one.as_tuple().exponent
    if isinstance(exponent, int) and exponent < -_DECIMALS:
        raise PriceFileError(place, f"{unit}: {text} has more than {_DECIMALS - _PER[unit]} decimals", advice)
    return one.quantize(Decimal(1).scaleb(-_DECIMALS), context=_STORED)


def _day(text: str, column: str, place: str) -> int | None:
    """Return the beginning of a day in UTC; None for an empty text."""
    if not text:
        return None
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise PriceFileError(
            place, f"{column}: {text[:40]!r} is not a date", "write a day such as 2026-03-13"
        ) from None
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def _count(text: str, place: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal()) or len(text) > 18:
        advice = "write the smallest whole input that the price is for, such as 200001"
        raise PriceFileError(place, f"tier_start_tokens: {text[:40]!r} is not a number of tokens", advice)
    return int(text)


def _key(line: PriceLine) -> tuple[object, ...]:
    return (*_edition_key(line), line.tier_start_tokens)


def _edition_key(line: PriceLine) -> tuple[object, ...]:
    return line.provider, line.model, line.match_rule, line.variant, line.valid_from


def _check_tiers(lines: Sequence[PriceLine], at: Mapping[tuple[object, ...], int], path: Path) -> None:
    """Every edition of a price starts at the smallest request, and all of its tiers end on the same day."""
    ends = {_edition_key(line): line.valid_to for line in lines if not line.tier_start_tokens}
    for line in lines:
        place, edition = f"{path}:{at[_key(line)]}", _edition_key(line)
        if edition not in ends:
            advice = "add a line with tier_start_tokens 0 and the same valid_from for smaller requests"
            raise PriceFileError(place, f"{line.model} has no price below its tier", advice)
        if line.valid_to != ends[edition]:
            problem = f"valid_to is not that of line {at[*edition, 0]}, which has the price below this tier"
            raise PriceFileError(place, problem, "write the same valid_from and valid_to for all tiers of a price")


def ordered(layers: Sequence[Sequence[PriceLine]]) -> tuple[PriceLine, ...]:
    """Put lists together, those that are asked first before the others, and number their models."""
    numbers: dict[tuple[object, ...], int] = {}
    return tuple(
        msgspec.structs.replace(line, precedence=numbers.setdefault(key, len(numbers)))
        for place, lines in enumerate(layers)
        for line in lines
        for key in [(place, line.provider, line.model, line.match_rule)]
    )
