"""The base classes of generated handles."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, Self, TypedDict

from footlight.client.handles.adapters import Adapter
from footlight.client.handles.call_log import CallLog
from footlight.client.mcp_client import MCPClient
from footlight.protocol.errors import MCPError
from footlight.protocol.results import ToolResult, value_of

__all__ = ["ROOT", "CallOptions", "Handle", "Invoker", "Method", "Namespace", "SessionBinding", "wire_name"]

logger = logging.getLogger(__name__)

ROOT = "_root"
"""The namespace of tools whose names have no dot."""

Method = Callable[..., Coroutine[Any, Any, Any]]


class CallOptions(TypedDict, total=False):
    """Options of a call whose arguments are a mapping: `nav.goto({...}, parallel=True)`."""

    parallel: bool
    """Do not wait for earlier calls, and do not let later ones wait for this one."""
    timeout_ms: float


class Invoker(Protocol):
    """Sends the calls of a handle. `create_call_invoker` creates one."""

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
class SessionBinding:
    """An open session, with the objects that its calls use."""

    invoker: Invoker
    client: MCPClient
    log: CallLog
    adapter: Adapter
    session_name: str
    """The name of the session at the server."""


class Handle:
    """A connection with an open session. Close it, or use it as a context manager."""

    def __init__(self, bound: SessionBinding) -> None:
        self._bound = bound

    @property
    def bound(self) -> SessionBinding:
        """Return the open session, for code that extends handles."""
        return self._bound

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        parallel: bool = False,
        timeout_ms: float | None = None,
    ) -> ToolResult:
        """Call a tool by its name at the server, and return the whole result, including images.

        Raises:
            ToolInvocationError: the tool failed, or does not exist.
            MCPTimeoutError: there was no answer within `timeout_ms`, which starts when the call is sent.
            MCPConnectionError: the server is gone.
            MCPError: the handle is closed, or an argument is not valid. The call was not sent.
        """
        return await self._bound.invoker.invoke(name, arguments, parallel=parallel, timeout_ms=timeout_ms)

    async def close(self) -> None:
        """Close the session, then the connection. It is safe to call this twice."""
        await self._bound.invoker.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the handle. If the block raised an error, a failure to close is only logged."""
        try:
            await self.close()
        except MCPError:
            if error is None:
                raise
            logger.warning("the handle could not be closed", exc_info=True)


class Namespace:
    """The tools whose names begin with the same word: `nav.goto`, `nav.back`."""

    def __init__(self, bound: SessionBinding, name: str) -> None:
        self._bound = bound
        self._name = name

    def __getitem__(self, method: str) -> Method:
        """Return the method of a tool by its name at the server: `browser["run.file"]`."""
        return _method(self._bound, wire_name(self._name, method))

    async def _invoke(
        self, method: str, arguments: Mapping[str, Any] | None, keywords: Mapping[str, Any]
    ) -> Any:
        """Call a tool for a generated method."""
        return await _invoke(self._bound, wire_name(self._name, method), arguments, keywords)


def wire_name(namespace: str, method: str) -> str:
    return method if namespace == ROOT else f"{namespace}.{method}"


def _method(bound: SessionBinding, name: str) -> Method:
    async def method(arguments: Mapping[str, Any] | None = None, /, **keywords: Any) -> Any:
        return await _invoke(bound, name, arguments, keywords)

    method.__name__ = method.__qualname__ = name
    return method


async def _invoke(
    bound: SessionBinding, name: str, arguments: Mapping[str, Any] | None, keywords: Mapping[str, Any]
) -> Any:
    """Call a tool. Keywords are its arguments or, after a mapping of arguments, `CallOptions`."""
    if arguments is None:
        return value_of(await bound.invoker.invoke(name, keywords))
    for option in keywords:
        if option not in CallOptions.__annotations__:
            raise MCPError(
                f"{option}: {name} has its arguments in a mapping already; add this one to the mapping",
                reason="invalid",
            )
    return value_of(await bound.invoker.invoke(name, arguments, **keywords))
