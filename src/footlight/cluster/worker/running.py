"""The parts of a worker that has started: a server's own, and what a cluster needs beside them."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.sessions.change_events import SessionChange
from footlight.cluster.worker.build import build_of
from footlight.cluster.worker.messages import Load
from footlight.cluster.worker.session_keeper import SessionKeeper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footlight.app.machine import Machine
    from footlight.browser.sessions.tables.pooled_sessions import PooledSessions
    from footlight.config import Settings
    from footlight.server.calls.dispatcher import Dispatcher
    from footlight.server.resources.resources import Resources
    from footlight.watch.local_backend import LocalWatchBackend
    from footlight.watch.watch import Watch

__all__ = ["RunningWorker", "start_worker"]

MAX_CHANGES = 10_000
FOLLOW_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningWorker:
    """The parts of a worker. `build` identifies its version, its tools and its settings."""

    machine: Machine
    watch: Watch | None
    dispatcher: Dispatcher
    resources: Resources
    keeper: SessionKeeper
    changes: Changes
    build: str

    def load(self, *, is_draining: bool) -> Load:
        sessions = self.machine.engine.find_sessions()
        max_sessions = self.machine.settings.session.max_sessions
        return Load(sessions.count if sessions else 0, max_sessions, is_draining)

    @property
    def watch_backend(self) -> LocalWatchBackend:
        assert self.watch is not None, "a server without a watch page asks nothing"
        return self.watch.backend

    @property
    def is_used(self) -> bool:
        """Whether it has sessions, or saves some of those that leave."""
        return bool(self.list_opened()) or self.keeper.is_parking

    def list_opened(self) -> list[SessionChange]:
        """Return the open sessions, as changes that opened them."""
        sessions = self.machine.engine.find_sessions()
        found = sessions.list_all() if sessions else ()
        return [SessionChange("opened", each.owner, each.id) for each in found]

    async def close(self) -> None:
        await self.keeper.close()
        if self.watch is not None:
            await self.watch.close()
        await self.machine.engine.close()


class Changes:
    """The latest changes of the worker's sessions, numbered from 1."""

    def __init__(self) -> None:
        self.last = 0
        self._latest: deque[SessionChange] = deque(maxlen=MAX_CHANGES)
        self._added = asyncio.Event()
        """Set for an instant by each change."""

    def add(self, change: SessionChange) -> None:
        self.last += 1
        self._latest.append(change)
        self._added.set()
        self._added.clear()

    async def read(
        self, after: int | None, opened: Callable[[], list[SessionChange]]
    ) -> tuple[int, list[SessionChange]]:
        """Wait for changes after that number. Return the last number, and the changes.

        Without a number, or with one of an earlier process, those of `opened` are returned at once. The list
        is empty after `FOLLOW_SECONDS`, and the oldest changes are missing where there were too many.
        """
        if after is None or after > self.last:
            return self.last, opened()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FOLLOW_SECONDS):
                while self.last == after:
                    await self._added.wait()
        new = self.last - after
        return self.last, [*self._latest][-new:] if new else []


async def start_worker(name: str, settings: Settings, given: Mapping[str, Any]) -> RunningWorker:
    """Start the engine, and return the parts when the first browser runs.

    `given` are the settings that the server has sent. `settings` add the environment of this machine.
    """
    from footlight import log
    from footlight.app.machine import Machine, read_secrets
    from footlight.app.watching import make_watch
    from footlight.toolsets import make_toolset

    log.configure(settings.logging, stdout_is_protocol=False)
    toolset = make_toolset(settings)
    machine = Machine(settings, toolset, read_secrets(settings), session_prefix=f"{name}.")
    machine.engine.start()
    sessions = cast("PooledSessions", await machine.engine.sessions())
    changes = Changes()
    machine.change_listeners.append(changes.add)
    watch = make_watch(
        settings, toolset, machine.engine, mask=machine.answer_mask, secrets=machine.secret_values
    )
    if watch is not None:
        machine.change_listeners.append(watch.journal.on_change)
    running = RunningWorker(
        machine=machine,
        watch=watch,
        dispatcher=machine.make_dispatcher(watch.journal if watch else None, watch),
        resources=machine.make_resources(),
        keeper=SessionKeeper(sessions),
        changes=changes,
        build=build_of(toolset, given),
    )
    gc.freeze()  # What the start imported stays. Each full collection would look at it for 0.1 s.
    return running
