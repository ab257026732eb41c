"""MCP over WebSocket: each text frame is one JSON-RPC message, and the subprotocol is `mcp`.

`server` is the server. `connect_websocket` connects the SDK's `Client`.
"""

from footlight.transports.websocket.client import HandshakeRefused, connect_websocket

__all__ = ["HandshakeRefused", "connect_websocket"]
