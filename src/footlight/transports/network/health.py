"""Health checks for monitoring, without a token: `/healthz` and `/readyz`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

__all__ = ["PATHS", "Ready", "health"]

PATHS = ("/healthz", "/readyz")

Ready = Callable[[], Awaitable[str | None]]
"""Returns the reason why the server cannot serve requests now, or None if it can."""


async def health(path: str, *, draining: bool, ready: Ready) -> tuple[int, dict[str, str]]:
    """Return the HTTP status and the JSON body for one of `PATHS`."""
    if path == "/healthz":
        return 200, {"status": "ok"}
    why = "the server is shutting down" if draining else await ready()
    if why is None:
        return 200, {"status": "ready"}
    return 503, {"status": "not ready", "reason": why}
