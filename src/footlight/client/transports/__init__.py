"""The client's transports: stdio, Streamable HTTP, WebSocket, and servers in the same process."""
