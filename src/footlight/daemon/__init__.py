"""The server in the background, as its user's commands see it: found, started, spoken to, stopped.

A command that speaks to it must cost next to nothing, so nothing here imports the SDK, Playwright or
pydantic, nor what else takes long: the state is a tuple, the socket blocks, and the messages are plain JSON.
"""
