"""The actor that runs calls with the browsers of its machine, as a server does for itself."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import logging
import os
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from footlight import __version__
from footlight.cluster.file_links import link_files
from footlight.cluster.keeping import SessionKeeper
from footlight.cluster.ray_api import (
    find_own_drain_deadline,
    forget_token,
    kill_own_actor,
    own_node_id,
    require_token,
)
from footlight.errors import ResourceExhausted
from footlight.server.answers.answer import failure

if TYPE_CHECKING:
    from footlight.app.machine import Machine
    from footlight.browser.sessions.change_events import SessionChange
    from footlight.browser.sessions.pooled_sessions import PooledSessions
    from footlight.caller import Caller
    from footlight.config import Settings
    from footlight.server.answers.answer import Answer
    from footlight.server.calls.dispatcher import Dispatcher
    from footlight.server.resources.resources import Resources
    from footlight.server.toolset import Toolset

__all__ = [
    "WORKER",
    "Load",
    "Progress",
    "Reply",
    "Worker",
    "WorkerStatus",
    "build_of",
    "settings_for_workers",
]

logger = logging.getLogger(__name__)

WORKER = "worker-"
"""The names of worker actors begin so. The rest is the worker's name."""

OF_THE_FRONT = {"token", "transport", "port", "listen", "daemon", "watch", "prompts"}
"""Settings that workers do not get. The token is secret, and the others are about listening."""
CHECK_EVERY_SECONDS = 1.0
"""How often the worker looks whether it is to end."""
LINGER_SECONDS = 3.0
"""How long a drained worker waits after its last session, so that all servers learn that it is empty."""
END_SECONDS = 5.0
"""How long before its machine is removed a worker closes the sessions that are left."""
MAX_ABANDONED = 1_000
MAX_CHANGES = 10_000
FOLLOW_SECONDS = 20.0

Progress = tuple[float, float | None, str | None]


@dataclass(frozen=True, slots=True)
class Load:
    """How many sessions a worker has, and how many it may have. A draining worker gets no more."""

    sessions: int
    max_sessions: int
    is_draining: bool


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a call, and the worker's load after it."""

    answer: Answer | None
    """None if this worker is draining and the session is not open here. Another worker must run the call."""
    load: Load


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """What a worker reports of itself. `build` identifies its version and its tools."""

    build: str
    node: str
    """The name of its machine."""
    node_id: str
    """The id that Ray gave the node."""
    process_id: int
    load: Load
    secret_names: tuple[str, ...] | None


