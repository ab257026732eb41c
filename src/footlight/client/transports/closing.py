"""The end of a channel's own tasks, which nobody's cancellation may cut short."""

from __future__ import annotations

import asyncio

__all__ = ["outlast"]


async def outlast(task: asyncio.Task[None]) -> None:
    """Wait until a task that is bound to end has ended, however often the caller is cancelled meanwhile.

    The caller's cancellation is raised afterwards, as is what the task itself raised.
    """
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    if not task.cancelled():
        task.result()
