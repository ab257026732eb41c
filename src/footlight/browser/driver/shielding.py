"""Run work to its end even if the call that started it is cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from footlight.errors import FootlightError

__all__ = ["run_detached", "shield_until_done", "start_work"]

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
    task = start_work(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if discard is not None:
            start_work(_discard_result(task, discard))
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

    start_work(run())


def start_work(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start work whose error reaches only those who wait for it, if anyone still does."""
    task = asyncio.create_task(work)
    _running.add(task)
    task.add_done_callback(_note_end)
    return task


def _note_end(task: asyncio.Task[Any]) -> None:
    _running.discard(task)
    if not task.cancelled() and (error := task.exception()) is not None:
        logger.debug("shielded work has failed: %r", error)


async def _discard_result(made: asyncio.Task[T], discard: Callable[[T], Awaitable[object]]) -> None:
    await asyncio.wait([made])
    if made.cancelled() or made.exception() is not None:
        return
    try:
        await discard(made.result())
    except Exception:
        logger.exception("the result of a cancelled call could not be discarded")
