"""Answer the watch page about the sessions of all workers.

The state of each worker is mirrored here: continuously while somebody watches, and every few seconds
otherwise, so that the sessions of a worker that is lost are known. All else is asked of the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.cluster.merged_state import MergedState, Mirror
from footlight.cluster.ray_api import ActorLostError
from footlight.cluster.trace_copies import TraceCopies
from footlight.cluster.worker import Worker, WorkerRefusal
from footlight.watch.watchers import (
    PagePicture,
    Visitor,
    WatchBackend,
    WatchRequestError,
    WatchState,
)

if TYPE_CHECKING:
    from footlight.cluster.fleet.fleet import Fleet
    from footlight.cluster.fleet.known_worker import KnownWorker
    from footlight.cluster.worker import Heard

__all__ = ["NO_CALLS", "ClusterWatchBackend"]

logger = logging.getLogger(__name__)

WATCHED_SECONDS = 30.0
"""How long after the last request the page counts as watched."""
IDLE_SECONDS = 5.0
"""The time between two looks at a worker while nobody watches."""
BUSY_SECONDS = 0.1
"""The least time between two looks, however fast its sessions change."""
FOLLOW_SECONDS = 5.0
"""How long a worker waits for a change. Watchers are reported to it as often."""
RETRY_SECONDS = 1.0
"""The time between two looks at the list of workers, and at a worker that is lost."""
ANSWER_SECONDS = 5.0
STEER_SECONDS = 30.0
"""How long a worker may take for a request of a person, who may wait for a running call."""
NO_CALLS = 1 << 62
"""A revision after which there are no calls. Nobody needs them before somebody watches."""
MAX_WATCHERS = 1_000


class ClusterWatchBackend:
    """Merges the states of the workers, and routes requests to the worker that has the session or call."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._state = MergedState()
        self._followers: dict[KnownWorker, asyncio.Task[None]] = {}
        self._heard_at: dict[str, float] = {}
        self._watched_at = -WATCHED_SECONDS
        self._wanted = asyncio.Event()
        """Set for an instant when somebody begins to watch."""
        self._refreshing: asyncio.Task[None] | None = None
        self._trace_copies = TraceCopies()

    async def follow(self) -> None:
        """Mirror all workers until it is cancelled."""
        while True:
            self._update_mirrors()
            await asyncio.sleep(RETRY_SECONDS)

    async def close(self) -> None:
        """Stop looking at the workers, and remove the traces that were copied from them."""
        tasks = [*self._followers.values(), *([self._refreshing] if self._refreshing else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._trace_copies.remove()

    def note_watcher(self, watcher: str) -> None:
        now = time.monotonic()
        heard = [each for each in self._heard_at.items() if now - each[1] < WATCHED_SECONDS]
        others = [each for each in heard if each[0] != watcher]
        self._heard_at = dict([*others, (watcher, now)][-MAX_WATCHERS:])

    async def read_state(self, after: int, seconds: float) -> WatchState:
        was_watched = self._is_watched
        self._watched_at = time.monotonic()
        if not was_watched:
            self._wanted.set()
            self._wanted.clear()
        if not was_watched or not seconds:
            await self._refresh()
        return await self._state.read(after, seconds)

    async def read_picture(
        self, session_id: str, page_id: str | None, after: int, visitor: Visitor
    ) -> PagePicture:
        return await self._ask_about(
            session_id, WatchBackend.read_picture, session_id, page_id, after, visitor
        )

    async def read_still(self, call: str, visitor: Visitor) -> bytes:
        return await self._ask(
            self._state.find_worker(call), WatchBackend.read_still, _number_of(call), visitor, call=call
        )

    async def make_report(self, session_id: str, visitor: Visitor) -> str:
        return await self._ask_about(session_id, WatchBackend.make_report, session_id, visitor)

    async def find_trace(self, session_id: str | None, call: str | None, visitor: Visitor) -> Path:
        """Copy the trace from its worker, and return the copy."""
        if call is not None:
            worker, number = self._state.find_worker(call), _number_of(call)
        else:
            worker, number = await self._find_worker(session_id or ""), None
        trace = await self._ask(worker, WatchBackend.find_trace, session_id, number, visitor, call=call)
        assert worker is not None
        return await self._trace_copies.add(worker, trace)

    async def take(self, session_id: str, watcher: str, visitor: Visitor) -> None:
        await self._ask_about(session_id, WatchBackend.take, session_id, watcher, visitor)
        await self._look_at_session(session_id)

    async def give_back(self, session_id: str, watcher: str, note: str, visitor: Visitor) -> None:
        await self._ask_about(session_id, WatchBackend.give_back, session_id, watcher, note, visitor)
        await self._look_at_session(session_id)

    async def act(self, session_id: str, watcher: str, events: Sequence[Any], visitor: Visitor) -> None:
        await self._ask_about(session_id, WatchBackend.act, session_id, watcher, events, visitor)

    # The workers

    @property
    def _is_watched(self) -> bool:
        return time.monotonic() - self._watched_at < WATCHED_SECONDS

    def _update_mirrors(self) -> None:
        """Follow the workers that the fleet knows, and none else."""
        workers, followed = set(self._fleet.workers), self._followers.keys()
        for worker in workers - followed:
            self._followers[worker] = asyncio.create_task(self._follow(self._state.add(worker)))
        for worker in followed - workers:
            self._followers.pop(worker).cancel()
            self._state.remove(worker)

    async def _follow(self, mirror: Mirror) -> None:
        while True:
            is_watched = self._is_watched
            await self._look_at(mirror, FOLLOW_SECONDS if is_watched else 0.0)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(BUSY_SECONDS if is_watched else IDLE_SECONDS):
                    await self._wanted.wait()

    async def _refresh(self) -> None:
        """Look at all workers now, except silent ones. Requests at the same time share one look."""
        if self._refreshing is None or self._refreshing.done():
            self._refreshing = asyncio.create_task(self._look_at_all())
        await asyncio.shield(self._refreshing)

    async def _look_at_all(self) -> None:
        self._update_mirrors()
        mirrors = [each for each in self._state.mirrors.values() if not each.is_silent]
        await asyncio.gather(*(self._look_at(each, 0.0) for each in mirrors))

    async def _look_at_session(self, session_id: str) -> None:
        if (mirror := self._state.find_mirror(session_id)) is not None:
            await self._look_at(mirror, 0.0)

    async def _look_at(self, mirror: Mirror, seconds: float) -> None:
        """Mirror a worker, which waits so long for a change."""
        now = time.monotonic()
        heard: Heard = {watcher: now - heard_at for watcher, heard_at in self._heard_at.items()}
        origin, after = mirror.origin, mirror.revision if self._is_watched else NO_CALLS
        try:
            async with asyncio.timeout(seconds + ANSWER_SECONDS):
                seen = await mirror.worker.actor.call(Worker.read_watched, origin, after, seconds, heard)
            self._state.note_state(mirror, seen, has_calls=after != NO_CALLS or seen.origin != origin)
        except ActorLostError:
            self._state.note_loss(mirror)
            await asyncio.sleep(RETRY_SECONDS if seconds else 0)
            return
        except Exception as error:  # It is silent, cannot start, or is of another version.
            is_known = isinstance(error, TimeoutError) or mirror.is_silent or mirror.worker.failure
            level = logging.DEBUG if is_known else logging.WARNING
            logger.log(level, "worker %s cannot be watched", mirror.worker.name, exc_info=True)
            self._state.note_silence(mirror, is_silent=True)
            return
        self._state.note_silence(mirror, is_silent=False)

    async def _ask_about(self, session_id: str, method: Callable[..., object], *arguments: Any) -> Any:
        try:
            return await self._ask(await self._find_worker(session_id), method, *arguments)
        except WatchRequestError as error:
            ended = self._state.find_ended(session_id, visitor=arguments[-1])
            if error.status == 404 and ended is not None:
                raise WatchRequestError(410, f"The session {ended.view['reason']}.") from None
            raise

    async def _find_worker(self, session_id: str) -> KnownWorker | None:
        if self._state.find_worker(session_id) is None:
            await self._refresh()
        return self._state.find_worker(session_id)

    async def _ask(
        self,
        worker: KnownWorker | None,
        method: Callable[..., object],
        *arguments: Any,
        call: str | None = None,
    ) -> Any:
        """Call a method of the worker's backend, which is about a session or about `call`."""
        if worker is None:
            raise WatchRequestError(404, f"There is no such {'session' if call is None else 'call'}.")
        name, actor = method.__name__, worker.actor
        try:
            async with asyncio.timeout(STEER_SECONDS):
                if call is None:
                    answer = await actor.call(Worker.watch, name, *arguments)
                else:
                    answer = await actor.call(Worker.watch_call, call, name, *arguments)
        except ActorLostError:
            raise WatchRequestError(410, f"The session was lost with worker {worker.name}.") from None
        except TimeoutError:
            raise WatchRequestError(503, f"Worker {worker.name} does not answer.") from None
        if isinstance(answer, WorkerRefusal):
            raise WatchRequestError(answer.status, answer.message)
        return answer


def _number_of(call: str) -> str:
    """Return the number that a call has on its worker."""
    return call.rpartition("-")[2]
