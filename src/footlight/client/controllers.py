"""A connection and a browser as objects that a user interface watches (R004-45: what hooks are in React)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from footlight.client.errors import MCPConnectionError, MCPError
from footlight.client.loop_lock import LoopLock
from footlight.client.mcp_client import MCPClient
from footlight.client.mcp_config import MCPConfig
from footlight.client.observed import Observed
from footlight.client.playwright_client import PlaywrightClient

if TYPE_CHECKING:
    from footlight.client.playwright_results import NavigateResult, ScreenshotResult, SnapshotResult

__all__ = ["AutomationView", "BrowserAutomation", "ConnectionView", "MCPConnectionController"]

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ConnectionView:
    connected: bool = False
    error: MCPError | None = None


class MCPConnectionController(Observed[ConnectionView]):
    """`client` is there while connected. `error` is why the last attempt failed.

    `async with` connects if `auto_connect` says so, and disconnects at its end. A failure of that attempt is
    not raised, only told: whoever watches shows it, and may try again.
    """

    def __init__(self, config: MCPConfig | None = None, *, auto_connect: bool = False) -> None:
        self.config = config or MCPConfig()
        self.auto_connect = auto_connect
        self.client: MCPClient | None = None
        self.error: MCPError | None = None
        self._turn = LoopLock()
        super().__init__()

    @property
    def connected(self) -> bool:
        return self.client is not None and self.client.connected

    @property
    def view(self) -> ConnectionView:
        return ConnectionView(self.connected, self.error)

    async def connect(self) -> None:
        """Start the server and connect, unless we are connected; after a loss, anew.

        Raises:
            MCPError: it failed. It is in `error` too.
        """
        async with self._turn.here():
            if self.connected:
                return
            await self._close()
            self._tell(None)
            try:
                self.client = await self._opened()
            except MCPError as error:
                self._tell(error)
                raise
            self._changed()

    async def disconnect(self) -> None:
        """End the connection, and the server. May be called twice."""
        async with self._turn.here():
            await self._close()
            self._tell(None)

    def notice(self) -> None:
        """Tell those who watch if the connection was lost meanwhile."""
        self._changed()

    async def __aenter__(self) -> Self:
        if self.auto_connect:
            with suppress(MCPError):
                await self.connect()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.disconnect()

    async def _opened(self) -> MCPClient:
        self.config.ensure_command()
        client = MCPClient(self.config.transport(), timeout_ms=self.config.timeout)
        await client.connect()
        return client

    async def _close(self) -> None:
        client, self.client = self.client, None
        if client is not None:
            await client.close()

    def _tell(self, error: MCPError | None) -> None:
        self.error = error
        self._changed()


@dataclass(frozen=True, slots=True)
class AutomationView:
    loading: bool = False
    error: MCPError | None = None


class BrowserAutomation(Observed[AutomationView]):
    """A browser over a controller's connection. `error` is that of the last operation, which raised it too.

    `async with` closes the page at its end; the connection stays its controller's.
    """

    def __init__(self, connection: MCPConnectionController) -> None:
        self.connection = connection
        self.error: MCPError | None = None
        self._running = 0
        self._browser: PlaywrightClient | None = None
        super().__init__()

    @property
    def loading(self) -> bool:
        """Whether an operation runs, or waits for its turn."""
        return self._running > 0

    @property
    def view(self) -> AutomationView:
        return AutomationView(self.loading, self.error)

    async def navigate(self, url: str) -> NavigateResult:
        return await self._watched(lambda browser: browser.navigate(url))

    async def screenshot(self) -> ScreenshotResult:
        return await self._watched(lambda browser: browser.screenshot())

    async def get_snapshot(self) -> SnapshotResult:
        return await self._watched(lambda browser: browser.get_snapshot())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._browser is not None:
            await self._browser.close()

    async def _watched(self, work: Callable[[PlaywrightClient], Awaitable[Value]]) -> Value:
        self._running += 1
        self.error = None
        self._changed()
        try:
            return await work(self._connected_browser())
        except MCPError as error:
            self.error = error
            raise
        finally:
            self._running -= 1
            self._changed()
            self.connection.notice()

    def _connected_browser(self) -> PlaywrightClient:
        client = self.connection.client
        if client is None:
            raise MCPConnectionError("There is no connection; connect() first", reason="not_connected")
        if self._browser is None or self._browser.mcp_client is not client:
            self._browser = PlaywrightClient(client, timeout_ms=self.connection.config.timeout)
        return self._browser
