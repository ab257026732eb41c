"""Work in the loop of a thread, for tests that run in any other, or in none.

So a fixture is set up before there is a loop, is closed after the test's has gone, however that went, and is
the same for pytest-asyncio, for anyio and for `asyncio.run`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Self, TypeVar, cast

from footlight.client.errors import MCPError
from footlight.client.loop_thread import LoopThread
from footlight.client.mcp_client import MCPClient
from footlight.client.results import ToolResult
from footlight.client.runtime.handle import Invoker

__all__ = ["Bridge", "BridgedInvoker", "bridged_client"]

Value = TypeVar("Value")


class Bridge:
    """End it, or its thread goes on."""

    def __init__(self) -> None:
        self._thread = LoopThread()
        self._begun: set[Future[Any]] = set()

    async def call(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Its value, in whichever loop this is awaited. Cancelled here, it is cancelled there.

        Raises:
            MCPError: the loop is none of asyncio's.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            work.close()
            raise MCPError(
                "The fixtures of footlight need asyncio: let the fixture anyio_backend return 'asyncio'",
                reason="invalid",
            ) from None
        future = self._thread.begin(work)
        self._begun.add(future)
        future.add_done_callback(self._begun.discard)
        return await asyncio.wrap_future(future)

    def run(self, work: Coroutine[Any, Any, Value], *, timeout_s: float | None = None) -> Value:
        """Its value. Raises TimeoutError when that takes too long; the work has ended then."""
        return self._thread.run(work, timeout_s=timeout_s)

    def abandon(self) -> None:
        """Cancel what is under way: the loop that waits for it may have gone, and could not say so."""
        for future in tuple(self._begun):
            future.cancel()

    def end(self) -> None:
        self._thread.end()


class BridgedInvoker:
    """The calls of a handle."""

    def __init__(self, bridge: Bridge, invoker: Invoker) -> None:
        self._bridge = bridge
        self._invoker = invoker

    async def invoke(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        parallel: bool = False,
        timeout_ms: float | None = None,
    ) -> ToolResult:
        return await self._bridge.call(
            self._invoker.invoke(name, arguments, parallel=parallel, timeout_ms=timeout_ms)
        )

    async def close(self) -> None:
        await self._bridge.call(self._invoker.close())


def bridged_client(bridge: Bridge, client: MCPClient) -> MCPClient:
    """The same client, whose methods may be awaited in any loop. Callbacks are called in the thread."""
    return cast("MCPClient", _BridgedClient(bridge, client))


class _BridgedClient:
    def __init__(self, bridge: Bridge, client: MCPClient) -> None:
        self._bridge = bridge
        self._client = client

    @property
    def __class__(self) -> type[MCPClient]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """What takes a connected client asks whether it is one."""
        return type(self._client)

    def __repr__(self) -> str:
        return repr(self._client)

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._client, name)
        if not inspect.iscoroutinefunction(member):
            return member

        async def bridged(*arguments: Any, **keywords: Any) -> Any:
            return await self._bridge.call(member(*arguments, **keywords))

        return bridged

    async def __aenter__(self) -> Self:
        await self._bridge.call(self._client.connect())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._bridge.call(self._client.close())
