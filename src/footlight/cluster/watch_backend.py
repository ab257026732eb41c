"""Answer the watch page about the sessions of all workers.

The state of each worker is mirrored here: continuously while somebody watches, and every few seconds
otherwise, so that the sessions of a worker that is lost are known. All else is asked of the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footlight.cluster.ray_api import ActorLostError
from footlight.cluster.trace_copies import TraceCopies
from footlight.cluster.worker import RefusedRequest, Worker
from footlight.watch.watchers import (
    PagePicture,
    Visitor,
    WatchBackend,
    WatchedItem,
    WatchRequestError,
    WatchState,
)

if TYPE_CHECKING:
    from footlight.cluster.fleet import Fleet
    from footlight.cluster.known_worker import KnownWorker
    from footlight.cluster.worker import Heard, WatchedWorker

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
MAX_CALLS = 2_000
MAX_ENDED = 200
MAX_WATCHERS = 1_000


@dataclass(eq=False, slots=True)
class _Mirror:
    """The latest state of a worker."""

    worker: KnownWorker
    origin: str = ""
    """The process to which the revision belongs."""
    revision: int = -1
    captures: int = 0
    sessions: list[WatchedItem] = field(default_factory=list[WatchedItem])
    is_silent: bool = False
    following: asyncio.Task[None] | None = field(default=None, repr=False)


class ClusterWatchBackend:
    """Merges the states of the workers, and routes requests to the worker that has the session or call."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._mirrors: dict[KnownWorker, _Mirror] = {}
        self._homes: OrderedDict[str, KnownWorker] = OrderedDict()
        """The worker of each call and each ended session that is known, by its id."""
        self._calls: OrderedDict[str, tuple[int, WatchedItem]] = OrderedDict()
        """The latest calls, with the revision in which they changed."""
        self._ended: OrderedDict[str, WatchedItem] = OrderedDict()
        self._revision = 0
        self._changed = asyncio.Event()
        """Set for an instant by each change."""
        self._heard_at: dict[str, float] = {}
        self._watched_at = -WATCHED_SECONDS
        self._wanted = asyncio.Event()
        """Set for an instant when somebody begins to watch."""
        self._refreshing: asyncio.Task[None] | None = None
        self._trace_copies = TraceCopies()

    async def follow(self) -> None:
        """Mirror all workers until it is cancelled."""
        try:
            while True:
                self._update_mirrors()
                await asyncio.sleep(RETRY_SECONDS)
        finally:
            await _cancel(each.following for each in self._mirrors.values())

    async def close(self) -> None:
        """End what requests have started, and remove the traces that they have copied."""
        await _cancel([self._refreshing])
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
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._revision <= after:
                    await self._changed.wait()
        return self._merge(after)

    async def read_picture(
        self, session_id: str, page_id: str | None, after: int, visitor: Visitor
    ) -> PagePicture:
        return await self._ask_about(
            session_id, WatchBackend.read_picture, session_id, page_id, after, visitor
        )

    async def read_still(self, call: str, visitor: Visitor) -> bytes:
        return await self._ask(
            self._homes.get(call), WatchBackend.read_still, _number_of(call), visitor, call=call
        )

    async def make_report(self, session_id: str, visitor: Visitor) -> str:
        return await self._ask_about(session_id, WatchBackend.make_report, session_id, visitor)

    async def find_trace(self, session_id: str | None, call: str | None, visitor: Visitor) -> Path:
        """Copy the trace from its worker, and return the copy."""
        if call is not None:
            worker, number = self._homes.get(call), _number_of(call)
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
        workers = set(self._fleet.workers)
        for worker in workers - self._mirrors.keys():
            mirror = self._mirrors[worker] = _Mirror(worker)
            mirror.following = asyncio.create_task(self._follow(mirror))
        for worker in self._mirrors.keys() - workers:
            mirror = self._mirrors.pop(worker)
            assert mirror.following is not None
            mirror.following.cancel()
            self._note_loss(mirror)

    async def _follow(self, mirror: _Mirror) -> None:
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
        mirrors = [each for each in self._mirrors.values() if not each.is_silent]
        await asyncio.gather(*(self._look_at(each, 0.0) for each in mirrors))

    async def _look_at_session(self, session_id: str) -> None:
        if (mirror := self._find_mirror(session_id)) is not None:
            await self._look_at(mirror, 0.0)

    async def _look_at(self, mirror: _Mirror, seconds: float) -> None:
        """Mirror a worker, which waits so long for a change."""
        now = time.monotonic()
        heard: Heard = {watcher: now - heard_at for watcher, heard_at in self._heard_at.items()}
        origin, after = mirror.origin, mirror.revision if self._is_watched else NO_CALLS
        try:
            async with asyncio.timeout(seconds + ANSWER_SECONDS):
                seen = await mirror.worker.actor.call(Worker.read_watched, origin, after, seconds, heard)
            self._note_state(mirror, seen, has_calls=after != NO_CALLS or seen.origin != origin)
        except ActorLostError:
            self._note_loss(mirror)
            await asyncio.sleep(RETRY_SECONDS if seconds else 0)
            return
        except Exception as error:  # It is silent, cannot start, or is of another version.
            is_known = isinstance(error, TimeoutError) or mirror.is_silent or mirror.worker.failure
            level = logging.DEBUG if is_known else logging.WARNING
            logger.log(level, "worker %s cannot be watched", mirror.worker.name, exc_info=True)
            self._note_silence(mirror, is_silent=True)
            return
        self._note_silence(mirror, is_silent=False)

    def _note_state(self, mirror: _Mirror, seen: WatchedWorker, *, has_calls: bool) -> None:
        if seen.origin != mirror.origin:
            self._note_loss(mirror)
            mirror.origin, mirror.revision = seen.origin, -1
        state, worker = seen.state, mirror.worker
        if state.revision < mirror.revision:
            return  # A later look has seen more already.
        sessions = [replace(each, view={**each.view, "worker": worker.name}) for each in state.sessions]
        if state.revision == mirror.revision and sessions == mirror.sessions:
            return
        if has_calls:
            mirror.revision = state.revision
        mirror.captures = state.captures
        mirror.sessions = sessions
        self._revision += 1
        for each in state.ended:
            self._note_end(each, worker)
        for each in state.calls:
            id = f"{seen.origin}-{each.view['number']}"
            self._calls[id] = (self._revision, replace(each, view={**each.view, "number": id}))
            self._note_home(id, worker)
        while len(self._calls) > MAX_CALLS:
            self._calls.popitem(last=False)
        self._wake()

    def _note_home(self, id: str, worker: KnownWorker) -> None:
        self._homes[id] = worker
        self._homes.move_to_end(id)
        while len(self._homes) > 2 * MAX_CALLS:
            self._homes.popitem(last=False)

    def _note_end(self, ended: WatchedItem, worker: KnownWorker) -> None:
        assert ended.session_id is not None
        known = self._ended.get(ended.session_id)
        if known is None or known.view["endedAt"] <= ended.view["endedAt"]:
            self._ended[ended.session_id] = ended
            self._note_home(ended.session_id, worker)
        while len(self._ended) > MAX_ENDED:
            self._ended.popitem(last=False)

    def _note_loss(self, mirror: _Mirror) -> None:
        """Note that the process of a worker has ended, and its sessions with it."""
        if not mirror.sessions:
            return
        worker = mirror.worker
        reason = f"{'ended' if worker.is_draining else 'was lost'} with worker {worker.name}"
        for each in mirror.sessions:
            facts = {"id": each.session_id, "state": "ended", "reason": reason}
            self._note_end(replace(each, view={**facts, "endedAt": round(time.time() * 1000)}), worker)
        mirror.sessions = []
        self._revision += 1
        self._wake()

    def _note_silence(self, mirror: _Mirror, *, is_silent: bool) -> None:
        if mirror.is_silent != is_silent:
            mirror.is_silent = is_silent
            self._revision += 1
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed.clear()

    def _merge(self, after: int) -> WatchState:
        now_ms, mirrors = time.time() * 1000, self._mirrors.values()
        return WatchState(
            revision=self._revision,
            captures=sum(each.captures for each in mirrors),
            sessions=_sort(
                "createdAt", (each for mirror in self._mirrors.values() for each in _show(mirror))
            ),
            ended=[
                replace(each, view={**each.view, "secondsAgo": round((now_ms - each.view["endedAt"]) / 1000)})
                for each in _sort("endedAt", self._ended.values())
            ],
            calls=_sort("at", (call for revision, call in self._calls.values() if revision > after)),
        )

    async def _ask_about(self, session_id: str, method: Callable[..., object], *arguments: Any) -> Any:
        try:
            return await self._ask(await self._find_worker(session_id), method, *arguments)
        except WatchRequestError as error:
            ended, visitor = self._ended.get(session_id), arguments[-1]
            if error.status == 404 and ended is not None and ended.is_for(visitor):
                raise WatchRequestError(410, f"The session {ended.view['reason']}.") from None
            raise

    async def _find_worker(self, session_id: str) -> KnownWorker | None:
        if self._find_mirror(session_id) is None and session_id not in self._homes:
            await self._refresh()
        mirror = self._find_mirror(session_id)
        return mirror.worker if mirror else self._homes.get(session_id)

    def _find_mirror(self, session_id: str) -> _Mirror | None:
        """Return the mirror of the worker that has the open session."""
        for mirror in self._mirrors.values():
            if any(each.session_id == session_id for each in mirror.sessions):
                return mirror
        return None

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
        if isinstance(answer, RefusedRequest):
            raise WatchRequestError(answer.status, answer.message)
        return answer


async def _cancel(tasks: Iterable[asyncio.Task[None] | None]) -> None:
    started = [each for each in tasks if each is not None]
    for task in started:
        task.cancel()
    await asyncio.gather(*started, return_exceptions=True)


def _show(mirror: _Mirror) -> Iterable[WatchedItem]:
    if not mirror.is_silent:
        return mirror.sessions
    return [replace(each, view={**each.view, "state": "silent"}) for each in mirror.sessions]


def _sort(by: str, watched: Iterable[WatchedItem]) -> list[WatchedItem]:
    return sorted(watched, key=lambda each: each.view[by])


def _number_of(call: str) -> str:
    """Return the number that a call has on its worker."""
    return call.rpartition("-")[2]
