"""The MCP server: declare tools, dispatch calls, and send answers."""
