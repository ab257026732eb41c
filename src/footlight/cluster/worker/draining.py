"""When a worker ends: without servers, with its machine, at SIGTERM, and after the sessions of a drain."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Callable
from typing import Protocol

from footlight.cluster.ray_api import find_own_drain_deadline, own_drain_seconds, watch_termination

__all__ = ["end_with_lease", "end_without_node", "end_without_sessions", "leave_at_signal", "leave_with_node"]

logger = logging.getLogger(__name__)

CHECK_EVERY_SECONDS = 1.0
"""How often the worker looks whether it is to end."""
LINGER_SECONDS = 3.0
"""How long a drained worker waits after its last session, so that all servers learn that it is empty."""
MAX_LINGER_SECONDS = 8.0
"""How long it waits for a server that has not asked for its status since then."""
END_SECONDS = 5.0
"""How long before it must have ended a worker closes the sessions that are left."""


class DrainingWorker(Protocol):
    """The worker that ends."""

    last_asked: float
    """When a server has asked for its status, in seconds of the monotonic clock."""
    lease_seconds: float
    """How long it stays without a server that asks for its status."""

    async def drain(self) -> None: ...

    async def end(self) -> None: ...


async def end_with_lease(worker: DrainingWorker) -> None:
    """End a worker that no server has asked for its status for the time of its lease."""
    while time.monotonic() - worker.last_asked < worker.lease_seconds:  # noqa: ASYNC110 - time alone ends it
        await asyncio.sleep(CHECK_EVERY_SECONDS)
    await worker.end()


async def end_without_sessions(worker: DrainingWorker, is_used: Callable[[], bool]) -> None:
    """End a drained worker after its last call and session, when a server knows that it is empty."""
    empty_since = time.monotonic()
    end_at = empty_since + LINGER_SECONDS
    while time.monotonic() < end_at:
        await asyncio.sleep(CHECK_EVERY_SECONDS / 2)
        if is_used():
            empty_since = time.monotonic()
        is_known = worker.last_asked > empty_since
        end_at = empty_since + (LINGER_SECONDS if is_known else MAX_LINGER_SECONDS)
    await worker.end()


async def leave_with_node(worker: DrainingWorker) -> None:
    """Drain when Ray is about to remove the machine, and end in time before it does."""
    while True:
        try:
            deadline = await find_own_drain_deadline()
            if deadline is not None:
                await worker.drain()
        except Exception:
            logger.exception("the worker cannot learn whether its machine stays, or cannot drain")
            deadline = None
        if deadline is not None and deadline - time.time() < END_SECONDS:
            await worker.end()
        await asyncio.sleep(CHECK_EVERY_SECONDS)


async def end_without_node() -> None:
    """End the process, and its browsers with it, when Ray has ended on the machine.

    Ray ends it itself unless the head of the cluster has ended, too.
    """
    raylet = os.getppid()
    while os.getppid() == raylet:  # noqa: ASYNC110 - nothing tells
        await asyncio.sleep(CHECK_EVERY_SECONDS)
    logger.error("Ray has ended on this machine")
    os._exit(1)


async def leave_at_signal(worker: DrainingWorker) -> None:
    """Drain at SIGTERM, and end as soon as a machine would that gets it, or at a second SIGTERM."""
    first, second = asyncio.Event(), asyncio.Event()
    watch_termination(lambda: (second if first.is_set() else first).set())
    await first.wait()
    logger.info("SIGTERM: draining")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(max(0.0, own_drain_seconds() - END_SECONDS)):
            await worker.drain()
            await second.wait()
    await worker.end()
