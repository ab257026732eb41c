"""`footlight call`: call one tool of the background server, or of any MCP server."""
