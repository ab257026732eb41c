"""Call the listeners of a client. An async listener runs in a task of its own."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from footlight.log import LimitedWarnings

__all__ = ["MAX_RUNNING", "ListenerResult", "Listeners"]

logger = logging.getLogger(__name__)

MAX_RUNNING = 10_000
"""The maximum number of tasks of async listeners. A server may send messages faster than they are handled."""

ListenerResult = Awaitable[None] | None
"""The result of a callback. An async callback is awaited in a separate task."""


class Listeners:
    """Calls listeners and logs their exceptions. `start` starts the task of an async listener."""

    def __init__(self, start: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]) -> None:
        self._start = start
        self._running = 0
        self._warnings = LimitedWarnings(logger, most=1)

    def call(self, listener: Callable[..., ListenerResult], *news: Any) -> None:
        """Call a listener. An async one is not started if `MAX_RUNNING` are still running."""
        try:
            result = listener(*news)
        except Exception:
            logger.exception("a listener failed")
            return
        if not inspect.isawaitable(result):
            return
        if self._running >= MAX_RUNNING:
            self._warnings.log("dropped a message, as %d listeners are still running", MAX_RUNNING)
            _close(result)
            return
        self._running += 1
        self._start(_await(result)).add_done_callback(lambda _: self._end(result))

    def _end(self, result: Awaitable[None]) -> None:
        self._running -= 1
        _close(result)


def _close(result: Awaitable[None]) -> None:
    """Close a coroutine. Otherwise, Python warns if its task was cancelled before it started."""
    if isinstance(result, Coroutine):
        result.close()


async def _await(result: Awaitable[None]) -> None:
    try:
        await result
    except Exception:
        logger.exception("a listener failed")
