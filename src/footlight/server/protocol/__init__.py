"""Connect tools, resources and prompts to the MCP SDK's server."""
