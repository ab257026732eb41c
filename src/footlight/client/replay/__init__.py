"""Replay call logs and sequences on a handle, and compare the results with the logged ones."""
