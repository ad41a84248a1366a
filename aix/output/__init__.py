"""Listings as bytes: the formats in which AIX gives out rows.

Every format can be read back: NULL is not the empty string, numbers keep all their digits, and text that could act on
a terminal or a page is written so that it cannot, and can still be told from any other text.
"""

from aix.output.listing import Listing, ListingColumn

FORMATS = ("table", "csv", "json", "jsonl", "markdown", "parquet")
SUFFIXES = {".csv": "csv", ".json": "json", ".jsonl": "jsonl", ".md": "markdown", ".parquet": "parquet"}

__all__ = ["FORMATS", "SUFFIXES", "Listing", "ListingColumn"]
