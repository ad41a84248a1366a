"""Settings of an import from Python, for `aix.import_histories`."""

from aix.pipeline.run import Settings

__all__ = ["Settings"]
