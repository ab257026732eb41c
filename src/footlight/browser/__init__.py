"""Browsers, sessions and pages. This package does not know MCP."""
