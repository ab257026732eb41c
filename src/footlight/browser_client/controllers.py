"""Observable objects for a user interface: a connection, and a browser over it."""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from footlight.browser_client.mcp_config import MCPConfig
from footlight.browser_client.playwright_client import PlaywrightClient
from footlight.client.mcp_client import MCPClient
from footlight.client.tasks import LoopLock
from footlight.protocol.errors import MCPConnectionError, MCPError

if TYPE_CHECKING:
    from footlight.browser_client.results import NavigateResult, ScreenshotResult, SnapshotResult

__all__ = ["AutomationView", "BrowserAutomation", "ConnectionView", "MCPConnectionController"]

logger = logging.getLogger(__name__)

Value = TypeVar("Value")
View = TypeVar("View")


class Observable(ABC, Generic[View]):
    """An object whose state is the value `view`. Subscribers are called once with each new view."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[View], None]] = []
        self._last_notified: View = self.view

    @property
    @abstractmethod
    def view(self) -> View: ...

    def subscribe(self, listener: Callable[[View], None]) -> Callable[[], None]:
        """Call the listener with each new view, until the returned function is called, once or more often."""

        def call_listener(
            view: View,
        ) -> None:  # A new function, so that a listener that subscribes twice can unsubscribe once.
            listener(view)

        def unsubscribe() -> None:
            if call_listener in self._listeners:
                self._listeners.remove(call_listener)

        self._listeners.append(call_listener)
        return unsubscribe

    def _notify_if_changed(self) -> None:
        """Notify subscribers if the view changed."""
        view = self.view
        if view == self._last_notified:
            return
        self._last_notified = view
        for listener in tuple(self._listeners):
            try:
                listener(view)
            except Exception:
                logger.exception("a listener failed")


@dataclass(frozen=True, slots=True)
class ConnectionView:
    connected: bool = False
    error: MCPError | None = None


class MCPConnectionController(Observable[ConnectionView]):
    """`client` is set while connected. `error` is why the last attempt failed.

    `async with` connects if `auto_connect` is set, and disconnects at its end. A failure of that attempt is
    not raised: the user interface shows `error`, and may try again.
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
        """Start the server and connect, unless connected already. After a loss, connect again.

        Raises:
            MCPError: connecting failed. The error is in `error` too.
        """
        async with self._turn.here():
            if self.connected:
                return
            await self._close()
            self._set_error(None)
            try:
                self.client = await self._open_client()
            except MCPError as error:
                self._set_error(error)
                raise
            self._notify_if_changed()

    async def disconnect(self) -> None:
        """Close the connection and end the server. May be called twice."""
        async with self._turn.here():
            await self._close()
            self._set_error(None)

    def notice(self) -> None:
        """Notify subscribers if the connection was lost meanwhile."""
        self._notify_if_changed()

    async def __aenter__(self) -> Self:
        if self.auto_connect:
            with suppress(MCPError):
                await self.connect()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.disconnect()

    async def _open_client(self) -> MCPClient:
        self.config.ensure_command()
        client = MCPClient(self.config.transport(), timeout_ms=self.config.timeout)
        await client.connect()
        return client

    async def _close(self) -> None:
        client, self.client = self.client, None
        if client is not None:
            await client.close()

    def _set_error(self, error: MCPError | None) -> None:
        self.error = error
        self._notify_if_changed()


@dataclass(frozen=True, slots=True)
class AutomationView:
    loading: bool = False
    error: MCPError | None = None


class BrowserAutomation(Observable[AutomationView]):
    """A browser over a controller's connection. `error` is the error that the last operation raised.

    `async with` closes the page at its end. The connection belongs to its controller.
    """

    def __init__(self, connection: MCPConnectionController) -> None:
        self.connection = connection
        self.error: MCPError | None = None
        self._running = 0
        self._browser: PlaywrightClient | None = None
        super().__init__()

    @property
    def loading(self) -> bool:
        """Return whether an operation runs or waits for its turn."""
        return self._running > 0

    @property
    def view(self) -> AutomationView:
        return AutomationView(self.loading, self.error)

    async def navigate(self, url: str) -> NavigateResult:
        return await self._run_observed(lambda browser: browser.navigate(url))

    async def screenshot(self) -> ScreenshotResult:
        return await self._run_observed(lambda browser: browser.screenshot())

    async def get_snapshot(self) -> SnapshotResult:
        return await self._run_observed(lambda browser: browser.get_snapshot())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._browser is not None:
            await self._browser.close()

    async def _run_observed(self, work: Callable[[PlaywrightClient], Awaitable[Value]]) -> Value:
        self._running += 1
        self.error = None
        self._notify_if_changed()
        try:
            return await work(self._get_browser())
        except MCPError as error:
            self.error = error
            raise
        finally:
            self._running -= 1
            self._notify_if_changed()
            self.connection.notice()

    def _get_browser(self) -> PlaywrightClient:
        client = self.connection.client
        if client is None:
            raise MCPConnectionError("There is no connection; connect() first", reason="not_connected")
        if self._browser is None or self._browser.mcp_client is not client:
            self._browser = PlaywrightClient(client, timeout_ms=self.connection.config.timeout)
        return self._browser
