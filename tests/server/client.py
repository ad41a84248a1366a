"""The SDK's own client, which calls the tools of a server in this process, or of one that it starts."""

import json
import re
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

import anyio
from mcp import Client
from mcp_types import CallToolResult, TextContent

from aix.server.calls import Calls
from aix.server.latest_ledger import LatestLedger
from aix.server.protocol import make_server

MARKED = re.compile(r"<<<untrusted data (\w{16})>>>\n(.*)\n<<<end of untrusted data \1>>>", re.DOTALL)
Question = tuple[str, Mapping[str, object]]


def text_of(result: CallToolResult) -> str:
    """Return the one text of a result."""
    [content] = result.content
    assert isinstance(content, TextContent)
    assert result.structured_content is None
    return content.text


def ask(
    ledger: Path, *questions: Question, is_redacted: bool = True, names_file: Path | None = None, seconds: float = 60
) -> list[CallToolResult]:
    """Call tools one after the other."""
    reported: list[str] = []

    async def run() -> list[CallToolResult]:
        opened = LatestLedger(ledger, is_redacted=is_redacted, names_file=names_file)
        with Calls(opened, UTC, lambda name, _: reported.append(name), seconds) as calls:
            async with Client(make_server(calls)) as client:
                return [await client.call_tool(name, dict(arguments)) for name, arguments in questions]

    results = anyio.run(run)
    assert not reported
    return results


def texts(ledger: Path, *questions: Question, is_redacted: bool = True) -> list[str]:
    """Return the texts of the answers of tools, none of which may fail."""
    results = ask(ledger, *questions, is_redacted=is_redacted)
    assert not [text_of(result) for result in results if result.is_error]
    return list(map(text_of, results))


def text(ledger: Path, tool: str, /, **arguments: object) -> str:
    """Return the text of the answer of a tool."""
    return texts(ledger, (tool, arguments))[0]


def data_of(answer: str) -> list[str]:
    """Return the lines between the marks of an answer."""
    found = MARKED.search(answer)
    assert found
    assert answer.endswith(found[0])
    return found[2].split("\n")


def rows_of(answer: str) -> list[dict[str, Any]]:
    """Return the rows of an answer."""
    return [json.loads(line) for line in data_of(answer)]
