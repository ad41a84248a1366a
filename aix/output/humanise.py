"""Values in the short form that people like: counts, money, times; machine formats have exact values.

Names of columns carry their unit (`cost_usd`, `cache_hit_ratio`, `output_tokens`, `started_at`, `latency_ms`), so that
`displayed` can write whole columns for people.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import partial
from math import isfinite

from msgspec.structs import replace

from aix.output import Listing, ListingColumn

_HALF_CENT = Decimal("0.005")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PROJECT_PARTS = 2
_TURN_CHARACTERS = 8
_MARKUP_CHARACTERS = 2_000
TITLE_CHARACTERS = 1_000
"""The longest title or prompt that records show; tables shorten it to the room that they have."""
_ELEMENT = re.compile(r"\s*<(?P<name>[A-Za-z]+[-_][\w-]*)>(?P<text>.*?)(?P<end></(?P=name)>|\Z)", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][\w-]*>")
_THOUSANDS = ("", "k", "M", "G", "T", "P")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Names of columns whose values are a share of 1, an amount of money, or a count of tokens or characters.
_SHARE = re.compile(r"(?:.*_)?(?:share|ratio|reduction|rate)(?:_(?:before|after|change|of_limit))?")
_MONEY = re.compile(r".*_usd|(?:.*_)?(?:usd|cost)_per_.*")
_TOKENS = re.compile(r"(?:.*_)?(?:tokens|chars)(?:_(?:before|after|saved|to_next|per_request))?|context_token_limit")
_WORDS = {
    "approval_denied": "denied by the policy",
    "boundary": "logged",
    "context_limit": "auto",
    "denied_directory": "denied for its folder",
    "denied_hook": "denied by a hook",
    "denied_mode": "denied by the mode",
    "denied_rule": "denied by a rule",
    "denied_user": "denied by the user",
    "likely": "estimated",
    "manager": "main agent with subagents",
    "mid-task": "interrupted a task",
    "not_granted": "denied, nobody granted it",
    "pending": "no result logged",
    "ttl": "expired",
    "unified": "main agent",
    "worker": "subagent",
}

# Numbers of these columns stand for a thing, such as a line of a file.
_NUMBERS_THAT_NAME = ("id", "line", "seq", "version", "year")

_Writer = Callable[..., str]


def short_count(count: int) -> str:
    """Write a count with two or three digits and a letter for its size.

    >>> [short_count(count) for count in (0, 999, 1_234, 56_789, 999_999, 1_234_567)]
    ['0', '999', '1.2k', '57k', '1.0M', '1.2M']
    """
    size = float(count)
    for letter in _THOUSANDS:
        if size < 999.5 or letter == _THOUSANDS[-1]:
            break
        size /= 1000
    return f"{size:.1f}{letter}" if letter and size < 9.95 else f"{size:.0f}{letter}"


def grouped(count: int) -> str:
    """Write a whole number with all its digits, in groups of three.

    >>> [grouped(count) for count in (999, 1234567)]
    ['999', '1,234,567']
    """
    return f"{count:,}"


def counted(count: int, thing: str) -> str:
    """Write how many there are of a thing.

    >>> [counted(count, "call") for count in (0, 1, 2_000)]
    ['0 calls', '1 call', '2,000 calls']
    """
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def signed_count(count: int) -> str:
    """Write a count that may be less than nothing in the same way.

    >>> [signed_count(count) for count in (1_234, -56_789)]
    ['1.2k', '-57k']
    """
    return f"{'-' if count < 0 else ''}{short_count(abs(count))}"


def human_bytes(size: int) -> str:
    """Write a number of bytes with two or three digits.

    >>> [human_bytes(size) for size in (0, 999, 4_565, 44_123_456, 1_234_567_890)]
    ['0 bytes', '999 bytes', '4.6 kB', '44 MB', '1.2 GB']
    """
    if size < 1000:
        return counted(size, "byte")
    written = short_count(size)
    return f"{written[:-1]} {written[-1]}B"


def short_duration(milliseconds: int) -> str:
    """Write a duration in its largest unit, or its two largest.

    >>> [short_duration(ms) for ms in (50, 1_500, 61_000, 7_260_000, 90_000_000)]
    ['50 ms', '1.5 s', '1 min 1 s', '2 h 1 min', '25 h']
    """
    seconds = milliseconds / 1000
    if seconds < 1:
        return f"{milliseconds} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, rest = divmod(minutes, 60)
    return f"{hours} h" + (f" {rest} min" if rest else "")


def dollars(amount: Decimal | float) -> str:
    """Write an amount of money to the cent.

    >>> [dollars(Decimal(amount)) for amount in ("1234.567", "12.3", "0.4567", "0.005", "0", "-3")]
    ['$1,234.57', '$12.30', '$0.46', '<$0.01', '$0.00', '-$3.00']
    """
    size = abs(Decimal(amount))
    if not size.is_finite():
        return str(amount)
    sign = "-" if amount < 0 else ""
    return f"{sign}<$0.01" if 0 < size <= _HALF_CENT else f"{sign}${size:,.2f}"


def signed_dollars(amount: Decimal | float) -> str:
    """Write an amount that was gained or lost, with its sign.

    >>> [signed_dollars(Decimal(amount)) for amount in ("0.94", "-3", "0")]
    ['+$0.94', '-$3.00', '+$0.00']
    """
    return f"{'' if amount < 0 else '+'}{dollars(amount)}"


def bounded_dollars(cost: Decimal | None, likely: Decimal | None, unpriced: int = 0) -> str | None:
    """Write a cost, marked where it is a lower bound: more is likely, or something in it has no price.

    >>> [bounded_dollars(Decimal(1), Decimal(likely)) for likely in ("1", "1.001", "1.2")]
    ['$1.00', '$1.00', '≥$1.00']
    >>> bounded_dollars(Decimal("0.001"), Decimal(1)), bounded_dollars(None, None)
    ('≥$0.00', None)
    """
    if cost is None:
        return None
    is_bound = bool(unpriced) or (likely is not None and dollars(likely) != dollars(cost))
    return f"≥${cost:,.2f}" if is_bound else dollars(cost)


def per_cent(share: Decimal | float) -> str:
    """Write a share of 1; ten times and more as a factor.

    >>> [per_cent(share) for share in (0, 0.0001, 0.1234, 1, 12.6)]
    ['0 %', '<0.1 %', '12.3 %', '100 %', '13×']
    """
    percentage = float(share) * 100
    if 0 < percentage < 0.05:
        return "<0.1 %"
    if abs(percentage) >= 999.5:
        return f"{float(share):,.0f}×"
    return f"{percentage:.0f} %" if percentage in (0, 100) else f"{percentage:.1f} %"


def relative_change(change: Decimal | float) -> str:
    """Write a change against an earlier amount: in per cent, or as a factor where it is ten times as much or more.

    >>> [relative_change(change) for change in (-0.5, 0.123, 107.36)]
    ['-50.0 %', '12.3 %', '108×']
    """
    return per_cent(1 + change if change >= 9 else change)


def rounded(number: Decimal | float) -> str:
    """Write a number with three digits that count, and all of those before the point.

    >>> [rounded(number) for number in (1234.567, 12.345, 0.0123456, 2.0)]
    ['1,235', '12.3', '0.0123', '2']
    """
    value = float(number)
    return f"{value:,.0f}" if isfinite(value) and abs(value) >= 100 else f"{value:.3g}"


def short_ago(milliseconds: int) -> str:
    """Say how long ago something was, in one unit.

    >>> [short_ago(ms) for ms in (-5, 50_000, 300_000, 7_260_000, 90_000_000, 400_000_000)]
    ['just now', 'just now', '5 min ago', '2 h ago', '25 h ago', '4 days ago']
    """
    minutes = milliseconds // 60_000
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{minutes} min ago"
    hours = minutes // 60
    return f"{hours} h ago" if hours < 48 else f"{hours // 24} days ago"


def local_time(milliseconds: int | None, zone: tzinfo) -> str:
    """Write a moment to the minute, as clocks in the zone showed it; a dash for one that is not known.

    >>> local_time(1_700_000_000_000, UTC)
    '2023-11-14 22:13'
    >>> local_time(2**62, UTC)
    '4611686018427387904 ms'
    >>> local_time(None, UTC)
    '–'
    """
    if milliseconds is None:
        return "–"
    try:
        moment = (_EPOCH + timedelta(milliseconds=milliseconds)).astimezone(zone)
    except OverflowError:  # no calendar goes that far
        return f"{milliseconds} ms"
    return moment.strftime("%Y-%m-%d %H:%M")


def short_turn(turn_id: str) -> str:
    """Return the beginning of a turn's id that stands for it on screens.

    >>> short_turn("7F3KQ2MX0000000000000000AA")
    '7F3KQ2MX'
    """
    return turn_id[:_TURN_CHARACTERS]


def one_line(text: str, characters: int) -> str:
    r"""Write the beginning of a text on one line; of a prompt, what people typed.

    >>> one_line(" two\n  lines of it", 12)
    'two lines o…'
    >>> one_line("<open-file>a.py</open-file>\nFix it", 12)
    'Fix it'
    """
    begun = text[: max(4 * characters, _MARKUP_CHARACTERS)]
    elements, typed = split_markup(begun)
    joined = " ".join((typed or elements).split())
    is_whole = len(joined) <= characters and len(text) <= len(begun)
    return joined if is_whole else f"{joined[: characters - 1]}…"


def split_markup(text: str) -> tuple[str, str]:
    r"""Return the text of the elements that a prompt begins with, and the text after them.

    Assistants write notes to the model, and slash commands, as elements whose names have a hyphen or an underscore,
    which those of HTML do not. An element that only repeats the name of a slash command is left out.

    >>> split_markup("<note>is HTML</note>"), split_markup("<open_file>a.py</open_file>\nFix it")
    (('', '<note>is HTML</note>'), ('a.py', 'Fix it'))
    >>> split_markup("<the-message>go is running</the-message><the-name>/go</the-name><the-args>--all</the-args>")
    ('/go --all', '')
    """
    texts: list[str] = []
    place = 0
    while (found := _ELEMENT.match(text, place)) is not None and (texts or found["end"]):
        texts.append(_TAG.sub(" ", found["text"]).strip())
        place = found.end()
    commands = {each.split()[0][1:] for each in texts if each.startswith("/")}
    spoken = (each for each in texts if each and each.split()[0] not in commands)
    return " ".join(spoken), text[place:].strip() if texts else text


def in_words(code: str) -> str:
    """Write a code of the schema in the words of people.

    >>> [in_words(code) for code in ("context_limit", "failed_turn", "manual")]
    ['auto', 'failed turn', 'manual']
    """
    return _WORDS.get(code) or code.replace("_", " ")


def weekday(number: int) -> str:
    """Write a day of the week, of which Monday is 1.

    >>> weekday(1), weekday(7), weekday(8)
    ('Monday', 'Sunday', '8')
    """
    return _WEEKDAYS[number - 1] if 1 <= number <= len(_WEEKDAYS) else str(number)


def project_names(paths: Iterable[str]) -> dict[str, str]:
    r"""Write the ends of projects' paths, by which people know them; `--project` finds a project by its end.

    Paths that end alike get as many more of their folders as make them differ.

    >>> project_names(["/home/ada/code/site", "C:\\ada\\code\\site", "/srv/site"]).values()
    dict_values(['…/code/site', '…\\code\\site', '/srv/site'])
    >>> project_names(["/home/ada/code/site", "/home/lin/code/site"]).values()
    dict_values(['…/ada/code/site', '…/lin/code/site'])
    """
    folders = _PROJECT_PARTS
    names = {path: _path_end(path, folders) for path in paths}
    while alike := {name for name, uses in Counter(names.values()).items() if uses > 1}:
        folders += 1 + folders // 4  # a path may have thousands
        names |= {path: _path_end(path, folders) for path, name in names.items() if name in alike}
    return names


def _path_end(path: str, folders: int) -> str:
    separator = "\\" if "\\" in path and "/" not in path else "/"
    parts = [part for part in path.split(separator) if part]
    return path if len(parts) <= folders else separator.join(["…", *parts[-folders:]])


def number_kind(column: ListingColumn) -> str:
    """Return how the numbers of a column are written for people: as money, share, tokens, count or otherwise.

    >>> names = ("cost_usd", "hit_ratio", "output_tokens", "requests", "latency_ms")
    >>> [number_kind(ListingColumn(name, "BIGINT")) for name in names]
    ['money', 'share', 'tokens', 'count', 'other']
    """
    writer = _writer_for(column, UTC)
    kinds = {dollars: "money", per_cent: "share", signed_count: "tokens", grouped: "count"}
    return "other" if writer is None else kinds.get(writer, "other")


def displayed(columns: tuple[ListingColumn, ...], rows: Iterable[Sequence[object]], zone: tzinfo) -> Listing:
    """Return a listing with the same columns, their values written for people."""
    writers = [_writer_for(column, zone) for column in columns]
    # A moment and a name are read as text; other numbers stay flush right.
    shown = tuple(replace(column, type="VARCHAR") if _is_text(column) else column for column in columns)
    return Listing(shown, _written(rows, writers))


def _written(rows: Iterable[Sequence[object]], writers: list[_Writer | None]) -> Iterator[tuple[object, ...]]:
    for row in rows:
        yield tuple(
            value if write is None or not isinstance(value, int | float | Decimal | str) else write(value)
            for value, write in zip(row, writers, strict=True)
        )


def _is_text(column: ListingColumn) -> bool:
    return column.name.endswith("_at") or column.name in ("weekday", "hour", "quarter_hour")


def _writer_for(column: ListingColumn, zone: tzinfo) -> _Writer | None:
    if column.name == "title":
        return partial(one_line, characters=TITLE_CHARACTERS)
    if not column.is_number:
        return None
    if _MONEY.fullmatch(column.name):
        return dollars
    if column.name == "change_share":
        return relative_change
    if _SHARE.fullmatch(column.name):
        return per_cent
    if column.type not in ("BIGINT", "INTEGER", "HUGEINT"):
        return _OTHERS.get(column.name, rounded)
    return _writer_of_whole(column.name, zone)


def _writer_of_whole(name: str, zone: tzinfo) -> _Writer | None:
    if name.endswith("_at"):
        return partial(local_time, zone=zone)
    if name == "quarter_hour":
        return lambda quarter: local_time(quarter * 900_000, zone)
    if _TOKENS.fullmatch(name):
        return signed_count
    if name.endswith("_ms"):
        return short_duration
    if name in _OTHERS:
        return _OTHERS[name]
    return None if name.endswith(_NUMBERS_THAT_NAME) else grouped


def _seconds(number: float) -> str:
    return short_duration(round(number * 1000))


def _minutes(number: float) -> str:
    return short_duration(round(number * 60_000))


def _hour(number: int) -> str:
    return f"{number:02}:00"


_OTHERS: dict[str, _Writer] = {
    "gap_s": _seconds,
    "hour": _hour,
    "median_gap_s": _seconds,
    "minutes": _minutes,
    "minutes_to_first_edit": _minutes,
    "minutes_to_next": _minutes,
    "weekday": weekday,
}
