"""The actor that runs calls with the browsers of its machine, as a server does for itself."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import secrets
import time
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from footlight.browser.sessions.change_events import SessionChange
from footlight.cluster.ray_api import (
    forget_token,
    kill_own_actor,
    own_address,
    own_node_id,
    require_token,
    uses_tls,
)
from footlight.cluster.worker.build import environment_of_worker
from footlight.cluster.worker.call_channel import CallAddress, CallListener, Send
from footlight.cluster.worker.draining import (
    end_with_lease,
    end_without_node,
    end_without_sessions,
    leave_at_signal,
    leave_with_node,
)
from footlight.cluster.worker.file_links import FileLinks, read_part
from footlight.cluster.worker.messages import (
    Heard,
    HelpMessage,
    Load,
    Progress,
    RemoteCall,
    WatchedWorker,
    WorkerRefusal,
    WorkerReply,
    WorkerStatus,
)
from footlight.cluster.worker.running import RunningWorker, start_worker
from footlight.cluster.worker.tool_calls import ToolCalls
from footlight.config import ClusterSettings
from footlight.watch.watchers import WatchRequestError

if TYPE_CHECKING:
    from pathlib import Path

    from footlight.caller import Caller
    from footlight.cluster.worker.file_links import FileFacts

__all__ = ["Worker"]

logger = logging.getLogger(__name__)


class Worker:
    """The browsers, sessions and calls of one worker.

    Its engine starts when a server first asks for its status or calls it. The worker ends when no server has
    asked for its status for the time of the lease, also where Ray has started it again for no server.
    """

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        """Create the worker in a running event loop.

        `settings` are those of the server, in the form of a settings file. The environment of this machine
        overrides them. They contain no secret: the file of secrets is read here.
        """
        require_token()
        forget_token()
        self._name = name
        self._given = settings
        self._files = FileLinks(name)
        self._starting: asyncio.Task[RunningWorker] | None = None
        self._listener = CallListener(self.call)
        self._listening: asyncio.Task[CallAddress] | None = None
        self._calls = ToolCalls(self._files)
        self.last_asked = time.monotonic()
        """When a server has asked for the status, in seconds of the monotonic clock."""
        self.lease_seconds = settings.get("cluster", {}).get("lease", ClusterSettings().lease) / 1000
        """How long it stays without a server. The environment of this machine may override it."""
        self._origin = secrets.token_hex(8)
        self._failure = ""
        """Why the engine could not start when it was tried last."""
        endings = (end_with_lease(self), leave_with_node(self), end_without_node(), leave_at_signal(self))
        self._endings = [asyncio.create_task(each) for each in endings]
        """The tasks that end the worker, even one that is never asked or cannot read its settings."""

    async def drain(self) -> None:
        """Get no more sessions from now on, and end after the last one.

        Sessions that are kept are saved and ended as soon as they are idle.
        """
        if self._calls.is_draining:
            return
        self._calls.is_draining = True
        running = await self._find_running()
        if running is None:
            await self.end()
            return
        running.keeper.start_parking()
        ending = end_without_sessions(self, lambda: self._calls.are_running or running.is_used)
        self._endings.append(asyncio.create_task(ending))

    async def ping(self) -> None:
        """Answer at once, to tell a busy worker from one that cannot be reached."""

    async def end(self) -> None:
        """Close all sessions and end. Ray does not start the worker again."""
        self._listener.close()
        for each in self._endings:  # It ends once.
            if each is not asyncio.current_task():
                each.cancel()
        with contextlib.suppress(Exception):
            if (running := await self._find_running()) is not None:
                await running.close()
        kill_own_actor()

    async def status(self) -> WorkerStatus:
        """Return the worker's state, and extend its lease."""
        self.last_asked = time.monotonic()
        return await self.peek()

    async def peek(self) -> WorkerStatus:
        """Return the worker's state for people, who do not extend its lease."""
        status = WorkerStatus(
            build="",
            node=os.uname().nodename,
            node_id=own_node_id(),
            process_id=os.getpid(),
            load=Load(0, 0, self._calls.is_draining),
            secret_names=None,
        )
        try:
            running = await self._ensure()
        except Exception as error:
            if str(error) != self._failure:  # It is asked every second.
                logger.exception("the worker cannot start")
            self._failure = str(error)
            return replace(status, failure=self._failure)
        known = running.machine.secrets
        names = tuple(known.names) if known else None
        load = running.load(is_draining=self._calls.is_draining)
        return replace(status, build=running.build, load=load, secret_names=names)

    async def find_call_address(self) -> CallAddress | None:
        """Return where this process takes calls without Ray, or None if Ray encrypts its connections."""
        if uses_tls():
            return None
        if self._listening is None:
            self._listening = asyncio.create_task(self._listener.open(own_address()))
        return await asyncio.shield(self._listening)

    async def call(self, packed: bytes, send: Send | None = None) -> bytes:
        """Call a tool, and return the packed reply. `abandon` with the same id cancels the call.

        `send` sends the progress, if the client asked for it.
        """
        call = RemoteCall.unpack(packed)

        async def report(*progress: Any) -> None:
            assert send is not None
            send(pickle.dumps(progress))

        has_progress = call.has_progress and send is not None
        running = await self._ensure()
        return (await self._calls.run(call, running, report if has_progress else None)).pack()

    async def call_with_progress(
        self, call: RemoteCall
    ) -> AsyncIterator[Progress | HelpMessage | WorkerReply]:
        """Call a tool, and yield its progress and its questions, and then its reply."""
        async for each in self._calls.stream(call, await self._ensure()):
            yield each

    async def answer_question(self, id: str, reply: Any) -> None:
        """Give a call the reply to what it asked last."""
        self._calls.answer_question(id, reply)

    async def abandon(self, id: str) -> None:
        """Cancel a call whose client no longer waits. The call may not have arrived yet."""
        self._calls.abandon(id)

    async def changes(self, after: int | None) -> tuple[int, list[SessionChange]]:
        """Return the changes of sessions after that number, or the open sessions, as `Changes.read`."""
        running = await self._ensure()
        return await running.changes.read(after, running.list_opened)

    async def read_watched(self, origin: str, after: int, seconds: float, heard: Heard) -> WatchedWorker:
        """Return what people may see of the sessions here, as `LocalWatchBackend.read_state`.

        `origin` is the process to which the revision `after` belongs. `heard` are the watchers that the
        server has heard of, with the seconds since then.
        """
        backend = (await self._ensure()).watch_backend
        for watcher, seconds_ago in heard.items():
            backend.note_watcher(watcher, seconds_ago=seconds_ago)
        is_same = origin == self._origin
        state = await backend.read_state(after if is_same else 0, seconds if is_same else 0)
        return WatchedWorker(self._origin, state)

    async def watch(self, method: str, *arguments: Any) -> Any:
        """Call a method of the backend for watchers, and return its result or why it is refused."""
        try:
            return await getattr((await self._ensure()).watch_backend, method)(*arguments)
        except WatchRequestError as error:
            return WorkerRefusal(error.status, error.message)

    async def watch_call(self, id: str, method: str, *arguments: Any) -> Any:
        """Call a method of the backend about a call. Fail if an earlier process of the worker ran it."""
        if id.rpartition("-")[0] != self._origin:
            return WorkerRefusal(404, "The process of the worker that ran this call has ended.")
        return await self.watch(method, *arguments)

    async def read_trace(self, path: Path, start: int, size: int) -> bytes | None:
        """Return a part of a trace that the backend has found."""
        return await asyncio.to_thread(read_part, path, start, size)

    async def leave(self, principal: str) -> None:
        """End all sessions of a principal that will not return."""
        await (await self._ensure()).machine.engine.leave(principal)

    async def disconnect(self, caller: Caller) -> None:
        """End the session `default` of a connection that has ended."""
        (await self._ensure()).machine.engine.disconnect(caller)

    async def list_registered_ids(self) -> list[str]:
        """Return the ids of the open sessions that do not begin with the name of this worker."""
        opened = (await self._ensure()).list_opened()
        own = f"{self._name}."
        return [each.session_id for each in opened if not each.session_id.startswith(own)]

    async def ask_resources(self, method: str, *arguments: Any) -> Any:
        """Call a method of the worker's resources, and return its result or why there is no such resource."""
        from footlight.server.resources.resources import ResourceNotFoundError

        try:
            return await getattr((await self._ensure()).resources, method)(*arguments)
        except ResourceNotFoundError as error:
            return WorkerRefusal(404, error.why)

    async def describe_file(self, id: str, caller: Caller) -> FileFacts | None:
        """Return the facts of a linked file, or None if the caller has no such file."""
        return await self._files.describe(id, caller)

    async def read_file(self, id: str, caller: Caller, start: int, size: int) -> bytes | None:
        """Return a part of a linked file, or None if the caller has no such file."""
        return await self._files.read(id, caller, start, size)

    async def _ensure(self) -> RunningWorker:
        """Return what runs. Start it for the first call, and again after a start that failed."""
        if self._starting is None or (self._starting.done() and self._starting.exception()):
            self._starting = asyncio.create_task(self._start())
        return await asyncio.shield(self._starting)

    async def _find_running(self) -> RunningWorker | None:
        """Return what runs, or None if nothing has been started or the start failed."""
        try:
            return await asyncio.shield(self._starting) if self._starting is not None else None
        except Exception:
            logger.exception("the worker could not start")
            return None

    async def _start(self) -> RunningWorker:
        from footlight.config.loading import load_settings

        settings = load_settings(base=self._given, environment=environment_of_worker(os.environ))
        self.lease_seconds = settings.cluster.lease / 1000
        return await start_worker(self._name, settings, self._given)
