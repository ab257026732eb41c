"""The Model Context Protocol without I/O: messages, revisions, handshake, results and errors."""
