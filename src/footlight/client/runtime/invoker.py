"""Calls of one handle: one after another, in the order in which they were made, each with its session."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Any

from footlight.client.adapters.adapter import Adapter
from footlight.client.errors import MCPError
from footlight.client.mcp_client import MCPClient
from footlight.client.results import Tool, ToolResult
from footlight.client.runtime.logger import CallLog
from footlight.client.runtime.recording import RecordedClient

__all__ = ["CallInvoker", "create_call_invoker"]


def create_call_invoker(
    *, client: MCPClient, log: CallLog, adapter: Adapter, session_name: str
) -> CallInvoker:
    """`invoke` and `close` for a session that is open; closing it closes the client too (R000-29)."""
    return CallInvoker(client=client, log=log, adapter=adapter, session_name=session_name)


class CallInvoker:
    """A server is not taken to bear two calls of one session at once, so they wait for each other.

    Two invokers do not. A call that fails does not hinder the next.
    """

    def __init__(self, *, client: MCPClient, log: CallLog, adapter: Adapter, session_name: str) -> None:
        self._client = client
        self._log = log
        self._recorded = RecordedClient(client, log)
        self._adapter = adapter
        self._session_name = session_name
        self._chain = asyncio.Lock()
        self._beside: set[asyncio.Event] = set()
        self._tools: Mapping[str, Tool] | None = None
        self._closed = False

    async def invoke(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        parallel: bool = False,
        timeout_ms: float | None = None,
    ) -> ToolResult:
        """Call a tool, when the calls made before it are done; with `parallel`, at once, beside them.

        Raises:
            MCPError: the handle is closed, or was closed before this call's turn came; the session's key
                was given (`invalid`).
            ToolInvocationError: the tool failed, or there is no such tool.
            MCPTimeoutError: no answer within `timeout_ms`, which counts from when the call is sent.
            MCPConnectionError: the server is gone.
        """
        self._check_open(name)
        seq = self._log.next_seq()
        async with self._alongside() if parallel else self._chain:
            self._check_open(name)
            given = await self._with_session(name, arguments or {})
            return await self._recorded.call_tool(name, given, timeout_ms=timeout_ms, seq=seq)

    async def close(self) -> None:
        """Wait for what runs, refuse what waits, close the session and then the client, whatever fails.

        Raises what the closing of the session raises. Closing again does nothing.
        """
        if self._closed:
            return
        self._closed = True
        try:
            async with self._chain:
                for event in tuple(self._beside):
                    await event.wait()
            await self._adapter.close(self._recorded, self._session_name)
        finally:
            await self._client.close()
            self._log.close()

    @contextlib.asynccontextmanager
    async def _alongside(self) -> AsyncGenerator[None]:
        done = asyncio.Event()
        self._beside.add(done)
        try:
            yield
        finally:
            self._beside.discard(done)
            done.set()

    def _check_open(self, name: str) -> None:
        if self._closed:
            raise MCPError(f"{name}: the handle is closed", reason="not_connected")

    async def _with_session(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._tools is None:
            self._tools = {tool.name: tool for tool in await self._client.list_tools()}
        tool = self._tools.get(name)
        if tool is None or not self._adapter.has_session(tool):
            return arguments
        for key in self._adapter.injected_keys:
            if key in arguments:
                raise MCPError(
                    f"{key}: the handle's own session is given to {name}; leave it out", reason="invalid"
                )
        return self._adapter.inject_session(arguments, self._session_name)
