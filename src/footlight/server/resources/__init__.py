"""MCP resources: sessions, pages, elements, logs, screenshots, long answers and files."""
