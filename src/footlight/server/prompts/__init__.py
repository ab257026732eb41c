"""MCP prompts: a library of templates, built in or read from files."""
