"""The network traffic of a session, and the console messages of its pages."""
