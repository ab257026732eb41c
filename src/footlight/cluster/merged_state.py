"""Merge what people may see of the sessions of all workers. No worker is asked here."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from footlight.watch.watchers import Visitor, WatchedItem, WatchState

if TYPE_CHECKING:
    from footlight.cluster.fleet.known_worker import KnownWorker
    from footlight.cluster.worker import WatchedWorker

__all__ = ["MergedState", "Mirror"]

MAX_CALLS = 2_000
MAX_ENDED = 200


@dataclass(eq=False, slots=True)
class Mirror:
    """The latest state of a worker."""

    worker: KnownWorker
    origin: str = ""
    """The process to which the revision belongs."""
    revision: int = -1
    captures: int = 0
    sessions: list[WatchedItem] = field(default_factory=list[WatchedItem])
    is_silent: bool = False

    def show(self) -> list[WatchedItem]:
        if not self.is_silent:
            return self.sessions
        return [replace(each, view={**each.view, "state": "silent"}) for each in self.sessions]


class MergedState:
    """The mirrors of the workers, and their calls and ended sessions, under one revision."""

    def __init__(self) -> None:
        self.mirrors: dict[KnownWorker, Mirror] = {}
        self._homes: OrderedDict[str, KnownWorker] = OrderedDict()
        """The worker of each call and each ended session that is known, by its id."""
        self._calls: OrderedDict[str, tuple[int, WatchedItem]] = OrderedDict()
        """The latest calls, with the revision in which they changed."""
        self._ended: OrderedDict[str, WatchedItem] = OrderedDict()
        self._revision = 0
        self._changed = asyncio.Event()
        """Set for an instant by each change."""

    def add(self, worker: KnownWorker) -> Mirror:
        mirror = self.mirrors[worker] = Mirror(worker)
        return mirror

    def remove(self, worker: KnownWorker) -> None:
        self.note_loss(self.mirrors.pop(worker))

    async def read(self, after: int, seconds: float) -> WatchState:
        """Return the state, and the calls that have changed after a revision. Wait so long for a change."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._revision <= after:
                    await self._changed.wait()
        now_ms, mirrors = time.time() * 1000, self.mirrors.values()
        return WatchState(
            revision=self._revision,
            captures=sum(each.captures for each in mirrors),
            sessions=_sort("createdAt", (each for mirror in mirrors for each in mirror.show())),
            ended=[
                replace(each, view={**each.view, "secondsAgo": round((now_ms - each.view["endedAt"]) / 1000)})
                for each in _sort("endedAt", self._ended.values())
            ],
            calls=_sort("at", (call for revision, call in self._calls.values() if revision > after)),
        )

    def find_mirror(self, session_id: str) -> Mirror | None:
        """Return the mirror of the worker that has the open session."""
        for mirror in self.mirrors.values():
            if any(each.session_id == session_id for each in mirror.sessions):
                return mirror
        return None

    def find_worker(self, id: str) -> KnownWorker | None:
        """Return the worker of a call, or of a session that is open or has ended."""
        mirror = self.find_mirror(id)
        return mirror.worker if mirror else self._homes.get(id)

    def find_ended(self, session_id: str, visitor: Visitor) -> WatchedItem | None:
        """Return the ended session, if the visitor may see it."""
        ended = self._ended.get(session_id)
        return ended if ended is not None and ended.is_for(visitor) else None

    def note_state(self, mirror: Mirror, seen: WatchedWorker, *, has_calls: bool) -> None:
        """Note the state of a worker. Without `has_calls`, its calls were not asked for."""
        if seen.origin != mirror.origin:
            self.note_loss(mirror)
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

    def note_loss(self, mirror: Mirror) -> None:
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

    def note_silence(self, mirror: Mirror, *, is_silent: bool) -> None:
        """Note whether a worker answers."""
        if mirror.is_silent != is_silent:
            mirror.is_silent = is_silent
            self._revision += 1
            self._wake()

    def _note_end(self, ended: WatchedItem, worker: KnownWorker) -> None:
        assert ended.session_id is not None
        known = self._ended.get(ended.session_id)
        if known is None or known.view["endedAt"] <= ended.view["endedAt"]:
            self._ended[ended.session_id] = ended
            self._note_home(ended.session_id, worker)
        while len(self._ended) > MAX_ENDED:
            self._ended.popitem(last=False)

    def _note_home(self, id: str, worker: KnownWorker) -> None:
        self._homes[id] = worker
        self._homes.move_to_end(id)
        while len(self._homes) > 2 * MAX_CALLS:
            self._homes.popitem(last=False)

    def _wake(self) -> None:
        self._changed.set()
        self._changed.clear()


def _sort(by: str, watched: Iterable[WatchedItem]) -> list[WatchedItem]:
    return sorted(watched, key=lambda each: each.view[by])
