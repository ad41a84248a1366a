"""The version of AIX, apart from its front door: who writes it down need not know all that `aix` offers."""

__version__ = "0.1.0"
