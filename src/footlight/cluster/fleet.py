"""The workers that a server knows: which of them answer, how full they are, and where a new session goes."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple

from footlight.browser.sessions.change_events import ignore_change
from footlight.cluster.known_worker import KnownWorker
from footlight.cluster.placement import LeastLoaded
from footlight.cluster.ray_api import ActorLostError, find_actor, list_actors, start_actor
from footlight.cluster.worker import WORKER, Worker
from footlight.cluster.worker.call_channel import CallChannel
from footlight.errors import ResourceExhaustedError

if TYPE_CHECKING:
    from footlight.browser.sessions.change_events import OnChange, SessionChange
    from footlight.cluster.worker import Load
    from footlight.config import ClusterSettings

__all__ = ["Fleet"]

logger = logging.getLogger(__name__)

ArgumentsT = TypeVarTuple("ArgumentsT")
ResultT = TypeVar("ResultT")

ASK_EVERY_SECONDS = 1.0
ANSWER_SECONDS = 5.0
CONNECT_SECONDS = 1.0
"""How long a worker may take to accept a connection for its calls. This is tried again each second."""
START_SECONDS = 20.0
"""How long the start waits for the first workers. Without any, calls wait for one."""


NO_WORKER = "No worker of the cluster answers"
CANNOT_START = "No worker of the cluster can start; the log of this server says why"
ALL_FOREIGN = (
    "All workers of the cluster have another version, other tools or other settings than this server"
)


class Fleet:
    """Asks all workers for their status, starts more of them, and chooses one for a new session."""

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
        self._on_change = on_change
        self._tasks: set[asyncio.Task[None]] = set()
        self._settings = settings
        self._build = build
        self._expected_sessions = max_sessions
        self._worker_settings = worker_settings
        self._workers: dict[str, KnownWorker] = {}
        self._changed = asyncio.Event()
        """Set for an instant when there may be a place, or an answer of a worker."""
        self._free = LeastLoaded[KnownWorker](self._has_place)
        self._is_starting = False
        self._waiting = 0

    @property
    def workers(self) -> tuple[KnownWorker, ...]:
        return tuple(self._workers.values())

    def find(self, name: str) -> KnownWorker | None:
        return self._workers.get(name)

    @property
    def secret_names(self) -> tuple[str, ...] | None:
        """The names of the secrets that the workers have read from their files."""
        return next((each.status.secret_names for each in self._workers.values() if each.status), None)

    def why_not_ready(self) -> str | None:
        if self._ours():
            return None
        known = [each for each in self._workers.values() if each.status]
        if any(each.failure for each in known):
            return CANNOT_START
        return ALL_FOREIGN if known else NO_WORKER

    async def open(self) -> None:
        """Find the running workers, start what is missing, and wait until they answer.

        After `START_SECONDS` the rest is left to the background, because a machine may have to be added.
        """
        await self._find_running()
        await self._wait_until(lambda: not self._are_starting(), ANSWER_SECONDS)
        for _ in range(self._settings.min_workers - len(self._usable())):
            await self._start_worker()
        self._run(self._maintain())
        await self._wait_until(
            lambda: len(self._ours()) >= self._settings.min_workers or not self._are_starting(), START_SECONDS
        )
        if reason := self.why_not_ready():
            logger.warning("%s; calls wait for one", reason)

    async def _wait_until(self, condition: Callable[[], bool], seconds: float) -> None:
        """Wait until the workers are so, or the time is over."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not condition():
                    await self._changed.wait()

    async def close(self) -> None:
        """Stop asking. The workers run on until the end of their lease."""
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for worker in self.workers:
            _disconnect(worker)

    def add(self, worker: KnownWorker) -> None:
        """Use a worker: ask it for its status, and follow the changes of its sessions."""
        self._workers[worker.name] = worker
        self._note(worker)
        self._run(self._ask_forever(worker))
        self._run(self._follow(worker))

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

    def note_load(self, worker: KnownWorker, load: Load) -> None:
        worker.load = load
        if load.sessions:
            worker.empty_since = None
        elif worker.empty_since is None:
            worker.empty_since = time.monotonic()
        self._note(worker)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _is_known(self, worker: KnownWorker) -> bool:
        return self._workers.get(worker.name) is worker

    @contextlib.asynccontextmanager
    async def reserve_place(self, report: Callable[[str], None]) -> AsyncGenerator[KnownWorker]:
        """Reserve a place for a session on the least loaded worker until the block ends.

        `report` receives the place in the queue, if there is one.

        Raises:
            ResourceExhaustedError: there was no place for `cluster.queueTimeout`.
        """
        worker = self._free.find() or await self._wait_for_place(report)
        worker.reserved += 1
        self._note(worker)
        try:
            yield worker
        finally:
            worker.reserved -= 1
            self._note(worker)

    async def _wait_for_place(self, report: Callable[[str], None]) -> KnownWorker:
        self._waiting += 1
        report(f"waiting for a place on a worker, {self._waiting} in the queue")
        try:
            async with asyncio.timeout(self._settings.queue_timeout / 1000):
                while (found := self._free.find()) is None:
                    if self._lacks_workers and not self._is_starting:
                        await self._start_worker()
                    else:
                        await self._changed.wait()
                return found
        except TimeoutError:
            answering = len(self._ours())
            reason = self.why_not_ready() or f"All workers of the cluster are full ({answering})"
            raise ResourceExhaustedError(
                f"{reason}, and no place became free within {self._settings.queue_timeout}ms",
                workers=answering,
                queueTimeout=self._settings.queue_timeout,
            ) from None
        finally:
            self._waiting -= 1

    @property
    def _lacks_workers(self) -> bool:
        """Return whether more sessions wait than the workers that are starting can have.

        Where no machine is free, each that is started is the demand for which an autoscaler adds one.
        """
        remaining = [each for each in self._usable() if not each.is_draining]
        starting = sum(each.is_starting for each in remaining)
        return (
            self._waiting > starting * self._expected_sessions and len(remaining) < self._settings.max_workers
        )

    def _has_place(self, worker: KnownWorker) -> bool:
        is_ours = worker.status is not None and worker.status.build == self._build
        return is_ours and worker.has_room and self._is_known(worker)

    def _are_starting(self) -> bool:
        return any(each.is_starting for each in self._workers.values())

    def _ours(self) -> list[KnownWorker]:
        """Return the workers that answer and have the version and the tools of this server."""
        return [each for each in self._usable() if each.status and not each.failure]

    def _usable(self) -> list[KnownWorker]:
        """Return the workers of this build, and those that may turn out to be."""
        return [each for each in self._workers.values() if not self._is_foreign(each)]

    def _is_foreign(self, worker: KnownWorker) -> bool:
        return worker.status is not None and not worker.failure and worker.status.build != self._build

    async def _start_worker(self) -> None:
        name = secrets.token_hex(4)
        cpus = self._settings.worker_cpus
        self._is_starting = True
        try:
            actor = await start_actor(Worker, WORKER + name, name, self._worker_settings, cpus=cpus)
        finally:
            self._is_starting = False
            self._wake()
        self.add(KnownWorker(name, actor))
        logger.info("started worker %s", name)

    async def _follow(self, worker: KnownWorker) -> None:
        """Pass on the changes of the worker's sessions for as long as it is known, and their end with it."""
        after: int | None = None
        opened: dict[str, SessionChange] = {}
        has_failed = False
        while self._is_known(worker):
            try:
                last, changes = await worker.actor.call(Worker.changes, after)
            except Exception as error:
                if not isinstance(error, ActorLostError):
                    level = logging.DEBUG if worker.failure or has_failed else logging.ERROR
                    message = "the changes of worker %s cannot be followed"
                    logger.log(level, message, worker.name, exc_info=True)
                    has_failed = True
                after = None
                await asyncio.sleep(ASK_EVERY_SECONDS)
                continue
            has_failed = False
            if after is None or last < after:
                changes = _compare(opened, changes)  # All sessions that are open now.
            after = last
            for change in changes:
                if change.page_id is None:
                    opened.pop(change.session_id, None)
                    if change.kind == "opened":
                        opened[change.session_id] = change
                self._on_change(change)
        for change in opened.values():
            self._on_change(replace(change, kind="closed"))

    async def _find_running(self) -> None:
        """Learn the workers that other servers have started, and forget those that have ended."""
        names = {each.removeprefix(WORKER) for each in await list_actors() if each.startswith(WORKER)}
        for name in names - self._workers.keys():
            if actor := await find_actor(WORKER + name):
                self.add(KnownWorker(name, actor))
        for name in self._workers.keys() - names:
            if self._workers[name].status is None:
                self._free.forget(self._workers.pop(name))

    async def _maintain(self) -> None:
        """Keep the list of workers up to date, and end those that are not needed."""
        while True:
            await asyncio.sleep(ASK_EVERY_SECONDS)
            try:
                await self._find_running()
                await self._drain_idle()
            except Exception:
                logger.exception("the workers of the cluster could not be listed")

    async def _drain_idle(self) -> None:
        """Drain workers above `cluster.minWorkers` that have had no session for `cluster.idleTimeout`.

        All servers choose the same ones.
        """
        ours = sorted((each for each in self._ours() if not each.is_draining), key=lambda each: each.name)
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

    async def _ask_forever(self, worker: KnownWorker) -> None:
        while self._is_known(worker):
            await self._ask(worker)
            await _connect(worker)
            await asyncio.sleep(ASK_EVERY_SECONDS)

    async def _ask(self, worker: KnownWorker) -> None:
        # A worker of another build ends without the servers of its build, but not before its sessions.
        is_left = self._is_foreign(worker) and not (worker.load and worker.load.sessions)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                status = await worker.actor.call(Worker.peek if is_left else Worker.status)
            if status.failure and status.failure != worker.failure:
                logger.error("worker %s on %s cannot start: %s", worker.name, status.node, status.failure)
            if worker.channel is not None and worker.channel.process_id != status.process_id:
                _disconnect(worker)  # It leads to an earlier process.
            worker.status, worker.is_lost, worker.is_silent = status, False, False
            self.note_load(worker, status.load)
            return
        except (ActorLostError, TimeoutError) as error:
            if worker.status is not None:
                logger.warning("worker %s does not answer", worker.name)
                worker.is_silent = isinstance(error, TimeoutError)
            if isinstance(error, ActorLostError):
                worker.is_lost = True
                _disconnect(worker)
            worker.is_silent &= not worker.is_lost
        except Exception:
            worker.is_silent = True
            logger.exception("worker %s cannot start", worker.name)
        worker.status = None
        self._wake()

    def _note(self, worker: KnownWorker) -> None:
        """Take note of a worker that may have changed, and let those who wait for it look again."""
        self._free.note(worker)
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed.clear()


async def _connect(worker: KnownWorker) -> None:
    """Connect to a worker that has started and has no connection. Without one, its calls go through Ray."""
    if worker.status is None or worker.failure or (worker.channel is not None and worker.channel.is_open):
        return
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            address = await worker.actor.call(Worker.find_call_address)
            worker.channel = None if address is None else await CallChannel.connect(address)
    except Exception:  # A firewall is between them, it has ended, or it is of another version.
        logger.debug("calls of worker %s go through Ray", worker.name, exc_info=True)


def _disconnect(worker: KnownWorker) -> None:
    if worker.channel is not None:
        worker.channel.close()
        worker.channel = None


def _compare(opened: Mapping[str, SessionChange], now: Sequence[SessionChange]) -> list[SessionChange]:
    """Return the changes from the known open sessions to those that are open now."""
    ids = {each.session_id for each in now}
    ended = [replace(each, kind="closed") for id, each in opened.items() if id not in ids]
    return [*ended, *(each for each in now if each.session_id not in opened)]
