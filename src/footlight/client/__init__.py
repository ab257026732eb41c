"""The client's half: drive any MCP server from scripts and tests."""
