"""The actor that remembers which worker has a session whose id does not say it."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict

from footlight.cluster.ray_api import (
    ActorLostError,
    RemoteActor,
    find_own_drain_deadline,
    restart_own_actor,
    start_actor,
)
from footlight.cluster.worker import Worker
from footlight.cluster.worker.draining import end_without_node
from footlight.cluster.worker_actors import find_worker_actor, list_worker_names

__all__ = ["REGISTRY", "SessionRegistry", "start_registry"]

logger = logging.getLogger(__name__)

REGISTRY = "registry"
"""The name of the actor."""
MAX_REMEMBERED = 100_000
ANSWER_SECONDS = 5.0
CHECK_EVERY_SECONDS = 1.0


async def start_registry() -> RemoteActor:
    """Start the registry, or return the one that runs."""
    registry = await start_actor(SessionRegistry, REGISTRY, cpus=0)
    registry.send(SessionRegistry.watch_node)
    return registry


class SessionRegistry:
    """The worker of each session `default`, and of each moved one, by its id.

    After a restart, the workers are asked.
    """

    def __init__(self) -> None:
        self._workers: OrderedDict[str, str] = OrderedDict()
        self._loading: asyncio.Task[None] | None = None
        self._watching: list[asyncio.Task[None]] = []

    async def watch_node(self) -> None:
        """Start again on another machine as soon as Ray is about to remove this one."""
        if not self._watching:
            self._watching = [
                asyncio.create_task(self._move_with_node()),
                asyncio.create_task(end_without_node()),
            ]

    async def find(self, id: str) -> str | None:
        """Return the name of the worker that has the session, or None."""
        await self._load()
        return self._workers.get(id)

    async def claim(self, id: str, worker: str, unless: frozenset[str]) -> str:
        """Give the session to `worker`, unless one of the workers `unless` has it. Return its worker."""
        await self._load()
        if self._workers.get(id) not in unless:
            self._workers[id] = worker
        self._workers.move_to_end(id)
        while len(self._workers) > MAX_REMEMBERED:
            self._workers.popitem(last=False)
        return self._workers[id]

    async def forget(self, id: str) -> str | None:
        """Forget a session that has ended, and return the worker that had it."""
        await self._load()
        return self._workers.pop(id, None)

    async def _load(self) -> None:
        if self._loading is None or (self._loading.done() and self._loading.exception()):
            self._loading = asyncio.create_task(self._ask_workers())
            await self.watch_node()
        await asyncio.shield(self._loading)

    async def _move_with_node(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY_SECONDS)
            try:
                if await find_own_drain_deadline() is not None:
                    restart_own_actor()
            except Exception:
                logger.exception("Ray could not be asked whether this machine stays")

    async def _ask_workers(self) -> None:
        await asyncio.gather(*(self._ask(name) for name in await list_worker_names()))

    async def _ask(self, worker: str) -> None:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                actor = await find_worker_actor(worker)
                for id in await actor.call(Worker.list_registered_ids) if actor else ():
                    self._workers[id] = worker
        except (ActorLostError, TimeoutError):
            pass  # Its sessions are gone, or are found again when their callers use them.
