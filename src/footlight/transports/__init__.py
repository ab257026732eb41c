"""Transports for messages. Each one is an async context manager that yields `(read, write)`."""
