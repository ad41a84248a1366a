"""Transcripts as plain text: blocks of a user and an assistant, with the calls that the assistant made."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_SPEAKER = re.compile(r"(user|assistant):")
_CALL = re.compile(r"\[Tool call\] (.+)")
_RESULT = re.compile(r"\[Tool result\](?: .*)?")
_PARAMETER = re.compile(r"  ([^\s:][^:]*): ?(.*)")


@dataclass(slots=True)
class Block:
    """Words and calls of the user or the assistant."""

    role: str
    lines: list[str] = field(default_factory=list)
    calls: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    has_results: bool = False

    @property
    def text(self) -> str:
        """Text that was said."""
        return "\n".join(self.lines).strip("\n")


def blocks_of(written: str) -> Iterator[Block]:
    r"""Go through the blocks of a transcript. What looks like the start of one inside a prompt still is part of it.

    Text before the first block comes as a block without a role.

    >>> blocks = blocks_of("user:\nhi\n\nassistant:\n[Tool call] ls\n  path: .\n")
    >>> [(block.role, block.text, block.calls) for block in blocks]
    [('user', 'hi', []), ('assistant', '', [('ls', {'path': '.'})])]
    """
    block: Block | None = None
    given: dict[str, str] | None = None
    last_name = ""
    is_query_open = False
    for line in written.replace("\r\n", "\n").split("\n"):
        speaker = None if is_query_open else _SPEAKER.fullmatch(line)
        if speaker:
            if block is not None:
                yield block
            block, given = Block(speaker[1]), None
            continue
        if block is None:
            block = Block("")
        is_query_open = (is_query_open or "<user_query>" in line) and "</user_query>" not in line
        call = _CALL.fullmatch(line) if block.role == "assistant" else None
        if call:
            given = {}
            block.calls.append((call[1], given))
            continue
        if block.role == "assistant" and _RESULT.fullmatch(line):
            block.has_results, given = True, None
            continue
        if given is not None:
            parameter = _PARAMETER.fullmatch(line)
            if parameter:
                last_name = parameter[1]
                given[last_name] = parameter[2]
                continue
            if line.startswith("  ") and last_name in given:
                given[last_name] += f"\n{line[2:]}"
                continue
            if not line:
                continue
            given = None
        block.lines.append(line)
    if block is not None:
        yield block
