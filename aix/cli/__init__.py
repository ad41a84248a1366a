"""The `aix` command line: what users type, turned into calls of the library."""

import gc
import sys


def main() -> None:
    """Run `aix` as a program."""
    # What is loaded here stays to the end: to look through it for garbage, again and again, is a tenth of a short run.
    gc.disable()
    from aix.cli.diagnostics import run
    from aix.cli.root import aix

    gc.freeze()
    gc.enable()
    sys.exit(run(aix))
