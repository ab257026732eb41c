"""Commands that use the client with any MCP server, or read its call logs."""
