"""The version of AIX, in a module that imports nothing: modules that note it would otherwise import themselves."""

__version__ = "0.1.0"
