"""The importers that come with AIX: one folder per source of session histories.

An importer knows its log format and the ledger's row types. It never touches the store or the command line.
"""
