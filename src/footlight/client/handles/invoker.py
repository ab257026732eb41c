"""Send the calls of a handle in the order in which they were made, with the session's key."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from typing import Any, cast

from footlight.client.handles.adapters import Adapter, list_injected_keys
from footlight.client.handles.call_log import CallLog
from footlight.client.handles.recording import RecordedClient
from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import MCPError
from footlight.protocol.results import ToolResult
from footlight.protocol.tools import Tool

__all__ = ["CallInvoker", "create_call_invoker"]


def create_call_invoker(
    *, client: MCPClient, log: CallLog, adapter: Adapter, session_name: str
) -> CallInvoker:
    """Return an invoker for an open session. Closing it also closes the client."""
    return CallInvoker(client=client, log=log, adapter=adapter, session_name=session_name)


class CallInvoker:
    """Sends one call at a time, because a server may not support concurrent calls of one session.

    Several invokers are independent. A failed call does not affect the next one.
    """

    def __init__(self, *, client: MCPClient, log: CallLog, adapter: Adapter, session_name: str) -> None:
        self._client = client
        self._log = log
        self._recorded = RecordedClient(client, log)
        self._adapter = adapter
        self._session_name = session_name
        self._queue = asyncio.Lock()
        self._parallel_calls: set[asyncio.Event] = set()
        self._tools: Mapping[str, Tool] = {}
        self._closed = False
        self._close_finished = asyncio.Event()

    async def invoke(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        parallel: bool = False,
        timeout_ms: float | None = None,
    ) -> ToolResult:
        """Call a tool after all earlier calls, or at once with `parallel`.

        Raises:
            MCPError: the handle is closed (`not_connected`); the arguments are not a mapping, contain the
                session's key, or cannot be written as JSON (`invalid`); the log cannot be written. The call
                was not sent.
            ToolInvocationError: the tool failed, or does not exist.
            MCPTimeoutError: there was no answer within `timeout_ms`, which starts when the call is sent.
            MCPConnectionError: the server is gone.
        """
        self._check_open(name)
        copied = _copy_arguments(name, arguments)
        seq = self._log.next_seq()
        async with self._run_parallel() if parallel else self._queue:
            self._check_open(name)
            with_session = await self._with_session(name, copied)
            return await self._recorded.call_tool(name, with_session, timeout_ms=timeout_ms, seq=seq)

    async def close(self) -> None:
        """Wait for running calls, refuse waiting ones, and close the session. Always close the client.

        Raises what closing the session raises. A second call only waits for the first. If this is cancelled,
        the session may stay open at the server.
        """
        if self._closed:
            await self._close_finished.wait()
            return
        self._closed = True
        try:
            await self._close()
        finally:
            self._close_finished.set()
            self._log.close()

    async def _close(self) -> None:
        try:
            async with self._queue:
                for event in tuple(self._parallel_calls):
                    await event.wait()
            await self._adapter.close(self._recorded, self._session_name)
        finally:
            await self._client.close()

    @contextlib.asynccontextmanager
    async def _run_parallel(self) -> AsyncGenerator[None]:
        done = asyncio.Event()
        self._parallel_calls.add(done)
        try:
            yield
        finally:
            self._parallel_calls.discard(done)
            done.set()

    def _check_open(self, name: str) -> None:
        if self._closed:
            raise MCPError(f"{name}: the handle is closed", reason="not_connected")

    async def _with_session(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        if name not in self._tools:  # The tools are not listed yet, or the server has a new one.
            self._tools = {tool.name: tool for tool in await self._client.list_tools()}
        tool = self._tools.get(name)
        if tool is None or not self._adapter.has_session(tool):
            return arguments
        for key in list_injected_keys(self._adapter):
            if key in arguments:
                raise MCPError(
                    f"{key}: the handle gives its own session to {name}; leave this argument out",
                    reason="invalid",
                )
        return self._adapter.inject_session(arguments, self._session_name)


def _copy_arguments(name: str, arguments: object) -> dict[str, Any]:
    """Return a copy of the arguments, so that the caller can change them while the call waits."""
    if arguments is None:
        return {}
    if not isinstance(arguments, Mapping):
        raise MCPError(
            f"{name}: give the arguments by name, or all of them in a mapping; "
            f"a {type(arguments).__name__} is not one",
            reason="invalid",
        )
    return dict(cast("Mapping[str, Any]", arguments))
