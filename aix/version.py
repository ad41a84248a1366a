"""Version numbers, apart from what they number: a comparison of them loads nothing else."""

__version__ = "0.1.0"
SCHEMA_VERSION = 6
FIRST_NUMBERED = 5
"""The first version of the schema in which files of groups number the family of each row."""
SPLITTER_VERSION = 6
"""Of the splitter of shell commands; it goes up whenever an answer changes."""
RISKS_VERSION = 2
"""Of the rules on risks; it goes up whenever the same rules give another answer."""
SEARCH_VERSION = 1
"""Of the index of texts; it goes up whenever the same files would give another index."""
VECTORS_VERSION = 1
"""Of the vectors of turns; it goes up whenever the same texts would give another vector."""
