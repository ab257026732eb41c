"""Run a client in the event loop of a thread, so that tests can use it from any event loop.

A fixture can then be set up before the loop of a test exists, and closed after that loop has ended. This
works with pytest-asyncio, anyio and `asyncio.run`. For synchronous tests, `BlockingProxy` wraps an object so
that its calls wait for their results.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from typing import Any, Self, TypeVar, cast

from footlight.client.handles.handle import Invoker
from footlight.client.loop_thread import LoopThread
from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import MCPError
from footlight.protocol.results import ToolResult

__all__ = ["BlockingCall", "BlockingProxy", "Bridge", "BridgedInvoker", "bridge_client"]

Value = TypeVar("Value")

PLAIN = (str, bytes, int, float, bool, type(None), list, tuple, dict, set, frozenset)


class Bridge:
    """An event loop in a thread. The thread runs until `end` is called."""

    def __init__(self) -> None:
        self._thread = LoopThread()
        self._pending: set[Future[Any]] = set()

    async def call(self, work: Coroutine[Any, Any, Value]) -> Value:
        """Run the coroutine in the thread and return its value. Cancellation is passed on to the thread.

        Raises:
            MCPError: the calling loop is not an asyncio loop.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            work.close()
            raise MCPError(
                "The fixtures of footlight require asyncio: let the fixture anyio_backend return 'asyncio'",
                reason="invalid",
            ) from None
        future = self._thread.begin(work)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return await asyncio.wrap_future(future)

    def run(self, work: Coroutine[Any, Any, Value], *, timeout_s: float | None = None) -> Value:
        """Run the coroutine in the thread, block until it ends, and return its value.

        Raises:
            TimeoutError: the coroutine took longer than `timeout_s`, and was cancelled.
        """
        return self._thread.run(work, timeout_s=timeout_s)

    def abandon(self) -> None:
        """Cancel all pending calls. A closed loop that waited for them cannot cancel them itself."""
        for future in tuple(self._pending):
            future.cancel()

    def end(self) -> None:
        self._thread.end()


class BridgedInvoker:
    """An invoker of a handle whose calls run in the thread of a bridge."""

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


def bridge_client(bridge: Bridge, client: MCPClient) -> MCPClient:
    """Return a client whose methods can be awaited in any loop. Callbacks are called in the thread."""
    return cast("MCPClient", _BridgedClient(bridge, client))


class _BridgedClient:
    def __init__(self, bridge: Bridge, client: MCPClient) -> None:
        self._bridge = bridge
        self._client = client

    @property
    def __class__(self) -> type[MCPClient]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Return the class of the client, for callers that use `isinstance`."""
        return type(self._client)

    def __repr__(self) -> str:
        return repr(self._client)

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._client, name)
        if not inspect.iscoroutinefunction(member):
            return member

        async def call_bridged(*arguments: Any, **keywords: Any) -> Any:
            return await self._bridge.call(member(*arguments, **keywords))

        return call_bridged

    async def __aenter__(self) -> Self:
        await self._bridge.call(self._client.connect())
        return self

    async def __aexit__(self, *error: object) -> None:
        await self._bridge.call(self._client.close())


class BlockingProxy:
    """Wraps an object, so that its asynchronous methods and those of its attributes block."""

    def __init__(self, bridge: Bridge, wrapped: object) -> None:
        self._bridge = bridge
        self._wrapped = wrapped

    def __repr__(self) -> str:
        return repr(self._wrapped)

    def __getattr__(self, name: str) -> Any:
        member: Any = getattr(self._wrapped, name)
        if inspect.iscoroutinefunction(member):
            return BlockingCall(self._bridge, member)
        return member if _is_plain(member) else BlockingProxy(self._bridge, member)


class BlockingCall:
    """A call that waits for the result of an asynchronous method."""

    def __init__(self, bridge: Bridge, method: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        self.bridge = bridge
        self.method = method
        self.__name__ = getattr(method, "__name__", "call")
        self.__doc__ = method.__doc__

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.bridge.run(self.method(*arguments, **keywords))


def _is_plain(value: object) -> bool:
    return isinstance(value, PLAIN) or inspect.isroutine(value)
