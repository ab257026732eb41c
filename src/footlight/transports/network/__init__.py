"""MCP over the network: Streamable HTTP and WebSocket, with access control and connection limits."""
