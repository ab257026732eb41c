"""Route each call to the worker that has its session. The front has the face of the dispatcher."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from footlight.browser.sessions.pooled_sessions import DEFAULT
from footlight.caller import LOCAL, Caller
from footlight.cluster.ray_api import ActorLost, RemoteActor
from footlight.cluster.worker import Reply
from footlight.errors import DeadlineExceeded, FootlightError, SessionNotFound, WorkerLost
from footlight.server.answers.answer import Answer, failure
from footlight.server.calls.dispatcher import UnknownTool
from footlight.server.selection import explain_withheld

if TYPE_CHECKING:
    from footlight.browser.sessions.session_table import SessionTable
    from footlight.cluster.fleet import Fleet, KnownWorker
    from footlight.config import Settings
    from footlight.server.calls.progress import Report
    from footlight.server.tools.declaration import Tool
    from footlight.server.toolset import Toolset

__all__ = ["Front"]

logger = logging.getLogger(__name__)

LIST_SECONDS = 5.0
"""How long `list_sessions` waits for each worker."""
GRACE_SECONDS = 15.0
"""How long after its deadline a worker may take to answer a call that it has ended itself."""
MAX_CACHED = 10_000


class Front:
    """Calls tools on the workers of a cluster. A session's id begins with the name of its worker."""

    def __init__(self, toolset: Toolset, settings: Settings, *, fleet: Fleet, defaults: RemoteActor) -> None:
        self._tools = {tool.name: tool for tool in toolset.offered}
        self._withheld = {tool.name: tool for tool in toolset.withheld}
        self._settings = settings
        self._fleet = fleet
        self._defaults = defaults
        self._default_workers: OrderedDict[str, str] = OrderedDict()
        """A cache of what the actor `defaults` knows."""
        self._background: set[asyncio.Task[None]] = set()

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    def get(self, name: str) -> Tool:
        """Return the tool called `name`, or raise UnknownTool."""
        if name not in self._tools:
            withheld = self._withheld.get(name)
            raise UnknownTool(
                name, why=explain_withheld(name, withheld.group, self._settings.tools) if withheld else None
            )
        return self._tools[name]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        caller: Caller = LOCAL,
        report: Report | None = None,
    ) -> Answer:
        """Call a tool on the worker that has its session, once, and return the answer.

        Raises:
            UnknownTool: no tool has this name.
        """
        tool = self.get(name)
        try:
            if name == "list_sessions":
                return await self._list_sessions(tool, arguments, caller)
            if name == "create_session":
                return await self._create_session(tool, arguments, caller, report)
            worker = await self.find_worker(arguments.get("sessionId"), caller)
            if worker is not None:
                return await self._run(worker, tool, arguments, caller, report)
            # The first call of a session `default`, or one that any worker refuses in the same words.
            async with self._fleet.place(self._queue_report(report)) as worker:
                worker = await self._claim_default(worker, caller)
                return await self._run(worker, tool, arguments, caller, report)
        except FootlightError as error:
            return failure(error)

    async def _create_session(
        self, tool: Tool, arguments: Mapping[str, Any], caller: Caller, report: Report | None
    ) -> Answer:
        """Create a session on the least loaded worker. Take another one if it has begun to drain."""
        while True:
            async with self._fleet.place(self._queue_report(report)) as worker:
                answer = await self._run(worker, tool, arguments, caller, report)
                if answer.success or worker.load is None or not worker.load.is_draining:
                    return answer

    async def find_worker(self, session_id: object, caller: Caller) -> KnownWorker | None:
        """Return the worker that has the session, or None for a default session that is not open.

        Raises:
            SessionNotFound: the worker that the id names does not exist.
        """
        if isinstance(session_id, str) and "." in session_id:
            worker = self._fleet.find(session_id.partition(".")[0])
            if worker is None:
                raise SessionNotFound(f'Session "{session_id}" does not exist', sessionId=session_id)
            return worker
        id = caller.default_session
        if id is None or session_id not in (None, DEFAULT, id):
            return None
        name = self._default_workers.get(id)
        if name is None or self._fleet.find(name) is None:
            try:
                name = await self._defaults.call("find", id)
            except ActorLost:
                name = None
            if name is not None:
                self._remember_default(id, name)
        return self._fleet.find(name) if name else None

    async def _claim_default(self, worker: KnownWorker, caller: Caller) -> KnownWorker:
        """Return the worker for the caller's session `default`: another server may have chosen it already."""
        id = caller.default_session
        if id is None:
            return worker
        known = frozenset(each.name for each in self._fleet.workers)
        try:
            name = await self._defaults.call("claim", id, worker.name, known)
        except ActorLost:
            raise WorkerLost(
                "The list of the default sessions is being restored", retryable=True, dispatched=False
            ) from None
        self._remember_default(id, name)
        return self._fleet.find(name) or worker

    def _remember_default(self, id: str, worker: str) -> None:
        self._default_workers[id] = worker
        self._default_workers.move_to_end(id)
        while len(self._default_workers) > MAX_CACHED:
            self._default_workers.popitem(last=False)

    async def _run(
        self,
        worker: KnownWorker,
        tool: Tool,
        arguments: Mapping[str, Any],
        caller: Caller,
        report: Report | None,
    ) -> Answer:
        id = secrets.token_hex(8)
        limit_ms = self._deadline_ms(tool, arguments)
        sent = (id, tool.name, dict(arguments), caller)
        try:
            async with asyncio.timeout(limit_ms / 1000 + GRACE_SECONDS):
                reply = await _call(worker.actor, sent, report)
        except asyncio.CancelledError:
            worker.actor.send("abandon", id)
            raise
        except ActorLost:
            raise _lost_error(tool, worker) from None
        except TimeoutError:
            worker.actor.send("abandon", id)
            raise _silent_error(tool, worker, limit_ms) from None
        self._fleet.note_load(worker, reply.load)
        return reply.answer

    def _deadline_ms(self, tool: Tool, arguments: Mapping[str, Any]) -> float:
        given = arguments.get("timeout")
        if isinstance(given, int | float) and not isinstance(given, bool) and given > 0:
            return float(given)
        if tool.limits is not None:
            try:
                return tool.limits(tool.parse(arguments))[0]
            except FootlightError:
                pass  # The worker says what is wrong with the arguments.
        return tool.default_timeout_ms or self._settings.session.default_timeout

    async def _list_sessions(self, tool: Tool, arguments: Mapping[str, Any], caller: Caller) -> Answer:
        """Ask every worker, and name those that did not answer in time."""
        workers = self._fleet.workers

        async def ask(worker: KnownWorker) -> Answer | None:
            sent = (secrets.token_hex(8), tool.name, dict(arguments), caller)
            try:
                async with asyncio.timeout(LIST_SECONDS):
                    return cast("Reply", await worker.actor.call("call", *sent)).answer
            except (ActorLost, TimeoutError):
                return None

        answers = await asyncio.gather(*(ask(each) for each in workers))
        if failed := next((each for each in answers if each and not each.success), None):
            return failed
        silent = [worker.name for worker, answer in zip(workers, answers, strict=True) if answer is None]
        answered = [each for each in answers if each]
        if not answered:
            raise WorkerLost("No worker of the cluster answers", retryable=True, workers=silent)
        listed = [each.content["data"] for each in answered]
        data: dict[str, Any] = {
            "sessions": [session for each in listed for session in each["sessions"]],
            "savedStates": sorted({name for each in listed for name in each["savedStates"]}),
        }
        if silent:
            data["unanswered"] = silent
        longest = max(each.duration_ms for each in answered)
        return replace(answered[0], content={"success": True, "data": data}, duration_ms=longest)

    def _queue_report(self, report: Report | None) -> Any:
        def send(message: str) -> None:
            if report is not None:
                self._run_in_background(report(0.0, None, message))

        return send

    # What the transports ask.

    async def why_not_ready(self) -> str | None:
        return self._fleet.why_not_ready()

    def find_sessions(self) -> SessionTable | None:
        """Return None: no session is in this process."""
        return None

    def disconnect(self, caller: Caller) -> None:
        """End the default session of a connection that has ended, without waiting for it."""
        id = caller.default_session
        if id is not None and not caller.default_outlives_connection:
            self._run_in_background(self._disconnect(id, caller))

    async def _disconnect(self, id: str, caller: Caller) -> None:
        self._default_workers.pop(id, None)
        try:
            name = await self._defaults.call("forget", id)
            worker = self._fleet.find(name) if name else None
            if worker is not None:
                await worker.actor.call("disconnect", caller)
        except ActorLost:
            pass  # The session has ended with its worker, or ends when it has been idle.

    def _run_in_background(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)


async def _call(actor: RemoteActor, sent: tuple[Any, ...], report: Report | None) -> Reply:
    if report is None:
        return await actor.call("call", *sent)
    async for each in actor.stream("call_with_progress", *sent):
        if isinstance(each, Reply):
            return each
        await report(*each)
    raise ActorLost("the stream ended without a reply")


def _lost_error(tool: Tool, worker: KnownWorker) -> WorkerLost:
    if tool.effect == "read":
        return WorkerLost(f"{tool.name} failed: worker {worker.name} was lost", retryable=True)
    return WorkerLost(
        f"{tool.name} failed: worker {worker.name} was lost. Its action may have been done",
        suggestion="Its session has ended. Create another one, and look before you repeat the action.",
        retryable=False,
        dispatched="unknown",
    )


def _silent_error(tool: Tool, worker: KnownWorker, limit_ms: float) -> DeadlineExceeded:
    acts = tool.effect != "read"
    return DeadlineExceeded(
        f"{tool.name} timed out: worker {worker.name} does not answer",
        retryable=not acts,
        timeout=limit_ms,
        dispatched="unknown" if acts else None,
    )
