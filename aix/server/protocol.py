"""The Model Context Protocol over stdin and stdout, by the official SDK: an optional part of AIX.

While it serves, the SDK owns stdout, and sends what else is written there to stderr.
"""

import asyncio
from functools import partial
from io import TextIOWrapper
from typing import BinaryIO

import anyio
from anyio.to_thread import run_sync
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
    ToolAnnotations,
)

from aix.server.calls import Calls
from aix.server.tools import INSTRUCTIONS, TOOLS
from aix.version import __version__


def make_server(calls: Calls) -> Server:
    """Return a server that offers the tools."""

    async def list_tools(context: object, params: PaginatedRequestParams | None) -> ListToolsResult:  # noqa: ARG001
        return ListToolsResult(
            tools=[
                Tool(
                    name=tool.name,
                    title=tool.title,
                    description=tool.description,
                    input_schema=tool.schema,
                    annotations=ToolAnnotations(
                        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
                    ),
                )
                for tool in TOOLS.values()
            ]
        )

    async def call_tool(context: object, params: CallToolRequestParams) -> CallToolResult:  # noqa: ARG001
        limit = calls.limit()
        try:
            answer = partial(calls.answer, params.name, params.arguments or {}, limit)
            text, is_error = await run_sync(answer, abandon_on_cancel=True)
        finally:
            limit.stop()  # of a call that was cancelled; its statement ends, and the next call can begin
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=is_error)

    return Server(
        "aix",
        version=__version__,
        title="AIX",
        description="Session histories of AI coding assistants: search, transcripts, contexts, cost, SQL",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class _Input(anyio.AsyncFile[str]):
    """Lines of a stream; the thread that waits for one is left behind when the server is interrupted."""

    async def readline(self) -> str:
        return await run_sync(self.wrapped.readline, abandon_on_cancel=True)


def serve(calls: Calls, stdin: BinaryIO) -> None:
    """Answer calls from stdin until it ends."""

    async def run() -> None:
        server = make_server(calls)
        lines = _Input(TextIOWrapper(stdin, encoding="utf-8", errors="replace"))
        try:
            async with stdio_server(lines) as (incoming, outgoing):
                await server.run(incoming, outgoing, server.create_initialization_options())
        except Exception:
            task = asyncio.current_task()
            if task is not None and task.cancelling():  # Ctrl-C, of which a message on its way makes another error
                raise KeyboardInterrupt from None
            raise

    anyio.run(run)
