"""Browsers, sessions and pages. This package does not depend on MCP."""
