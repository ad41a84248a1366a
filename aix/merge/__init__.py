"""Merging rows into a ledger, and removing them: which rows belong together, and which of them hold."""
