"""A server in this process whose tools answer as a test says, and which records its requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import mcp_types as types
from mcp.server import Server, ServerRequestContext

from footlight.client.mcp_client import MCPClient
from footlight.client.transports.memory import InMemory

LIMIT_SECONDS = 60.0

Answer = types.CallToolResult | Callable[[Mapping[str, Any]], Awaitable[types.CallToolResult]]

FOOTLIGHT = ("navigate", "screenshot", "snapshot", "click", "fill", "close_session")
PLAYWRIGHT = (
    *("browser_navigate", "browser_take_screenshot", "browser_snapshot", "browser_click"),
    *("browser_fill_form", "browser_evaluate", "browser_close"),
)
_TARGET = {"type": "object", "properties": {"target": {"type": "string"}}}


def says(*texts: str, image: str | None = None, error: bool = False, **data: Any) -> types.CallToolResult:
    """Return the result of a tool: texts, an image, structured content."""
    content: list[types.ContentBlock] = [types.TextContent(text=text) for text in texts]
    if image is not None:
        content.append(types.ImageContent(data=image, mime_type="image/png"))
    return types.CallToolResult(content=content, is_error=error, structured_content=data or None)


async def wait_forever(_: Mapping[str, Any]) -> types.CallToolResult:
    await asyncio.Event().wait()
    raise AssertionError


class Script:
    """`calls` are the tools that were called, with their arguments; `listed` counts lists of tools."""

    def __init__(self, tools: tuple[str, ...], answers: Mapping[str, Answer]) -> None:
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.listed = 0
        self._called = asyncio.Event()
        self._tools = [types.Tool(name=name, input_schema=_TARGET) for name in tools]
        self._answers = answers

    def forget_parameters(self) -> None:
        """Let the tools take any arguments without declaring them."""
        for tool in self._tools:
            tool.input_schema = {"type": "object"}

    async def wait_for_call(self) -> None:
        """Wait until a tool was called."""
        async with asyncio.timeout(LIMIT_SECONDS):
            await self._called.wait()

    def server(self) -> Server[Any]:
        return Server("scripted", version="1", on_list_tools=self._list, on_call_tool=self._call)

    async def _list(self, _: ServerRequestContext[Any], __: Any) -> types.ListToolsResult:
        self.listed += 1
        return types.ListToolsResult(tools=self._tools)

    async def _call(
        self, _: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        self.calls.append((params.name, dict(params.arguments or {})))
        self._called.set()
        answer = self._answers[params.name]
        return answer if isinstance(answer, types.CallToolResult) else await answer(params.arguments or {})


@asynccontextmanager
async def serve_script(
    tools: tuple[str, ...], answers: Mapping[str, Answer] | None = None
) -> AsyncGenerator[tuple[MCPClient, Script]]:
    """Yield a client of a server with these tools."""
    script = Script(tools, answers or {})
    async with MCPClient(InMemory(script.server())) as client:
        yield client, script
