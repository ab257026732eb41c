"""Tools, and nothing but tools."""
