"""The MCP methods for tools, resources and prompts, on a message stream or on the SDK's server."""
