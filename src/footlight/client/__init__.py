"""The MCP client: call the tools of any server from scripts and tests."""
