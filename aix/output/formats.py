"""Formats written line by line: csv, json, jsonl and markdown, and text of logs inside Markdown."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from aix.output import Listing
from aix.output.text import escape_unsafe, to_cell, to_json, to_text

_CSV_SPECIAL = re.compile(r'[",\r\n]|^\s|\s$')
# An underscore between two letters is no markup; everything else that Markdown or HTML might read gets a backslash.
_MARKDOWN_SPECIAL = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")
_BLOCK_START = re.compile(r"^(?=#|[-=+ ]+$)")
_BACKTICKS = re.compile("`+")


def escape_markdown(text: str) -> str:
    r"""Put a backslash before everything that is no plain text to Markdown.

    >>> print(escape_markdown("snake_case <b>[x](y)"))
    snake_case \<b\>\[x\](y)
    """
    return _MARKDOWN_SPECIAL.sub(r"\\\g<0>", text)


def prose_line(line: str) -> str:
    r"""Write a line of running text; it is neither a heading nor the rule that makes one of the line before.

    >>> print(prose_line("# 1 <i>"))
    \# 1 \<i\>
    """
    return _BLOCK_START.sub(r"\\", escape_markdown(escape_unsafe(line)).strip())


def fenced(lines: Iterable[str], language: str = "") -> Iterator[str]:
    """Give lines as a block of code that none of them can end."""
    listed = [escape_unsafe(line) for line in lines]
    longest = max((len(run) for line in listed for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence + re.sub(r"[^\w+#.-]", "", language)
    yield from listed
    yield fence


def csv_lines(listing: Listing) -> Iterator[str]:
    """RFC 4180 with a header; NULL is nothing between the commas, the empty string is `""`."""
    yield ",".join(_csv_text(column.name) for column in listing.columns)
    for row in listing.rows:
        values = (value for value, _ in zip(row, listing.columns, strict=True))
        yield ",".join("" if value is None else _csv_text(to_text(value)) for value in values)


def json_lines(listing: Listing) -> Iterator[str]:
    """One array with an object per row, an object a line; with totals, the array is the `rows` of an object."""
    totals = listing.totals
    yield "[" if totals is None else '{"rows":['
    previous = None
    for line in jsonl_lines(listing):
        if previous is not None:
            yield f"{previous},"
        previous = line
    if previous is not None:
        yield previous
    yield "]" if totals is None else f'],"totals":{_json_object(totals.items())}}}'


def jsonl_lines(listing: Listing) -> Iterator[str]:
    """One object per row."""
    names = [column.name for column in listing.columns]
    for row in listing.rows:
        yield _json_object(zip(names, row, strict=True))


def markdown_lines(listing: Listing) -> Iterator[str]:
    """A pipe table in which no cell can open a tag, a link of its own wording, or another cell."""
    yield _markdown_row(escape_unsafe(column.name) for column in listing.columns)
    yield "|" + "|".join(" ---: " if column.is_number else " --- " for column in listing.columns) + "|"
    for row in listing.rows:
        yield _markdown_row(to_cell(value) for value, _ in zip(row, listing.columns, strict=True))


def document_lines(scalars: Mapping[str, object], lists: Mapping[str, Sequence[object]]) -> Iterator[str]:
    """Give one object of JSON: scalars, then lists, each member and each item of a list on a line of its own.

    >>> print("".join(document_lines({"version": 1}, {"rows": [{"n": 1}, {"n": 2}], "notes": []})))
    {"version": 1,"rows": [  {"n":1},  {"n":2}],"notes": []}
    """
    yield "{"
    yield from (f"{to_json(name)}: {to_json(value)}," for name, value in scalars.items())
    for place, (name, items) in enumerate(lists.items(), start=1):
        yield f"{to_json(name)}: ["
        for number, item in enumerate(items, start=1):
            yield f"  {to_json(item)}{',' if number < len(items) else ''}"
        yield "]" if place == len(lists) else "],"
    yield "}"


LINE_FORMATS = {"csv": csv_lines, "json": json_lines, "jsonl": jsonl_lines, "markdown": markdown_lines}


def _json_object(fields: Iterable[tuple[str, object]]) -> str:
    return "{" + ",".join(f"{to_json(name)}:{to_json(value)}" for name, value in fields) + "}"


def _csv_text(text: str) -> str:
    if text and not _CSV_SPECIAL.search(text):
        return text
    escaped = text.replace('"', '""')
    return f'"{escaped}"'


def _markdown_row(cells: Iterator[str]) -> str:
    return "| " + " | ".join(escape_markdown(cell) for cell in cells) + " |"
