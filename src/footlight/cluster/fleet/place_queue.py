"""Reserve places for new sessions, and start workers while sessions wait for one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TYPE_CHECKING

from footlight.errors import ResourceExhaustedError

if TYPE_CHECKING:
    from footlight.cluster.fleet.known_worker import KnownWorker
    from footlight.cluster.fleet.worker_table import WorkerTable
    from footlight.config import ClusterSettings

__all__ = ["PlaceQueue"]


class PlaceQueue:
    """The sessions that wait for a place on a worker."""

    def __init__(
        self,
        table: WorkerTable,
        settings: ClusterSettings,
        *,
        expected_sessions: int,
        start_worker: Callable[[], Awaitable[None]],
    ) -> None:
        """Create the queue. `expected_sessions` is the capacity of a worker that has not answered yet."""
        self._table = table
        self._settings = settings
        self._expected_sessions = expected_sessions
        self._start_worker = start_worker
        self._is_starting = False
        self._waiting = 0

    @contextlib.asynccontextmanager
    async def reserve(self, report: Callable[[str], None]) -> AsyncGenerator[KnownWorker]:
        """Reserve a place for a session on the least loaded worker until the block ends.

        `report` receives the place in the queue, if there is one.

        Raises:
            ResourceExhaustedError: there was no place for `cluster.queueTimeout`.
        """
        worker = self._table.find_free() or await self._wait(report)
        worker.reserved += 1
        self._table.note(worker)
        try:
            yield worker
        finally:
            worker.reserved -= 1
            self._table.note(worker)

    async def _wait(self, report: Callable[[str], None]) -> KnownWorker:
        self._waiting += 1
        report(f"waiting for a place on a worker, {self._waiting} in the queue")
        try:
            async with asyncio.timeout(self._settings.queue_timeout / 1000):
                while (found := self._table.find_free()) is None:
                    if self._lacks_workers and not self._is_starting:
                        await self._start_one()
                    else:
                        await self._table.wait_for_change()
                return found
        except TimeoutError:
            answering = len(self._table.answering)
            reason = self._table.why_not_ready() or f"All workers of the cluster are full ({answering})"
            raise ResourceExhaustedError(
                f"{reason}, and no place became free within {self._settings.queue_timeout}ms",
                workers=answering,
                queueTimeout=self._settings.queue_timeout,
            ) from None
        finally:
            self._waiting -= 1

    async def _start_one(self) -> None:
        self._is_starting = True
        try:
            await self._start_worker()
        finally:
            self._is_starting = False
            self._table.wake()

    @property
    def _lacks_workers(self) -> bool:
        """Return whether more sessions wait than the workers that are starting can have.

        Where no machine is free, each that is started is the demand for which an autoscaler adds one.
        """
        remaining = [each for each in self._table.usable if not each.is_draining]
        starting = sum(each.is_starting for each in remaining)
        return (
            self._waiting > starting * self._expected_sessions and len(remaining) < self._settings.max_workers
        )
