"""The typed Playwright client: a browser through the tools of an MCP server."""
