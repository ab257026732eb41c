"""The connections of a test run: one per process for Footlight's server, or one per test for other servers.

The tests of a process share a Footlight server and its browser. The sessions of each test are closed after
it. Other servers may keep state outside of sessions, so each test starts a new one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

from footlight.client.mcp_client import MCPClient
from footlight.client.transports.stdio import Stdio
from footlight.protocol.errors import MCPError
from footlight.protocol.results import value_of
from footlight.protocol.untrusted_json import an_object
from footlight.testing.bridge import Bridge
from footlight.testing.server import find_toolset, is_footlight_command

__all__ = ["PluginConnection", "PluginConnections"]

CLOSE_SECONDS = 10.0
SESSION_TOOLS = (
    ("list_sessions", "close_session", "sessionId", "sessionId"),
    ("session.list", "session.close", "sessionName", "name"),
)
"""For each toolset: the tools that list and close sessions, the parameter for the name, and its key in the
list."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PluginConnection:
    """A connected client and the thread of its event loop."""

    bridge: Bridge
    client: MCPClient
    is_shared: bool


class PluginConnections:
    """Opens connections for tests, and keeps the shared ones. `share` is False for one server per test."""

    def __init__(self, *, share: bool) -> None:
        self._share = share
        self._shared: dict[Stdio, PluginConnection] = {}

    def open(self, server: object) -> PluginConnection:
        """Return a connection to the server.

        Raises:
            MCPError: the server cannot be started or reached.
        """
        if not (self._share and isinstance(server, Stdio) and is_shareable(server)):
            return _connect(server, is_shared=False)
        shared = self._shared.get(server)
        if shared is not None and not shared.client.connected:
            self.discard(shared)
            shared = None
        if shared is None:
            shared = self._shared[server] = _connect(server, is_shared=True)
        return shared

    def release(self, connection: PluginConnection) -> None:
        """Close the connection or, if it is shared, the remaining sessions.

        Raises:
            TimeoutError: Closing took too long. The connection was closed.
            MCPError: A session could not be closed. The connection was closed.
        """
        if not connection.is_shared:
            _close(connection)
        elif connection in self._shared.values() and connection.client.connected:
            try:
                connection.bridge.run(_close_sessions(connection.client), timeout_s=CLOSE_SECONDS)
            except BaseException:
                self.discard(connection)
                raise

    def discard(self, connection: PluginConnection) -> None:
        """Close a connection after a failure, so that the next test gets a new one."""
        self._shared = {key: each for key, each in self._shared.items() if each is not connection}
        with suppress(Exception):
            _close(connection)

    def close(self) -> None:
        for connection in [*self._shared.values()]:
            self.discard(connection)


def is_shareable(server: Stdio) -> bool:
    """Return True for a Footlight server whose only state is in its sessions."""
    if server.env is not None:
        return False
    words = (server.command, *server.args)
    if not is_footlight_command(words) or {"--app", "--shared"} & {*words}:
        return False
    toolset = find_toolset(words)
    return toolset is None or toolset.shareable


def _connect(server: object, *, is_shared: bool) -> PluginConnection:
    bridge = Bridge()
    client = MCPClient(server)
    try:
        bridge.run(client.connect())
    except BaseException:
        bridge.end()
        raise
    return PluginConnection(bridge, client, is_shared)


def _close(connection: PluginConnection) -> None:
    try:
        connection.bridge.run(connection.client.close(), timeout_s=CLOSE_SECONDS)
    finally:
        connection.bridge.end()


async def _close_sessions(client: MCPClient) -> None:
    """Close all sessions of the server, which belong to the test that has ended."""
    tools = {tool.name for tool in await client.list_tools()}
    for listing, closing, key, name in SESSION_TOOLS:
        if listing in tools:
            found = _list_entries(value_of(await client.call_tool(listing)))
            names = [each[name] for each in found if each.get("open", True)]
            await asyncio.gather(*(_close_session(client, closing, {key: each}) for each in names))


async def _close_session(client: MCPClient, tool: str, arguments: Mapping[str, Any]) -> None:
    try:
        await client.call_tool(tool, arguments)
    except MCPError as error:
        if not client.connected:
            raise
        logger.debug("%s: %s", tool, error)


def _list_entries(value: object) -> list[Mapping[str, Any]]:
    """Return the sessions in the answer of a tool that lists them."""
    answer = an_object(value)
    found = an_object(answer.get("data", answer)).get("sessions")
    return cast("list[Mapping[str, Any]]", found) if isinstance(found, list) else []
