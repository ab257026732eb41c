"""Find the worker that has a session: by the session's id, as it was found before, or in the registry."""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from footlight.cluster.ray_api import ActorLostError, RemoteActor
from footlight.cluster.registry import SessionRegistry, start_registry
from footlight.errors import SessionNotFoundError, WorkerLostError

if TYPE_CHECKING:
    from footlight.caller import Caller
    from footlight.cluster.fleet.fleet import Fleet
    from footlight.cluster.fleet.known_worker import KnownWorker

__all__ = ["WAIT", "SessionLocations", "find_registered_id"]

ArgumentsT = TypeVarTuple("ArgumentsT")
ResultT = TypeVar("ResultT")

REGISTRY_SECONDS = 10.0
"""How long calls wait for the registry, which takes some seconds to move to another machine."""
RETRY_SECONDS = 0.2
WAIT = "Call again in a few seconds. The workers may be starting."
MAX_CACHED = 10_000


class SessionLocations:
    """Knows the worker of each session.

    A session's id begins with the name of the worker that created it. The registry knows where sessions
    `default` are, and where sessions are kept, those that have moved to another worker.
    """

    def __init__(self, fleet: Fleet, registry: RemoteActor, *, keeps_sessions: bool) -> None:
        self._fleet = fleet
        self._registry = registry
        self._keeps_sessions = keeps_sessions
        self._found: OrderedDict[str, _SessionLocation] = OrderedDict()
        """Where sessions were found, as far as the registry had to be asked."""

    async def find(self, session_id: object, caller: Caller) -> KnownWorker | None:
        """Return the worker that has the session, or None for a session that any worker can open.

        Raises:
            SessionNotFoundError: the worker that the id names does not exist, and sessions are not kept.
            WorkerLostError: the registry does not answer.
        """
        id = find_registered_id(session_id, caller)
        if id is None:
            return None
        home = self._fleet.find(id.partition(".")[0]) if "." in id else None
        if "." in id and not self._keeps_sessions:
            if home is None:
                raise SessionNotFoundError(f'Session "{id}" does not exist', sessionId=id)
            return home
        location = self._found.get(id)
        if location is not None and location.is_current:
            return location.worker
        name = await self._ask_registry(SessionRegistry.find, id)
        worker = (self._fleet.find(name) if name else None) or home
        if worker is None or (self._keeps_sessions and worker.is_lost):
            return None
        self._remember(id, worker)
        return worker

    async def claim(self, id: str | None, worker: KnownWorker) -> KnownWorker:
        """Return the worker for a session to open: another server may have chosen it already."""
        if id is None:
            return worker
        others = frozenset(
            each.name for each in self._fleet.workers if each.takes_sessions or not self._keeps_sessions
        )
        name = await self._ask_registry(SessionRegistry.claim, id, worker.name, others)
        worker = self._fleet.find(name) or worker
        self._remember(id, worker)
        return worker

    def drop(self, id: str | None) -> None:
        """Ask the registry again for this session, which has left its worker."""
        if id is not None:
            self._found.pop(id, None)

    async def forget(self, id: str) -> KnownWorker | None:
        """Forget a session that has ended, and return the worker that had it.

        Raises:
            WorkerLostError: the registry does not answer.
        """
        self.drop(id)
        name = await self._ask_registry(SessionRegistry.forget, id)
        return self._fleet.find(name) if name else None

    def _remember(self, id: str, worker: KnownWorker) -> None:
        self._found[id] = _SessionLocation(worker, worker.process_id)
        self._found.move_to_end(id)
        while len(self._found) > MAX_CACHED:
            self._found.popitem(last=False)

    async def _ask_registry(
        self,
        method: Callable[[SessionRegistry, *ArgumentsT], Coroutine[Any, Any, ResultT]],
        *arguments: *ArgumentsT,
    ) -> ResultT:
        """Call a method of the registry, again if it moves to another machine meanwhile.

        Raises:
            WorkerLostError: the registry does not answer.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(REGISTRY_SECONDS):
                while True:
                    try:
                        return await self._registry.call(method, *arguments)
                    except ActorLostError:
                        await asyncio.sleep(RETRY_SECONDS)
                        self._registry = await start_registry()
        raise WorkerLostError(
            "The registry of sessions does not answer", suggestion=WAIT, retryable=True, dispatched=False
        )


@dataclass(frozen=True, slots=True)
class _SessionLocation:
    """The worker that has a session. Another process of the same worker would have to be asked again."""

    worker: KnownWorker
    process_id: int | None

    @property
    def is_current(self) -> bool:
        return not self.worker.is_lost and self.worker.process_id in (None, self.process_id)


def find_registered_id(session_id: object, caller: Caller) -> str | None:
    """Return the id of a session that a worker created, or of the caller's `default`. None for any other."""
    if session_id is not None and not isinstance(session_id, str):
        return None
    id = caller.find_session_id(session_id)
    return id if id is not None and ("." in id or id == caller.default_session) else None
