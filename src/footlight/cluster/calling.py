"""Send one call to a worker, once, and say what is known when no reply comes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from footlight.cluster.ray_api import ActorLost, RemoteActor
from footlight.cluster.worker import WorkerReply
from footlight.errors import DeadlineExceeded, WorkerLost

if TYPE_CHECKING:
    from footlight.cluster.fleet import KnownWorker
    from footlight.server.calls.progress import Report
    from footlight.server.tools.declaration import Tool

__all__ = ["lost_error", "silent_error", "wait_for_reply"]

GRACE_SECONDS = 15.0
"""How long after its deadline a call may look for the reason, as long as its worker can be reached."""
PING_SECONDS = 1.0
"""How long a worker may take to say that it can be reached. It is asked this long before the deadline."""


async def wait_for_reply(
    actor: RemoteActor, sent: tuple[Any, ...], report: Report | None, seconds: float
) -> WorkerReply:
    """Send a call, and wait for its reply until the deadline, and longer while the worker can be reached.

    Raises:
        TimeoutError: the worker cannot be reached at the deadline, or takes much longer than it.
    """
    work = asyncio.create_task(_call(actor, sent, report))
    gives_up_at = time.monotonic() + seconds + GRACE_SECONDS
    try:
        await asyncio.wait([work], timeout=max(0, seconds - PING_SECONDS))
        while not work.done():
            ping = asyncio.create_task(actor.call("ping"))
            ping.add_done_callback(_ignore_result)
            await asyncio.wait([work], timeout=PING_SECONDS)
            is_reached = ping.done()
            ping.cancel()
            if not work.done() and (not is_reached or time.monotonic() > gives_up_at):
                raise TimeoutError
        return work.result()
    finally:
        work.cancel()


def _ignore_result(task: asyncio.Task[None]) -> None:
    if not task.cancelled():
        task.exception()


async def _call(actor: RemoteActor, sent: tuple[Any, ...], report: Report | None) -> WorkerReply:
    if report is None:
        return await actor.call("call", *sent)
    async for each in actor.stream("call_with_progress", *sent):
        if isinstance(each, WorkerReply):
            return each
        await report(*each)
    raise ActorLost("the stream ended without a reply")


def lost_error(tool: Tool, worker: KnownWorker, *, is_kept: bool) -> WorkerLost:
    state = (
        "The next call opens its session again from its saved state."
        if is_kept
        else "Its session has ended, so create another one."
    )
    if tool.effect == "read":
        message = f"{tool.name} failed: worker {worker.name} was lost"
        return WorkerLost(message, suggestion=state, retryable=True)
    return WorkerLost(
        f"{tool.name} failed: worker {worker.name} was lost. Its action may have been done",
        suggestion=f"{state} Look before you repeat the action.",
        retryable=False,
        dispatched="unknown",
    )


def silent_error(tool: Tool, worker: KnownWorker, limit_ms: float) -> DeadlineExceeded:
    acts = tool.effect != "read"
    return DeadlineExceeded(
        f"{tool.name} timed out: worker {worker.name} does not answer",
        retryable=not acts,
        timeout=limit_ms,
        dispatched="unknown" if acts else None,
    )
