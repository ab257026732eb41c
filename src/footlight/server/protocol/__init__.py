"""The methods of MCP for tools, resources and prompts, over a stream of messages or the SDK's server."""
