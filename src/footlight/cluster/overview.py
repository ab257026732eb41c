"""The workers of a cluster as people see them."""

from __future__ import annotations

import asyncio
from typing import Any

from footlight.cluster.ray_api import (
    ActorLost,
    connect,
    disconnect,
    find_actor,
    list_actors,
    require_token,
)
from footlight.cluster.worker import WORKER, WorkerStatus

__all__ = ["ask_workers"]

ANSWER_SECONDS = 5.0


async def ask_workers(address: str) -> list[dict[str, Any]]:
    """Join the cluster, and return the facts of each worker. One that does not answer has only its name.

    Raises:
        ConfigurationError: the cluster cannot be joined, or token authentication is off.
    """
    require_token()
    await connect(address)
    try:
        names = sorted(each for each in await list_actors() if each.startswith(WORKER))
        return await asyncio.gather(*(_ask(each) for each in names))
    finally:
        await disconnect()


async def _ask(actor_name: str) -> dict[str, Any]:
    facts: dict[str, Any] = {"worker": actor_name.removeprefix(WORKER)}
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            actor = await find_actor(actor_name)
            status: WorkerStatus | None = await actor.call("peek") if actor else None
    except (ActorLost, TimeoutError):
        status = None
    if status is None:
        return facts
    return {
        **facts,
        "node": status.node,
        "pid": status.process_id,
        "sessions": status.load.sessions,
        "maxSessions": status.load.max_sessions,
        "build": status.build,
    }
