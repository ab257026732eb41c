"""Find the least loaded worker, in a time that does not grow with the number of workers."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

__all__ = ["LeastLoaded"]

MAX_STALE = 100


class PlaceableWorker(Protocol):
    @property
    def used(self) -> int:
        """Return how many sessions it has."""
        ...


WorkerT = TypeVar("WorkerT", bound=PlaceableWorker)


class LeastLoaded(Generic[WorkerT]):
    """A heap of workers by their load. Of those with the same load, the one that was noted first is first.

    An entry becomes stale when the load of its worker changes. It is removed when it comes to the top, or
    when there are many.
    """

    def __init__(self, is_free: Callable[[WorkerT], bool]) -> None:
        self._is_free = is_free
        self._heap: list[tuple[int, int, WorkerT]] = []
        self._orders: dict[WorkerT, int] = {}
        self._next_order = itertools.count()
        self._noted: dict[WorkerT, int] = {}
        """The load in the latest entry of each worker that has one."""

    def __len__(self) -> int:
        """Return the number of entries, stale ones included."""
        return len(self._heap)

    def note(self, worker: WorkerT) -> None:
        """Note that the load of a worker may have changed, or that it may be free now."""
        used = worker.used
        if self._noted.get(worker) == used or not self._is_free(worker):
            return
        self._noted[worker] = used
        order = self._orders.setdefault(worker, next(self._next_order))
        heapq.heappush(self._heap, (used, order, worker))
        if len(self._heap) > 2 * len(self._noted) + MAX_STALE:
            self._heap = [(load, self._orders[each], each) for each, load in self._noted.items()]
            heapq.heapify(self._heap)

    def forget(self, worker: WorkerT) -> None:
        """Forget a worker that is not used any more. Its entries become stale."""
        self._noted.pop(worker, None)
        self._orders.pop(worker, None)

    def find(self) -> WorkerT | None:
        """Return the free worker with the lowest load, or None."""
        while self._heap:
            used, _, worker = self._heap[0]
            is_latest = self._noted.get(worker) == used
            if is_latest and worker.used == used and self._is_free(worker):
                return worker
            heapq.heappop(self._heap)
            if is_latest:
                del self._noted[worker]
                self.note(worker)
        return None
