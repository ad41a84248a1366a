"""Lets `python -m aix` stand in for the `aix` command."""

from aix.cli import main

if __name__ == "__main__":
    main()
