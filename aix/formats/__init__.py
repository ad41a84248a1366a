"""Listings as bytes: the formats in which AIX gives out rows.

Every format keeps every value apart from every other: NULL is not the empty string, text is not a number, and text
that could act on a terminal or a page is written so that it cannot.
"""

from aix.formats.listing import Listing, ListingColumn

FORMATS = ("table", "csv", "json", "jsonl", "markdown", "parquet")
SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".parquet": "parquet"}

__all__ = ["FORMATS", "SUFFIXES", "Listing", "ListingColumn"]
