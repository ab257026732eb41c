"""Run work on large pages in a thread, so that the event loop can serve other callers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

__all__ = ["CHARACTERS_A_NODE", "call_in_loop", "offload"]

MAX_NODES = 2_000
"""Work on at most this many nodes takes a few milliseconds and does not need a thread."""
CHARACTERS_A_NODE = 10
"""Searching this many characters for secrets takes as long as one node, even for a page that repeats them."""
ANSWER_SECONDS = 10.0

T = TypeVar("T")


async def offload(nodes: int, work: Callable[[], T]) -> T:
    """Return the result of the work. It runs in a thread if it concerns many nodes.

    Cancelling the call does not stop the work, so the work must not change anything that later calls depend
    on.
    """
    return work() if nodes <= MAX_NODES else await asyncio.to_thread(work)


def call_in_loop(function: Callable[[str], T]) -> Callable[[str], T]:
    """Return a function that calls `function` in the event loop, from any thread."""
    loop = asyncio.get_running_loop()

    async def call(text: str) -> T:
        return function(text)

    def call_from_thread(text: str) -> T:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run_coroutine_threadsafe(call(text), loop).result(ANSWER_SECONDS)
        return function(text)

    return call_from_thread
