"""The version of the schema, apart from the schema: who only wants to know the number need not build all tables."""

SCHEMA_VERSION = 5
FIRST_NUMBERED = 5
"""The first version in which files of groups number the family of each row."""
