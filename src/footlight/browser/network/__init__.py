"""The network traffic of a session, and the messages in the consoles of its pages."""
