"""What generated handles are made of."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypedDict

from footlight.client.adapters.adapter import Adapter
from footlight.client.errors import MCPError
from footlight.client.mcp_client import MCPClient
from footlight.client.results import ToolResult
from footlight.client.runtime.logger import CallLog
from footlight.client.value import value_of

__all__ = ["ROOT", "Bound", "CallOptions", "Handle", "Invoker", "Method", "Namespace", "wire_name"]

logger = logging.getLogger(__name__)

ROOT = "_root"
"""The namespace of tools without a dot (R000-57)."""

Method = Callable[..., Coroutine[Any, Any, Any]]


class CallOptions(TypedDict, total=False):
    """Beside the arguments of a call that are given as a mapping: `nav.goto({...}, parallel=True)`."""

    parallel: bool
    """Do not wait for the calls before it, nor let others wait for it (R000-35)."""
    timeout_ms: float


class Invoker(Protocol):
    """`create_call_invoker` makes one."""

    async def invoke(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        parallel: bool = False,
        timeout_ms: float | None = None,
    ) -> ToolResult: ...

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """An open session and what its calls go through."""

    invoker: Invoker
    client: MCPClient
    log: CallLog
    adapter: Adapter
    session_name: str
    """As the server knows it."""


class Handle:
    """A connection with an open session. Close it, or use it as a context manager."""

    def __init__(self, bound: Bound) -> None:
        self._bound = bound

    @property
    def bound(self) -> Bound:
        """For those who build on a handle."""
        return self._bound

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        parallel: bool = False,
        timeout_ms: float | None = None,
    ) -> ToolResult:
        """Any tool by its name on the wire, and its result as it came, pictures and all.

        Raises:
            ToolInvocationError: the tool failed, or there is no such tool.
            MCPTimeoutError: no answer within `timeout_ms`, which counts from when the call is sent.
            MCPConnectionError: the server is gone.
            MCPError: the handle is closed; or an argument is wrong, and nothing was sent.
        """
        return await self._bound.invoker.invoke(name, arguments, parallel=parallel, timeout_ms=timeout_ms)

    async def close(self) -> None:
        """Close the session, then the connection. May be called twice."""
        await self._bound.invoker.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What went wrong inside is what is told: that a dead server cannot close its session is no news."""
        try:
            await self.close()
        except MCPError:
            if error is None:
                raise
            logger.warning("the handle could not be closed", exc_info=True)


class Namespace:
    """The tools before whose names stands the same word: `nav.goto`, `nav.back`."""

    def __init__(self, bound: Bound, name: str) -> None:
        self._bound = bound
        self._name = name

    def __getitem__(self, method: str) -> Method:
        """A method by its name on the wire: `browser["run.file"]`."""
        return _method(self._bound, wire_name(self._name, method))

    async def _invoke(
        self, method: str, arguments: Mapping[str, Any] | None, keywords: Mapping[str, Any]
    ) -> Any:
        """A generated method's work."""
        return await _invoke(self._bound, wire_name(self._name, method), arguments, keywords)


def wire_name(namespace: str, method: str) -> str:
    return method if namespace == ROOT else f"{namespace}.{method}"


def _method(bound: Bound, name: str) -> Method:
    async def method(arguments: Mapping[str, Any] | None = None, /, **keywords: Any) -> Any:
        return await _invoke(bound, name, arguments, keywords)

    method.__name__ = method.__qualname__ = name
    return method


async def _invoke(
    bound: Bound, name: str, arguments: Mapping[str, Any] | None, keywords: Mapping[str, Any]
) -> Any:
    """Keywords are the tool's arguments; beside a mapping of those, they are `CallOptions`."""
    if arguments is None:
        return value_of(await bound.invoker.invoke(name, keywords))
    for option in keywords:
        if option not in CallOptions.__annotations__:
            raise MCPError(
                f"{option}: {name} has its arguments in a mapping already; give this one in it as well",
                reason="invalid",
            )
    return value_of(await bound.invoker.invoke(name, arguments, **keywords))
