"""The version of the splitter of shell commands, apart from it: to compare the number, nobody need load it."""

SPLITTER_VERSION = 3
"""Goes up whenever an answer changes."""
