"""The `aix` command line, a module for each command or family of commands."""

import atexit
import gc
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run `aix` in a Python program, and raise `SystemExit` when it is done."""
    sys.exit(_run())


def program() -> None:
    """Run `aix`, and end the process."""
    from aix.process import own_process

    own_process()
    code = _run()
    from aix.cli.diagnostics import flush_stderr
    from aix.cli.stdout import flush_stdout

    atexit._run_exitfuncs()
    with suppress(OSError, ValueError):  # the reader has gone, which was said already
        flush_stdout()
    with suppress(OSError, ValueError):
        flush_stderr()
    # Python would take its modules apart, piece by piece, which lasts a tenth of a second and serves nobody.
    os._exit(code)


def _run() -> int:
    # These modules stay to the end: to look through them for garbage, again and again, is a tenth of a short run.
    gc.disable()
    from aix.cli.diagnostics import run
    from aix.cli.root import aix
    from aix.process import collect_garbage_rarely

    collect_garbage_rarely()
    gc.enable()
    return run(aix)
