"""The HTML report of a session."""
