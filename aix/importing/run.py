"""Settings of an import from Python, for `aix.import_histories`."""

from aix.pipeline.run import Settings, Survey, import_histories, survey

__all__ = ["Settings", "Survey", "import_histories", "survey"]
