"""What watchers ask, who have no token: whether the process answers, and whether it can serve."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

__all__ = ["PATHS", "Ready", "health"]

PATHS = ("/healthz", "/readyz")

Ready = Callable[[], Awaitable[str | None]]
"""Why the server cannot serve yet; None when it can."""


async def health(path: str, *, draining: bool, ready: Ready) -> tuple[int, dict[str, str]]:
    """The HTTP status and the JSON of its body, for one of the two paths."""
    if path == "/healthz":
        return 200, {"status": "ok"}
    why = "the server is shutting down" if draining else await ready()
    if why is None:
        return 200, {"status": "ready"}
    return 503, {"status": "not ready", "reason": why}
