"""Data that follows from the rows of a ledger: columns, prices, tables that a program derives, caches, the catalog."""
