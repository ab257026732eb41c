"""The workers that a server knows: which of them answer, and which can have another session."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from footlight.cluster.fleet.known_worker import KnownWorker
from footlight.cluster.fleet.placement import LeastLoaded

if TYPE_CHECKING:
    from footlight.cluster.worker import Load

__all__ = ["WorkerTable"]

NO_WORKER = "No worker of the cluster answers"
CANNOT_START = "No worker of the cluster can start; the log of this server says why"
ALL_FOREIGN = (
    "All workers of the cluster have another version, other tools or other settings than this server"
)


class WorkerTable:
    """The known workers by their names. Those of another build get no new sessions."""

    def __init__(self, build: str) -> None:
        self._build = build
        self._workers: dict[str, KnownWorker] = {}
        self._free = LeastLoaded[KnownWorker](self._has_place)
        self._changed = asyncio.Event()
        """Set for an instant when there may be a place, or an answer of a worker."""

    @property
    def workers(self) -> tuple[KnownWorker, ...]:
        return tuple(self._workers.values())

    def find(self, name: str) -> KnownWorker | None:
        return self._workers.get(name)

    def includes(self, worker: KnownWorker) -> bool:
        return self._workers.get(worker.name) is worker

    def add(self, worker: KnownWorker) -> None:
        self._workers[worker.name] = worker
        self.note(worker)

    def remove(self, worker: KnownWorker) -> None:
        del self._workers[worker.name]
        self._free.forget(worker)

    @property
    def usable(self) -> list[KnownWorker]:
        """The workers of this build, and those that may turn out to be."""
        return [each for each in self._workers.values() if not self.is_foreign(each)]

    @property
    def answering(self) -> list[KnownWorker]:
        """The workers of this build that answer and could start."""
        return [each for each in self.usable if each.status and not each.failure]

    def is_foreign(self, worker: KnownWorker) -> bool:
        return worker.status is not None and not worker.failure and worker.status.build != self._build

    def are_starting(self) -> bool:
        return any(each.is_starting for each in self._workers.values())

    @property
    def secret_names(self) -> tuple[str, ...] | None:
        """The names of the secrets that the workers have read from their files."""
        return next((each.status.secret_names for each in self._workers.values() if each.status), None)

    def why_not_ready(self) -> str | None:
        if self.answering:
            return None
        known = [each for each in self._workers.values() if each.status]
        if any(each.failure for each in known):
            return CANNOT_START
        return ALL_FOREIGN if known else NO_WORKER

    # Places for sessions

    def find_free(self) -> KnownWorker | None:
        """Return the worker with the fewest sessions of those that can have another one."""
        return self._free.find()

    def _has_place(self, worker: KnownWorker) -> bool:
        is_ours = worker.status is not None and worker.status.build == self._build
        return is_ours and worker.has_room and self.includes(worker)

    def note_load(self, worker: KnownWorker, load: Load) -> None:
        worker.note_load(load)
        self.note(worker)

    def note(self, worker: KnownWorker) -> None:
        """Note that a worker may have changed, and let those who wait for it look again."""
        self._free.note(worker)
        self.wake()

    def wake(self) -> None:
        self._changed.set()
        self._changed.clear()

    async def wait_for_change(self) -> None:
        await self._changed.wait()

    async def wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait until the workers are so, or the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not condition():
                    await self._changed.wait()
