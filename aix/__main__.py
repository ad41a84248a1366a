"""Lets `python -m aix` stand in for the `aix` command."""

from aix.cli import program

if __name__ == "__main__":
    program()
