"""The query library: SQL files that anyone can open, run and change.

A file says in a header what it answers, which parameters it takes and which columns it returns; see docs/queries.md.
"""
