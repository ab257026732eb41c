"""One operation of the typed client: a few calls to the server under one deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from footlight.protocol.errors import MCPTimeoutError
from footlight.protocol.listings import ResourceContents, read_contents
from footlight.protocol.untrusted_json import items

if TYPE_CHECKING:
    from footlight.client.mcp_client import MCPClient
    from footlight.protocol.results import ToolResult
    from footlight.protocol.tools import Tool

__all__ = ["Operation"]


class Operation:
    """A few calls under one deadline.

    `tool`, `arguments` and `result` are those of the last call, for errors.
    """

    def __init__(self, client: MCPClient, *, tool: str, timeout_ms: int) -> None:
        self.tool = tool
        self.arguments: Mapping[str, Any] = {}
        self.result: ToolResult | None = None
        self.timeout_ms = timeout_ms
        self._client = client
        self._clock = asyncio.get_running_loop().time
        self._end = self._clock() + timeout_ms / 1000

    @property
    def left_ms(self) -> float:
        """The milliseconds until the deadline.

        Raises:
            MCPTimeoutError: the deadline has passed.
        """
        left_ms = (self._end - self._clock()) * 1000
        if left_ms <= 0:
            raise self.timeout_error()
        return left_ms

    def timeout_error(self, *, because: str | None = None) -> MCPTimeoutError:
        """Return the error for an operation that took too long."""
        message = f"{self.tool} took longer than {self.timeout_ms}ms"
        return MCPTimeoutError(
            f"{message}: {because}" if because else message,
            timeout_ms=self.timeout_ms,
            tool_name=self.tool,
        )

    async def tools(self) -> tuple[Tool, ...]:
        """Return the server's tools, from the client's cache."""
        async with asyncio.timeout(self.left_ms / 1000):
            return await self._client.list_tools()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        self.tool, self.arguments, self.result = tool, arguments, None
        self.result = await self._client.call_tool(tool, arguments, timeout_ms=self.left_ms)
        return self.result

    async def read(self, uri: str) -> Sequence[ResourceContents]:
        """Read a resource that the last result links to."""
        raw = await self._client.request("resources/read", {"uri": uri}, timeout_ms=self.left_ms)
        return tuple(read_contents(entry) for entry in items(raw.get("contents")))
