"""How messages travel. A transport is an async context manager that yields `(read, write)`."""
