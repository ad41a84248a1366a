"""The `aix` command line: what users type, turned into calls of the library."""

import sys


def main() -> None:
    """Run `aix` as a program."""
    from aix.cli.diagnostics import run
    from aix.cli.root import aix

    sys.exit(run(aix))
