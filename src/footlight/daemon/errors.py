"""Errors of the connection to the background server."""

from __future__ import annotations

__all__ = ["DaemonError", "DaemonNotRunningError"]


class DaemonError(Exception):
    """The background server cannot be used. `suggestion` says what to do about it."""

    def __init__(self, message: str, *, suggestion: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion


class DaemonNotRunningError(DaemonError):
    """No background server is running, or the answering process is not the one of the state file."""
