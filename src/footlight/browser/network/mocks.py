"""Intercept the requests of a session: mocked responses and blocked resource types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footlight.browser.driver.playwright_api import Error
from footlight.patterns import matches_wildcard

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Route, WebSocketRoute

__all__ = ["InterceptionRules", "MockResponse"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MockResponse:
    """The response to a mocked URL."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str = ""
    content_type: str | None = None

    @classmethod
    def of(
        cls, *, status: int, headers: Mapping[str, str], body: Any, content_type: str | None
    ) -> MockResponse:
        """Return a response. A body that is not text is sent as JSON."""
        if body is None or isinstance(body, str):
            return cls(status=status, headers=headers, body=body or "", content_type=content_type)
        return cls(
            status=status,
            headers=headers,
            body=json.dumps(body),
            content_type=content_type or "application/json",
        )


class InterceptionRules:
    """Blocked resource types and mocked URLs. Without rules, requests are not intercepted."""

    def __init__(self, context: BrowserContext) -> None:
        self._context = context
        self._blocked: set[str] = set()
        self._mocks: dict[str, MockResponse] = {}
        self._routed = False
        self._sockets_routed = False

    @property
    def blocked(self) -> Sequence[str]:
        return sorted(self._blocked)

    @property
    def mocks(self) -> Mapping[str, MockResponse]:
        return self._mocks

    async def block(self, resource_type: str) -> None:
        self._blocked.add(resource_type)
        await self._update()

    async def unblock(self, resource_type: str) -> None:
        self._blocked.discard(resource_type)
        await self._update()

    async def mock(self, url: str, response: MockResponse) -> None:
        self._mocks[url] = response
        await self._update()

    async def unmock(self, url: str) -> None:
        self._mocks.pop(url, None)
        await self._update()

    async def _update(self) -> None:
        """Install or remove the interception, which disables the HTTP cache while it is installed."""
        has_rules = bool(self._blocked or self._mocks)
        if has_rules and not self._routed:
            await self._context.route("**/*", self._on_route)
        elif self._routed and not has_rules:
            await self._context.unroute("**/*", self._on_route)
        self._routed = has_rules
        if "websocket" in self._blocked and not self._sockets_routed:
            self._sockets_routed = True
            await self._context.route_web_socket(re.compile(".*"), self._on_socket)

    async def _on_route(self, route: Route) -> None:
        request = route.request
        url = request.url
        if mock := next((mock for glob, mock in self._mocks.items() if matches_wildcard(glob, url)), None):
            await _fulfill(route, mock)
        elif request.resource_type in self._blocked:
            await route.abort("blockedbyclient")
        else:
            await route.fallback()

    async def _on_socket(self, socket: WebSocketRoute) -> None:
        if "websocket" in self._blocked:
            await socket.close(code=1008, reason="blocked")
        else:
            socket.connect_to_server()


async def _fulfill(route: Route, mock: MockResponse) -> None:
    try:
        await route.fulfill(
            status=mock.status,
            headers=dict(mock.headers),
            body=mock.body,
            content_type=mock.content_type,
        )
    except Error:  # The browser cannot give this response. The request must not wait forever.
        with suppress(Error):
            await route.abort()
