"""Tasks that several callers share, locks for several event loops, and a wait that ignores cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

__all__ = ["LoopLock", "SharedTask", "wait_shielded"]

Value = TypeVar("Value")


class SharedTask(Generic[Value]):
    """Runs `work` once for all concurrent callers, and cancels it when no caller waits any more.

    A cancelled caller returns at once, while the cancelled run cleans up in the background.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Value]]) -> None:
        self._work = work
        self._task: asyncio.Task[Value] | None = None
        self._waiting = 0

    async def join(self) -> asyncio.Task[Value]:
        """Wait for the task and return it. It has a result, has failed, or was cancelled by `cancel`."""
        task = self._task
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            task = self._task = asyncio.create_task(self._work())
            task.add_done_callback(_retrieve_exception)
            self._waiting = 0
        self._waiting += 1
        try:
            await asyncio.wait([task])
        finally:
            if task is self._task:
                self._waiting -= 1
                if not self._waiting:
                    self.cancel()
        return task

    def cancel(self) -> None:
        """Cancel the run. Its callers return when it has cleaned up. The next caller starts another run."""
        task, self._task = self._task, None
        if task is not None and not task.get_loop().is_closed():
            task.cancel()


def _retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Retrieve the exception, so that asyncio does not report it as never retrieved."""
    if not task.cancelled():
        task.exception()


class LoopLock:
    """A lock for objects that outlive an event loop, such as a client used by several `asyncio.run`.

    An `asyncio.Lock` can be used only in the first loop in which a task waited for it.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def here(self) -> asyncio.Lock:
        """Return the lock of the running event loop.

        It replaces the lock of another loop, even a locked one.
        """
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._lock = loop, asyncio.Lock()
        return self._lock


async def wait_shielded(task: asyncio.Task[None]) -> None:
    """Wait for a task that is certain to end, even if the caller is cancelled while it waits.

    Afterwards, raise the cancellation of the caller, or else the exception of the task.
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
