"""Calls of one handle: one after another, in the order in which they were made, each with its session."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Any, cast

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
        self._tools: Mapping[str, Tool] = {}
        self._closed = False
        self._ended = asyncio.Event()

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
            MCPError: the handle is closed, or was closed before this call's turn came (`not_connected`); the
                arguments are no mapping, hold the session's key or what JSON has no word for (`invalid`);
                the log cannot be written. Nothing was sent.
            ToolInvocationError: the tool failed, or there is no such tool.
            MCPTimeoutError: no answer within `timeout_ms`, which counts from when the call is sent.
            MCPConnectionError: the server is gone.
        """
        self._check_open(name)
        given = _checked(name, arguments)
        seq = self._log.next_seq()
        async with self._alongside() if parallel else self._chain:
            self._check_open(name)
            sent = await self._with_session(name, given)
            return await self._recorded.call_tool(name, sent, timeout_ms=timeout_ms, seq=seq)

    async def close(self) -> None:
        """Wait for what runs, refuse what waits, close the session and then the client, whatever fails.

        Raises what the closing of the session raises. Closing again only waits until it is closed. Cancelled,
        it leaves the session to the server, and closes the client.
        """
        if self._closed:
            await self._ended.wait()
            return
        self._closed = True
        try:
            await self._close()
        finally:
            self._ended.set()
            self._log.close()

    async def _close(self) -> None:
        try:
            async with self._chain:
                for event in tuple(self._beside):
                    await event.wait()
            await self._adapter.close(self._recorded, self._session_name)
        finally:
            await self._client.close()

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
        if name not in self._tools:  # Not asked for yet, or the server has more by now.
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


def _checked(name: str, arguments: object) -> dict[str, Any]:
    """A copy: what the caller does with its own meanwhile changes nothing."""
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise MCPError(
            f"{name}: give the arguments by name, or all of them in a mapping; "
            f"a {type(arguments).__name__} is none",
            reason="invalid",
        )
    return dict(cast("Mapping[str, Any]", arguments))
