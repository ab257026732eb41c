"""The background server from the side of the user's commands, which find, start, use and stop it.

A command that uses the server must start fast, so this package imports neither the SDK nor Playwright or
pydantic. For the same reason the state is a tuple, the socket blocks, and the messages are plain JSON.
"""
