"""Connect to a server, open a session, and return its handle."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeVar

from footlight.client.handles.adapters import Adapter, AdapterChoice
from footlight.client.handles.call_log import CallLog, create_logger
from footlight.client.handles.handle import Handle, SessionBinding
from footlight.client.handles.invoker import create_call_invoker
from footlight.client.handles.recording import RecordedClient
from footlight.client.handles.registry import check_registry
from footlight.client.mcp_client import MCPClient
from footlight.client.tasks import wait_shielded
from footlight.protocol.errors import MCPError

__all__ = ["PendingConnection", "Registry", "connect", "spawn_client"]

logger = logging.getLogger(__name__)

CLOSE_SECONDS = 10.0
"""The time limit for closing a session that failed to open. The connection may be broken as well."""
NOTHING_OPENED = ("invalid", "unknown_tool", "not_connected")
"""The reasons of errors after which there is no session to close."""

AnyHandle = TypeVar("AnyHandle", bound=Handle)


@dataclass(frozen=True, slots=True)
class Registry:
    """Hashes of the tools of a generated module, and the command that generates it again."""

    hash: str
    tool_hashes: Mapping[str, str]
    regenerate: str


class PendingConnection(Generic[AnyHandle]):
    """A pending connection. `await` it and close the handle yourself, or use it with `async with`."""

    def __init__(self, opening: Callable[[], Awaitable[AnyHandle]]) -> None:
        self._opening = opening
        self._handle: AnyHandle | None = None

    def __await__(self) -> Generator[Any, None, AnyHandle]:
        return self._opening().__await__()

    async def __aenter__(self) -> AnyHandle:
        self._handle = await self
        return self._handle

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            await handle.__aexit__(kind, error, trace)


def connect(
    handle: type[AnyHandle],
    session_name: str,
    *,
    adapter: Adapter | AdapterChoice,
    server: object,
    registry: Registry | None = None,
    log: CallLog | None = None,
    timeout_ms: float | None = None,
) -> PendingConnection[AnyHandle]:
    """Connect, compare the server's tools with the registry, and open the session, in this order.

    `server` is a command line, a URL, a transport, or a connected `MCPClient`, which is closed with the
    handle. `adapter` may be a function that chooses one by the server's tools. Without `log`, calls are
    logged to standard output.

    Raises:
        RegistryDriftError: the server's tools are not those of the registry. No session was opened.
        MCPError: the server cannot be reached, or did not open a session. A session that was partly opened
            and the connection are closed.
    """

    async def open_handle() -> AnyHandle:
        client = (
            server if isinstance(server, MCPClient) else await spawn_client(server, timeout_ms=timeout_ms)
        )
        call_log = create_logger() if log is None else log
        try:
            if registry is not None:
                check_registry(
                    await client.list_tools(refresh=True),
                    expected=registry.hash,
                    tool_hashes=registry.tool_hashes,
                    regenerate=registry.regenerate,
                )
            chosen_adapter = await _choose_adapter(adapter, client)
            return await _open_session(handle, chosen_adapter, client, call_log, session_name)
        except BaseException:
            await client.close()
            call_log.close()
            raise

    return PendingConnection(open_handle)


async def _choose_adapter(adapter: Adapter | AdapterChoice, client: MCPClient) -> Adapter:
    if callable(adapter):
        return adapter(await client.list_tools())
    return adapter


async def _open_session(
    handle: type[AnyHandle], adapter: Adapter, client: MCPClient, log: CallLog, session_name: str
) -> AnyHandle:
    """Open a session and return its handle. On failure, close a session that may have been opened."""
    recorded = RecordedClient(client, log)
    # A session that the server names can be closed only after the server has returned the name.
    server_name = None if getattr(adapter, "server_names_sessions", False) else session_name
    try:
        server_name = await adapter.open(recorded, session_name) or session_name
        invoker = create_call_invoker(client=client, log=log, adapter=adapter, session_name=server_name)
        return handle(
            SessionBinding(invoker=invoker, client=client, log=log, adapter=adapter, session_name=server_name)
        )
    except BaseException as error:
        if server_name is not None and not (isinstance(error, MCPError) and error.reason in NOTHING_OPENED):
            await wait_shielded(asyncio.create_task(_close_session(adapter, recorded, server_name)))
        raise


async def _close_session(adapter: Adapter, client: RecordedClient, session_name: str) -> None:
    """Close the session within a time limit.

    Errors are only logged, because the caller raises another one.
    """
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await adapter.close(client, session_name)
    except Exception:
        logger.debug("the session %s could not be closed", session_name, exc_info=True)


async def spawn_client(server: object, *, timeout_ms: float | None = None) -> MCPClient:
    """Start a command, or connect to a URL or a transport. The caller must close the client.

    A process inherits the environment. `timeout_ms` is the default time limit of calls.

    Raises:
        MCPError: what `MCPClient.connect` raises. No process is left running.
    """
    client = MCPClient(server) if timeout_ms is None else MCPClient(server, timeout_ms=timeout_ms)
    await client.connect()
    return client
