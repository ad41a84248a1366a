"""The store: versions on disk, each a list of Parquet files per table. It knows files, and no meaning of rows."""
