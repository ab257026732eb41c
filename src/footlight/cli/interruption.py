"""End the work of a command on Ctrl-C and SIGTERM so that it closes what it has opened."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Coroutine, Generator
from typing import Any, TypeVar

from footlight.cli.usage import BY_SIGNAL

__all__ = ["run_until_signal"]

Value = TypeVar("Value")


def run_until_signal(work: Coroutine[Any, Any, Value]) -> Value:
    """Run the work and return its value. If signal N comes, cancel the work and exit with 128 + N.

    Cancelled work closes its session and stops its server, in bounded time. A second signal does not wait for
    that.
    """
    received: list[int] = []

    async def run() -> Value:
        with _cancel_on_signal(received):
            return await work

    try:
        return asyncio.run(run())
    finally:
        if received:
            sys.exit(BY_SIGNAL + received[0])


@contextlib.contextmanager
def _cancel_on_signal(received: list[int]) -> Generator[None]:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None

    def on_signal(number: int, _frame: object) -> None:
        received.append(number)
        if len(received) > 1:
            raise KeyboardInterrupt
        loop.call_soon_threadsafe(task.cancel)

    # A shell lets its background processes ignore Ctrl-C.
    numbers = [
        each for each in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(each) is not signal.SIG_IGN
    ]
    before = {each: signal.signal(each, on_signal) for each in numbers}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
