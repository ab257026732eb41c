"""Show, start, drain and end the workers of a cluster, for the command `footlight cluster`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from footlight.cluster.ray_api import (
    ActorLostError,
    connect,
    disconnect,
    find_actor,
    kill_actor,
    require_token,
)
from footlight.cluster.registry import REGISTRY
from footlight.cluster.worker import Worker, WorkerStatus, settings_for_workers
from footlight.cluster.worker_actors import find_worker_actor, list_worker_names, start_worker_actor

if TYPE_CHECKING:
    from footlight.config import Settings

__all__ = [
    "ask_workers",
    "connect_cluster",
    "describe_workers",
    "drain_node",
    "end_workers",
    "start_workers",
]

ResultT = TypeVar("ResultT")

ANSWER_SECONDS = 5.0
ASK_EVERY_SECONDS = 0.5


async def ask_workers(address: str) -> list[dict[str, Any]]:
    """Join the cluster, and return the facts of each worker. One that does not answer has only its name.

    Raises:
        ConfigurationError: the cluster cannot be joined, or token authentication is off.
    """
    async with connect_cluster(address):
        return await describe_workers()


async def describe_workers() -> list[dict[str, Any]]:
    """Return the facts of each worker of the cluster that this process has joined, as `ask_workers` does."""
    return [_facts(name, status) for name, status in (await _ask_all()).items()]


async def drain_node(address: str, node: str, *, seconds: float, say: Callable[[str], None]) -> bool:
    """Drain the workers of a machine: each gets no more sessions, and ends after its last one.

    `node` is the name of the machine or the id of the Ray node. Return whether all workers of the cluster
    answered, and those of the machine have ended in time. The others keep their sessions, and still get no
    more.

    Raises:
        ConfigurationError: the cluster cannot be joined, or token authentication is off.
    """
    async with connect_cluster(address):
        found = await _ask_all()
        silent = [name for name, status in found.items() if status is None]
        left = {name for name, each in found.items() if each and node in (each.node, each.node_id)}
        await asyncio.gather(*(_call(name, Worker.drain) for name in left))
        for name in silent:
            say(f"does not answer: {name}")
        for name in sorted(left):
            say(f"draining: {name}")
        if not left:
            say(f"No worker runs on {node}.")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while left:
                    await asyncio.sleep(ASK_EVERY_SECONDS)
                    ended = left.difference(await list_worker_names())
                    left -= ended
                    for name in sorted(ended):
                        say(f"ended: {name}")
    return not left and not silent


async def start_workers(settings: Settings, *, say: Callable[[str], None]) -> bool:
    """Start workers until there are `cluster.minWorkers`, and wait until they answer.

    Return whether all of those can start. They end after `cluster.lease` if no server uses them.

    Raises:
        ConfigurationError: the cluster cannot be joined, or token authentication is off.
    """
    assert settings.cluster.address is not None
    async with connect_cluster(settings.cluster.address):
        given, cpus = settings_for_workers(settings), settings.cluster.worker_cpus
        failed = False
        for _ in range(settings.cluster.min_workers - len(await list_worker_names())):
            name, actor = await start_worker_actor(given, cpus=cpus)
            status = await actor.call(Worker.status)
            say(f"cannot start: {name}: {status.failure}" if status.failure else f"started: {name}")
            failed = failed or status.failure is not None
    return not failed


async def end_workers(address: str, *, say: Callable[[str], None]) -> bool:
    """Close all sessions of all workers, and end the workers. Return whether all of them have ended.

    Raises:
        ConfigurationError: the cluster cannot be joined, or token authentication is off.
    """
    async with connect_cluster(address):
        names = await list_worker_names()
        await asyncio.gather(*(_call(each, Worker.end) for each in names))
        if registry := await find_actor(REGISTRY):
            await kill_actor(registry)
        left = {*names}
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_SECONDS):
                while left := left.intersection(await list_worker_names()):  # noqa: ASYNC110 - nothing tells
                    await asyncio.sleep(ASK_EVERY_SECONDS)
        for name in names:
            say(f"{'still runs' if name in left else 'ended'}: {name}")
    return not left


async def _ask_all() -> dict[str, WorkerStatus | None]:
    """Return the status of each worker by its name, or None where the worker does not answer."""
    names = sorted(await list_worker_names())
    found = await asyncio.gather(*(_call(each, Worker.peek) for each in names))
    return dict(zip(names, found, strict=True))


async def _call(name: str, method: Callable[[Worker], Coroutine[Any, Any, ResultT]]) -> ResultT | None:
    """Return the result, or None where the worker does not answer."""
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            actor = await find_worker_actor(name)
            return await actor.call(method) if actor else None
    except (ActorLostError, TimeoutError):
        return None


@contextlib.asynccontextmanager
async def connect_cluster(address: str) -> AsyncGenerator[None]:
    """Join the cluster for the time of the block.

    Raises:
        ConfigurationError: the cluster cannot be joined, or token authentication is off.
    """
    require_token()
    await connect(address)
    try:
        yield
    finally:
        await disconnect()


def _facts(name: str, status: WorkerStatus | None) -> dict[str, Any]:
    facts: dict[str, Any] = {"worker": name}
    if status is None:
        return facts
    return {
        **facts,
        "node": status.node,
        "nodeId": status.node_id,
        "pid": status.process_id,
        "sessions": status.load.sessions,
        "maxSessions": status.load.max_sessions,
        "draining": status.load.is_draining,
        "build": status.build,
        **({"failure": status.failure} if status.failure else {}),
    }
