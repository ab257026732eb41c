"""Keep the workers of a server: find, start, ask and end them, and choose one for a new session."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from footlight.browser.sessions.change_events import ignore_change
from footlight.cluster.fleet.known_worker import KnownWorker
from footlight.cluster.fleet.place_queue import PlaceQueue
from footlight.cluster.fleet.session_changes import follow_sessions
from footlight.cluster.fleet.worker_table import WorkerTable
from footlight.cluster.ray_api import ActorLostError
from footlight.cluster.worker import Worker
from footlight.cluster.worker_actors import find_worker_actor, list_worker_names, start_worker_actor

if TYPE_CHECKING:
    from footlight.browser.sessions.change_events import OnChange
    from footlight.cluster.worker import Load
    from footlight.config import ClusterSettings

__all__ = ["Fleet"]

logger = logging.getLogger(__name__)

ArgumentsT = TypeVarTuple("ArgumentsT")
ResultT = TypeVar("ResultT")

ASK_EVERY_SECONDS = 1.0
ANSWER_SECONDS = 5.0
START_SECONDS = 20.0
"""How long the start waits for the first workers. Without any, calls wait for one."""


class Fleet:
    """Asks all workers for their status, starts more of them, and ends those that are not needed."""

    def __init__(
        self,
        settings: ClusterSettings,
        *,
        build: str,
        max_sessions: int,
        worker_settings: dict[str, Any],
        on_change: OnChange = ignore_change,
    ) -> None:
        """Create the fleet. Only workers of the same `build` get new sessions.

        `max_sessions` is the expected capacity of a worker that has not answered yet. `on_change` receives
        the changes of all sessions.
        """
        self._settings = settings
        self._worker_settings = worker_settings
        self._on_change = on_change
        self._table = WorkerTable(build)
        self._queue = PlaceQueue(
            self._table, settings, expected_sessions=max_sessions, start_worker=self._start_worker
        )
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def workers(self) -> tuple[KnownWorker, ...]:
        return self._table.workers

    def find(self, name: str) -> KnownWorker | None:
        return self._table.find(name)

    @property
    def secret_names(self) -> tuple[str, ...] | None:
        """The names of the secrets that the workers have read from their files."""
        return self._table.secret_names

    def why_not_ready(self) -> str | None:
        return self._table.why_not_ready()

    def reserve_place(self, report: Callable[[str], None]) -> AbstractAsyncContextManager[KnownWorker]:
        """Reserve a place for a session, as `PlaceQueue.reserve`."""
        return self._queue.reserve(report)

    def note_load(self, worker: KnownWorker, load: Load) -> None:
        self._table.note_load(worker, load)

    async def open(self) -> None:
        """Find the running workers, start what is missing, and wait until they answer.

        After `START_SECONDS` the rest is left to the background, because a machine may have to be added.
        """
        table, min_workers = self._table, self._settings.min_workers
        await self._find_running()
        await table.wait_until(lambda: not table.are_starting(), ANSWER_SECONDS)
        for _ in range(min_workers - len(table.usable)):
            await self._start_worker()
        self._run(self._maintain())
        await table.wait_until(
            lambda: len(table.answering) >= min_workers or not table.are_starting(), START_SECONDS
        )
        if reason := self.why_not_ready():
            logger.warning("%s; calls wait for one", reason)

    async def close(self) -> None:
        """Stop asking. The workers run on until the end of their lease."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for worker in self.workers:
            worker.disconnect()

    def add(self, worker: KnownWorker) -> None:
        """Use a worker: ask it for its status, and follow the changes of its sessions."""
        self._table.add(worker)
        self._run(self._ask_forever(worker))
        self._run(follow_sessions(worker, lambda: self._table.includes(worker), self._on_change))

    async def ask_all(
        self,
        method: Callable[[Worker, *ArgumentsT], Coroutine[Any, Any, ResultT]],
        *arguments: *ArgumentsT,
        seconds: float,
    ) -> dict[KnownWorker, ResultT]:
        """Call a method of all workers, and return the results that come in time.

        A worker that cannot start, or that has another version with other methods or results, is left out
        like one that does not answer.
        """

        async def ask(worker: KnownWorker) -> tuple[KnownWorker, ResultT] | None:
            try:
                async with asyncio.timeout(seconds):
                    return worker, await worker.actor.call(method, *arguments)
            except (ActorLostError, TimeoutError):
                return None
            except Exception:
                level = logging.DEBUG if worker.failure else logging.WARNING
                logger.log(level, "worker %s refuses %s", worker.name, method.__name__, exc_info=True)
                return None

        answers = await asyncio.gather(*map(ask, self.workers))
        return dict(each for each in answers if each is not None)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _start_worker(self) -> None:
        name, actor = await start_worker_actor(self._worker_settings, cpus=self._settings.worker_cpus)
        self.add(KnownWorker(name, actor))
        logger.info("started worker %s", name)

    async def _ask_forever(self, worker: KnownWorker) -> None:
        while self._table.includes(worker):
            # A worker of another build ends without the servers of its build, but not before its sessions.
            is_left = self._table.is_foreign(worker) and not (worker.load and worker.load.sessions)
            await worker.ask_status(Worker.peek if is_left else Worker.status)
            self._table.note(worker)
            await worker.connect()
            await asyncio.sleep(ASK_EVERY_SECONDS)

    async def _maintain(self) -> None:
        """Keep the list of workers up to date, and end those that are not needed."""
        while True:
            await asyncio.sleep(ASK_EVERY_SECONDS)
            try:
                await self._find_running()
                await self._drain_idle()
            except Exception:
                logger.exception("the workers of the cluster could not be listed")

    async def _find_running(self) -> None:
        """Learn the workers that other servers have started, and forget those that have ended."""
        names = await list_worker_names()
        for name in names:
            if self.find(name) is None and (actor := await find_worker_actor(name)):
                self.add(KnownWorker(name, actor))
        for worker in self.workers:
            if worker.name not in names and worker.status is None:
                self._table.remove(worker)

    async def _drain_idle(self) -> None:
        """Drain workers above `cluster.minWorkers` that have had no session for `cluster.idleTimeout`.

        All servers choose the same ones.
        """
        ours = sorted((each for each in self._table.answering if not each.is_draining), key=_name_of)
        spare = len(ours) - self._settings.min_workers
        idle_since = time.monotonic() - self._settings.idle_timeout / 1000
        idle = [
            each
            for each in ours
            if not each.used and each.empty_since is not None and each.empty_since <= idle_since
        ]
        for worker in idle[-spare:] if spare > 0 else ():
            logger.info("worker %s is not needed", worker.name)
            with contextlib.suppress(ActorLostError, TimeoutError):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await worker.actor.call(Worker.drain)
            if worker.load is not None:
                self.note_load(worker, replace(worker.load, is_draining=True))


def _name_of(worker: KnownWorker) -> str:
    return worker.name
