"""Why there is no server in the background to speak to."""

from __future__ import annotations

__all__ = ["DaemonError", "NoDaemon"]


class DaemonError(Exception):
    """`suggestion` is what to do about it."""

    def __init__(self, message: str, *, suggestion: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.suggestion = suggestion


class NoDaemon(DaemonError):
    """None runs, or what answers is not the one whose state was written down."""