class Worker:
    """The browsers, sessions and calls of one worker.

    Its engine starts with the first call. The worker ends when no server has asked for its status for the
    time of the lease.
    """

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        """Create the worker.

        `settings` are those of the server, in the form of a settings file. The environment of this machine
        overrides them. They contain no secret: the file of secrets is read here.
        """
        require_token()
        forget_token()
        self._name = name
        self._given = settings
        self._starting: asyncio.Task[_Running] | None = None
        self._calls: dict[str, asyncio.Task[Answer]] = {}
        self._abandoned: OrderedDict[str, None] = OrderedDict()
        self._last_asked = time.monotonic()
        self._is_draining = False
        self._watching: list[asyncio.Task[None]] = []
        """The tasks that end the worker, even one that cannot start its browsers."""

    async def drain(self) -> None:
        """Get no more sessions from now on, and end after the last one.

        Sessions that are kept are saved and ended as soon as they are idle.
        """
        running = await self._ensure()
        if not self._is_draining:
            self._is_draining = True
            running.keeper.start_parking()
            self._draining = asyncio.create_task(self._end_without_sessions(running))

    async def ping(self) -> None:
        """Answer at once, to tell a busy worker from one that cannot be reached."""

    async def end(self) -> None:
        """Close all sessions and end. Ray does not start the worker again."""
        with contextlib.suppress(Exception):
            running = await self._ensure()
            await running.keeper.close()
            await running.machine.engine.close()
        kill_own_actor()

    async def status(self) -> WorkerStatus:
        """Return the worker's state, and extend its lease."""
        self._last_asked = time.monotonic()
        return await self.peek()

    async def peek(self) -> WorkerStatus:
        """Return the worker's state for people, who do not extend its lease."""
        running = await self._ensure()
        secrets = running.machine.secrets
        return WorkerStatus(
            build=running.build,
            node=os.uname().nodename,
            node_id=own_node_id(),
            process_id=os.getpid(),
            load=self._load(running),
            secret_names=tuple(secrets.names) if secrets else None,
        )

    async def call(self, id: str, tool: str, arguments: Mapping[str, Any], caller: Caller) -> Reply:
        """Call a tool. `abandon` with the same id cancels the call."""
        running = await self._ensure()
        return await self._run(id, running, tool, arguments, caller, None)

    async def call_with_progress(
        self, id: str, tool: str, arguments: Mapping[str, Any], caller: Caller
    ) -> AsyncIterator[Progress | Reply]:
        """Call a tool, and yield its progress and then its reply."""
        running = await self._ensure()
        queue: asyncio.Queue[Progress | None] = asyncio.Queue()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            queue.put_nowait((progress, total, message))

        work = asyncio.create_task(self._run(id, running, tool, arguments, caller, report))
        work.add_done_callback(lambda _: queue.put_nowait(None))
        while (progress := await queue.get()) is not None:
            yield progress
        yield await work

    async def _run(
        self,
        id: str,
        running: _Running,
        tool: str,
        arguments: Mapping[str, Any],
        caller: Caller,
        report: Any,
    ) -> Reply:
        keeper = running.keeper
        if self._is_draining and tool == "create_session":
            return Reply(failure(ResourceExhausted("This worker is draining")), self._load(running))
        if self._is_draining and tool != "list_sessions" and not keeper.is_open(arguments, caller):
            return Reply(None, self._load(running))
        work = self._calls[id] = asyncio.create_task(
            running.dispatcher.call(tool, arguments, caller=caller, report=report)
        )
        if id in self._abandoned:
            work.cancel()
        try:
            answer = await work
        finally:
            del self._calls[id]
        keeper.note_call(arguments, answer, caller)
        if session := keeper.find(answer.session_id):
            answer = await link_files(answer, session)
        return Reply(answer, self._load(running))

    async def abandon(self, id: str) -> None:
        """Cancel a call whose client no longer waits. The call may not have arrived yet."""
        if work := self._calls.get(id):
            work.cancel()
            return
        self._abandoned[id] = None
        while len(self._abandoned) > MAX_ABANDONED:
            self._abandoned.popitem(last=False)

    async def changes(self, after: int | None) -> tuple[int, list[SessionChange]]:
        """Wait for changes of sessions after that number. Return the last number, and the changes.

        Without a number, or with one of an earlier process, it waits for the next change. The list is empty
        after `FOLLOW_SECONDS`, and changes are missing where there were more than `MAX_CHANGES` meanwhile.
        """
        changes = (await self._ensure()).changes
        start = changes.last if after is None or after > changes.last else after
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(FOLLOW_SECONDS):
                while changes.last == start:
                    await changes.added.wait()
        new = changes.last - start
        return changes.last, [*changes.kept][-new:] if new else []

    async def disconnect(self, caller: Caller) -> None:
        """End the session `default` of a connection that has ended."""
        (await self._ensure()).machine.engine.disconnect(caller)

    async def list_registered_ids(self) -> list[str]:
        """Return the ids of the open sessions that do not begin with the name of this worker."""
        sessions = (await self._ensure()).machine.engine.find_sessions()
        own = f"{self._name}."
        return [each.id for each in sessions.list_all() if not each.id.startswith(own)] if sessions else []

    async def resource(self, method: str, uri: str, caller: Caller) -> Any:
        """Read or look up one resource. Return ResourceNotFound where there is none."""
        from footlight.server.resources.resources import ResourceNotFound

        try:
            return await getattr((await self._ensure()).resources, method)(uri, caller)
        except ResourceNotFound as error:
            return error

    async def resources(self, method: str, *arguments: Any) -> Any:
        """Call a method of the worker's resources."""
        return await getattr((await self._ensure()).resources, method)(*arguments)

    def _load(self, running: _Running) -> Load:
        sessions = running.machine.engine.find_sessions()
        max_sessions = running.machine.settings.session.max_sessions
        return Load(sessions.count if sessions else 0, max_sessions, self._is_draining)

    async def _ensure(self) -> _Running:
        if self._starting is None or (self._starting.done() and self._starting.exception()):
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _start(self) -> _Running:
        from footlight import log
        from footlight.app.machine import Machine, read_secrets
        from footlight.config_loading import load_settings
        from footlight.toolsets import make_toolset

        settings = load_settings(base=self._given, environment=os.environ)
        if not self._watching:
            self._watching = [
                asyncio.create_task(self._end_with_lease(settings.cluster.lease / 1000)),
                asyncio.create_task(self._leave_with_node()),
            ]
        log.configure(settings.logging, stdout_is_protocol=False)
        toolset = make_toolset(settings)
        machine = Machine(settings, toolset, read_secrets(settings), session_prefix=f"{self._name}.")
        machine.engine.start()
        sessions = cast("PooledSessions", await machine.engine.sessions())
        changes = _Changes()
        machine.change_listeners.append(changes.add)
        return _Running(
            machine=machine,
            dispatcher=machine.make_dispatcher(),
            resources=machine.make_resources(),
            keeper=SessionKeeper(sessions),
            changes=changes,
            build=build_of(toolset),
        )

    async def _end_with_lease(self, seconds: float) -> None:
        while time.monotonic() - self._last_asked < seconds:  # noqa: ASYNC110 - time alone ends it
            await asyncio.sleep(CHECK_EVERY_SECONDS)
        await self.end()

    async def _leave_with_node(self) -> None:
        """Drain when Ray is about to remove the machine, and end in time before it does."""
        while True:
            try:
                deadline = await find_own_drain_deadline()
                if deadline is not None:
                    await self.drain()
            except Exception:
                logger.exception("the worker cannot learn whether its machine stays, or cannot drain")
                deadline = None
            if deadline is not None and deadline - time.time() < END_SECONDS:
                await self.end()
            await asyncio.sleep(CHECK_EVERY_SECONDS)

    async def _end_without_sessions(self, running: _Running) -> None:
        empty_since = time.monotonic()
        while time.monotonic() - empty_since < LINGER_SECONDS:
            await asyncio.sleep(CHECK_EVERY_SECONDS / 2)
            if self._calls or self._load(running).sessions:
                empty_since = time.monotonic()
        await self.end()


class _Changes:
    """The latest changes of the worker's sessions, numbered from 1. `added` is set for an instant by each."""

    def __init__(self) -> None:
        self.last = 0
        self.kept: deque[SessionChange] = deque(maxlen=MAX_CHANGES)
        self.added = asyncio.Event()

    def add(self, change: SessionChange) -> None:
        self.last += 1
        self.kept.append(change)
        self.added.set()
        self.added.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Running:
    machine: Machine
    dispatcher: Dispatcher
    resources: Resources
    keeper: SessionKeeper
    changes: _Changes
    build: str


def settings_for_workers(settings: Settings) -> dict[str, Any]:
    """Return the settings that were given, in the form of a settings file, without any secret."""
    given = settings.model_dump(mode="json", by_alias=True, exclude_unset=True, exclude=OF_THE_FRONT)
    given.get("cluster", {}).pop("address", None)
    return given


def build_of(toolset: Toolset) -> str:
    """Return a text that is the same for servers of the same version with the same tools."""
    tools = [(tool.name, tool.input_schema) for tool in toolset.offered]
    text = json.dumps([__version__, tools], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
