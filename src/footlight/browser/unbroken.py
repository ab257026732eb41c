"""Work that goes on to its end although the call that began it was cancelled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from footlight.errors import FootlightError

__all__ = ["detached", "unbroken"]

T = TypeVar("T")

logger = logging.getLogger(__name__)

_going: set[asyncio.Task[Any]] = set()
"""The loop itself keeps only weak references."""


async def unbroken(
    work: Coroutine[Any, Any, T], *, discard: Callable[[T], Awaitable[object]] | None = None
) -> T:
    """What the work gives. It is not cancelled with its caller.

    `discard` gets what came of it when nobody waits for that any more.
    """
    task = _start(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if discard is not None:
            _start(_discarded(task, discard))
        raise


def detached(work: Awaitable[object]) -> None:
    """Do it by itself. What goes wrong is logged."""

    async def run() -> None:
        try:
            await work
        except FootlightError:
            pass  # It is gone already.
        except Exception:
            logger.exception("what a cancelled call had begun could not be taken back")

    _start(run())


def _start(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    task = asyncio.create_task(work)
    _going.add(task)
    task.add_done_callback(_going.discard)
    return task


async def _discarded(made: asyncio.Task[T], discard: Callable[[T], Awaitable[object]]) -> None:
    await asyncio.wait([made])
    if made.cancelled() or made.exception() is not None:
        return
    try:
        await discard(made.result())
    except Exception:
        logger.exception("what a cancelled call had made could not be discarded")
