"""MCP over the network: Streamable HTTP and WebSocket, with what guards and limits their connections."""
