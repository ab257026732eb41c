"""The world outside: browsers, sessions, pages. Not a word of MCP in here."""
