"""AIX: the session histories of AI coding assistants as one ledger, read with SQL."""

__version__ = "0.1.0"
__all__ = ["__version__"]
