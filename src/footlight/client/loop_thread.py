"""An event loop in a separate thread, for callers that have no event loop or another one."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from footlight.protocol.errors import MCPConnectionError, MCPError

__all__ = ["LoopThread"]

Value = TypeVar("Value")

LAST_SECONDS = 5.0
SETTLE_SECONDS = 1.0


class LoopThread:
    """An event loop in a thread.

    The thread is started by the first call, and by the first one after `end`.
    """

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0
        """The id of the process in which the thread was started."""
        self._changing = threading.Lock()

    def run(self, work: Coroutine[Any, Any, Value], *, timeout_s: float | None = None) -> Value:
        """Run the work and return its value.

        If this is interrupted or the time limit passes, the work is cancelled. This then waits for its end,
        for at most a few seconds.

        Raises:
            MCPError: the caller is a callback, or runs in a fork of the client's process (`invalid`).
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise MCPError("A callback must not call the client that calls it", reason="invalid")
        if self._is_forked:
            work.close()
            raise MCPError(
                "The client was connected before this process was forked; create another one in this process",
                reason="invalid",
            )
        ended = threading.Event()
        future = self.begin(_run_and_signal(work, ended))
        try:
            return future.result(timeout_s)
        except CancelledError:
            raise MCPConnectionError("The client was closed", reason="not_connected") from None
        except BaseException:
            if not future.done():
                future.cancel()
                ended.wait(LAST_SECONDS)
            raise

    def begin(self, work: Coroutine[Any, Any, Value]) -> Future[Value]:
        """Start the work without waiting. Cancelling the future cancels the work."""
        with self._changing:  # Otherwise, `end` could stop the loop before it receives the work.
            return asyncio.run_coroutine_threadsafe(work, self._ensure_loop())

    def end(self) -> None:
        if self._is_forked:
            return
        with self._changing:
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        loop.call_soon_threadsafe(loop.stop)
        thread.join(LAST_SECONDS)

    @property
    def _is_forked(self) -> bool:
        """Return whether this process is a fork, which has the client's data but not its thread."""
        return self._loop is not None and self._process != os.getpid()

    def _ensure_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop, self._process = asyncio.new_event_loop(), os.getpid()
            # A daemon thread does not prevent a script that leaves the client open from exiting.
            self._thread = threading.Thread(
                target=_run_loop, args=(self._loop,), name="footlight-client", daemon=True
            )
            self._thread.start()
        return self._loop


async def _run_and_signal(work: Coroutine[Any, Any, Value], ended: threading.Event) -> Value:
    try:
        return await work
    finally:
        ended.set()


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
    finally:
        loop.run_until_complete(_end_tasks())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


async def _end_tasks() -> None:
    """Wait until all tasks have ended. Cancel those that take too long, and tasks that these start."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + SETTLE_SECONDS + LAST_SECONDS
    this = {asyncio.current_task()}
    if rest := asyncio.all_tasks() - this:
        await asyncio.wait(rest, timeout=SETTLE_SECONDS)
    while (rest := asyncio.all_tasks() - this) and loop.time() < deadline:
        for task in rest:
            task.cancel()
        await asyncio.wait(rest, timeout=deadline - loop.time())
