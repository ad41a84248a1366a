"""The ledger on disk: versions, each a list of Parquet files per table, and the views that read them."""
