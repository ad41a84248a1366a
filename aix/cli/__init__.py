"""The `aix` command line: what users type, turned into calls of the library."""

import gc
import sys


def main() -> None:
    """Run `aix` as a program."""
    from aix.cli.diagnostics import run
    from aix.cli.root import aix

    code = run(aix)
    gc.freeze()  # at its end the interpreter looks for garbage in all there is, which takes long and frees nothing
    sys.exit(code)
