"""Run work to its end even if the call that started it is cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from footlight.errors import FootlightError

__all__ = ["run_detached", "shield_until_done"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

_running: set[asyncio.Task[Any]] = set()
"""Strong references, because the event loop only keeps weak ones."""


async def shield_until_done(
    work: Coroutine[Any, Any, T], *, discard: Callable[[T], Awaitable[object]] | None = None
) -> T:
    """Return the result of the work, which is not cancelled with its caller.

    `discard` receives the result if the caller was cancelled.
    """
    task = _start(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if discard is not None:
            _start(_discard_result(task, discard))
        raise


def run_detached(work: Awaitable[object]) -> None:
    """Run the work in a separate task. Errors are logged."""

    async def run() -> None:
        try:
            await work
        except FootlightError:
            pass  # The session or page has ended already.
        except Exception:
            logger.exception("the work of a cancelled call could not be undone")

    _start(run())


def _start(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    task = asyncio.create_task(work)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


async def _discard_result(made: asyncio.Task[T], discard: Callable[[T], Awaitable[object]]) -> None:
    await asyncio.wait([made])
    if made.cancelled() or made.exception() is not None:
        return
    try:
        await discard(made.result())
    except Exception:
        logger.exception("the result of a cancelled call could not be discarded")
