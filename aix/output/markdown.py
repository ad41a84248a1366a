"""Text of logs inside Markdown: it is shown as it was written, and can open no tag, link or heading of its own."""

import re
from collections.abc import Iterable, Iterator

from aix.output.text import escape_unsafe

# An underscore between two letters is no markup; everything else that Markdown or HTML might read gets a backslash.
_SPECIAL = re.compile(r"[\\`*\[\]<>|~&$]|(?<![^\W_])_|_(?![^\W_])")
_BLOCK_START = re.compile(r"^(?=#|[-=+ ]+$)")
_BACKTICKS = re.compile("`+")


def escape_markdown(text: str) -> str:
    r"""Put a backslash before everything that is no plain text to Markdown.

    >>> print(escape_markdown("snake_case <b>[x](y)"))
    snake_case \<b\>\[x\](y)
    """
    return _SPECIAL.sub(r"\\\g<0>", text)


def prose_line(line: str) -> str:
    r"""Write a line of running text; it is neither a heading nor the rule that makes one of the line before.

    >>> print(prose_line("# 1 <i>"))
    \# 1 \<i\>
    """
    return _BLOCK_START.sub(r"\\", escape_markdown(escape_unsafe(line)).strip())


def fenced(lines: Iterable[str], language: str = "") -> Iterator[str]:
    """Give lines as a block of code that none of them can end."""
    listed = [escape_unsafe(line) for line in lines]
    longest = max((len(run) for line in listed for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    yield fence + re.sub(r"[^\w+#.-]", "", language)
    yield from listed
    yield fence
