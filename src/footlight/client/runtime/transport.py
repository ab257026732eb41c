"""A server becomes a connected client (R000-6 to R000-8)."""

from __future__ import annotations

from footlight.client.mcp_client import MCPClient

__all__ = ["spawn_client"]


async def spawn_client(server: object, *, timeout_ms: float | None = None) -> MCPClient:
    """Start a command, or reach a URL or a transport; whoever calls this closes the client.

    A process gets all of our environment. `timeout_ms` bounds each call that gives no time of its own.

    Raises:
        MCPError: what `MCPClient.connect` raises. Nothing is left running.
    """
    client = MCPClient(server) if timeout_ms is None else MCPClient(server, timeout_ms=timeout_ms)
    await client.connect()
    return client
