"""From a server and a session's name to a handle, with nothing left behind where that fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Generic, TypeVar

from footlight.client.adapters.adapter import Adapter, AdapterChoice
from footlight.client.mcp_client import MCPClient
from footlight.client.runtime.handle import Bound, Handle
from footlight.client.runtime.invoker import create_call_invoker
from footlight.client.runtime.logger import CallLog, create_logger
from footlight.client.runtime.recording import RecordedClient
from footlight.client.runtime.registry import check_registry
from footlight.client.runtime.transport import spawn_client

__all__ = ["Connecting", "Registry", "connect"]

AnyHandle = TypeVar("AnyHandle", bound=Handle)


@dataclass(frozen=True, slots=True)
class Registry:
    """What a module was generated from, and the command that writes it anew."""

    hash: str
    tool_hashes: Mapping[str, str]
    regenerate: str


class Connecting(Generic[AnyHandle]):
    """`await` it for a handle that you close, or `async with` it for one that is closed by itself."""

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
) -> Connecting[AnyHandle]:
    """Connect, compare the server's tools with the registry, open the session, in this order.

    `server` is a command line, a URL, a transport, or a connected `MCPClient`, which is then the handle's to
    close. `adapter` may be a function that chooses one by the server's tools. Without `log` the calls are
    written to standard output.

    Raises:
        RegistryDriftError: the tools are not those of the registry. No session was opened.
        MCPError: there is no server, or it opens no session. Nothing is left running.
    """

    async def opened() -> AnyHandle:
        client = (
            server if isinstance(server, MCPClient) else await spawn_client(server, timeout_ms=timeout_ms)
        )
        written = create_logger() if log is None else log
        try:
            if registry is not None:
                check_registry(
                    await client.list_tools(refresh=True),
                    expected=registry.hash,
                    tool_hashes=registry.tool_hashes,
                    regenerate=registry.regenerate,
                )
            chosen = await _chosen(adapter, client)
            known_as = await chosen.open(RecordedClient(client, written), session_name)
            invoker = create_call_invoker(client=client, log=written, adapter=chosen, session_name=known_as)
            return handle(
                Bound(invoker=invoker, client=client, log=written, adapter=chosen, session_name=known_as)
            )
        except BaseException:
            await client.close()
            written.close()
            raise

    return Connecting(opened)


async def _chosen(adapter: Adapter | AdapterChoice, client: MCPClient) -> Adapter:
    if callable(adapter):
        return adapter(await client.list_tools())
    return adapter
